/**
 * Persistent accounts: spending limits shared by every process that uses the same store.
 *
 * An account is a `Ledger`, so the runs that share it never exceed its limits in total, even across processes and
 * restarts. Accounts can be nested, e.g. run, API key, team, day. `DiskAccounts` from `@divisi/files` stores accounts
 * in a file, `PostgresAccounts` from `@divisi/cluster` in a database. Other implementations should pass
 * `AccountsContract` from `@divisi/testkit/journals`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { BudgetExceeded, type Paid } from "../task/Usage.ts"
import type * as Budget from "./Budget.ts"
import { type Caller, drawable, endStuck, isBlocked, isNested, waiting } from "./Caller.ts"
import { covered, minus, partOf, plus, refusal } from "./Limits.ts"

/** Spending limits for an account: USD, tokens and calls. Omitted limits are unlimited. */
export type Limits = Omit<Budget.Limits, "durationMillis">

/** Options for opening an account. */
export interface AccountOptions {
  /** Unique name of the account, e.g. `team/red`. */
  readonly name: string
  /** New limits, which take effect in all processes. If omitted, the current limits are left unchanged. */
  readonly limits?: Limits | undefined
  /** Set to `"day"` to reset the account daily at midnight UTC. A call counts toward the day on which it started. */
  readonly per?: "day" | undefined
  /** Parent account. Everything charged to this account is also charged to the parent. */
  readonly parent?: Account | undefined
}

/** Total spending and open reservations of an account, across all processes. */
export interface Standing extends Budget.Standing {
  readonly name: string
  readonly limits: Limits
  /** Set if the stored limits are corrupt, with the reason. The account then rejects all further spending. */
  readonly damaged?: string
}

/**
 * Parses stored limits. If they are corrupt, the limits are set to zero, so that the account rejects all further
 * spending; other accounts are not affected.
 */
export const readLimits = (text: unknown): Pick<Standing, "limits" | "damaged"> => {
  try {
    const limits: unknown = JSON.parse(String(text))
    if (typeof limits === "object" && limits !== null) return { limits }
  } catch {}
  return { limits: { costUsd: 0, tokens: 0, calls: 0 }, damaged: "its limits cannot be read" }
}

/** Raised when an account is unusable. A run that depends on the account fails with this error. */
export interface AccountsError extends Error {
  readonly _tag: "AccountsError"
}

/**
 * An opened account. Use it as `RunOptions.ledger`, as the account of a `Payer`, or as the parent of an in-memory
 * ledger.
 */
export interface Account<E extends AccountsError = AccountsError> extends Budget.Ledger {
  readonly name: string
  readonly standing: Effect.Effect<Standing, E>
  /** The account itself, followed by its ancestors. */
  readonly chain: ReadonlyArray<AccountOptions>
}

/** A change to an account's recorded spending: add an amount in USD (negative for a credit), or set a new total. */
export type Change = { readonly addUsd: number } | { readonly setUsd: number }

/** A manual correction of the spending recorded for one or more accounts. */
export interface Correction {
  /** Unique id within the store. Applying a correction with an existing id has no effect. */
  readonly id: string
  /** The person or program that makes the correction. */
  readonly by: string
  readonly reason: string
  readonly change: Change
  /**
   * Names of the accounts to correct, as returned by `Accounts.list`, from the innermost to the outermost. `setUsd`
   * applies to the outermost account; all others change by the same amount. Spending never drops below 0.
   */
  readonly names: ReadonlyArray<string>
}

/** A correction as recorded in the audit log. */
export interface Adjustment extends Omit<Correction, "names"> {
  /** Timestamp in milliseconds since the Unix epoch. */
  readonly at: number
  readonly accounts: ReadonlyArray<{ readonly name: string; readonly beforeUsd: number; readonly afterUsd: number }>
}

/**
 * Returns an account's spending in USD after a correction. `topmostUsd` is the outermost account's spending before the
 * correction.
 */
export const correctedUsd = (change: Change, beforeUsd: number, topmostUsd: number): number =>
  Math.max(0, beforeUsd + ("addUsd" in change ? change.addUsd : change.setUsd - topmostUsd))

