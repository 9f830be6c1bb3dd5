/**
 * Carries the enclosing call through promises. When a worker's async function starts another run, it no longer runs in
 * the fiber that called it.
 *
 * It is inactive before the first run with an account, and in environments without `AsyncLocalStorage` (browsers).
 * Nested runs that are started there from promises are not recognized as nested.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { type ActiveSpans, type Part, within as withinSpan } from "../telemetry/ActiveSpans.ts"
import { Caller } from "./Caller.ts"

/** The part of `AsyncLocalStorage` that is used. */
interface Storage {
  getStore(): Caller | undefined
  run<A>(store: Caller | undefined, evaluate: () => A): A
}

type GetModule = (name: string) => { readonly AsyncLocalStorage: new () => Storage } | undefined

let storage: Storage | undefined
let isOpened = false

/** Opens the storage when the first run needs it. */
const open = (): void => {
  isOpened = true
  const { process } = globalThis as { process?: { getBuiltinModule?: GetModule } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks")
  if (hooks !== undefined) storage = new hooks.AsyncLocalStorage()
}

/**
 * Whether a run's code can look up its enclosing call. Once one run needs this, it is enabled for all runs. Otherwise,
 * code of one run that continues in a tick of another run would see that run's call.
 */
export const isCarrying = (isNeeded: boolean): boolean => {
  if (isNeeded && !isOpened) open()
  return isOpened
}

/** Returns the enclosing call of a promise. */
export const carriedCaller = (): Caller | undefined => storage?.getStore()

const carriers = new WeakMap<Tracer.Tracer, Tracer.Tracer>()

/** Wraps a tracer so that it runs everything within the enclosing call of its fiber. */
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

/** Returns an effect whose code can look up its enclosing call, including in promises. */
const carrying = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.tracer, (tracer) =>
    storage === undefined ? effect : Effect.provideService(effect, Tracer.Tracer, carrierOf(tracer, storage))
  )

/** Runs an effect as a part of a run: within its span, if it has one, and within the run's enclosing call. */
export const within = <A, E, R>(
  { isCarried, spans }: { readonly spans: ActiveSpans | undefined; readonly isCarried: boolean },
  part: Part,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  // The tracer of a span replaces the carrying one.
  const isReplaced = spans !== undefined || part.type === "run"
  return withinSpan(spans, part, isCarried && isReplaced ? carrying(effect) : effect)
}
