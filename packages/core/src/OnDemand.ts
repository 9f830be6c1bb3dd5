/** Lazy loading of modules: a module is imported on first use. */
import * as Effect from "effect/Effect"

/** Runs an effect with a lazily loaded module. Runs synchronously if the module is already loaded. */
export type OnDemand<M> = <A, E, R>(use: (module: M) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const loads: Array<() => Promise<unknown>> = []

/** Creates a loader that imports a module on first use and caches it. */
export const onDemand = <M>(load: () => Promise<M>): OnDemand<M> => {
  let loaded: M | undefined
  const loadOnce = async () => {
    loaded ??= await load()
    return loaded
  }
  loads.push(loadOnce)
  const loading = Effect.promise(loadOnce)
  return (use) => Effect.suspend(() => (loaded === undefined ? Effect.flatMap(loading, use) : use(loaded)))
}

/**
 * Imports all lazily loaded modules now. Required before simulations, because a simulated scheduler does not wait for
 * module loading.
 */
export const loadAll = async (): Promise<void> => {
  for (const load of loads) await load()
}
