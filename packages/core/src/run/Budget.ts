/**
 * Budgets limit the spend of runs; the ledger enforces them.
 *
 * The worst case of a call is reserved before the call starts and replaced by its actual usage after it ends, so no
 * interleaving of concurrent calls exceeds a limit. A call that may fit after others settle waits for them. A call that
 * can never fit fails immediately with `BudgetExceeded`; the run then ends with a result.
 */
import * as Effect from "effect/Effect"
import { CallbackError, called } from "../Callback.ts"
import { isA } from "../Thrown.ts"
import { addUsage, BudgetExceeded, noSpend, type Paid, type Spend } from "../task/Usage.ts"
import type { WorkerRequest } from "../task/Worker.ts"
import { blockedOnes, type Caller, drawable, endStuck, isNested, waiting } from "./Caller.ts"
import { ChargedCalls } from "./ChargedCalls.ts"
import type { Entry } from "./ResponseCache.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The limits of a budget. An absent limit is unlimited. */
export interface Limits {
  /** USD. Under this limit, calls of workers with an unknown price are refused. */
  readonly costUsd?: number | undefined
  /** Input and output tokens together. */
  readonly tokens?: number | undefined
  /** Calls of workers, policies and critics, failed ones included. */
  readonly calls?: number | undefined
  /** The duration of one run in milliseconds, from its start. */
  readonly durationMillis?: number | undefined
}

/** The maximum usage of one call. `costUsd` is `undefined` if the price is unknown. */
export interface Amount {
  readonly costUsd: number | undefined
  readonly tokens: number
}

/** An amount that is reserved until it is settled. */
export interface Reservation {
  readonly amount: Amount
  /** The reservation on the parent account, if the parent is not a ledger in memory. */
  readonly above?: Reservation | undefined
}

/**
 * Whether a reserved call is new, replayed or resumed:
 *
 * - `"replayed"`: the call was sent before and is not sent again. An account that was charged for its name is not
 *   charged again.
 * - `"resumed"`: the call is sent now, by a run with a journal. It takes over an unsettled reservation that an earlier
 *   process made under its name. If that reservation was settled, this is a separate call.
 * - `"new"`: the call is sent now and always charged, even if an earlier call had the same name.
 */
export type Occurrence = "replayed" | "resumed" | "new"

/** A paid call. */
export interface Payment extends Paid {
  /** Present if the call was answered: the answer, under the key of the response cache. */
  readonly answered?: { readonly key: string; readonly entry: Entry } | undefined
}

/** A call that was not made because it does not fit the payer's limits. */
export interface Refusal {
  readonly error: BudgetExceeded
  readonly worker: string
  readonly request: WorkerRequest
}

/**
 * An account that pays for the calls that runs actually make, in addition to the runs' own budgets.
 *
 * **Details**
 *
 * Every call that is sent is charged to this account and to its run's budget; answers from a response cache are not
 * charged here. A call that does not fit is refused, and its run ends with a `BudgetExceeded` whose `account` is
 * `"payer"`. With a limit of 0 calls, only calls that the cache can answer succeed.
 *
 * **Gotchas**
 *
 * Do not use a ledger that the runs share as `account`, because each call would be charged to it twice. The functions
 * must not throw; calls wait for them.
 */
