/**
 * Persistent accounts: limits on the spend of runs, shared by all processes that use one store.
 *
 * Each account is a `Ledger`: the runs that share it never exceed its limits together, even across processes and
 * restarts. Accounts can be nested: for example, the account of a run is below that of its key, which is below that of
 * its team, which is below that of the day. `DiskAccounts` of `@divisi/files` stores them in a file, `PostgresAccounts`
 * of `@divisi/cluster` in a database. Other implementations should pass `AccountsContract` of
 * `@divisi/testkit/journals`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { BudgetExceeded, type Paid } from "../task/Usage.ts"
import * as Budget from "./Budget.ts"
import { type Caller, drawable, endStuck, isBlocked, isNested, waiting } from "./Caller.ts"

/** The limits of an account: USD, tokens, calls. An absent limit is unlimited. */
export type Limits = Omit<Budget.Limits, "durationMillis">

/** Options for opening an account. */
export interface AccountOptions {
  /** The unique name of the account, e.g. `team/red`. */
  readonly name: string
  /** New limits, which apply to all processes. If absent, the current limits are unchanged. */
  readonly limits?: Limits | undefined
  /** With `"day"`, the account resets each day at midnight UTC. A call counts toward the day on which it started. */
  readonly per?: "day" | undefined
  /** The parent account. Charges to this account are also charged to the parent. */
  readonly parent?: Account | undefined
}

/** The spend and reservations of all processes on an account. */
export interface Standing extends Budget.Standing {
  readonly name: string
  readonly limits: Limits
  /** Why the stored limits cannot be read. If present, nothing more can be spent. */
  readonly damaged?: string
}

/** Reads stored limits. If they are damaged, the account allows no more spend; other accounts are not affected. */
export const readLimits = (text: unknown): Pick<Standing, "limits" | "damaged"> => {
  try {
    const limits: unknown = JSON.parse(String(text))
    if (typeof limits === "object" && limits !== null) return { limits }
  } catch {}
  return { limits: { costUsd: 0, tokens: 0, calls: 0 }, damaged: "its limits cannot be read" }
}

/** An account cannot be used. A run that needs it fails with this error. */
export interface AccountsError extends Error {
  readonly _tag: "AccountsError"
}

/** An account: a `Ledger` for `RunOptions.ledger`, for a `Payer`, or as the parent of a ledger in memory. */
export interface Account<E extends AccountsError = AccountsError> extends Budget.Ledger {
  readonly name: string
  readonly standing: Effect.Effect<Standing, E>
  /** This account and its ancestors. */
  readonly chain: ReadonlyArray<AccountOptions>
}

/** How a correction changes an account: by an amount in USD (negative for a credit), or to a fixed amount. */
export type Change = { readonly addUsd: number } | { readonly setUsd: number }

/** A correction of the spend of accounts. */
export interface Correction {
  /** The unique id of the correction in its store. A second correction with the same id has no effect. */
  readonly id: string
  /** The person or program that makes the correction. */
  readonly by: string
  readonly reason: string
  readonly change: Change
  /**
   * The names of the accounts, as in `Accounts.list`, from the lowest to the topmost. `setUsd` sets the topmost; the
   * others change by the same amount. The spend of an account never falls below 0.
   */
  readonly names: ReadonlyArray<string>
}

/** A correction as recorded in the audit log. */
export interface Adjustment extends Omit<Correction, "names"> {
  /** The time, in milliseconds since 1970. */
  readonly at: number
  readonly accounts: ReadonlyArray<{ readonly name: string; readonly beforeUsd: number; readonly afterUsd: number }>
}

/**
 * Returns an account's spend after a correction, in USD. `topmostUsd` is the spend of the topmost account before it.
 */
export const correctedUsd = (change: Change, beforeUsd: number, topmostUsd: number): number =>
  Math.max(0, beforeUsd + ("addUsd" in change ? change.addUsd : change.setUsd - topmostUsd))

