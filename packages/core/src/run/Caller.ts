/**
 * The enclosing call of a run: a worker can start runs itself, on the account that pays for its call.
 *
 * Such a run draws on the reservation of the call, so that it needs no second one. A reservation that would fit only
 * after the enclosing calls end is refused, because it would wait forever.
 */
import * as Context from "effect/Context"
import type { Reservation } from "./Budget.ts"

/** A call in progress, as seen by runs that are started within it. */
export interface Caller {
  /** The reservations for the call, on its run's budget and on the payer's account. */
  readonly reservations: ReadonlyArray<Reservation>
  /** The call within which the call's own run was started. */
  readonly above: Caller | undefined
  /** The place that the gate assigned to the call. */
  readonly place?: object | undefined
  /**
   * Whether this call still waits for a reservation. Nested runs cannot draw on it, and other calls do not wait for it.
   */
  readonly isWaiting?: boolean | undefined
}

/** The call within which a run is started; none by default. Every call of a run with an account sets it. */
export const Caller: Context.Reference<Caller | undefined> = Context.Reference("@divisi/core/Caller", {
  defaultValue: (): Caller | undefined => undefined
})

/**
 * Returns the caller of runs that a worker starts within a call. Without an account and a queue position, it is the
 * enclosing call.
 */
export const callerOf = (
  { caller, isShared }: { readonly caller: Caller | undefined; readonly isShared: boolean },
  { place, reservations = [] }: { readonly place?: Caller["place"]; readonly reservations?: Caller["reservations"] }
): Caller | undefined =>
  isShared || place !== undefined ? { reservations: isShared ? reservations : [], above: caller, place } : caller

/** Yields the reservations that a nested run may draw on, innermost call first. */
export function* drawable(caller: Caller | undefined): Generator<Reservation> {
  for (let one = caller; one !== undefined; one = one.above) {
    if (one.isWaiting === true) continue
    for (const reservation of one.reservations) {
      for (let each: Reservation | undefined = reservation; each !== undefined; each = each.above) yield each
    }
  }
}

/** Returns the places that gates assigned to the enclosing calls of a run, innermost call first. */
export const placesOf = (caller: Caller | undefined): ReadonlyArray<object> => {
  const places: Array<object> = []
  for (let one = caller; one !== undefined; one = one.above) if (one.place !== undefined) places.push(one.place)
  return places
}

/** Whether a reservation is made for a run within another call. */
export const isNested = (caller: Caller | undefined): boolean => !drawable(caller).next().done

// -------------------------------------------------------------------------------------------------------------------
// Reservations that cannot end
// -------------------------------------------------------------------------------------------------------------------

/** The number of waiting reservations per reservation: of the call itself, or of runs within it. */
const blocked = new Map<Reservation, number>()

/**
 * The checks of reservations that wait within other calls. Each check ends its own wait if no other call can end it.
 */
const waits = new Set<() => boolean>()

/** Whether a reservation cannot be settled until another reservation succeeds. */
export const isBlocked = (reservation: Reservation): boolean => blocked.has(reservation)

/** Returns the reservations that cannot be settled until another reservation succeeds. */
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

/** Ends, one after the other, all waits within calls that no other call can end any more. */
export const endStuck = (): void => {
  for (const check of [...waits]) if (waits.has(check)) check()
}

/**
 * Marks the caller as waiting for a reservation; returns a function that ends the wait. `check` ends the wait and
 * returns true if no other call can free enough.
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
