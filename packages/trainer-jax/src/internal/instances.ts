/**
 * Has each kernel instantiated once.
 *
 * Without threads of its own, jax-js creates a new WebAssembly instance for every call of a kernel, thousands of times
 * a second. V8 then spends up to a third of the time on collecting them. The threads of jax-js reuse their instances as
 * well.
 */
type Constructor = typeof WebAssembly.Instance

/**
 * A constructor of instances that makes one for each module. All have to import the same: a thread has one jax-js, with
 * one memory.
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