export interface Payer {
  readonly account: Ledger
  /**
   * Whether only this account pays for calls that were lost or stopped with an earlier process of a journaled run. If
   * true, the run is not charged for them and behaves as if it had not been interrupted; the owner of the account must
   * count the lost calls. Default: `false`.
   */
  readonly chargesUnconfirmedCalls?: boolean | undefined
  /** Called for every paid call, including failed ones, before its answer is delivered. */
  readonly onPaid?: ((payment: Payment) => void) | undefined
  readonly onRefused?: ((refusal: Refusal) => void) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Ledger
// -------------------------------------------------------------------------------------------------------------------

/**
 * Counts spend and reservations against limits. Any number of runs may share a ledger. A ledger with a parent also
 * obeys the parent's limits. {@link make} creates a ledger in memory; its parent may be in a database.
 */
export interface Ledger {
  readonly limits: Limits
  /**
   * Whether this ledger or one of its ancestors limits cost, tokens or calls. If not, worst cases need not be
   * calculated.
   */
  readonly isLimited: boolean
  /** The lowest known cost limit in USD of this ledger and its parents. */
  readonly costLimit?: number | undefined
  /**
   * Reserves an amount, and waits for other calls to settle if they may free enough. Run it uninterruptibly
   * (`Effect.uninterruptible`): an amount granted at the moment of an interruption would otherwise stay reserved
   * forever. The wait itself can be interrupted. `call` is the name of the call; an account is not charged again for a
   * call that a resumed run replays. Default of `occurrence`: `"replayed"`, as for held spend ({@link hold}). If the
   * call is made within another call (`caller`), that call's reservation on this account is used first, and the
   * reservation fails if only that call could free enough.
   */
  readonly reserve: (
    amount: Amount,
    call?: string,
    occurrence?: Occurrence,
    caller?: Caller
  ) => Effect.Effect<Reservation, BudgetExceeded>
  /** Replaces a reservation by the actual usage of the call. */
  readonly settle: (reservation: Reservation, used: Paid) => Effect.Effect<void>
  /** Releases the reservation of a call that was never made. */
  readonly release: (reservation: Reservation) => Effect.Effect<void>
  /**
   * Charges USD that was not spent on calls, e.g. for training a policy. The charge is never refused, but leaves less
   * for later reservations. With `call`, it is charged once per name.
   */
  readonly charge: (costUsd: number, call?: string) => Effect.Effect<void>
  /** The amounts settled and charged so far, as known to this process. */
  readonly spent: () => Spend
}

/** The state of an account. */
export interface Standing {
  /** The amounts settled and charged. */
  readonly total: Spend
  /** The number of calls in progress. The fields below are their total worst case. */
  readonly open: number
  readonly reservedCostUsd: number
  readonly reservedTokens: number
}

/** Whether an amount fits in addition to the current reservations, may fit after they settle, or can never fit. */
export type Fit = "fits" | "wait" | BudgetExceeded

/** Reserved amounts below this fraction of a limit are rounding errors. No settlement frees them. */
const rounding = 1e-12

const fitOne = (
  limit: "costUsd" | "tokens" | "calls",
  allowed: number | undefined,
  needed: number,
  spent: number,
  reserved: number
): Fit => {
  if (allowed === undefined || spent + reserved + needed <= allowed) return "fits"
  // A call is never settled for less than one call, so waiting makes no room for another.
  return limit !== "calls" && reserved > rounding * allowed && spent + needed <= allowed
    ? "wait"
    : new BudgetExceeded({ limit, allowed, spent: limit === "calls" ? spent + reserved : spent, needed })
}

/** Whether one more call fits an account. Each implementation of a {@link Ledger} uses it. */
export const fit = (limits: Limits, standing: Standing, amount: Amount): Fit => {
  const { open, reservedCostUsd, reservedTokens, total } = standing
  if (amount.costUsd === undefined && limits.costUsd !== undefined) {
    return new BudgetExceeded({ limit: "costUsd", allowed: limits.costUsd, spent: total.costUsd, needed: undefined })
  }
  const { calls, costUsd, usage } = total
  const fits = [
    fitOne("costUsd", limits.costUsd, amount.costUsd ?? 0, costUsd, reservedCostUsd),
    fitOne("tokens", limits.tokens, amount.tokens, usage.inputTokens + usage.outputTokens, reservedTokens),
    fitOne("calls", limits.calls, 1, calls, open)
  ]
  return fits.find((fit) => typeof fit === "object") ?? fits.find((one) => one === "wait") ?? "fits"
}

/** The maximum calls, tokens and cost of a whole plan. `costUsd` is `undefined` if a part has no known price. */
export interface PlanAmount extends Amount {
  readonly calls: number
}

/** Returns why a plan does not fit an account in addition to the current reservations; `undefined` if it fits. */
const planFit = (limits: Limits, { open, reservedCostUsd, reservedTokens, total }: Standing, plan: PlanAmount) => {
  const { calls, costUsd, usage } = total
  const { calls: allowedCalls, costUsd: allowedCost, tokens: allowedTokens } = limits
  const tokens = usage.inputTokens + usage.outputTokens + reservedTokens
  const isKnown = plan.costUsd !== undefined
  const spentUsd = costUsd + reservedCostUsd
  const spentCalls = calls + open
  const error = (limit: "costUsd" | "tokens" | "calls", allowed: number, spent: number, needed: number | undefined) =>
    new BudgetExceeded({ limit, allowed, spent, needed })
  const exceeds = (allowed: number | undefined, spent: number, needed: number): allowed is number =>
    allowed !== undefined && (!isKnown || spent + needed > allowed)
  if (exceeds(allowedCost, spentUsd, plan.costUsd ?? 0)) return error("costUsd", allowedCost, spentUsd, plan.costUsd)
  if (exceeds(allowedTokens, tokens, plan.tokens))
    return error("tokens", allowedTokens, tokens, isKnown ? plan.tokens : undefined)
  if (exceeds(allowedCalls, spentCalls, plan.calls))
    return error("calls", allowedCalls, spentCalls, isKnown ? plan.calls : undefined)
  return undefined
}

/** Returns the refusal of a call that could fit only after others have settled. */
export const refusal = (limits: Limits, standing: Standing, amount: Amount): BudgetExceeded | undefined => {
  const { reservedCostUsd, reservedTokens, total } = standing
  const usage = addUsage(total.usage, { inputTokens: reservedTokens, outputTokens: 0 })
  const spent = { ...total, usage, costUsd: total.costUsd + reservedCostUsd }
  const found = fit(limits, { ...standing, total: spent, reservedCostUsd: 0, reservedTokens: 0 }, amount)
  return typeof found === "object" ? found : undefined
}

/** An amount of money and tokens. */
export interface Part {
  readonly costUsd: number
  readonly tokens: number
}

/** Returns the part of one amount that another covers. */
export const covered = (needed: Part, there: Part): Part => ({
  costUsd: Math.max(0, Math.min(needed.costUsd, there.costUsd)),
  tokens: Math.max(0, Math.min(needed.tokens, there.tokens))
})

export const minus = (one: Part, other: Part): Part => ({
  costUsd: Math.max(0, one.costUsd - other.costUsd),
  tokens: Math.max(0, one.tokens - other.tokens)
})

export const plus = (one: Part, other: Part): Part => ({
  costUsd: one.costUsd + other.costUsd,
  tokens: one.tokens + other.tokens
})

/** Returns the usage of a call, as money and tokens. */
export const partOf = ({ costUsd = 0, usage }: Paid): Part => ({
  costUsd,
  tokens: usage.inputTokens + usage.outputTokens
})

/**
 * Returns the charge for a call whose reservation was partly used by nested runs: the full amount if it is within the
 * limits, otherwise as much as the limits allow.
 */
export const chargeable = (limits: Limits, standing: Standing, used: Paid): Paid => {
  const { reservedCostUsd, reservedTokens, total } = standing
  const { inputTokens, outputTokens } = used.usage
  const left = (limit: number | undefined, taken: number) => Math.max(0, (limit ?? Number.POSITIVE_INFINITY) - taken)
  const tokens = left(limits.tokens, total.usage.inputTokens + total.usage.outputTokens + reservedTokens)
  const costUsd = used.costUsd && Math.min(used.costUsd, left(limits.costUsd, total.costUsd + reservedCostUsd))
  if (inputTokens + outputTokens <= tokens) return { ...used, costUsd }
  const input = Math.min(inputTokens, tokens)
  return { costUsd, usage: { ...used.usage, inputTokens: input, outputTokens: tokens - input } }
}

/** Returns the lower of two limits; an absent one is unlimited. */
export const lowest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

/** The amount that a nested call took from the reservation of an enclosing one. */
interface Draw extends Part {
  readonly ledger: LedgerNode
  readonly from: Held
}

/** A reservation in memory. */
interface Held extends Reservation {
  readonly node: LedgerNode
  isClosed?: boolean
  /** The unused part of the reservation after nested calls, by ledger. Absent if there are no nested calls. */
  left?: Map<LedgerNode, Part>
  /** The amounts taken from the reservations of the enclosing calls. */
  readonly draws?: ReadonlyArray<Draw> | undefined
  readonly caller?: Caller | undefined
  /** The name of the call, and whether it is replayed. */
  readonly call?: string | undefined
  readonly isReplayed?: boolean | undefined
  /** The ledgers that have already been charged for the call and reserve nothing. */
  readonly charged?: ReadonlySet<LedgerNode> | undefined
}

const isHeld = (reservation: Reservation): reservation is Held =>
  "node" in reservation && reservation.node instanceof LedgerNode

/** Whether a reservation reserves an amount on a ledger. */
const isOn = ({ charged, isClosed, node }: Held, ledger: LedgerNode): boolean => {
  if (isClosed === true || charged?.has(ledger) === true) return false
  for (let one: LedgerNode | undefined = node; one !== undefined; one = one.parent) if (one === ledger) return true
  return false
}

const partOfAmount = ({ costUsd = 0, tokens }: Amount): Part => ({ costUsd, tokens })

/** Returns the amount that a reservation holds on a ledger. */
const leftOf = ({ amount, left }: Held, ledger: LedgerNode): Part => left?.get(ledger) ?? partOfAmount(amount)

/** Returns the amounts that a call can take from the reservations of its enclosing calls. */
const drawsOn = (ledger: LedgerNode, caller: Caller, amount: Part): ReadonlyArray<Draw> => {
  const draws: Array<Draw> = []
  let needed = amount
  for (const from of drawable(caller)) {
    if (!isHeld(from) || !isOn(from, ledger)) continue
    const part = covered(needed, leftOf(from, ledger))
    needed = minus(needed, part)
    if (part.costUsd > 0 || part.tokens > 0) draws.push({ ledger, from, ...part })
  }
  return draws
}

const sumOf = (parts: ReadonlyArray<Part>): Part => parts.reduce(plus, { costUsd: 0, tokens: 0 })

/** Returns the state of an account with a smaller reserved amount. */
const without = ({ open, reservedCostUsd, reservedTokens, total }: Standing, draws: ReadonlyArray<Part>): Standing => {
  const { costUsd, tokens } = sumOf(draws)
  return { total, open, reservedCostUsd: reservedCostUsd - costUsd, reservedTokens: reservedTokens - tokens }
}

/** The requested reservation of a call. */
interface Wanted {
  readonly caller: Caller | undefined
  readonly amount: Amount
  readonly call: string | undefined
  readonly isReplayed: boolean
}

/** The payments of a resumed run that it has not reached again. */
interface HeldSpend {
  readonly costUsd: number
  readonly tokens: number
  readonly calls: number
}

const nothingHeld: HeldSpend = { costUsd: 0, tokens: 0, calls: 0 }

const less = ({ calls, costUsd, tokens }: HeldSpend, amount: Amount): HeldSpend =>
  calls <= 1
    ? nothingHeld
    : {
        calls: calls - 1,
        costUsd: Math.max(0, costUsd - (amount.costUsd ?? 0)),
        tokens: Math.max(0, tokens - amount.tokens)
      }

/** Returns the state of an account for a new call: held amounts count as spent. */
const withHeld = (ledger: LedgerNode): Standing => {
  const { held, kept, open, reservedCostUsd, reservedTokens, total } = ledger
  if (held.calls === 0 && kept.calls === 0) return ledger
  const { calls, costUsd, usage } = total
  return {
    open,
    reservedCostUsd,
    reservedTokens,
    total: {
      ...total,
      calls: calls + held.calls + kept.calls,
      costUsd: costUsd + held.costUsd + kept.costUsd,
      usage: { ...usage, inputTokens: usage.inputTokens + held.tokens + kept.tokens }
    }
  }
}

/**
 * Wraps a user's account, whose functions may be async and may throw. If a function throws, the call dies with a
 * `CallbackError`. Ledgers made by {@link make} are returned unchanged.
 */
export const guarded = (ledger: Ledger, what: string): Ledger => {
  if (ledger instanceof LedgerNode) return ledger
  const refused = (error: unknown) => isA(error, BudgetExceeded)
  const never = (callback: string, call: () => Effect.Effect<void>) =>
    Effect.asVoid(Effect.orDie(called(`${callback} of the ${what}`, call)))
  return {
    get limits() {
      return ledger.limits
    },
    get isLimited() {
      return ledger.isLimited
    },
    get costLimit() {
      return ledger.costLimit
    },
    reserve: (...asked) =>
      Effect.catch(
        called(`reserve of the ${what}`, () => ledger.reserve(...asked), refused),
        (error) => (isA(error, CallbackError) ? Effect.die(error) : Effect.fail(error))
      ),
    settle: (...asked) => never("settle", () => ledger.settle(...asked)),
    release: (...asked) => never("release", () => ledger.release(...asked)),
    charge: (...asked) => never("charge", () => ledger.charge(...asked)),
    spent: () => ledger.spent()
  }
}

class LedgerNode implements Ledger, Standing {
  readonly limits: Limits
  readonly isLimited: boolean
  readonly costLimit: number | undefined
  readonly parent: LedgerNode | undefined
  /** The account above the topmost of these ledgers. */
  readonly above: Ledger | undefined
  total: Spend = noSpend
  open = 0
  reservedCostUsd = 0
  reservedTokens = 0
  /** The waiting calls, in order. Each returns true once it is served or waits at another ledger. */
  readonly waiting = new Set<() => boolean>()
  isServing = false
  held: HeldSpend = nothingHeld
  /** The amount that new calls leave free for a later one. */
  kept: HeldSpend = nothingHeld
  /** The maximum usage of admitted plans, by the ledger of their run, with that ledger's spend before the plan. */
  promised: Map<LedgerNode, { readonly most: PlanAmount; readonly base: Spend }> | undefined
  /** The call within which the run of this ledger was started. */
  private readonly caller: Caller | undefined

