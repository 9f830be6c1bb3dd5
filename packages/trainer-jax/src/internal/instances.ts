/**
 * Reuses one WebAssembly instance per kernel.
 *
 * Without threads, jax-js creates a new WebAssembly instance for each kernel call, thousands of times per second, and
 * V8 spends up to a third of the time on garbage collection. The threads of jax-js reuse their instances as well.
 */
type Constructor = typeof WebAssembly.Instance

/**
 * Returns a constructor that creates one instance per module. All instances must have the same imports, because a
 * thread has one jax-js with one memory.
 */
export const keeping = (Instance: Constructor): Constructor => {
  const kept = new WeakMap<WebAssembly.Module, WebAssembly.Instance>()
  return new Proxy(Instance, {
    construct: (_, [module, imports]: ConstructorParameters<Constructor>) => {
      const instance = kept.get(module) ?? new Instance(module, imports)
      kept.set(module, instance)
      return instance
    }
  })
}