/** A store of accounts. */
export interface Accounts<E extends AccountsError = AccountsError> {
  /** Display name of the store, such as its file path. */
  readonly name: string
  /** The store's clock, in milliseconds since the Unix epoch. Day and month names are derived from it. */
  readonly now: () => number
  /** Opens an account, creating it if necessary. */
  readonly open: (options: AccountOptions) => Effect.Effect<Account<E>, E>
  /** Returns all accounts, most recently changed first. A daily account is listed once for each day. */
  readonly list: Effect.Effect<ReadonlyArray<Standing>, E>
  /**
   * Corrects the recorded spending and appends to the audit log in one transaction. If the correction's id already
   * exists, returns the existing adjustment.
   */
  readonly adjust: (correction: Correction) => Effect.Effect<Adjustment, E>
  /** Returns all adjustments in chronological order. */
  readonly adjustments: Effect.Effect<ReadonlyArray<Adjustment>, E>
}

/** The account's current name, with the date appended if the account resets daily, and its limits. */
export type Named = Pick<AccountOptions, "name" | "limits">

/** Formats a timestamp as a UTC date, e.g. 2026-11-24. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Returns the account's current name, with the date appended if the account resets daily. */
export const nameAt = ({ name, per }: Pick<AccountOptions, "name" | "per">, now: number): string =>
  per === "day" ? `${name}@${dayOf(now)}` : name

/** Strips the date from the name of a daily account. */
export const undated = (name: string): string => name.replace(/@\d{4}-\d\d-\d\d$/, "")

/** Polling interval for a call that waits for budget, in milliseconds. */
const napMillis = 25

/** Number of polls after which a waiting call checks for crashed processes. */
const napsToLook = 20

/**
 * The share of a call's reservation that is drawn from an enclosing call's reservation on the same account. A negative
 * amount is returned to the enclosing call.
 */
export interface Draw<A> extends Budget.Part {
  /** The enclosing call's reservation, as returned by `Place.take`. */
  readonly from: A
  /** Name of the account, including the date of a daily account. */
  readonly account: string
}

/** The result of a successful {@link Place.take}. */
export interface Taken<A> {
  readonly hold: A
  /** Whether an amount was reserved. `false` if the accounts had already been charged for a call with the same name. */
  readonly isNew: boolean
}

/** A reservation request. */
export interface ReservationRequest {
  readonly amount: Budget.Amount
  readonly call: string | undefined
  readonly occurrence: Budget.Occurrence
}

/** A handle for an opened account store. A process may open the same store more than once. */
export interface Opening<A> {
  /** Reservations made through this handle. */
  readonly holds: Set<Hold<A>>
  /** Reservations made through any handle for the store in this process, including this one. */
  readonly all: ReadonlySet<ReadonlySet<Hold<A>>>
}

const openings = new Map<string, Set<Set<Hold<unknown>>>>()

/**
 * Registers an open handle for the store until the scope closes. Sharing handles lets a nested run draw on its
 * enclosing call's reservation, even if that reservation was made through another handle.
 */
export const opening = <A>(store: string): Effect.Effect<Opening<A>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const all = openings.get(store) ?? new Set()
      const holds = new Set<Hold<unknown>>()
      openings.set(store, all.add(holds))
      return { holds, all } as unknown as Opening<A>
    }),
    ({ all, holds }) =>
      Effect.sync(() => {
        const set = all as Set<ReadonlySet<Hold<A>>>
        set.delete(holds)
        if (set.size === 0) openings.delete(store)
      })
  )