  constructor(limits: Limits, parent: Ledger | undefined, caller: Caller | undefined) {
    this.limits = limits
    this.caller = caller
    this.parent = parent instanceof LedgerNode ? parent : undefined
    this.above = parent instanceof LedgerNode ? parent.above : parent && guarded(parent, "ledger")
    this.costLimit = lowest(limits.costUsd, parent?.costLimit)
    this.isLimited =
      limits.costUsd !== undefined ||
      limits.tokens !== undefined ||
      limits.calls !== undefined ||
      parent?.isLimited === true
  }

  /** The calls that this ledger was charged for. */
  charged: ChargedCalls | undefined

  /** Whether it has been charged for a replayed call. */
  private knows({ call, isReplayed }: Wanted): boolean {
    return isReplayed && call !== undefined && this.charged?.has(call) === true
  }

  remember(call: string): void {
    this.charged ??= new ChargedCalls()
    this.charged.add(call)
  }

  /**
   * Reserves the amount on this ledger and all its parents, or on none. If it does not fit, returns the ledger that has
   * to free an amount first.
   */
  private take(wanted: Wanted): Held | LedgerNode | BudgetExceeded {
    const { amount, call, caller, isReplayed } = wanted
    let charged: Set<LedgerNode> | undefined
    let draws: Array<Draw> | undefined
    for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
      if (ledger.knows(wanted)) {
        charged ??= new Set()
        charged.add(ledger)
        continue
      }
      const drawn = caller && drawsOn(ledger, caller, partOfAmount(amount))
      const found = ledger.isLimited ? fit(ledger.limits, ledger.standing(isReplayed, drawn, this), amount) : "fits"
      if (found !== "fits") return found === "wait" ? ledger : found
      if (drawn !== undefined && drawn.length > 0) draws = [...(draws ?? []), ...drawn]
    }
    for (const draw of draws ?? []) this.move(draw, -1)
    for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
      if (isReplayed) ledger.held = less(ledger.held, amount)
      if (charged?.has(ledger) === true) continue
      ledger.open += 1
      ledger.reservedCostUsd += amount.costUsd ?? 0
      ledger.reservedTokens += amount.tokens
      // Of two resumptions at once, one charges.
      if (isReplayed && call !== undefined) ledger.remember(call)
    }
    if (caller !== undefined) return { amount, node: this, call, isReplayed, charged, draws, caller }
    return call === undefined ? { amount, node: this } : { amount, node: this, call, isReplayed, charged }
  }

  /**
   * Returns the state of this ledger for a call. For a new call, held amounts and amounts promised to plans of other
   * runs count as spent. The call's draws do not count as reserved.
   */
  standing(isReplayed: boolean, drawn: ReadonlyArray<Part> | undefined, by: LedgerNode): Standing {
    const standing = isReplayed ? this : this.withPromised(withHeld(this), by)
    return drawn === undefined || drawn.length === 0 ? standing : without(standing, drawn)
  }

  /** Adds the amounts that were promised to plans of other runs and are not used yet. */
  withPromised(standing: Standing, by: LedgerNode): Standing {
    if (this.promised === undefined) return standing
    let { open, reservedCostUsd, reservedTokens } = standing
    for (const [run, { base, most }] of this.promised) {
      if (run === by) continue
      const { calls, costUsd, usage } = run.total
      const used = usage.inputTokens + usage.outputTokens - base.usage.inputTokens - base.usage.outputTokens
      open += Math.max(0, most.calls - (calls - base.calls) - run.open)
      reservedCostUsd += Math.max(0, (most.costUsd ?? 0) - (costUsd - base.costUsd) - run.reservedCostUsd)
      reservedTokens += Math.max(0, most.tokens - used - run.reservedTokens)
    }
    return { total: standing.total, open, reservedCostUsd, reservedTokens }
  }

  /** Takes a part of a reservation, or returns it. */
  private move({ costUsd, from, ledger, tokens }: Draw, sign: 1 | -1): void {
    from.left ??= new Map()
    const left = leftOf(from, ledger)
    from.left.set(ledger, { costUsd: left.costUsd + sign * costUsd, tokens: left.tokens + sign * tokens })
    ledger.reservedCostUsd += sign * costUsd
    ledger.reservedTokens += sign * tokens
  }

  readonly reserve = (
    amount: Amount,
    call?: string,
    occurrence: Occurrence = "replayed",
    caller: Caller | undefined = this.caller
  ): Effect.Effect<Reservation, BudgetExceeded> =>
    Effect.suspend(() => {
      const wanted: Wanted = { amount, call, isReplayed: occurrence === "replayed", caller }
      const taken = this.take(wanted)
      if (taken instanceof BudgetExceeded) return Effect.fail(taken)
      const reserved = taken instanceof LedgerNode ? this.wait(wanted) : Effect.succeed(taken)
      return this.above === undefined ? reserved : this.withAbove(reserved, call, occurrence, caller)
    })

  /** Also reserves the amount on the parent account, or on neither. */
  private withAbove(
    reserved: Effect.Effect<Held, BudgetExceeded>,
    call: string | undefined,
    occurrence: Occurrence,
    caller: Caller | undefined
  ): Effect.Effect<Reservation, BudgetExceeded> {
    const { above } = this
    if (above === undefined) return reserved
    return Effect.flatMap(reserved, (own) => {
      const waitsHere: Caller = { reservations: [own], above: caller, isWaiting: true }
      return Effect.map(
        Effect.onError(above.reserve(own.amount, call, occurrence, waitsHere), () =>
          Effect.sync(() => this.giveBack(own))
        ),
        (reservation): Reservation => Object.assign(own, { above: reservation })
      )
    })
  }

  /** Whether an open call can settle by itself. If not, waiting cannot free anything. */
  private mayFree(): boolean {
    let stuck = 0
    for (const one of blockedOnes()) if (isHeld(one) && isOn(one, this)) stuck += 1
    return this.open > stuck
  }

  /**
   * Waits in the queue until the amount fits. If the caller is interrupted before it receives the reservation, the
   * reservation is released.
   */
  private wait(wanted: Wanted): Effect.Effect<Held, BudgetExceeded> {
    let granted: Held | undefined
    let full: LedgerNode | undefined
    let end: (() => void) | undefined
    return Effect.onInterrupt(
      Effect.interruptible(
        Effect.callback<Held, BudgetExceeded>((resume) => {
          const settle = (taken: Held | BudgetExceeded) => {
            end?.()
            if (taken instanceof BudgetExceeded) return resume(Effect.fail(taken))
            granted = taken
            resume(Effect.succeed(taken))
          }
          const waiter = () => {
            const taken = this.take(wanted)
            if (taken instanceof LedgerNode) {
              if (taken === full) return false
              full = taken
              full.waiting.add(waiter)
              return true
            }
            settle(taken)
            return true
          }
          const check = () => {
            if (full === undefined || full.mayFree()) return false
            full.waiting.delete(waiter)
            const taken = this.take(wanted)
            settle(
              taken instanceof LedgerNode
                ? refusal(taken.limits, taken.standing(wanted.isReplayed, undefined, this), wanted.amount)!
                : taken
            )
            return true
          }
          const { caller } = wanted
          if (caller !== undefined) end = waiting(caller, isNested(caller) ? check : undefined)
          // Other calls may have settled since there was no room, and no other event would retry.
          waiter()
          if (caller !== undefined) endStuck()
          return Effect.sync(() => {
            end?.()
            full?.waiting.delete(waiter)
          })
        })
      ),
      () => Effect.sync(() => granted !== undefined && this.giveBack(granted))
    )
  }

  private closeHere(held: Held): void {
    const { costUsd, tokens } = leftOf(held, this)
    this.open -= 1
    // Removes rounding errors: with nothing open, the sum is exactly zero.
    this.reservedCostUsd = this.open === 0 ? 0 : this.reservedCostUsd - costUsd
    this.reservedTokens -= tokens
  }

  /**
   * Replaces a reservation by the actual usage. The unused part of its draws returns to the enclosing calls. Usage
   * beyond the reservation, part of which nested runs have used, is taken from them.
   */
  private closeDrawn(held: Held, used: Part): void {
    const { caller, draws = [] } = held
    const left = leftOf(held, this)
    this.closeHere(held)
    const drawn = draws.filter(({ ledger }) => ledger === this)
    // The amount reserved beyond the draws is released first.
    let rest = minus(minus(left, used), minus(partOfAmount(held.amount), sumOf(drawn)))
    for (const draw of drawn) {
      if (!isOn(draw.from, this)) continue
      const back = covered(rest, draw)
      rest = minus(rest, back)
      this.move({ ...draw, ...back }, 1)
    }
    if (caller === undefined) return
    for (const draw of drawsOn(this, caller, minus(used, left))) this.move(draw, -1)
  }

  /**
   * Serves the queue in order until a call has to wait. A woken call runs synchronously and may settle before it has
   * left the queue. The loop therefore re-reads the queue, so that no call is served twice and the stack does not grow
   * with the number of waiting calls.
   */
  private serve(): void {
    if (this.isServing) return
    this.isServing = true
    for (const waiter of this.waiting) {
      if (!waiter()) break
      this.waiting.delete(waiter)
    }
    this.isServing = false
    if (this.waiting.size > 0) endStuck()
  }

  private giveBack(reservation: Held): void {
    const { call, charged, isReplayed } = reservation
    reservation.isClosed = true
    for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
      if (charged?.has(ledger) === true) continue
      ledger.closeDrawn(reservation, { costUsd: 0, tokens: 0 })
      if (isReplayed === true && call !== undefined) ledger.charged?.delete(call)
    }
    this.serveAll()
  }

  readonly release = (reservation: Reservation): Effect.Effect<void> => {
    const closed = Effect.sync(() => this.giveBack(reservation as Held))
    return this.above === undefined ? closed : Effect.andThen(closed, this.above.release(reservation.above!))
  }

  readonly settle = (reservation: Reservation, used: Paid): Effect.Effect<void> => {
    const settled = Effect.sync(() => {
      const held = reservation as Held
      const { caller, call, charged, left } = held
      held.isClosed = true
      for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
        if (charged?.has(ledger) === true) continue
        if (caller === undefined && left === undefined) {
          ledger.total = add(ledger.total, used)
          ledger.closeHere(held)
        } else {
          ledger.closeDrawn(held, partOf(used))
          ledger.total = add(ledger.total, left === undefined ? used : chargeable(ledger.limits, ledger, used))
        }
        if (call !== undefined) ledger.remember(call)
      }
      this.serveAll()
    })
    return this.above === undefined ? settled : Effect.andThen(settled, this.above.settle(reservation.above!, used))
  }

  serveAll(): void {
    for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) ledger.serve()
  }

  readonly charge = (costUsd: number, call?: string): Effect.Effect<void> => {
    const charged = Effect.sync(() => {
      for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
        if (call !== undefined && ledger.charged?.has(call) === true) continue
        ledger.total = { ...ledger.total, costUsd: ledger.total.costUsd + costUsd }
        if (call !== undefined) ledger.remember(call)
      }
      this.serveAll()
    })
    return this.above === undefined ? charged : Effect.andThen(charged, this.above.charge(costUsd, call))
  }

  readonly spent = (): Spend => this.total
}

