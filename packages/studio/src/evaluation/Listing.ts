/** Evaluations in the page's format: list entries, reports with the outcomes of each question, and answers. */

import * as EvaluationTables from "@divisi/report/EvaluationTables"
import * as Format from "../run/Format.ts"

/** The results of a policy on a benchmark, with its accuracy by kind of question. */
export interface Cell extends EvaluationTables.Cell {
  readonly strata?: ReadonlyArray<{ readonly stratum: string; readonly mean: number | null }> | undefined
}

/** The report in `results.json`. */
export interface Report extends EvaluationTables.Evaluation {
  readonly config: Omit<EvaluationTables.Evaluation["config"], "policies"> & {
    readonly policies: ReadonlyArray<{ readonly name: string; readonly isBaseline?: boolean | undefined }>
  }
  readonly cells: ReadonlyArray<Cell>
}

/** A line of `samples.jsonl`: one answer of a policy to a task. */
export interface Sample {
  readonly benchmark: string
  readonly task: string
  readonly epoch: number
  readonly policy: string
  readonly answer?: string | undefined
  /** Undefined if the sample is missing. */
  readonly score?: number | undefined
  readonly isUnparsed?: boolean | undefined
  readonly steps: ReadonlyArray<{ readonly worker: string; readonly state: "answered" | "failed" | "skipped" }>
  readonly stratum?: string | undefined
  readonly ending: string
  readonly extracted?: string | undefined
  readonly failure?: string | undefined
  readonly missing?: { readonly message: string } | undefined
  readonly costUsd: number
  readonly unpricedCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly millis: number
}

/** An evaluation as listed. */
export interface Line {
  readonly id: string
  readonly title: string
  /** The reason why the evaluation cannot be read. If set, the entry has no figures. */
  readonly damaged?: string
  readonly policies: number
  readonly samples: number
  readonly planned: number
  readonly isComplete: boolean
  /** The policy with the highest mean, among those with a score for every sample. */
  readonly best: { readonly policy: string; readonly mean: number } | null
  readonly cost_usd: number
  readonly is_play: boolean
  /** Time of the last change, in milliseconds since 1970. */
  readonly changed_at: number
}

/** The cells that have a row of their own in charts, and a description of the single workers that share one. */
interface Grouped {
  readonly shown: ReadonlyArray<Cell>
  readonly rest?: { readonly name: string; readonly range: string }
}

/** Outcomes of a question: the score of each policy's answers, with `null` for missing ones. */
export interface Question {
  readonly benchmark: string
  readonly task: string
  readonly stratum: string | null
  readonly scores: ReadonlyArray<ReadonlyArray<number | null>>
}

/** How often a worker was correct, with an interval. */
export interface Rate {
  readonly samples: number
  readonly mean: number | null
  readonly low: number | null
  readonly high: number | null
  /** The mean, shrunk toward prior knowledge. */
  readonly estimate: number
}

/** The measured strengths of a worker. */
export interface Profile {
  readonly worker: string
  readonly alone: Rate
  /** Best estimate first. */
  readonly kinds: ReadonlyArray<{ readonly kind: string; readonly rate: Rate }>
  readonly inTeams: Rate
  readonly calls: number
  readonly failed: number
  readonly medianMillis: number | null
  /** Cost of a call, in USD. */
  readonly costUsd: number | null
}

/** An evaluation with its outcomes. */
export interface Opened {
  readonly id: string
  readonly report: Report
  readonly questions: ReadonlyArray<Question>
  /** The strengths of each worker. */
  readonly profiles: ReadonlyArray<Profile>
  /** Why the samples cannot be read, with a remedy. `questions` and `profiles` are empty then. */
  readonly problem?: string
}

/** The text of a question, with its expected answer if known. */
export interface QuestionText {
  readonly question: string
  readonly reference?: string | undefined
}

