/** The computer-algebra library, loaded when it is first needed. */
import type nerdamer from "nerdamer-prime"

type Nerdamer = typeof nerdamer

let loading: Promise<Nerdamer> | undefined

const load = (): Promise<Nerdamer> => {
  loading ??= import("nerdamer-prime").then((module) => module.default)
  return loading
}

/**
 * Uses the library and forgets what it remembers of it: it keeps every expression otherwise. `undefined` when it cannot
 * read an expression or finds no answer: it throws then, and what it throws has no common type.
 */
export const withAlgebra = async <A>(use: (algebra: Nerdamer) => A): Promise<A | undefined> => {
  const algebra = await load()
  try {
    return use(algebra)
  } catch {
    return undefined
  } finally {
    algebra.flush()
  }
}
