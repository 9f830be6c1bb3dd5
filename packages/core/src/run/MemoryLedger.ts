/** A ledger in memory, which runs of one process can share. Its parent may be stored in a database. */
import * as Effect from "effect/Effect"
import { CallbackError, called } from "../Callback.ts"
import { isA } from "../Thrown.ts"
import { addUsage, BudgetExceeded, noSpend, type Paid, type Spend } from "../task/Usage.ts"
import type { Ledger, Occurrence, Reservation } from "./Budget.ts"
import { blockedOnes, type Caller, drawable, endStuck, isNested, waiting } from "./Caller.ts"
import { ChargedCalls } from "./ChargedCalls.ts"
import {
  type Amount,
  chargeable,
  covered,
  fit,
  type Limits,
  lowest,
  minus,
  type Part,
  type PlanAmount,
  partOf,
  plus,
  refusal,
  type Standing
} from "./Limits.ts"

/** The amount that a nested call drew from an enclosing call's reservation. */
interface Draw extends Part {
  readonly ledger: LedgerNode
  readonly from: Held
}

/** A reservation on an in-memory ledger. */
interface Held extends Reservation {
  readonly node: LedgerNode
  isClosed?: boolean
  /** The amount still available after draws by nested calls, keyed by ledger. Undefined if there were no draws. */
  left?: Map<LedgerNode, Part>
  /** Amounts drawn from the reservations of enclosing calls. */
  readonly draws?: ReadonlyArray<Draw> | undefined
  readonly caller?: Caller | undefined
  /** The call's name, and whether the call is replayed. */
  readonly call?: string | undefined
  readonly isReplayed?: boolean | undefined
  /** Ledgers that were already charged for this call and therefore reserve nothing. */
  readonly charged?: ReadonlySet<LedgerNode> | undefined
}

const isHeld = (reservation: Reservation): reservation is Held =>
  "node" in reservation && reservation.node instanceof LedgerNode

/** Whether the reservation reserves an amount on the ledger. */
const isOn = ({ charged, isClosed, node }: Held, ledger: LedgerNode): boolean => {
  if (isClosed === true || charged?.has(ledger) === true) return false
  for (let one: LedgerNode | undefined = node; one !== undefined; one = one.parent) if (one === ledger) return true
  return false
}

const partOfAmount = ({ costUsd = 0, tokens }: Amount): Part => ({ costUsd, tokens })

/** Returns the amount that the reservation still holds on the ledger. */
const leftOf = ({ amount, left }: Held, ledger: LedgerNode): Part => left?.get(ledger) ?? partOfAmount(amount)

/** Returns the amounts that a call can draw from the reservations of its enclosing calls. */
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

/** Returns the account's totals with the given amounts subtracted from its reservations. */
const without = ({ open, reservedCostUsd, reservedTokens, total }: Standing, draws: ReadonlyArray<Part>): Standing => {
  const { costUsd, tokens } = sumOf(draws)
  return { total, open, reservedCostUsd: reservedCostUsd - costUsd, reservedTokens: reservedTokens - tokens }
}

/** A reservation request for a call. */
interface Wanted {
  readonly caller: Caller | undefined
  readonly amount: Amount
  readonly call: string | undefined
  readonly isReplayed: boolean
}

/** Recorded payments that a resumed run has not replayed yet. */
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

/** Returns the ledger's totals as they apply to a new call: amounts set aside count as spent. */
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

/** Separates the amount reserved by `keep`, which counts as spent for a new call, from the spend of a refusal. */
const withoutKept = ({ kept }: LedgerNode, error: BudgetExceeded): BudgetExceeded => {
  const { limit, spent } = error
  const part = limit === "durationMillis" || kept.calls === 0 ? 0 : kept[limit]
  return part === 0 ? error : new BudgetExceeded({ ...error.fields, spent: spent - part, reserved: part })
}

/**
 * Wraps a user-supplied ledger, whose methods may be async and may throw. If a method throws, the call dies with a
 * `CallbackError`. Ledgers created with {@link make} are returned unchanged.
 *
 * @internal
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

/** Adds one call to a spending total. */
const add = (total: Spend, used: Paid): Spend => ({
  usage: addUsage(total.usage, used.usage),
  costUsd: total.costUsd + (used.costUsd ?? 0),
  calls: total.calls + 1,
  unpricedCalls: total.unpricedCalls + (used.costUsd === undefined ? 1 : 0)
})