/** Adds one call to the spend. */
export const add = (total: Spend, used: Paid): Spend => ({
  usage: addUsage(total.usage, used.usage),
  costUsd: total.costUsd + (used.costUsd ?? 0),
  calls: total.calls + 1,
  unpricedCalls: total.unpricedCalls + (used.costUsd === undefined ? 1 : 0)
})

/**
 * Makes a ledger. Share it between runs to limit their total spend, e.g. in an evaluation.
 *
 * **Example**
 *
 * ```ts
 * import { Budget } from "@divisi/core"
 * import * as Effect from "effect/Effect"
 *
 * const ledger = Budget.make({ calls: 1 })
 * const reservation = Effect.runSync(ledger.reserve({ costUsd: 0.01, tokens: 500 }))
 * Effect.runSync(ledger.settle(reservation, { usage: { inputTokens: 120, outputTokens: 80 }, costUsd: 0.004 }))
 * ledger.spent().costUsd // => 0.004
 * ```
 *
 * With `caller`, its reservations are made within that call.
 */
export const make = (limits: Limits = {}, parent?: Ledger, caller?: Caller): Ledger =>
  new LedgerNode(limits, parent, caller)

/**
 * Sets aside the worst case of a later call, so that new calls cannot use it. With `undefined`, makes it available
 * again.
 */