/** A store of accounts. */
export interface Accounts<E extends AccountsError = AccountsError> {
  /** The location of the accounts for display, such as a file. */
  readonly name: string
  /** The time by the clock of the store, in milliseconds since 1970. Names of days and months are derived from it. */
  readonly now: () => number
  /** Opens an account, and creates it if it does not exist. */
  readonly open: (options: AccountOptions) => Effect.Effect<Account<E>, E>
  /** Returns all accounts, the most recently changed first. A daily account appears once per day. */
  readonly list: Effect.Effect<ReadonlyArray<Standing>, E>
  /**
   * Corrects the spend of accounts and writes the audit log in one transaction. Returns the adjustment; if one with
   * this id exists, returns the existing one.
   */
  readonly adjust: (correction: Correction) => Effect.Effect<Adjustment, E>
  /** Returns all adjustments in chronological order. */
  readonly adjustments: Effect.Effect<ReadonlyArray<Adjustment>, E>
}

/** An account with its current name, including the day if it resets daily. */
export type Named = Pick<AccountOptions, "name" | "limits">

/** Formats a time as a UTC date, such as 2026-11-24. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Returns the current name of an account, including the day if it resets daily. */
export const nameAt = ({ name, per }: Pick<AccountOptions, "name" | "per">, now: number): string =>
  per === "day" ? `${name}@${dayOf(now)}` : name

/** Returns the name of an account without the day. */
export const undated = (name: string): string => name.replace(/@\d{4}-\d\d-\d\d$/, "")

/** The interval at which a waiting call checks whether other calls have made room. */
const napMillis = 25

/** The number of naps after which a waiting call checks for processes that have died. */
const napsToLook = 20

/**
 * The part of a call's reservation that comes from the reservation of an enclosing call on one account. A negative
 * amount is returned to it.
 */
export interface Draw<A> extends Budget.Part {
  /** The reservation of the enclosing call, as returned by `Place.take`. */
  readonly from: A
  /** The name of the account, including the day. */
  readonly account: string
}

/** The result of {@link Place.take}. */
export interface Taken<A> {
  readonly hold: A
  /** Whether an amount was reserved. If false, the accounts had already been charged for a call with this name. */
  readonly isNew: boolean
}

/** The requested reservation. */
export interface Wanted {
  readonly amount: Budget.Amount
  readonly call: string | undefined
  readonly occurrence: Budget.Occurrence
}

/** A store of accounts as opened by this process. A process may open a store several times. */
export interface Opening<A> {
  /** The reservations made through this opening. */
  readonly holds: Set<Hold<A>>
  /** The reservations of all openings of the store in this process, including this one. */
  readonly all: ReadonlySet<ReadonlySet<Hold<A>>>
}

const openings = new Map<string, Set<Set<Hold<unknown>>>>()

/**
 * Registers that this process has opened a store, until the scope closes. A nested run uses the reservation of its
 * enclosing call, even if another opening made it.
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

/** Reserves amounts on an account that is shared with other processes. */
export interface Place<A> {
  readonly opening: Opening<A>
  /** The account and its ancestors, with their current names. */
  readonly chain: () => ReadonlyArray<Named>
  /**
   * Reserves an amount, of which `draws` come from other reservations. Returns `"wait"` if other calls may free enough.
   */
  readonly take: (
    chain: ReadonlyArray<Named>,
    wanted: Wanted,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<Taken<A> | "wait" | BudgetExceeded>
  /**
   * Replaces a reservation by the actual usage, or releases it if `used` is absent. If nested calls have used part of
   * it, an account is charged at most up to its limit.
   */
  readonly close: (
    hold: A,
    used: Paid | undefined,
    isDrawn: boolean,
    draws: ReadonlyArray<Draw<A>>
  ) => Effect.Effect<void>
  /** The current state of the account and its ancestors. */
  readonly standings: Effect.Effect<ReadonlyArray<Pick<Standing, "limits" | keyof Budget.Standing>>>
  /** Charges the reservations of processes that have exited without settling them. */
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

  /** Takes a part of the reservation, or returns it. */
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

/** Closes a reservation: returns unused draws, and draws usage beyond the reservation from the enclosing calls. */
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

/** Whether an open call of this process can settle by itself. A nested call waits only for such calls. */
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
 * Implements `reserve` and `settle` for an account. One waiting call polls on behalf of its whole process. Nested calls
 * poll for themselves, because the polling call may be waiting for their enclosing calls.
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
   * Waits for other calls to settle. If only its enclosing calls could free enough, a nested call calls `end` and is
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
