/**
 * Accounts that outlive a process: limits on the spend of runs, counted in one place for all processes that share it.
 *
 * Each account is a `Ledger`: the runs that share it never exceed it together, whatever processes they are in, and it
 * survives restarts. Accounts are nested: a run's account is under its key's, which is under its team's, which is under
 * the day's. `DiskAccounts` of `@divisi/files` stores them in a file, `PostgresAccounts` of `@divisi/cluster` in a
 * database. Other implementations should pass `AccountsContract` of `@divisi/testkit/journals`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { BudgetExceeded, type Paid } from "../task/Usage.ts"
import * as Budget from "./Budget.ts"
import { type Caller, drawable, endStuck, isBlocked, isNested, waiting } from "./Caller.ts"

/** The limits of an account: USD, tokens, calls. An absent limit is unlimited. */
export type Limits = Omit<Budget.Limits, "durationMillis">

/** An account that is opened. */
export interface AccountOptions {
  /** Its name among all accounts, e.g. `team/red`. */
  readonly name: string
  /** Its limits from now on, for all processes; when absent, it keeps those that it has. */
  readonly limits?: Limits | undefined
  /** With `"day"` the account restarts each day, in UTC. A call counts for the day in which it began. */
  readonly per?: "day" | undefined
  /** The account above: whatever is charged here is charged there, too. */
  readonly parent?: Account | undefined
}

/** The spend and reservations of all processes on an account. */
export interface Standing extends Budget.Standing {
  readonly name: string
  readonly limits: Limits
  /** Why its stored limits cannot be read: nothing more can be spent then. */
  readonly damaged?: string
}

/** Reads stored limits. Damaged ones allow nothing more, and hide no other account. */
export const readLimits = (text: unknown): Pick<Standing, "limits" | "damaged"> => {
  try {
    const limits: unknown = JSON.parse(String(text))
    if (typeof limits === "object" && limits !== null) return { limits }
  } catch {}
  return { limits: { costUsd: 0, tokens: 0, calls: 0 }, damaged: "its limits cannot be read" }
}

/** Accounts that cannot be used. A run that needs them fails with it. */
export interface AccountsError extends Error {
  readonly _tag: "AccountsError"
}

/** An account: a `Ledger` for `RunOptions.ledger`, for a `Payer`, or under a ledger in memory. */
export interface Account<E extends AccountsError = AccountsError> extends Budget.Ledger {
  readonly name: string
  readonly standing: Effect.Effect<Standing, E>
  /** Itself and those above it. */
  readonly chain: ReadonlyArray<AccountOptions>
}

/** How a correction changes an account: by an amount in USD (negative for a credit), or to an amount. */
export type Change = { readonly addUsd: number } | { readonly setUsd: number }

/** A correction of the spend of accounts. */
export interface Correction {
  /** Names the correction among all of a place: a second one of the same id changes nothing. */
  readonly id: string
  /** The person or program that corrects. */
  readonly by: string
  readonly reason: string
  readonly change: Change
  /**
   * The accounts by the names that they have in the list, from the lowest to the topmost. `setUsd` sets the topmost; the
   * others change by as much. No account falls below 0.
   */
  readonly names: ReadonlyArray<string>
}

/** A correction that was made, as the audit has it. */
export interface Adjustment extends Omit<Correction, "names"> {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly accounts: ReadonlyArray<{ readonly name: string; readonly beforeUsd: number; readonly afterUsd: number }>
}

/**
 * Returns an account's spend after a correction, in USD. `topmostUsd` is the spend of the topmost account before it.
 */
export const correctedUsd = (change: Change, beforeUsd: number, topmostUsd: number): number =>
  Math.max(0, beforeUsd + ("addUsd" in change ? change.addUsd : change.setUsd - topmostUsd))