export const keep = (ledger: Ledger, amount: Amount | undefined): void => {
  if (!(ledger instanceof LedgerNode) || !ledger.isLimited) return
  ledger.kept = amount === undefined ? nothingHeld : { calls: 1, costUsd: amount.costUsd ?? 0, tokens: amount.tokens }
}

/**
 * Returns why a plan does not fit the remaining amounts of a ledger and its ancestors, or `undefined` if it fits. Calls
 * in flight and plans of other runs count at their worst case. `"own"` checks this ledger alone, so that a resumed run
 * makes the same decision. For an account outside this process, only its spend is known.
 */
export const planRefusal = (ledger: Ledger, plan: PlanAmount, which?: "own"): BudgetExceeded | undefined => {
  if (!(ledger instanceof LedgerNode))
    return planFit(ledger.limits, { total: ledger.spent(), open: 0, reservedCostUsd: 0, reservedTokens: 0 }, plan)
  if (which === "own") return planFit(ledger.limits, ledger, plan)
  for (let one: LedgerNode | undefined = ledger; one !== undefined; one = one.parent) {
    const refused = planFit(one.limits, one.standing(false, undefined, ledger), plan)
    if (refused !== undefined) return refused
  }
  return ledger.above && planRefusal(ledger.above, plan)
}

