/** The computer algebra library, loaded on first use. */
import type nerdamer from "nerdamer-prime"

type Nerdamer = typeof nerdamer

let loading: Promise<Nerdamer> | undefined

const load = (): Promise<Nerdamer> => {
  loading ??= import("nerdamer-prime").then((module) => module.default)
  return loading
}

/**
 * Calls the library, then clears the expressions that it would otherwise retain forever. Returns `undefined` if the
 * library throws, as it does for expressions that it cannot parse or solve. Its errors have no common type.
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
