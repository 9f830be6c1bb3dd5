/** Questions on which two policies differ: the question, the answers, and their workflows. */
import { excerpt, type Html, html } from "../page/Html.ts"
import { inPercent, points, pValue } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { type Column, table } from "../page/Table.ts"
import type { BenchmarkRecord, Comparison, Evaluation, Sample } from "./Evaluation.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The question and its reference answer. */
export interface QuestionText {
  readonly question: string
  readonly reference?: string | undefined
}

/** Returns the text of a question, if known. Never called for confidential benchmarks. */
export type QuestionOf = (benchmark: string, task: string) => QuestionText | undefined

/** A question with the answers of two policies. */
export interface Differing {
  readonly benchmark: string
  readonly task: string
  readonly first: ReadonlyArray<Sample>
  readonly second: ReadonlyArray<Sample>
  /** The mean score of the first policy minus that of the second. */
  readonly difference: number
}

// -------------------------------------------------------------------------------------------------------------------
// Finding
// -------------------------------------------------------------------------------------------------------------------

const scoreOf = (samples: ReadonlyArray<Sample>): number => {
  const scores = samples.flatMap(({ score }) => score ?? [])
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** By benchmark, task and epoch, so that the same samples give the same page in whatever order they come. */
const sorted = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> =>
  samples.toSorted(
    (one, other) => compare(one.benchmark, other.benchmark) || compare(one.task, other.task) || one.epoch - other.epoch
  )

/**
 * Returns the questions with different mean scores, largest differences first; ties alternate between the two sides.
 */
export const differing = (samples: ReadonlyArray<Sample>, first: string, second: string): ReadonlyArray<Differing> => {
  const found = [...Map.groupBy(sorted(samples), ({ benchmark, task }) => JSON.stringify([benchmark, task])).values()]
    .map((group): Differing => {
      const of = (policy: string) => group.filter((sample) => sample.policy === policy)
      const { benchmark, task } = group[0]!
      const [one, other] = [of(first), of(second)]
      return { benchmark, task, first: one, second: other, difference: scoreOf(one) - scoreOf(other) }
    })
    .filter(({ difference }) => difference !== 0 && !Number.isNaN(difference))
    .sort((left, right) => Math.abs(right.difference) - Math.abs(left.difference))
  const sides = [found.filter(({ difference }) => difference > 0), found.filter(({ difference }) => difference < 0)]
  return found.flatMap((_, index) => sides.flatMap((side) => side[index] ?? []))
}

interface Pair {
  readonly first: string
  readonly second: string
}

/** The policies to look at: the first of the evaluation, and the best of all others. */
const pairOf = ({ config, overall }: Evaluation): Pair | undefined => {
  const first = config.policies[0]?.name
  const others = overall.filter(({ policy }) => policy !== first)
  const best = others.toSorted((left, right) => (right.mean ?? -1) - (left.mean ?? -1))[0]
  return first === undefined || best === undefined ? undefined : { first, second: best.policy }
}

// -------------------------------------------------------------------------------------------------------------------
// Showing
// -------------------------------------------------------------------------------------------------------------------

/** Characters of a question or an answer. */
const longest = 1500

const verdict = ({ correct, isUnparsed, missing, score }: Sample): Html => {
  if (missing !== undefined || score === undefined) return html`<span class="soft">missing</span>`
  if (correct === true) return html`<span class="verdict right">right</span>`
  return isUnparsed === true
    ? html`<span class="verdict unread">unreadable</span>`
    : html`<span class="verdict wrong">wrong</span>`
}

const wayOf = ({ steps }: Sample): string =>
  steps
    .filter(({ state }) => state === "answered")
    .map(({ worker }) => worker)
    .join(" → ")

/** The answers of one policy; equal ones once. */
const answers = (policy: string, samples: ReadonlyArray<Sample>, isConfidential: boolean): Html => {
  const distinct = [
    ...Map.groupBy(samples, (sample) => `${sample.answer}\n${wayOf(sample)}\n${sample.correct}`).values()
  ]
  const one = (group: ReadonlyArray<Sample>) => {
    const sample = group[0]!
    const isShown = sample.answer !== undefined && !isConfidential
    return html`<p>${verdict(sample)}${group.length > 1 && ` (${group.length} times)`} <span class="soft">by ${wayOf(sample) || "nobody"}</span></p>${isShown && html`<pre>${excerpt(sample.answer, longest)}</pre>`}`
  }
  return html`<div><h4>${policy}: ${inPercent(scoreOf(samples))} %</h4>${distinct.map(one)}</div>`
}

const asked = (text: QuestionText | undefined, isConfidential: boolean): Html => {
  if (isConfidential) return note("The questions of this benchmark are not shown.")
  if (text === undefined) return note("The text of this question is not available.")
  const { question, reference } = text
  return html`<h4>Question</h4><pre>${excerpt(question, longest)}</pre>${reference !== undefined && html`<p>Right answer: <b>${excerpt(reference, longest)}</b></p>`}`
}

const card = (
  { benchmark, first, second, task }: Differing,
  pair: Pair,
  benchmarks: ReadonlyArray<BenchmarkRecord>,
  questionOf: QuestionOf
): Html => {
  const isConfidential = benchmarks.find((one) => one.benchmark === benchmark)?.isConfidential !== false
  const text = isConfidential ? undefined : questionOf(benchmark, task)
  return html`<details class="sample"><summary>${task}: ${pair.first} ${inPercent(scoreOf(first))} %, ${pair.second} ${inPercent(scoreOf(second))} %</summary>
${asked(text, isConfidential)}
<div class="pair">${answers(pair.first, first, isConfidential)}${answers(pair.second, second, isConfidential)}</div></details>
`
}

const comparisons = (all: ReadonlyArray<Comparison>): Html => {
  const several = (of: (one: Comparison) => string) => new Set(all.map(of)).size > 1
  const name: Column<Comparison> = several(({ policy }) => policy)
    ? { head: "policies", cell: ({ against, policy }) => `${policy} − ${against}` }
    : { head: "less", cell: ({ against }) => against }
  const benchmark: Column<Comparison> = { head: "benchmark", cell: ({ benchmark }) => benchmark }
  return table("Differences between policies", all, [
    name,
    ...(several(({ benchmark }) => benchmark) ? [benchmark] : []),
    { head: "difference, points", cell: (one) => points(one.mean), isBest: ({ pAdjusted }) => (pAdjusted ?? 1) < 0.05 },
    { head: "interval", cell: ({ high, low }) => `${points(low)} to ${points(high)}` },
    { head: "p", cell: ({ p }) => pValue(p) },
    { head: "p (Holm)", cell: ({ pAdjusted }) => pValue(pAdjusted) },
    { head: "better", cell: ({ better }) => better },
    { head: "same", cell: ({ same }) => same },
    { head: "worse", cell: ({ worse }) => worse },
    { head: "detectable", cell: ({ minimumDetectable }) => inPercent(minimumDetectable) }
  ])
}

/** Renders the differences with their tests, and some of the questions behind one of them. */
export const differences = (
  evaluation: Evaluation,
  samples: ReadonlyArray<Sample>,
  questionOf: QuestionOf,
  limit: number
): Html => {
  const pair = pairOf(evaluation)
  const found = pair === undefined ? [] : differing(samples, pair.first, pair.second)
  const shown = found.slice(0, limit)
  const name = evaluation.config.policies[0]?.name ?? "The first policy"
  return section("differences", "Differences", [
    note(
      `${name} minus each other policy, question by question. Differences that are significant at 5 % after Holm's correction over all rows are bold.`
    ),
    evaluation.comparisons.length === 0 ? note("There is only one policy.") : comparisons(evaluation.comparisons),
    pair !== undefined &&
      found.length > 0 &&
      html`<h3>Where ${pair.first} and ${pair.second} differ</h3>${note(`${found.length} questions; ${shown.length} of them here, where each does better in turn.`)}${shown.map((one) => card(one, pair, evaluation.benchmarks, questionOf))}`
  ])
}
