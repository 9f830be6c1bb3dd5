/**
 * Loads jax-js, with matrices multiplied in tiles that fit into the registers.
 *
 * V8 has sixteen registers of 128 bits. With tiles of four rows by four vectors, which jax-js requests, a
 * multiplication needs more than twenty, and each of its steps writes to memory and reads again. With two rows it needs
 * thirteen, and is 1.4 times as fast. Results are bit-identical, because each number is summed in the same order.
 * jax-js has no setting for this, so its source text is changed at load time. If that is not possible, as in a bundle,
 * it is only slower.
 */
import * as Modules from "node:module"
import * as Instances from "./instances.ts"
import type { Library } from "./network.ts"

/** jax-js's text, with tiles of two rows. */
export const narrowed = (source: Modules.ModuleSource): string => {
  const text = typeof source === "string" ? source : new TextDecoder().decode(source)
  return text.replaceAll(/(_SIMD_MICRO_ROWS = )4\b/g, "$12")
}

const isLibrary = (url: string): boolean => /\/@jax-js\/jax\/dist\/backend-[^/]+\.js$/.test(url)

/** Loads jax-js for this thread. */
export const load = async (): Promise<Library> => {
  WebAssembly.Instance = Instances.keeping(WebAssembly.Instance)
  // Other runtimes than Node have no such hooks.
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
