/**
 * The policy for a pool without learned data: chooses the worker to ask.
 *
 * By default it asks only the strongest worker. In our tests, no router that reads only the question was better than
 * that on kinds of questions without graded data, and many were worse. The strongest worker is taken from public
 * benchmark results if they cover the whole pool; otherwise list prices are used as a proxy for strength.
 */
import * as Effect from "effect/Effect"
import * as Tables from "../Options.ts"
import type { Worker } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { agreed } from "./Escalation.ts"
import { able, asked, asking, checkOf, standing } from "./OneWorker.ts"
import * as Policy from "./Policy.ts"
import { type PublicRecord, publicRecords } from "./publicRecords.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Public benchmark results of models, each with its source and date. */
export const records: ReadonlyArray<PublicRecord> = publicRecords

/** A public benchmark result of a worker in the pool. */
export interface Measured {
  /** The index of the worker. */
  readonly worker: number
  /** The share of correct answers, from 0 to 1. */
  readonly mean: number
  readonly standardError: number
  readonly questions: number
}

/** The chosen worker and the reason. */
export interface Choice {
  /** The indices of the workers to ask: either one, or two plus a third that is asked if their answers differ. */
  readonly workers: readonly [number] | readonly [number, number, number]
  /** The reason, as a sentence for display. */
  readonly why: string
}

/**
 * The tradeoff between quality and cost. `best`: the best worker at any price. `within-2`: the cheapest worker within 2
 * percentage points of the best. `half`: the best choice at half the cost of the best worker.
 */
export const dials = ["best", "within-2", "half"] as const

/** One of {@link dials}. */
export type Dial = (typeof dials)[number]

/** Options for choosing a worker. */
export interface Options {
  readonly name?: string | undefined
  /** The tradeoff between quality and cost. Default: `"best"`. */
  readonly dial?: Dial | undefined
  /** The public benchmark results to use. Default: {@link records}. */
  readonly records?: ReadonlyArray<PublicRecord> | undefined
}

const table = Tables.table({
  name: Tables.name,
  dial: Tables.oneOf(...dials),
  records: Tables.expects("a list of records", Array.isArray)
} satisfies Tables.ShapeOf<Options>)

/** The maximum loss of accuracy of a cheaper choice. */
const tolerance = 0.02

// -------------------------------------------------------------------------------------------------------------------
// Known data
// -------------------------------------------------------------------------------------------------------------------

/** Returns a model name without its provider, so that `openai:o3-mini` and `openai_o3-mini` are equal. */
const modelOf = (id: string): string =>
  id
    .toLowerCase()
    .replace(/^[^:]*:/, "")
    .replace(/^.*[/_](?=[a-z])/, "")

/** Returns a record's data about these workers, or `undefined` if it does not cover them all. */
const measuredBy = (
  { questions, right, workers }: PublicRecord,
  models: ReadonlyArray<string>
): ReadonlyArray<Measured> | undefined => {
  const names = workers.map(modelOf)
  const places = models.map((model) => names.indexOf(model))
  if (places.includes(-1)) return undefined
  return places.map((place, worker) => {
    const mean = right[place]! / questions
    return { worker, mean, standardError: Math.sqrt((mean * (1 - mean)) / questions), questions }
  })
}

/** Returns the data of the first record that covers the whole pool. */
const measured = (pool: ReadonlyArray<Worker>, records: ReadonlyArray<PublicRecord>) => {
  const models = pool.map(({ id }) => modelOf(id))
  for (const record of records) {
    const found = measuredBy(record, models)
    if (found !== undefined) return { record, found }
  }
  return undefined
}

/**
 * Returns output prices in USD per million tokens, with input prices to break ties; `undefined` if a price is unknown.
 */
const pricesOf = (pool: ReadonlyArray<Worker>): ReadonlyArray<number> | undefined => {
  const prices = pool.flatMap(({ pricing }) =>
    pricing === undefined ? [] : [pricing.outputPerMillion + pricing.inputPerMillion / 1000]
  )
  return prices.length === pool.length ? prices : undefined
}

