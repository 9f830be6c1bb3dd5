/**
 * Compares routers on recorded outcomes. They are trained on one part of the questions and tested on the other.
 *
 * If the split is by question, the training part contains all kinds in the test part. If it is by kind, the training
 * part contains none of them, as for a user whose questions differ from the training data. A router is useful if it
 * improves on the first split and does not lose on the second. All differences are paired.
 */

import { Callback, type Embedder, Seed, Options as Tables } from "@divisi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { clusteredStandardError, mean } from "../statistics/Statistics.ts"
import type { Contender, Play, Played, Question, Training } from "./Contender.ts"
import { baselines, bestSingle } from "./contenders.ts"
import * as DualContrastive from "./dualContrastive.ts"
import { escalations } from "./escalation.ts"
import * as Mixes from "./mixes.ts"

export type { Contender, Play, Played, Question, Training } from "./Contender.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The unit by which questions are split: individual questions, or whole kinds. */
export const splits = ["question", "kind"] as const

/** One of {@link splits}. */
export type Split = (typeof splits)[number]

/** The results of a policy over all splits. */
export interface Standing {
  readonly policy: string
  /** Mean score, from 0 to 1. */
  readonly score: number
  /** Mean cost per question in USD; `null` if prices are unknown. */
  readonly costUsd: number | null
  /** Mean score minus the mean score of the worker that was best on the training questions. */
  readonly differenceToBestSingle: number
  /**
   * Standard error of `differenceToBestSingle`, clustered by question, or by kind if the split is by kind; `null` for a
   * single cluster.
   */
  readonly differenceError: number | null
  /**
   * Quality at equal cost: the mean score minus that of a random mix of fixed workers with the same cost. The mix is
   * chosen on the training questions. A policy that costs more than the most expensive mix is compared with that mix.
   * `null` if prices are unknown.
   */
  readonly differenceAtEqualCost: number | null
  /** Standard error of `differenceAtEqualCost`, clustered in the same way as `differenceError`. */
  readonly differenceAtEqualCostError: number | null
  /**
   * Cost at equal quality: the mean cost in USD of the cheapest mix with this score; `null` if no mix reaches the score
   * or prices are unknown.
   */
  readonly costAtEqualScoreUsd: number | null
}

/** Options for comparing routers. */
export interface Options {
  readonly split: Split
  /** The routers to compare, listed before the baselines. */
  readonly routers: ReadonlyArray<Contender>
  /** Number of random splits. Default: 10. */
  readonly repeats?: number | undefined
  /** Seed for the splits. Default: 0. */
  readonly seed?: number | undefined
  /**
   * Maximum number of training questions per kind. Default: all. Differences remain relative to the best worker on all
   * training questions, so the result of `best-single` shows the loss from selecting a worker with so few questions.
   */
  readonly perKind?: number | undefined
  /** Names of the policies to compare. Default: all. */
  readonly only?: ReadonlyArray<string> | undefined
  /** Called with the number of completed parts and the total. */
  readonly onProgress?: ((done: number, all: number) => void) | undefined
}

