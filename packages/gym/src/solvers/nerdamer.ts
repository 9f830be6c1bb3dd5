/** The computer-algebra library, loaded when it is first needed. */
import type nerdamer from "nerdamer-prime"

type Nerdamer = typeof nerdamer

let loading: Promise<Nerdamer> | undefined

const load = (): Promise<Nerdamer> => {
  loading ??= import("nerdamer-prime").then((module) => module.default)
  return loading
}

/**
 * Uses the library, then clears the expressions that it would keep for ever. Returns `undefined` when the library
 * throws, as it does for an expression that it cannot read or solve; its errors have no common type.
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
