/** Token usage and cost: tokens, list prices, spending, and the error raised when a budget is exceeded. */

import * as Data from "effect/Data"
import { counted } from "../Counted.ts"
import * as Elapsed from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import * as Options from "../Options.ts"
import type { Message } from "./Message.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Token usage of a call, or the sum over several calls. */
export interface Usage {
  /** Input tokens, including those read from a cache. */
  readonly inputTokens: number
  /** Output tokens, including reasoning. */
  readonly outputTokens: number
  /** Portion of `inputTokens` read from the vendor's prompt cache. */
  readonly cachedInputTokens?: number
  /** Portion of `inputTokens` written to the vendor's prompt cache. */
  readonly cacheWriteTokens?: number
  /** Portion of `outputTokens` used for reasoning. */
  readonly reasoningTokens?: number
  /**
   * `true` if any count was missing or invalid and has been estimated. For a call that was cut off, the counts are
   * upper bounds.
   */
  readonly estimated?: boolean
  /** The first invalid count reported by the vendor and replaced with an estimate, e.g. `outputTokens: -90`. */
  readonly misreported?: string
}

/** Prices of tokens in USD. */
export interface TokenPrices {
  /** USD per million input tokens. */
  readonly inputPerMillion: number
  /** USD per million output tokens, including reasoning. */
  readonly outputPerMillion: number
  /** USD per million input tokens read from the cache. Defaults to the input price. */
  readonly cachedInputPerMillion?: number | undefined
  /** USD per million input tokens written to the cache. Defaults to the input price. */
  readonly cacheWritePerMillion?: number | undefined
}

/** List prices in USD. If a worker has no pricing, its price is unknown, not zero (see {@link free}). */
export interface Pricing extends TokenPrices {
  /** Prices of all tokens of a call with more than `aboveTokens` input tokens. Some vendors charge more for these. */
  readonly longPrompts?: (TokenPrices & { readonly aboveTokens: number }) | undefined
  /** USD per call, in addition to the token prices. Default: 0. */
  readonly perCall?: number | undefined
  /** Whether the price is play money. Budgets treat it as USD; user interfaces must mark it. */
  readonly isPlay?: boolean | undefined
  /** The source of the price, and the ISO date on which it was read. */
  readonly source?: string | undefined
  readonly date?: string | undefined
}

const tokenPricesShape: Options.ShapeOf<TokenPrices> = {
  inputPerMillion: Options.number(0),
  outputPerMillion: Options.number(0),
  cachedInputPerMillion: Options.number(0),
  cacheWritePerMillion: Options.number(0)
}

/** Validates {@link Pricing}, for use with `Options.check`. */
export const pricingShape: Options.ShapeOf<Pricing> = {
  ...tokenPricesShape,
  longPrompts: { ...tokenPricesShape, aboveTokens: Options.number(0) },
  perCall: Options.number(0),
  isPlay: Options.flag,
  source: Options.text,
  date: Options.text
}

/** Usage and cost of a call. `costUsd` is `undefined` if the price is unknown. */
export interface Paid {
  readonly usage: Usage
  readonly costUsd: number | undefined
}

/** Total spending. */
export interface Spend {
  readonly usage: Usage
  /** Total cost in USD of all calls with a known price. */
  readonly costUsd: number
  readonly calls: number
  /** Number of calls without a known price. They are not included in `costUsd`. */
  readonly unpricedCalls: number
}

/** Usage of zero tokens. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 }

/** Spending of zero. */
export const noSpend: Spend = { usage: noUsage, costUsd: 0, calls: 0, unpricedCalls: 0 }

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Formats a number with four significant digits, without an exponent. */
const decimal = (value: number): string =>
  value === 0 || value >= 1
    ? `${Number(value.toPrecision(4))}`
    : Number(value.toPrecision(4)).toFixed(12).replace(/0+$/, "")

/** Calls, tokens and cost of a plan. */
interface PlanAmount {
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number | undefined
}

/** The price range of a plan, as returned by `Price.of`. */
export interface PlanPrice {
  readonly least: PlanAmount
  readonly likely: PlanAmount
  readonly most: PlanAmount
}

/**
 * The limits of a budget, as error messages name them.
 *
 * @internal
 */
export const limitNames = { costUsd: "cost", tokens: "token", calls: "call" }

/**
 * Returns an amount with its unit, such as `"0.02 USD"` or `"3 calls"`.
 *
 * @internal
 */
export const shownAmount = (limit: keyof typeof limitNames, value: number): string =>
  limit === "costUsd" ? `${decimal(value)} USD` : counted(value, limitNames[limit])

