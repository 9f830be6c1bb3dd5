/**
 * The default policy for pools without training data: selects the strongest worker.
 *
 * By default, it calls only the strongest worker. In our tests, no router that considers only the question did better
 * on kinds of questions without graded data, and many did worse. The strongest worker is determined from public
 * benchmark results if they cover the whole pool, or else by list price as a proxy.
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

/** Public benchmark results for models, each with its source and date. */
export const records: ReadonlyArray<PublicRecord> = publicRecords

/** A pool worker's result on a public benchmark. */
interface Measured {
  /** Index of the worker. */
  readonly worker: number
  /** Share of correct answers, from 0 to 1. */
  readonly mean: number
  readonly standardError: number
  readonly questions: number
}

/** The selected workers, with the reason. */
export interface Choice {
  /** Indices of the selected workers: either one, or two plus a third that is called only if their answers differ. */
  readonly workers: readonly [number] | readonly [number, number, number]
  /** Human-readable reason, as a sentence. */
  readonly why: string
}

/**
 * Trade-off between quality and cost. `best`: the strongest worker at any price. `within-2`: the cheapest worker within
 * 2 percentage points of the strongest. `half`: the best choice for half the cost of the strongest.
 */
export const dials = ["best", "within-2", "half"] as const

/** One of {@link dials}. */
export type Dial = (typeof dials)[number]

/** Options for selecting workers. */
export interface Options {
  readonly name?: string | undefined
  /** Trade-off between quality and cost. Default: `"best"`. */
  readonly dial?: Dial | undefined
  /** Public benchmark results to use. Default: {@link records}. */
  readonly records?: ReadonlyArray<PublicRecord> | undefined
}

const table = Tables.table({
  name: Tables.name,
  dial: Tables.oneOf(...dials),
  records: Tables.expects("a list of records", Array.isArray)
} satisfies Tables.ShapeOf<Options>)

/** Maximum loss in accuracy for a cheaper worker. */
const tolerance = 0.02

// -------------------------------------------------------------------------------------------------------------------
// Known data
// -------------------------------------------------------------------------------------------------------------------

/** Strips the provider from a model id, so that `openai:o3-mini` and `openai_o3-mini` are treated as the same model. */
const modelOf = (id: string): string =>
  id
    .toLowerCase()
    .replace(/^[^:]*:/, "")
    .replace(/^.*[/_](?=[a-z])/, "")

/** Returns a record's results for the given models, or `undefined` if the record does not cover all of them. */
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

/** Returns the results from the first record that covers the whole pool. */
const measured = (pool: ReadonlyArray<Worker>, records: ReadonlyArray<PublicRecord>) => {
  const models = pool.map(({ id }) => modelOf(id))
  for (const record of records) {
    const found = measuredBy(record, models)
    if (found !== undefined) return { record, found }
  }
  return undefined
}

/**
 * Returns output prices in USD per million tokens, with input prices as a tie-breaker. Returns `undefined` if any price
 * is unknown.
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

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

const measuredText = ({ ids, record }: Known, one: Measured): string =>
  `${ids[one.worker]} answered ${percent(one.mean)} ± ${(100 * one.standardError).toFixed(1)} of ${one.questions} questions of ${record!.name} correctly (${record!.repository}, read ${record!.date})`

/** Returns the cheapest worker whose result is not significantly worse than the best. */
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
      why: `${ids[0]} is the first of the available workers; neither published results nor prices rank them.`
    }
  }
  const dearest = highest(prices)
  return {
    workers: [dearest],
    why: `${ids[dearest]} is chosen as the most expensive available worker, because no published results cover all of them.`
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
 * Returns, in order of preference: two workers that cost at most a quarter of the strongest, plus the strongest if they
 * differ; one worker at half the cost; or the strongest worker.
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

/** Selects the workers to call, and returns them with the reason. */
export const choose = (pool: WorkerPool, options: Options = {}): Choice => {
  Tables.check("Strongest.choose", options, table)
  return chosen(pool, options)
}

const chosen = ({ workers }: WorkerPool, { dial = "best", records: from = records }: Options): Choice =>
  ways[dial](knownOf(workers, from))

/** Like {@link choose}, but restricted to the workers with the given indices. */
const chooseAmong = ({ pool }: Policy.Context, among: ReadonlyArray<number>, options: Options): Choice => {
  const { why, workers } = chosen({ workers: among.map((ordinal) => pool.workers[ordinal]!) as never }, options)
  return { why, workers: workers.map((place) => among[place]!) as unknown as Choice["workers"] }
}

// -------------------------------------------------------------------------------------------------------------------
// Policy
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a policy that calls the strongest worker in the pool. Requires no training data.
 *
 * **Details**
 *
 * With `dial: "within-2"`, it calls the cheapest worker whose public results are within two percentage points of the
 * best. With `"half"`, it calls two cheap workers, plus the strongest if their answers differ, or else a single worker
 * at half the price. If a worker fails or a critic objects, it calls the strongest remaining worker. The reason is
 * included in the proposal's notes.
 *
 * If the run has exactly one named check (`checks`), each answer must pass it. When an answer fails, the strongest
 * remaining worker is called, within the limit set by `revisions`. If no worker remains, the strongest worker's answer
 * is used. With such a check, `"half"` starts with a single cheap worker.
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