/**
 * Sets aside the amount of an admitted plan for the run of a ledger. On the ledger's ancestors, calls and plans of
 * other runs cannot use it until the returned function is called.
 */
export const promise = (ledger: Ledger, most: PlanAmount): (() => void) => {
  if (!(ledger instanceof LedgerNode) || ledger.parent === undefined) return () => {}
  const base = ledger.total
  for (let one: LedgerNode | undefined = ledger.parent; one !== undefined; one = one.parent) {
    one.promised ??= new Map()
    one.promised.set(ledger, { most, base })
  }
  return () => {
    for (let one: LedgerNode | undefined = ledger.parent; one !== undefined; one = one.parent) {
      one.promised?.delete(ledger)
      if (one.promised?.size === 0) one.promised = undefined
    }
    ledger.serveAll()
  }
}

/**
 * Sets aside the payments of a resumed run, so that new calls cannot use the amount until the run replays them. The
 * order may differ from the first execution.
 */
export const hold = (ledger: Ledger, paid: ReadonlyArray<Paid>): void => {
  if (!(ledger instanceof LedgerNode) || !ledger.isLimited) return
  ledger.held = paid.reduce<HeldSpend>(
    ({ calls, costUsd, tokens }, { costUsd: cost = 0, usage }) => ({
      calls: calls + 1,
      costUsd: costUsd + cost,
      tokens: tokens + usage.inputTokens + usage.outputTokens
    }),
    nothingHeld
  )
}
