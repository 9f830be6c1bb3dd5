/**
 * Tracks enclosing calls: a worker may start runs while it handles a call, and these nested runs spend from the account
 * that pays for the call.
 *
 * A nested run draws on the enclosing call's reservation instead of making a second one. A reservation that could
 * succeed only after the enclosing call has ended is rejected, because it would deadlock.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { type ActiveSpans, type Part, within as withinSpan } from "../telemetry/ActiveSpans.ts"
import type { Reservation } from "./Budget.ts"

/** A call in progress, from the perspective of runs started within it. */
export interface Caller {
  /** The call's reservations, on its run's budget and on the payer's account. */
  readonly reservations: ReadonlyArray<Reservation>
  /** The next enclosing call, if the call's own run was started within a call. */
  readonly above: Caller | undefined
  /** The slot that the gate assigned to the call. */
  readonly place?: object | undefined
  /**
   * Whether the call is still waiting for a reservation. If so, nested runs cannot draw on it, and other calls do not
   * wait for it.
   */
  readonly isWaiting?: boolean | undefined
}

/** The call within which a run is started. Default: `undefined`. Set during each call of a run that has an account. */
export const Caller: Context.Reference<Caller | undefined> = Context.Reference("@divisi/core/Caller", {
  defaultValue: (): Caller | undefined => undefined
})

/**
 * Returns the `Caller` for runs that a worker starts during a call. If the call has neither an account nor a gate slot,
 * the enclosing caller is returned.
 */
export const callerOf = (
  { caller, isShared }: { readonly caller: Caller | undefined; readonly isShared: boolean },
  { place, reservations = [] }: { readonly place?: Caller["place"]; readonly reservations?: Caller["reservations"] }
): Caller | undefined =>
  isShared || place !== undefined ? { reservations: isShared ? reservations : [], above: caller, place } : caller

/** Yields the reservations that a nested run may draw on, starting with the innermost call. */
export function* drawable(caller: Caller | undefined): Generator<Reservation> {
  for (let one = caller; one !== undefined; one = one.above) {
    if (one.isWaiting === true) continue
    for (const reservation of one.reservations) {
      for (let each: Reservation | undefined = reservation; each !== undefined; each = each.above) yield each
    }
  }
}

/** Returns the gate slots of all enclosing calls, starting with the innermost call. */
export const placesOf = (caller: Caller | undefined): ReadonlyArray<object> => {
  const places: Array<object> = []
  for (let one = caller; one !== undefined; one = one.above) if (one.place !== undefined) places.push(one.place)
  return places
}

/** Whether a reservation is made on behalf of a nested run. */
export const isNested = (caller: Caller | undefined): boolean => !drawable(caller).next().done

// -------------------------------------------------------------------------------------------------------------------
// Promises
// -------------------------------------------------------------------------------------------------------------------

// When a worker's async function starts another run, its code no longer executes in the fiber that made the call. The
// enclosing call is then passed on through `AsyncLocalStorage`, once a run with an account has started. Environments
// without it (browsers) do not recognize runs started from promises as nested.

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
 * Whether code in a run can look up its enclosing call. Once any run needs this, it is enabled for all runs; otherwise,
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
  if (spans !== undefined) return withinSpan(spans, part, isCarried ? carrying(effect) : effect)
  return isCarried && part.type === "run" ? carrying(effect) : effect
}

// -------------------------------------------------------------------------------------------------------------------
// Reservations that cannot end
// -------------------------------------------------------------------------------------------------------------------

/**
 * Number of pending reservations that each reservation is waiting for, for the call itself or for runs nested in it.
 */
const blocked = new Map<Reservation, number>()

/**
 * Deadlock checks for reservations that wait within other calls. A check ends the wait if no other call can free enough
 * budget.
 */
const waits = new Set<() => boolean>()

/** Whether a reservation cannot settle before another reservation succeeds. */
export const isBlocked = (reservation: Reservation): boolean => blocked.has(reservation)

/** Returns all reservations that cannot settle before another reservation succeeds. */
export const blockedOnes = (): Iterable<Reservation> => blocked.keys()

const count = (reservation: Reservation, by: 1 | -1): void => {
  const times = (blocked.get(reservation) ?? 0) + by
  if (times === 0) blocked.delete(reservation)
  else blocked.set(reservation, times)
  if (reservation.above !== undefined) count(reservation.above, by)
}

const countAll = (caller: Caller | undefined, by: 1 | -1): void => {
  for (let one = caller; one !== undefined; one = one.above) for (const each of one.reservations) count(each, by)
}

/** Runs all deadlock checks, ending every wait that no other call can satisfy. */
export const endStuck = (): void => {
  for (const check of [...waits]) if (waits.has(check)) check()
}

/**
 * Marks the caller as waiting for a reservation. Call the returned function when the wait is over. `check` ends the
 * wait and returns `true` if no other call can free enough budget.
 */
export const waiting = (caller: Caller, check?: () => boolean): (() => void) => {
  countAll(caller, 1)
  if (check !== undefined) waits.add(check)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    countAll(caller, -1)
    if (check !== undefined) waits.delete(check)
  }
}