export class LedgerNode implements Ledger, Standing {
  readonly limits: Limits
  readonly isLimited: boolean
  readonly costLimit: number | undefined
  readonly parent: LedgerNode | undefined
  /** The parent account of the outermost in-memory ledger. */
  readonly above: Ledger | undefined
  total: Spend = noSpend
  open = 0
  reservedCostUsd = 0
  reservedTokens = 0
  /**
   * Waiting calls in order of arrival. Each callback returns `true` once its call is served or has moved to another
   * ledger's queue.
   */
  readonly waiting = new Set<() => boolean>()
  isServing = false
  held: HeldSpend = nothingHeld
  /** The amount set aside for a later call. */
  kept: HeldSpend = nothingHeld
  /**
   * Upper bounds of the admitted plans, keyed by their run's ledger, with that ledger's spending before the plan
   * started.
   */
  promised: Map<LedgerNode, { readonly most: PlanAmount; readonly base: Spend }> | undefined
  /** The call within which this ledger's run was started. */
  private readonly caller: Caller | undefined

  constructor(limits: Limits, parent: Ledger | undefined, caller: Caller | undefined) {
    this.limits = limits
    this.caller = caller
    this.parent = parent instanceof LedgerNode ? parent : undefined
    this.above = parent instanceof LedgerNode ? parent.above : parent && guarded(parent, "ledger")
    this.costLimit = parent === undefined ? limits.costUsd : lowest(limits.costUsd, parent.costLimit)
    this.isLimited =
      limits.costUsd !== undefined ||
      limits.tokens !== undefined ||
      limits.calls !== undefined ||
      parent?.isLimited === true
  }

  /** Calls already charged to this ledger. */
  charged: ChargedCalls | undefined

  /** Whether this ledger has already been charged for the replayed call. */
  private knows({ call, isReplayed }: Wanted): boolean {
    return isReplayed && call !== undefined && this.charged?.has(call) === true
  }

  remember(call: string): void {
    this.charged ??= new ChargedCalls()
    this.charged.add(call)
  }

  /**
   * Reserves the amount on this ledger and all of its ancestors, or on none of them. If it does not fit now, returns
   * the ledger on which other calls must settle first.
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
      if (found !== "fits") return found === "wait" ? ledger : isReplayed ? found : withoutKept(ledger, found)
      if (drawn !== undefined && drawn.length > 0) draws = [...(draws ?? []), ...drawn]
    }
    for (const draw of draws ?? []) this.move(draw, -1)
    for (let ledger: LedgerNode | undefined = this; ledger !== undefined; ledger = ledger.parent) {
      if (isReplayed) ledger.held = less(ledger.held, amount)
      if (charged?.has(ledger) === true) continue
      ledger.open += 1
      ledger.reservedCostUsd += amount.costUsd ?? 0
      ledger.reservedTokens += amount.tokens
      // If the same call is resumed twice concurrently, only one of the two is charged.
      if (isReplayed && call !== undefined) ledger.remember(call)
    }
    if (caller !== undefined) return { amount, node: this, call, isReplayed, charged, draws, caller }
    return call === undefined ? { amount, node: this } : { amount, node: this, call, isReplayed, charged }
  }

  /**
   * Returns the ledger's totals as they apply to a call. For a new call, amounts set aside and amounts promised to
   * plans of other runs count as spent. Amounts that the call draws from enclosing calls do not count as reserved.
   */
  standing(isReplayed: boolean, drawn: ReadonlyArray<Part> | undefined, by: LedgerNode): Standing {
    const standing = isReplayed ? this : this.withPromised(withHeld(this), by)
    return drawn === undefined || drawn.length === 0 ? standing : without(standing, drawn)
  }

  /** Adds the unused part of the amounts promised to plans of other runs. */
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

  /** Draws part of a reservation, or returns it. */
  private move({ costUsd, from, ledger, tokens }: Draw, sign: 1 | -1): void {
    from.left ??= new Map()
    const left = leftOf(from, ledger)
    from.left.set(ledger, { costUsd: left.costUsd + sign * costUsd, tokens: left.tokens + sign * tokens })
    ledger.reservedCostUsd += sign * costUsd
    ledger.reservedTokens += sign * tokens
  }