/** The accounts of a place. */
export interface Accounts<E extends AccountsError = AccountsError> {
  /** The location of the accounts for display: the file, or another place. */
  readonly name: string
  /** The time by the clock of the store, in milliseconds since 1970. Names of days and months are derived from it. */
  readonly now: () => number
  /** Opens an account, and creates it if it does not exist. */
  readonly open: (options: AccountOptions) => Effect.Effect<Account<E>, E>
  /** All accounts, the last changed first; those per day once for each day. */
  readonly list: Effect.Effect<ReadonlyArray<Standing>, E>
  /**
   * Corrects the spend of accounts, in one transaction with its audit. Returns the adjustment. If an adjustment with
   * this id exists, returns that one.
   */
  readonly adjust: (correction: Correction) => Effect.Effect<Adjustment, E>
  /** All adjustments, the first made first. */
  readonly adjustments: Effect.Effect<ReadonlyArray<Adjustment>, E>
}

/** An account by the name that it has now, that of its day included. */
export type Named = Pick<AccountOptions, "name" | "limits">

/** A day in UTC, as in 2026-11-24. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Returns the current name of an account; the name includes the day if the account restarts daily. */
export const nameAt = ({ name, per }: Pick<AccountOptions, "name" | "per">, now: number): string =>
  per === "day" ? `${name}@${dayOf(now)}` : name

/** The name of an account whatever the day. */
export const undated = (name: string): string => name.replace(/@\d{4}-\d\d-\d\d$/, "")

/** The interval at which a waiting call checks whether other calls have made room. */
const napMillis = 25

/** The number of naps after which it checks whether another process has died. */
const napsToLook = 20

/**
 * The amount that a call takes from the reservation of an enclosing call on one account. A negative amount is returned
 * to it.
 */
export interface Draw<A> extends Budget.Part {
  /** The reservation of the enclosing call, as returned by `Place.take`. */
  readonly from: A
  /** The name of the account, that of its day included. */
  readonly account: string
}

/** A reservation that was made on a place. */
export interface Taken<A> {
  readonly hold: A
  /** Whether something was set aside; otherwise the accounts were charged for a call of this name before. */
  readonly isNew: boolean
}

/** The requested reservation. */
export interface Wanted {
  readonly amount: Budget.Amount
  readonly call: string | undefined
  readonly occurrence: Budget.Occurrence
}

/** The accounts of one store, opened by this process, which may have opened them more than once. */
export interface Opening<A> {
  /** The reservations that were made through it. */
  readonly holds: Set<Hold<A>>
  /** The reservations of all openings of the store in this process, its own included. */
  readonly all: ReadonlySet<ReadonlySet<Hold<A>>>
}

const openings = new Map<string, Set<Set<Hold<unknown>>>>()

