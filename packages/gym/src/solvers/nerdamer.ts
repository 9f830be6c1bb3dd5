/** The computer-algebra library, loaded when it is first needed. */
import type nerdamer from "nerdamer-prime"

type Nerdamer = typeof nerdamer

let loading: Promise<Nerdamer> | undefined

const load = (): Promise<Nerdamer> => {
  loading ??= import("nerdamer-prime").then((module) => module.default)
  return loading
}

/** Uses the library and forgets what it remembers of it: it keeps every expression otherwise. */
export const withAlgebra = async <A>(use: (algebra: Nerdamer) => A): Promise<A> => {
  const algebra = await load()
  try {
    return use(algebra)
  } finally {
    algebra.flush()
  }
}