  readonly reserve: Ledger["reserve"] = (...asked) => Effect.suspend(() => this.reserveUnsafe(...asked))

  /** Reserves when it is called. Returns a completed effect, unless the call has to wait. */
  reserveUnsafe(
    amount: Amount,
    call?: string,
    occurrence: Occurrence = "replayed",
    caller: Caller | undefined = this.caller
  ): Effect.Effect<Reservation, BudgetExceeded> {
    const wanted: Wanted = { amount, call, isReplayed: occurrence === "replayed", caller }
    const taken = this.take(wanted)
    if (taken instanceof BudgetExceeded) return Effect.fail(taken)
    const reserved = taken instanceof LedgerNode ? this.wait(wanted) : Effect.succeed(taken)
    return this.above === undefined ? reserved : this.withAbove(reserved, call, occurrence, caller)
  }

  /** Also reserves the amount on the parent account. If that fails, the in-memory reservation is released. */
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

  /** Whether any open call can settle without outside help. If not, waiting is pointless. */
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
          // Retries once, because calls that settled in the meantime would not wake this waiter.
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

  private closeHere({ amount, left }: Held): void {
    const { costUsd = 0, tokens } = left?.get(this) ?? amount
    this.open -= 1
    // Eliminates rounding errors: without open calls, the total is exactly zero.
    this.reservedCostUsd = this.open === 0 ? 0 : this.reservedCostUsd - costUsd
    this.reservedTokens -= tokens
  }

  /**
   * Replaces a reservation with the actual usage. Unused draws are returned to the enclosing calls. Usage beyond the
   * reservation, as caused by nested runs, is drawn from them.
   */
  private closeDrawn(held: Held, used: Part): void {
    const { caller, draws = [] } = held
    const left = leftOf(held, this)
    this.closeHere(held)
    const drawn = draws.filter(({ ledger }) => ledger === this)
    // The amount reserved in addition to the draws is released first.
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
   * Serves the queue in order, up to the first call that must keep waiting. A call resumes synchronously and may settle
   * before it is removed from the queue. The loop therefore re-reads the queue, so that no call is served twice and the
   * stack does not grow with the queue length.
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

  readonly settle: Ledger["settle"] = (...asked) => Effect.suspend(() => this.settleUnsafe(...asked))

  /** Settles when it is called. Returns a completed effect, unless there is an account above. */
  settleUnsafe(reservation: Reservation, used: Paid): Effect.Effect<void> {
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
    return this.above === undefined ? Effect.void : this.above.settle(reservation.above!, used)
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

/**
 * Creates an in-memory ledger. Share it between runs to limit their total spending, e.g. in an evaluation.
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
 * If `caller` is set, reservations may draw on that call's own reservation.
 */
export const make = (limits: Limits = {}, parent?: Ledger, caller?: Caller): Ledger =>
  new LedgerNode(limits, parent, caller)

/** Reserves like `ledger.reserve`; an in-memory ledger already when this function is called, which saves effects. */
export const reserveUnsafe: (ledger: Ledger, ...asked: Parameters<Ledger["reserve"]>) => ReturnType<Ledger["reserve"]> =
  (ledger, ...asked) => (ledger instanceof LedgerNode ? ledger.reserveUnsafe(...asked) : ledger.reserve(...asked))

/** Settles like `ledger.settle`; an in-memory ledger already when this function is called, which saves effects. */
export const settleUnsafe = (ledger: Ledger, reservation: Reservation, used: Paid): Effect.Effect<void> =>
  ledger instanceof LedgerNode ? ledger.settleUnsafe(reservation, used) : ledger.settle(reservation, used)

/**
 * Sets aside the worst-case cost of a later call, so that new calls cannot use it. Pass `undefined` to release it.
 *
 * @internal
 */
export const keep = (ledger: Ledger, amount: Amount | undefined): void => {
  if (!(ledger instanceof LedgerNode) || !ledger.isLimited) return
  ledger.kept = amount === undefined ? nothingHeld : { calls: 1, costUsd: amount.costUsd ?? 0, tokens: amount.tokens }
}

/**
 * Sets aside the recorded payments of a resumed run, so that new calls cannot use the amount before the run replays
 * them. The order may differ from the original execution.
 *
 * @internal
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