/**
 * Notes that this process has opened a store until the scope closes. A run within a call draws on the reservation for that
 * call, whichever opening made it.
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

/** How amounts are set aside on an account that other processes write, too. */
export interface Place<A> {
  readonly opening: Opening<A>
  /** The account and those above it, by the names that they have now. */
  readonly chain: () => ReadonlyArray<Named>
  /** Reserves an amount, of which `draws` are taken from other reservations; `"wait"` if other calls may make room. */
  readonly take: (
    chain: ReadonlyArray<Named>,
    wanted: Wanted,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<Taken<A> | "wait" | BudgetExceeded>
  /**
   * Replaces a reservation by the actual usage, or releases it if `used` is absent. If other calls have drawn on it, an
   * account is charged no more than its limit allows.
   */
  readonly close: (
    hold: A,
    used: Paid | undefined,
    isDrawn: boolean,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<void>
  /** The account and those above it as they are now. */
  readonly standings: Effect.Effect<ReadonlyArray<Pick<Standing, "limits" | keyof Budget.Standing>>>
  /** Charges the reservations of processes that have died. */
  readonly bury: Effect.Effect<void>
}

/** A reservation of this process. */
class Hold<A> implements Budget.Reservation {
  readonly amount: Budget.Amount
  readonly hold: A
  readonly place: Set<Hold<A>>
  readonly caller: Caller | undefined
  /** The amounts taken from the enclosing calls. */
  readonly draws: ReadonlyArray<OwnDraw<A>>
  /** The unused part of the reservation after nested calls, by account. */
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

  /** Takes a part, or returns it. */
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

/** Takes as much of an amount as possible from the reservations of the enclosing calls. */
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
      const part = Budget.covered(needed, left)
      if (part.costUsd === 0 && part.tokens === 0) continue
      needed = Budget.minus(needed, part)
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

/** Closes a reservation: unused draws are returned, and usage beyond the reservation is drawn. */
const closing = <A>(place: Place<A>, hold: Hold<A>, used: Budget.Part): ReadonlyArray<Draw<A>> => {
  hold.place.delete(hold)
  const rests = new Map([...hold.left].map(([account, left]) => [account, Budget.minus(left, used)]))
  // The amount reserved beyond the draws is released first.
  for (const [account, rest] of rests) {
    const drawn = hold.draws.filter((one) => one.account === account).reduce(Budget.plus, nothing)
    rests.set(account, Budget.minus(rest, Budget.minus(partOfAmount(hold.amount), drawn)))
  }
  const given: Array<OwnDraw<A>> = []
  for (const { account, from, ...drawn } of hold.draws) {
    const rest = rests.get(account)
    if (rest === undefined || !from.isOpen) continue
    const back = Budget.covered(rest, drawn)
    rests.set(account, Budget.minus(rest, back))
    from.move(account, back, 1)
    given.push({ account, from, ...back })
  }
  const beyond = new Map([...hold.left].map(([account, left]) => [account, Budget.minus(used, left)]))
  return [...told(given, -1), ...told(draw(place, hold.caller, beyond), 1)]
}

/** Whether a call of this process is open that can settle by itself: a call within another waits for nothing else. */
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
 * Implements reserving and settling on an account. One of the waiting calls polls on behalf of its whole process.
 * Nested calls poll for themselves, because the polling call may be waiting for the calls that enclose them.
 */
export const reserving = <A>(place: Place<A>): Pick<Budget.Ledger, "reserve" | "settle" | "release"> => {
  const turn = Semaphore.makeUnsafe(1)

  const take = (wanted: Wanted, caller: Caller | undefined): Effect.Effect<Hold<A> | "wait", BudgetExceeded> =>
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

  const refused = ({ amount }: Wanted): Effect.Effect<never, BudgetExceeded> =>
    Effect.flatMap(place.standings, (standings) => {
      const found = standings.map((one) => Budget.refusal(one.limits, one, amount)).find((one) => one !== undefined)
      const { calls } = standings[0]!.total
      return Effect.fail(found ?? new BudgetExceeded({ limit: "calls", allowed: calls, spent: calls, needed: 1 }))
    })

  /**
   * Waits for other calls to settle. A nested call that only its enclosing calls could make room for calls `end` and is
   * refused.
   */
  const wait = (
    wanted: Wanted,
    caller: Caller | undefined,
    end: () => void,
    { naps, isStuck }: { readonly naps: number; readonly isStuck: boolean }
  ): Effect.Effect<Hold<A>, BudgetExceeded> =>
    Effect.gen(function* () {
      const taken = yield* take(wanted, caller)
      if (taken !== "wait") return taken
      if (isNested(caller) && !mayFree(place)) {
        // Other calls may have settled during the check.
        if (!isStuck) return yield* wait(wanted, caller, end, { naps, isStuck: true })
        end()
        return yield* refused(wanted)
      }
      if (naps % napsToLook === 0) yield* place.bury
      yield* Effect.interruptible(Effect.sleep(napMillis))
      return yield* wait(wanted, caller, end, { naps: naps + 1, isStuck: false })
    })

  const queue = (wanted: Wanted, caller: Caller | undefined): Effect.Effect<Hold<A>, BudgetExceeded> =>
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
      const draws = closing(place, own, used === undefined ? nothing : Budget.partOf(used))
      return place.close(own.hold, used, own.isDrawn, draws)
    })

  return {
    reserve: (amount, call, occurrence = "replayed", caller) =>
      Effect.uninterruptible(
        Effect.suspend(() => {
          const wanted: Wanted = { amount, call, occurrence }
          return Effect.flatMap(take(wanted, caller), (taken) =>
            taken === "wait" ? queue(wanted, caller) : Effect.succeed(taken)
          )
        })
      ),
    settle: close,
    release: (reservation) => close(reservation, undefined)
  }
}
