/**
 * Loads jax-js with matrix multiplication tiles that fit into registers.
 *
 * V8 has sixteen 128-bit registers. With the tiles of four rows by four vectors that jax-js requests, a multiplication
 * needs more than twenty registers, and each step writes to memory and reads it again. With two rows, it needs thirteen
 * and is 1.4 times as fast. Results are bitwise identical, because each number is summed in the same order. jax-js has
 * no setting for this, so its source is modified at load time. If that is not possible, for example in a bundle, only
 * the speed is affected.
 */
import * as Modules from "node:module"
import * as Instances from "./instances.ts"
import type { Library } from "./network.ts"

/** Returns the source of jax-js with tiles of two rows. */
export const narrowed = (source: Modules.ModuleSource): string => {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source)
  return text.replaceAll(/(_SIMD_MICRO_ROWS = )4\b/g, "$12")
}

const isLibrary = (url: string): boolean => /\/@jax-js\/jax\/dist\/backend-[^/]+\.js$/.test(url)

/** Loads jax-js for the current thread. */
export const load = async (): Promise<Library> => {
  WebAssembly.Instance = Instances.keeping(WebAssembly.Instance)
  // Runtimes other than Node have no module hooks.
  const hooks: Modules.ModuleHooks | undefined = Modules.registerHooks?.({
    load: (url, context, next) => {
      const loaded = next(url, context)
      return isLibrary(url) && loaded.source ? { ...loaded, source: narrowed(loaded.source) } : loaded
    }
  })
  const jax = await import("@jax-js/jax").finally(() => hooks?.deregister())
  if (!(await jax.init("wasm")).includes("wasm")) throw new Error("This JavaScript engine has no WebAssembly.")
  jax.defaultDevice("wasm")
  return jax
}