/** Raised if outcomes cannot be split or compared. */
export class RoutingBenchError extends Data.TaggedError("RoutingBenchError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Share of questions, or kinds, reserved for testing. */
const testShare = 0.3

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

/** Workers with scores for a smaller share of all questions are excluded. */
const leastAnswered = 0.5

/**
 * Returns the questions for which all workers have a score. Workers with scores for less than half of the questions are
 * excluded first, followed by the workers with the fewest scores, as long as this increases the total number of scores.
 */
export const comparable = <A extends Pick<Question, "scores">>(
  questions: ReadonlyArray<A>
): { readonly questions: ReadonlyArray<A>; readonly workers: ReadonlyArray<string> } => {
  const counts = new Map<string, number>()
  for (const { scores } of questions)
    for (const worker of scores.keys()) counts.set(worker, (counts.get(worker) ?? 0) + 1)
  const order = [...counts].filter(([, count]) => count >= leastAnswered * questions.length)
  const common = new Set(order.toSorted((left, right) => right[1] - left[1]).map(([worker]) => worker))
  let best: { readonly questions: ReadonlyArray<A>; readonly workers: ReadonlyArray<string> } | undefined
  const scoresIn = (one: typeof best) => (one === undefined ? -1 : one.questions.length * one.workers.length)
  for (let left = common.size; left >= Math.min(2, common.size); left--) {
    const kept = new Set([...common].slice(0, left))
    const workers = order.flatMap(([worker]) => (kept.has(worker) ? [worker] : []))
    const all = questions.filter(({ scores }) => workers.every((worker) => scores.has(worker)))
    const found = { workers, questions: all }
    if (scoresIn(found) > scoresIn(best)) best = found
    // If all workers have answered everything, excluding more of them cannot help.
    if (all.length === questions.length || left === 0) break
  }
  return best ?? { questions: [], workers: [] }
}

/**
 * Returns the first questions of each kind; questions without a kind count as one kind. The questions of a part are
 * already in random order.
 */
const fewOf = (questions: ReadonlyArray<Question>, perKind: number, seed: number): ReadonlyArray<Question> =>
  [...Map.groupBy(Seed.shuffled(Seed.draw(seed), questions), ({ kind }) => kind).values()].flatMap((group) =>
    group.slice(0, perKind)
  )

interface Parted {
  readonly training: ReadonlyArray<Question>
  readonly test: ReadonlyArray<Question>
}

const partedBy = (questions: ReadonlyArray<Question>, seed: number, keyOf: (question: Question) => string): Parted => {
  const keys = Seed.shuffled(Seed.draw(seed), [...new Set(questions.map(keyOf))])
  const apart = new Set(keys.slice(0, Math.max(1, Math.round(testShare * keys.length))))
  return {
    training: questions.filter((question) => !apart.has(keyOf(question))),
    test: questions.filter((question) => apart.has(keyOf(question)))
  }
}

/** Returns the key by which questions count as equal, so that equal ones are never on both sides of a split. */
const questionOf = ({ text }: Question): string => text
const kindOf = ({ kind }: Question): string => kind!

const bestOf = (questions: ReadonlyArray<Question>, workers: ReadonlyArray<string>): string => {
  const standings = workers.map((worker) => ({
    worker,
    score: mean(questions.map(({ scores }) => scores.get(worker)!)),
    cost: mean(questions.map(({ costUsd }) => costUsd.get(worker) ?? 0))
  }))
  return standings.sort((left, right) => right.score - left.score || left.cost - right.cost)[0]!.worker
}

// -------------------------------------------------------------------------------------------------------------------
// Comparing
// -------------------------------------------------------------------------------------------------------------------

/** The outcome of a policy on a question, with that of the best single worker. */
interface Compared extends Played {
  readonly difference: number
  /** The difference from a mix of fixed workers with the same cost; `NaN` if prices are unknown. */
  readonly atEqualCost: number
  readonly cluster: string
}

const known = (value: number | undefined): number | null => (Number.isFinite(value) ? value! : null)

const standingOf = (
  policy: string,
  played: ReadonlyArray<Compared>,
  hulls: ReadonlyArray<Mixes.ConvexHull | undefined>
): Standing => {
  const means = (valueOf: (one: Compared) => number) => mean(played.map(valueOf))
  const errorOf = (valueOf: (one: Compared) => number) =>
    clusteredStandardError(played.map((one) => ({ cluster: one.cluster, value: valueOf(one) })))
  const score = means((one) => one.score)
  const mixes = hulls.filter((one) => one !== undefined)
  return {
    policy,
    score,
    costUsd: known(means(({ costUsd }) => costUsd)),
    differenceToBestSingle: means(({ difference }) => difference),
    differenceError: known(errorOf(({ difference }) => difference)),
    differenceAtEqualCost: known(means(({ atEqualCost }) => atEqualCost)),
    differenceAtEqualCostError: known(errorOf(({ atEqualCost }) => atEqualCost)),
    costAtEqualScoreUsd: mixes.length < hulls.length ? null : known(Mixes.costOf(mixes, score))
  }
}

const compare = (
  play: Play,
  best: Play,
  test: ReadonlyArray<Question>,
  hull: Mixes.ConvexHull | undefined,
  clusterOf: (question: Question) => string
): ReadonlyArray<Compared> => {
  const answers = test.map((question) => ({ question, played: play(question) }))
  const cost = mean(answers.map(({ played }) => played.costUsd))
  const mixed = hull === undefined || Number.isNaN(cost) ? () => Number.NaN : Mixes.mixedAt(hull, cost)
  return answers.map(({ played, question }) => ({
    ...played,
    difference: played.score - best(question).score,
    atEqualCost: played.score - mixed(question),
    cluster: clusterOf(question)
  }))
}

const check = (questions: ReadonlyArray<Question>, workers: ReadonlyArray<string>, { split }: Options) => {
  const fail = (detail: string) => Effect.fail(new RoutingBenchError({ detail }))
  const kinds = new Set(questions.map(({ kind }) => kind))
  if (split === "kind" && kinds.size < 2) {
    return fail("A split by kind needs questions of at least two kinds.")
  }
  if (workers.length < 2) return fail("at least two workers must have answered the same questions.")
  return questions.length < 10
    ? fail(`all workers must have answered at least 10 of the same questions; they share only ${questions.length}.`)
    : Effect.void
}

const table = Tables.table(
  {
    split: Tables.oneOf("question", "kind"),
    routers: Tables.expects("a list of routers", Array.isArray),
    repeats: Tables.whole(1),
    seed: Tables.whole(0),
    perKind: Tables.limit,
    only: Tables.listOf(Tables.text),
    onProgress: Tables.aFunction
  } satisfies Tables.ShapeOf<Options>,
  { required: ["split", "routers"] }
)

/**
 * Compares routers with each other, with the best single worker and with baselines, over ten splits by default.
 *
 * **Details**
 *
 * The best single worker is the one with the best score on the training questions of a split. Results list the routers
 * first, in the given order. Questions with the same text are never on both sides of a split. If the split is by kind,
 * questions without a kind are omitted.
 */
export const run = (
  questions: ReadonlyArray<Question>,
  options: Options
): Effect.Effect<ReadonlyArray<Standing>, RoutingBenchError | Embedder.EmbedderError> =>
  Effect.gen(function* () {
    Tables.check("RoutingBench.run", options, table)
    const { only, onProgress, perKind = Number.POSITIVE_INFINITY, repeats = 10, routers, seed = 0, split } = options
    const named = split === "kind" ? questions.filter(({ kind }) => kind !== undefined) : questions
    const { questions: all, workers } = comparable(named)
    yield* check(all, workers, options)
    const keyOf = split === "kind" ? kindOf : questionOf
    const contenders = [
      ...routers,
      bestSingle,
      ...baselines,
      DualContrastive.contender(all),
      ...escalations(all)
    ].filter(({ name }) => only?.includes(name) ?? true)
    const played = contenders.map((): Array<Compared> => [])
    const hulls: Array<Mixes.ConvexHull | undefined> = []
    for (let repeat = 0; repeat < repeats; repeat++) {
      const own = Seed.spread(seed, "routing", repeat)
      const { test, training } = partedBy(all, own, keyOf)
      const some = perKind < training.length ? fewOf(training, perKind, own) : training
      const from: Training = { questions: some, workers, best: bestOf(some, workers), seed: own }
      const best = yield* bestSingle.fit({ ...from, best: bestOf(training, workers) })
      const hull = Mixes.convexHull(training, test, workers)
      hulls.push(hull)
      for (const [index, contender] of contenders.entries()) {
        const play = yield* contender.fit(from)
        for (const compared of compare(play, best, test, hull, keyOf)) played[index]!.push(compared)
        // Training takes long, so other fibers get a turn in between.
        yield* Effect.yieldNow
      }
      Callback.notifyLogged("onProgress", () => onProgress?.(repeat + 1, repeats))
    }
    return contenders.map(({ name }, index) => standingOf(name, played[index]!, hulls))
  })