/** Raised when a call or a plan would exceed a limit. `needed` is its worst case, or `undefined` if unknown. */
export class BudgetExceeded extends Data.TaggedError("BudgetExceeded")<{
  readonly limit: "costUsd" | "tokens" | "calls" | "durationMillis"
  readonly allowed: number
  readonly spent: number
  readonly needed: number | undefined
  /** The part of the limit that is reserved for the step that answers (`budget.keep`). It is not spent. */
  readonly reserved?: number | undefined
  /** Set to `"payer"` if the payer's limit was exceeded, rather than a limit of the run or a shared account. */
  readonly account?: "payer" | undefined
  /** The worker without a known price, if this is why `needed` is unknown. */
  readonly worker?: string | undefined
  /** The price of the plan that was not admitted (see `budget.admit`). Undefined if the error concerns a call. */
  readonly plan?: PlanPrice | undefined
  /** The message, if the error concerns a plan. */
  readonly detail?: string | undefined
}> {
  /** The fields of the error. Useful for creating a copy with additional fields. */
  get fields() {
    const { account, allowed, detail, limit, needed, plan, reserved, spent, worker } = this
    return { account, allowed, detail, limit, needed, plan, reserved, spent, worker }
  }

  override get message(): string {
    const { allowed, detail, limit, needed, reserved, spent, worker } = this
    if (detail !== undefined) return detail
    if (limit === "durationMillis") return `The time limit of ${Elapsed.inSeconds(allowed)} was reached.`
    const show = (value: number) => shownAmount(limit, value)
    const rest = `${show(spent)} spent${reserved === undefined ? "" : `, ${show(reserved)} reserved for the answering step`}`
    return needed === undefined
      ? `The cost limit of ${show(allowed)} cannot be enforced, because ${worker === undefined ? "a worker" : `worker "${worker}"`} has no known price. Set \`pricing\`, or \`free\` if it costs nothing.`
      : `The next call could exceed the ${limitNames[limit]} limit of ${show(allowed)}: it needs up to ${show(needed)} (${rest}). Raise the limit${limit === "calls" ? "." : ", or lower --max-output-tokens (in code or a config: worker.maxOutputTokens)."}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Prices and usage
// -------------------------------------------------------------------------------------------------------------------

/** Pricing for workers that cost nothing, such as local models and functions. */
export const free: Pricing = { inputPerMillion: 0, outputPerMillion: 0 }

/**
 * Rounds an amount to twelve significant digits for display, which removes the floating-point noise of sums. Accounts
 * and records store amounts without rounding.
 */
export const rounded = (usd: number): number => Number(usd.toPrecision(12))

/**
 * Whether input and output tokens cost nothing.
 *
 * @internal
 */
export const isFree = (pricing: Pricing | undefined): boolean =>
  pricing !== undefined && pricing.inputPerMillion === 0 && pricing.outputPerMillion === 0

/**
 * Returns the length of a message in characters. An image or file counts as 4,000, which corresponds to a small image.
 */
const charactersOf = (message: Message): number => {
  const { content } = message
  const said =
    typeof content === "string"
      ? content.length
      : content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 4_000), 0)
  if (message.role !== "assistant" || message.toolCalls === undefined) return said
  return message.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, said)
}

/**
 * Estimates usage when the vendor does not report any, at four characters per token and 1,000 tokens per image or file.
 * The result is marked as `estimated`.
 */
export const estimateUsage = (messages: ReadonlyArray<Message>, answer: string): Usage => {
  let characters = 0
  for (const message of messages) characters += charactersOf(message)
  return { inputTokens: Math.ceil(characters / 4), outputTokens: Math.ceil(answer.length / 4), estimated: true }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value === "number" ? `${value}` : typeof value

/** Returns the count if it is valid and no larger than `whole`, or `undefined` otherwise. */
const share = (value: unknown, whole: number): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= whole ? value : undefined

/** Bounds on the plausible usage of a call. */
export interface Bounds {
  /** Largest counts that are plausible without knowing the worst case. */
  readonly most: Pick<Usage, "inputTokens" | "outputTokens">
  /** Calculates the worst case of the call. It replaces any larger count above `most`. */
  readonly worst: () => Pick<Usage, "inputTokens" | "outputTokens">
  /** Whether a count of 0 is implausible, because a worker with a non-zero price returned an answer. */
  readonly isSome: boolean
}

/**
 * Validates the usage reported by a worker: counts must be non-negative integers, cache reads and writes must not
 * exceed the input, and reasoning must not exceed the output.
 *
 * **Details**
 *
 * Plausible usage is returned unchanged. Implausible input or output counts are replaced with the estimate, and
 * implausible cache or reasoning counts are removed; `misreported` records the original value. If `bounds` is set, a
 * count above `bounds.most` is replaced with the worst case reserved for the call.
 *
 * **Example**
 *
 * ```ts
 * import * as Usage from "@divisi/core/Usage"
 *
 * const reported = { inputTokens: 10, outputTokens: -90 }
 * const usage = Usage.checked(reported, () => ({ inputTokens: 8, outputTokens: 20 }))
 * usage // => { inputTokens: 10, outputTokens: 20, estimated: true, misreported: "outputTokens: -90" }
 * ```
 */
export const checked = (reported: unknown, estimate: () => Usage, bounds?: Bounds): Usage => {
  const told: Told = typeof reported === "object" && reported !== null ? reported : {}
  const tokens = (name: "inputTokens" | "outputTokens"): number => {
    const count = told[name]
    if (!isCount(count) || (count === 0 && bounds?.isSome === true)) return estimate()[name]
    return bounds !== undefined && count > bounds.most[name] ? Math.min(count, bounds.worst()[name]) : count
  }
  const inputTokens = tokens("inputTokens")
  const outputTokens = tokens("outputTokens")
  const cachedInputTokens = share(told.cachedInputTokens, inputTokens)
  const cacheWriteTokens = share(told.cacheWriteTokens, inputTokens - (cachedInputTokens ?? 0))
  const counts = {
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: share(told.reasoningTokens, outputTokens)
  }
  if (isSame(told, counts)) return reported as Usage
  const wrong = names.filter((name) => (told[name] ?? undefined) !== counts[name])
  const misreported = wrong.map((name) => `${name}: ${shown(told[name])}`).join(", ")
  return defined({ ...counts, estimated: true, misreported: misreported === "" ? undefined : misreported })
}

/** Counts that are parts of the input or the output. A vendor may omit them. */
const parts = ["cachedInputTokens", "cacheWriteTokens", "reasoningTokens"] as const
const names = ["inputTokens", "outputTokens", ...parts] as const

type Told = { readonly [Name in keyof Usage]?: unknown }

/** Whether all reported counts are valid. Unrolled for speed, because it runs for every call. */
const isSame = (told: Told, counts: Pick<Told, (typeof names)[number]>): boolean =>
  told.inputTokens === counts.inputTokens &&
  told.outputTokens === counts.outputTokens &&
  told.cachedInputTokens === counts.cachedInputTokens &&
  told.cacheWriteTokens === counts.cacheWriteTokens &&
  told.reasoningTokens === counts.reasoningTokens &&
  (told.estimated === undefined || typeof told.estimated === "boolean") &&
  (told.misreported === undefined || typeof told.misreported === "string")

/** Adds the usage of two calls. */
export const addUsage = (left: Usage, right: Usage): Usage => {
  const sum: { -readonly [Name in keyof Usage]: Usage[Name] } = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens
  }
  for (const name of parts) {
    const one = left[name]
    const other = right[name]
    if (one !== undefined || other !== undefined) sum[name] = (one ?? 0) + (other ?? 0)
  }
  if (left.estimated || right.estimated) sum.estimated = true
  const misreported = left.misreported ?? right.misreported
  if (misreported !== undefined) sum.misreported = misreported
  return sum
}

const isPrice = ({
  cachedInputPerMillion = 0,
  cacheWritePerMillion = 0,
  inputPerMillion,
  outputPerMillion,
  perCall = 0
}: Pricing): boolean =>
  Math.min(inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion, perCall) >= 0 &&
  Math.max(inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion, perCall) < Infinity

/**
 * Returns the cost of a call in USD, or `undefined` if the price is unknown. Negative and non-numeric prices count as
 * unknown.
 *
 * **Example**
 *
 * ```ts
 * import * as Usage from "@divisi/core/Usage"
 *
 * const pricing = { inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 0.5 }
 * Usage.cost(pricing, { inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 }) // => 2.4
 * const longPrompts = { aboveTokens: 200_000, inputPerMillion: 4, outputPerMillion: 15 }
 * Usage.cost({ ...pricing, longPrompts }, { inputTokens: 1_000_000, outputTokens: 100_000 }) // => 5.5
 * Usage.cost(undefined, { inputTokens: 1, outputTokens: 1 }) // => undefined
 * ```
 */
export const cost = (pricing: Pricing | undefined, usage: Usage): number | undefined => {
  if (pricing === undefined || !isPrice(pricing)) return undefined
  const { longPrompts, perCall = 0 } = pricing
  if (longPrompts !== undefined && usage.inputTokens > longPrompts.aboveTokens) {
    return cost({ ...longPrompts, perCall }, usage)
  }
  const cached = usage.cachedInputTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const fresh = usage.inputTokens - cached - written
  return (
    (fresh * pricing.inputPerMillion +
      cached * (pricing.cachedInputPerMillion ?? pricing.inputPerMillion) +
      written * (pricing.cacheWritePerMillion ?? pricing.inputPerMillion) +
      usage.outputTokens * pricing.outputPerMillion) /
      1_000_000 +
    perCall
  )
}
