/**
 * Propagates the enclosing call through promises. When a worker's async function starts another run, its code no longer
 * executes in the fiber that made the call.
 *
 * Inactive until a run with an account starts, and in environments without `AsyncLocalStorage` (browsers), where runs
 * started from promises are not recognized as nested.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { type ActiveSpans, type Part, within as withinSpan } from "../telemetry/ActiveSpans.ts"
import { Caller } from "./Caller.ts"

/** The subset of `AsyncLocalStorage` that is used here. */
interface Storage {
  getStore(): Caller | undefined
  run<A>(store: Caller | undefined, evaluate: () => A): A
}

type GetModule = (name: string) => { readonly AsyncLocalStorage: new () => Storage } | undefined

let storage: Storage | undefined
let isOpened = false

/** Creates the storage on first use. */
const open = (): void => {
  isOpened = true
  const { process } = globalThis as { process?: { getBuiltinModule?: GetModule } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks")
  if (hooks !== undefined) storage = new hooks.AsyncLocalStorage()
}

/**
 * Whether a run's code can look up its enclosing call. Once any run needs this, it is enabled for all runs; otherwise,
 * code of one run that resumes in a tick of another would see the wrong call.
 */
export const isCarrying = (isNeeded: boolean): boolean => {
  if (isNeeded && !isOpened) open()
  return isOpened
}

/** Returns the enclosing call of the current async context. */
export const carriedCaller = (): Caller | undefined => storage?.getStore()

const carriers = new WeakMap<Tracer.Tracer, Tracer.Tracer>()

/** Wraps a tracer so that each primitive is evaluated with the fiber's enclosing call in the async storage. */
const carrierOf = (tracer: Tracer.Tracer, inner: Storage): Tracer.Tracer => {
  const known = carriers.get(tracer)
  if (known !== undefined) return known
  const evaluate = <X>(primitive: Tracer.EffectPrimitive<X>, fiber: Fiber.Fiber<unknown, unknown>): X =>
    tracer.context === undefined ? primitive["~effect/Effect/evaluate"](fiber) : tracer.context(primitive, fiber)
  const carrier: Tracer.Tracer = {
    span: (options) => tracer.span(options),
    context: (primitive, fiber) => {
      const caller = fiber.getRef(Caller)
      return inner.getStore() === caller
        ? evaluate(primitive, fiber)
        : inner.run(caller, () => evaluate(primitive, fiber))
    }
  }
  carriers.set(tracer, carrier)
  carriers.set(carrier, carrier)
  return carrier
}

/** Makes the enclosing call available to an effect's code, including code that runs in promises. */
const carrying = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.tracer, (tracer) =>
    storage === undefined ? effect : Effect.provideService(effect, Tracer.Tracer, carrierOf(tracer, storage))
  )

/** Runs an effect as part of a run, within its span (if any) and with the enclosing call available. */
export const within = <A, E, R>(
  { isCarried, spans }: { readonly spans: ActiveSpans | undefined; readonly isCarried: boolean },
  part: Part,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  // Entering a span replaces the tracer, so the carrying tracer must be installed inside.
  const isReplaced = spans !== undefined || part.type === "run"
  return withinSpan(spans, part, isCarried && isReplaced ? carrying(effect) : effect)
}