const highest = (values: ReadonlyArray<number>): number => values.indexOf(Math.max(...values))

interface Known {
  readonly ids: ReadonlyArray<string>
  readonly prices: ReadonlyArray<number> | undefined
  readonly record: PublicRecord | undefined
  readonly found: ReadonlyArray<Measured> | undefined
}

const knownOf = (pool: ReadonlyArray<Worker>, records: ReadonlyArray<PublicRecord>): Known => ({
  ids: pool.map(({ id }) => id),
  prices: pricesOf(pool),
  record: undefined,
  found: undefined,
  ...measured(pool, records)
})

// -------------------------------------------------------------------------------------------------------------------
// Choosing
// -------------------------------------------------------------------------------------------------------------------

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const measuredText = ({ ids, record }: Known, one: Measured): string =>
  `${ids[one.worker]} answered ${percent(one.mean)} ± ${(100 * one.standardError).toFixed(1)} of ${one.questions} questions of ${record!.name} correctly (${record!.repository}, read ${record!.date})`

/** Returns the cheapest measured worker whose result does not differ significantly from the best. */
const bestMeasured = ({ found = [], prices }: Known): Measured => {
  const best = found[highest(found.map(({ mean }) => mean))]!
  const alike = found.filter(
    ({ mean, standardError }) => best.mean - mean <= Math.hypot(standardError, best.standardError)
  )
  if (prices === undefined) return best
  return alike.reduce((cheapest, one) => (prices[one.worker]! < prices[cheapest.worker]! ? one : cheapest), best)
}

const strongest = (known: Known): Choice => {
  const { found, ids, prices } = known
  if (found !== undefined) {
    const one = bestMeasured(known)
    return {
      workers: [one.worker],
      why: `${measuredText(known, one)}, and no worker in the pool is significantly better.`
    }
  }
  if (prices === undefined || Math.min(...prices) === Math.max(...prices)) {
    return {
      workers: [0],
      why: `${ids[0]} is first in the pool; neither public records nor prices rank the workers.`
    }
  }
  const dearest = highest(prices)
  return {
    workers: [dearest],
    why: `${ids[dearest]} has the highest price in the pool, and no public record covers the whole pool.`
  }
}

/** Returns the cheapest worker that is within the tolerance of the best with high confidence. */
const within = (known: Known): Choice => {
  const { found, prices } = known
  if (found === undefined || prices === undefined) return strongest(known)
  const best = bestMeasured(known)
  const isNear = ({ mean, standardError }: Measured) =>
    mean - Math.hypot(standardError, best.standardError) >= best.mean - tolerance
  const cheapest = found
    .filter((one) => one.worker === best.worker || isNear(one))
    .reduce((one, other) => (prices[other.worker]! < prices[one.worker]! ? other : one))
  return {
    workers: [cheapest.worker],
    why: `${measuredText(known, cheapest)}, significantly within 2 points of the best.`
  }
}

/**
 * Returns two workers that together cost half of the strongest, with the strongest if they differ; or one worker at
 * half the cost; or the strongest.
 */
const half = (known: Known): Choice => {
  const { found, ids, prices } = known
  const best = strongest(known)
  if (prices === undefined) return best
  const [top] = best.workers
  const worth = (worker: number) => found?.[worker]?.mean ?? prices[worker]!
  const cheap = prices
    .flatMap((price, worker) => (worker !== top && price <= prices[top]! / 2 ? [worker] : []))
    .sort((left, right) => worth(right) - worth(left))
  const [a, b] = cheap
  if (a === undefined) return best
  if (b !== undefined && prices[a]! + prices[b]! <= prices[top]! / 4) {
    return {
      workers: [a, b, top],
      why: `${ids[a]} and ${ids[b]} are cheap, and ${ids[top]} is called if they differ.`
    }
  }
  return { workers: [a], why: `${ids[a]} costs at most half of ${ids[top]}.` }
}