/** Storage operations that an account implementation must provide. The account is shared with other processes. */
export interface Place<A> {
  readonly opening: Opening<A>
  /** Returns the account followed by its ancestors, with their current names. */
  readonly chain: () => ReadonlyArray<Named>
  /**
   * Reserves an amount, part of which is drawn from other reservations (`draws`). Returns `"wait"` if the amount may
   * fit once other calls have settled.
   */
  readonly take: (
    chain: ReadonlyArray<Named>,
    wanted: ReservationRequest,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<Taken<A> | "wait" | BudgetExceeded>
  /**
   * Replaces a reservation with the actual usage, or releases it if `used` is `undefined`. If nested calls drew on the
   * reservation (`isDrawn`), each account is charged no more than its limit allows.
   */
  readonly close: (
    hold: A,
    used: Paid | undefined,
    isDrawn: boolean,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<void>
  /** Returns the current totals of the account and its ancestors. */
  readonly standings: Effect.Effect<ReadonlyArray<Pick<Standing, "limits" | keyof Budget.Standing>>>
  /** Charges the reservations of crashed processes. */
  readonly bury: Effect.Effect<void>
}

/** A reservation made by this process. */
class Hold<A> implements Budget.Reservation {
  readonly amount: Budget.Amount
  readonly hold: A
  readonly place: Set<Hold<A>>
  readonly caller: Caller | undefined
  /** Amounts drawn from the reservations of enclosing calls. */
  readonly draws: ReadonlyArray<OwnDraw<A>>
  /** The amount still available after draws by nested calls, keyed by account. */
  readonly left: Map<string, Budget.Part>
  isDrawn = false

  constructor(
    amount: Budget.Amount,
    taken: A,
    place: Set<Hold<A>>,
    accounts: ReadonlyArray<string>,
    caller: Caller | undefined,
    draws: ReadonlyArray<OwnDraw<A>>
  ) {
    this.amount = amount
    this.hold = taken
    this.place = place
    this.caller = caller
    this.draws = draws
    this.left = new Map(accounts.map((name) => [name, partOfAmount(amount)]))
  }

  get isOpen(): boolean {
    return this.place.has(this)
  }

  /** Draws part of the reservation, or returns it. */
  move(account: string, part: Budget.Part, sign: 1 | -1): void {
    const { costUsd, tokens } = this.left.get(account)!
    this.isDrawn = true
    this.left.set(account, { costUsd: costUsd + sign * part.costUsd, tokens: tokens + sign * part.tokens })
  }
}

export type { Hold }

interface OwnDraw<A> extends Budget.Part {
  readonly from: Hold<A>
  readonly account: string
}

const nothing: Budget.Part = { costUsd: 0, tokens: 0 }

const partOfAmount = ({ costUsd = 0, tokens }: Budget.Amount): Budget.Part => ({ costUsd, tokens })

/** Draws as much of the amounts as possible from the reservations of enclosing calls. */
const draw = <A>(
  place: Place<A>,
  caller: Caller | undefined,
  amounts: ReadonlyMap<string, Budget.Part>
): ReadonlyArray<OwnDraw<A>> => {
  const draws: Array<OwnDraw<A>> = []
  if (caller === undefined) return draws
  for (const [account, amount] of amounts) {
    let needed = amount
    for (const from of drawable(caller)) {
      if (!(from instanceof Hold) || !from.isOpen || !place.opening.all.has(from.place)) continue
      const left = from.left.get(account)
      if (left === undefined) continue
      const part = covered(needed, left)
      if (part.costUsd === 0 && part.tokens === 0) continue
      needed = minus(needed, part)
      from.move(account, part, -1)
      draws.push({ from, account, ...part })
    }
  }
  return draws
}

const undo = <A>(draws: ReadonlyArray<OwnDraw<A>>): void => {
  for (const { account, from, ...part } of draws) if (from.isOpen) from.move(account, part, 1)
}

const told = <A>(draws: ReadonlyArray<OwnDraw<A>>, sign: 1 | -1): ReadonlyArray<Draw<A>> =>
  draws.map(({ account, costUsd, from, tokens }) => ({
    from: from.hold,
    account,
    costUsd: sign * costUsd,
    tokens: sign * tokens
  }))

/**
 * Closes a reservation. Unused draws are returned to the enclosing calls, and usage beyond the reservation is drawn
 * from them.
 */
const closing = <A>(place: Place<A>, hold: Hold<A>, used: Budget.Part): ReadonlyArray<Draw<A>> => {
  hold.place.delete(hold)
  const rests = new Map([...hold.left].map(([account, left]) => [account, minus(left, used)]))
  // The amount reserved in addition to the draws is released first.
  for (const [account, rest] of rests) {
    const drawn = hold.draws.filter((one) => one.account === account).reduce(plus, nothing)
    rests.set(account, minus(rest, minus(partOfAmount(hold.amount), drawn)))
  }
  const given: Array<OwnDraw<A>> = []
  for (const { account, from, ...drawn } of hold.draws) {
    const rest = rests.get(account)
    if (rest === undefined || !from.isOpen) continue
    const back = covered(rest, drawn)
    rests.set(account, minus(rest, back))
    from.move(account, back, 1)
    given.push({ account, from, ...back })
  }
  const beyond = new Map([...hold.left].map(([account, left]) => [account, minus(used, left)]))
  return [...told(given, -1), ...told(draw(place, hold.caller, beyond), 1)]
}

/** Whether any open call of this process can settle without outside help. Nested calls wait only if there is one. */
const mayFree = <A>({ chain, opening }: Place<A>): boolean => {
  const accounts = new Set(chain().map(({ name }) => name))
  for (const holds of opening.all) {
    for (const hold of holds) {
      if (!isBlocked(hold) && [...hold.left.keys()].some((name) => accounts.has(name))) return true
    }
  }
  return false
}

/**
 * Implements `reserve` and `settle` for an account. One waiting call polls on behalf of the whole process. Nested calls
 * poll separately, because the polling call may itself be waiting for their enclosing calls.
 */
export const reserving = <A>(place: Place<A>): Pick<Budget.Ledger, "reserve" | "settle" | "release"> => {
  const turn = Semaphore.makeUnsafe(1)

  const take = (
    wanted: ReservationRequest,
    caller: Caller | undefined
  ): Effect.Effect<Hold<A> | "wait", BudgetExceeded> =>
    Effect.suspend(() => {
      const { amount } = wanted
      const chain = place.chain()
      const names = chain.map(({ name }) => name)
      const draws = draw(place, caller, new Map(names.map((name) => [name, partOfAmount(amount)])))
      const taking = Effect.onError(place.take(chain, wanted, told(draws, 1)), () => Effect.sync(() => undo(draws)))
      return Effect.flatMap(taking, (taken): Effect.Effect<Hold<A> | "wait", BudgetExceeded> => {
        const isMade = typeof taken === "object" && "hold" in taken && taken.isNew
        if (!isMade) undo(draws)
        if (taken === "wait") return Effect.succeed(taken)
        if (taken instanceof BudgetExceeded) return Effect.fail(taken)
        const { holds } = place.opening
        const hold = new Hold(amount, taken.hold, holds, isMade ? names : [], caller, isMade ? draws : [])
        holds.add(hold)
        return Effect.succeed(hold)
      })
    })

  const refused = ({ amount }: ReservationRequest): Effect.Effect<never, BudgetExceeded> =>
    Effect.flatMap(place.standings, (standings) => {
      const found = standings.map((one) => refusal(one.limits, one, amount)).find((one) => one !== undefined)
      const { calls } = standings[0]!.total
      return Effect.fail(found ?? new BudgetExceeded({ limit: "calls", allowed: calls, spent: calls, needed: 1 }))
    })

  /**
   * Waits for other calls to settle. A nested call is rejected, and `end` is called, if only its enclosing calls could
   * free enough budget.
   */
  const wait = (
    wanted: ReservationRequest,
    caller: Caller | undefined,
    end: () => void,
    { naps, isStuck }: { readonly naps: number; readonly isStuck: boolean }
  ): Effect.Effect<Hold<A>, BudgetExceeded> =>
    Effect.gen(function* () {
      const taken = yield* take(wanted, caller)
      if (taken !== "wait") return taken
      if (isNested(caller) && !mayFree(place)) {
        // Tries once more, because other calls may have settled in the meantime.
        if (!isStuck) return yield* wait(wanted, caller, end, { naps, isStuck: true })
        end()
        return yield* refused(wanted)
      }
      if (naps % napsToLook === 0) yield* place.bury
      yield* Effect.interruptible(Effect.sleep(napMillis))
      return yield* wait(wanted, caller, end, { naps: naps + 1, isStuck: false })
    })

  const queue = (wanted: ReservationRequest, caller: Caller | undefined): Effect.Effect<Hold<A>, BudgetExceeded> =>
    Effect.suspend(() => {
      const end = caller === undefined ? () => {} : waiting(caller)
      const start = { naps: 0, isStuck: false }
      endStuck()
      const waits = isNested(caller)
        ? wait(wanted, caller, end, start)
        : Effect.acquireUseRelease(
            Effect.interruptible(turn.take(1)),
            () => wait(wanted, caller, end, start),
            () => turn.release(1)
          )
      return Effect.ensuring(waits, Effect.sync(end))
    })

  const close = (reservation: Budget.Reservation, used: Paid | undefined) =>
    Effect.suspend(() => {
      const own = reservation as Hold<A>
      const draws = closing(place, own, used === undefined ? nothing : partOf(used))
      return place.close(own.hold, used, own.isDrawn, draws)
    })

  return {
    reserve: (amount, call, occurrence = "replayed", caller) =>
      Effect.uninterruptible(
        Effect.suspend(() => {
          const wanted: ReservationRequest = { amount, call, occurrence }
          return Effect.flatMap(take(wanted, caller), (taken) =>
            taken === "wait" ? queue(wanted, caller) : Effect.succeed(taken)
          )
        })
      ),
    settle: close,
    release: (reservation) => close(reservation, undefined)
  }
}