/** Answers to a question, each with the id of its run if the transcript is stored. */
export interface Answers {
  /** Text of the question. `null` if it is not stored. */
  readonly question: string | null
  /** Expected answer, if known. */
  readonly reference?: string | undefined
  readonly samples: ReadonlyArray<Sample & { readonly run: string | null }>
}

/** API path of the list. */
export const path = "v1/evaluations"

/** Returns the path of an evaluation. */
export const pathOf = (id: string): string => `${path}/${Format.segment(id)}`

/** Returns the path of the answers to a question. */
export const answersPath = (id: string, { benchmark, task }: Pick<Question, "benchmark" | "task">): string =>
  `${pathOf(id)}/questions/${Format.segment(benchmark)}/${Format.segment(task)}`

/** Returns the title of a report: its benchmarks, with their numbers of questions. */
const titleOf = ({ benchmarks }: Pick<Report, "benchmarks">): string =>
  benchmarks.map(({ selected, title }) => `${title}, ${Format.counted(selected, "question")}`).join("; ")

/** Returns the list entry of a report. */
export const lineOf = (id: string, report: Report, changedAt: number): Line => {
  const [best] = report.overall
    .flatMap(({ mean, policy }) => {
      const cells = report.cells.filter((cell) => cell.policy === policy)
      return mean === null || EvaluationTables.coverage(report, cells) !== "" ? [] : [{ policy, mean }]
    })
    .sort((one, other) => other.mean - one.mean)
  return {
    id,
    title: titleOf(report),
    policies: report.config.policies.length,
    samples: report.extent.samples,
    planned: report.extent.planned,
    isComplete: report.extent.status === "complete",
    best: best ?? null,
    cost_usd: report.extent.paidUsd,
    is_play: EvaluationTables.isPlay(report),
    changed_at: changedAt
  }
}

/**
 * Groups single workers beyond the best three, as the terminal does.
 *
 * @internal
 */
export const grouped = (report: Report, cells: ReadonlyArray<Cell>): Grouped => {
  const folded = EvaluationTables.folded(report)
  const [less, shown] = [true, false].map((isLess) => cells.filter(({ policy }) => folded.includes(policy) === isLess))
  if (less!.length === 0) return { shown: shown! }
  const means = less!.map(({ score }) => score.mean).filter((mean) => mean !== null)
  const range =
    means.length === 0 ? "unknown" : `${Format.share(Math.min(...means))} to ${Format.share(Math.max(...means))}`
  return { shown: shown!, rest: { name: `${Format.whole(less!.length)} more single workers`, range } }
}

/** Returns the outcomes of each question, in sample order. */
export const questionsOf = (
  { config }: Pick<Report, "config">,
  samples: ReadonlyArray<Sample>
): ReadonlyArray<Question> => {
  const ordinals = new Map(config.policies.map(({ name }, index) => [name, index]))
  const questions = new Map<string, Question & { readonly scores: Array<Array<number | null>> }>()
  for (const { benchmark, epoch, policy, score, stratum = null, task } of samples) {
    const ordinal = ordinals.get(policy)
    if (ordinal === undefined) continue
    const key = JSON.stringify([benchmark, task])
    const known = questions.get(key)
    const question = known ?? { benchmark, task, stratum, scores: config.policies.map(() => []) }
    if (known === undefined) questions.set(key, question)
    question.scores[ordinal]![epoch] = score ?? null
  }
  return [...questions.values()]
}

/**
 * Returns a policy's mean score for a question, or `undefined` if no score is known.
 *
 * @internal
 */
export const meanOf = (scores: ReadonlyArray<number | null> = []): number | undefined => {
  const known = scores.filter((score) => typeof score === "number")
  return known.length === 0 ? undefined : known.reduce((sum, score) => sum + score, 0) / known.length
}

/**
 * Whether two policies, by ordinal, have different scores for a question.
 *
 * @internal
 */