const ways: Readonly<Record<Dial, (known: Known) => Choice>> = { best: strongest, "within-2": within, half }

/** Chooses the worker to ask, and gives the reason. */
export const choose = (pool: WorkerPool, options: Options = {}): Choice => {
  Tables.check("Strongest.choose", options, table)
  return chosen(pool, options)
}

const chosen = ({ workers }: WorkerPool, { dial = "best", records: from = records }: Options): Choice =>
  ways[dial](knownOf(workers, from))

/** Like {@link choose}, among the workers with the given ordinals. */
const chooseAmong = ({ pool }: Policy.Context, among: ReadonlyArray<number>, options: Options): Choice => {
  const { why, workers } = chosen({ workers: among.map((ordinal) => pool.workers[ordinal]!) as never }, options)
  return { why, workers: workers.map((place) => among[place]!) as unknown as Choice["workers"] }
}

// -------------------------------------------------------------------------------------------------------------------
// Policy
// -------------------------------------------------------------------------------------------------------------------

/**
 * A policy that asks the strongest worker of a pool without learned data.
 *
 * **Details**
 *
 * With the dial `"within-2"` it asks the cheapest worker whose public results are within two percentage points of the
 * best. With `"half"` it asks two cheap workers, and the strongest if their answers differ, or a single worker at half
 * the price. If a worker fails or a critic objects, it asks the strongest remaining worker. Its notes give the reason.
 *
 * If the run has exactly one named check (`checks`), each answer must pass it. If an answer fails, the strongest
 * remaining worker is asked, as long as `revisions` allows. If no worker is left, the answer of the strongest is used.
 * With such a check, `"half"` starts with a single cheap worker.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, worker } from "@divisi/core/promise"
 * import { Strongest } from "@divisi/core"
 *
 * const priced = (id: string, outputPerMillion: number) =>
 *   worker({ id, answer: () => `I am ${id}.`, pricing: { inputPerMillion: 1, outputPerMillion } })
 * const pool = [priced("small", 1), priced("large", 10)]
 * const { answer } = await conduct({ question: "Why is the sky blue?", pool, policy: Strongest.make() })
 * answer // => "I am large."
 * ```
 */
export const make = (options: Options = {}): Policy.Policy => {
  Tables.check("Strongest.make", options, table)
  const propose = Effect.fnUntraced(function* (context: Policy.Context) {
    const { previous } = context
    const can = able(context)
    const { why, workers } = chooseAmong(context, can, options)
    if (workers.length === 3 && checkOf(context) === undefined) {
      const [a, b, otherwise] = workers.map((ordinal) => context.pool.workers[ordinal]!.id)
      const team = agreed(a!, b!, otherwise!)
      const proposal = yield* Policy.propose(team, context)
      return { policy: team.name, author: team, ...proposal, notes: proposal.notes ?? [why] }
    }
    if (Policy.canStand(previous) && previous?.feedback === undefined) return { workflow: { steps: [] } }
    const left = previous === undefined ? [] : notAsked(can, previous)
    const next = left.length === 0 ? { why, workers } : chooseAmong(context, left, { ...options, dial: "best" })
    return { workflow: asking(context, next.workers[0]), notes: [next.why] }
  })
  return {
    name: options.name ?? "router",
    maxSteps: 2,
    recursion: options.dial === "half" ? 1 : undefined,
    propose,
    revise: (context) => {
      const { previous } = context
      const can = able(context)
      if (notAsked(can, previous).length > 0) return Effect.map(propose(context), Policy.revisionOf)
      return Effect.sync(() => standing(previous, chooseAmong(context, can, { ...options, dial: "best" }).workers[0]))
    }
  }
}

const notAsked = (can: ReadonlyArray<number>, previous: Policy.Previous): ReadonlyArray<number> => {
  const were = asked(previous)
  return can.filter((ordinal) => !were.includes(ordinal))
}
