/**
 * Tracks enclosing calls: a worker may start runs while it handles a call, and these nested runs spend from the account
 * that pays for the call.
 *
 * A nested run draws on the enclosing call's reservation instead of making a second one. A reservation that could
 * succeed only after the enclosing call has ended is rejected, because it would deadlock.
 */
import * as Context from "effect/Context"
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