export const differ = ({ scores }: Question, one: number, other: number): boolean => {
  const means = [meanOf(scores[one]), meanOf(scores[other])]
  return means[0] !== undefined && means[1] !== undefined && means[0] !== means[1]
}

/**
 * A policy with its accuracy and cost per question.
 *
 * @internal
 */
export interface Point {
  readonly policy: string
  readonly mean: number
  readonly costUsd: number
}

/**
 * Returns the Pareto front of accuracy and cost, cheapest first.
 *
 * @internal
 */
export const frontier = (points: ReadonlyArray<Point>): ReadonlyArray<Point> => {
  let best = Number.NEGATIVE_INFINITY
  return [...points]
    .sort((one, other) => one.costUsd - other.costUsd || other.mean - one.mean)
    .filter(({ mean }) => {
      const isBetter = mean > best
      best = Math.max(best, mean)
      return isBetter
    })
}

/**
 * The main result for a benchmark as a sentence: the first policy compared with the best other policy.
 *
 * @internal
 */
export interface Finding {
  readonly title: string
  readonly detail: string
}

const percent = (mean: number | null): string => (mean === null ? "unknown" : `${(100 * mean).toFixed(1)} %`)

const pointsOf = (difference: number): string => `${Math.abs(100 * difference).toFixed(1)} points`

const costText = (own: Cell, other: Cell): string => {
  const [mine, others] = [own.costUsd.mean, other.costUsd.mean]
  if (mine === null || others === null || mine === undefined || others === undefined || !(mine > 0) || !(others > 0))
    return ""
  const share = mine / others
  if (share < 0.995) return ` at ${share < 0.095 ? (100 * share).toFixed(1) : Math.round(100 * share)} % of its cost`
  return share > 1.05 ? ` at ${share < 10 ? share.toFixed(1) : Math.round(share)} times its cost` : " at the same cost"
}

/**
 * Returns the result of a benchmark in a report.
 *
 * @internal
 */
export const findingOf = (report: Report, benchmark: string): Finding => {
  const [reference] = report.config.policies
  const cells = report.cells.filter((cell) => cell.benchmark === benchmark)
  const own = cells.find(({ policy }) => policy === reference?.name)
  const [best] = cells
    .filter((cell) => cell !== own && cell.score.mean !== null)
    .sort((one, other) => other.score.mean! - one.score.mean!)
  if (own === undefined || own.score.mean === null) return { title: "No sample has a score", detail: "" }
  const { confidence, high, low, mean } = own.score
  const level = `${Math.round(100 * confidence)} % interval`
  const alone = `${own.policy} answers ${percent(mean)} of the questions correctly (${level} ${percent(low)} to ${percent(high)}).`
  if (best === undefined) return { title: `${own.policy}: ${percent(mean)} correct`, detail: alone }
  const compared = report.comparisons.find(
    (one) => one.benchmark === benchmark && one.policy === own.policy && one.against === best.policy
  )
  const { high: top = null, low: bottom = null, mean: difference = null } = compared ?? {}
  const cost = costText(own, best)
  if (difference === null || top === null || top === undefined || bottom === null)
    return { title: `${own.policy}: ${percent(mean)} correct`, detail: alone }
  const interval =
    `${level} of the difference ${(100 * bottom).toFixed(1)} to ${(100 * top).toFixed(1)} points`.replaceAll(
      "-",
      "\u2212"
    )
  const detail = `${alone} The best other policy, ${best.policy}, answers ${percent(best.score.mean)} (${interval}).`
  if (bottom > 0) return { title: `${own.policy} is ${pointsOf(difference)} above ${best.policy}${cost}`, detail }
  if (top < 0) return { title: `${own.policy} is ${pointsOf(difference)} below ${best.policy}${cost}`, detail }
  return {
    title: `No difference shown between ${own.policy} and ${best.policy}${cost === "" ? "" : `,${cost}`}`,
    detail
  }
}
