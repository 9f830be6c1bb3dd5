/** Questions where two policies differ: what was asked, what each answered, and how. */
import { percent, points, pValue } from "../report/format.ts"
import { type Comparison, type Report, type Sample, sorted } from "../report/Report.ts"
import { mean } from "../statistics/Statistics.ts"
import { table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"

/** What was asked, and what would have been right. */
export interface QuestionText {
  readonly question: string
  readonly reference?: string
}

/** The text of a question, where it is known. It is never asked for one of a confidential benchmark. */
export type QuestionOf = (benchmark: string, task: string) => QuestionText | undefined

/** A question with the answers of two policies. */
export interface Differing {
  readonly benchmark: string
  readonly task: string
  readonly first: ReadonlyArray<Sample>
  readonly second: ReadonlyArray<Sample>
  /** Mean score of the first minus that of the second. */
  readonly difference: number
}

const scoreOf = (samples: ReadonlyArray<Sample>): number =>
  mean(samples.flatMap(({ score }) => (score === undefined ? [] : [score])))

/** Questions with another mean score, those that differ most first; of equals those of each side in turn. */
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
  return Array.from({ length: found.length }, (_, index) => sides.flatMap((side) => side[index] ?? [])).flat()
}

const longest = 1500

const clipped = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

const verdict = ({ correct, isUnparsed, missing, score }: Sample): Markup => {
  if (missing !== undefined || score === undefined) return html`<span class="soft">missing</span>`
  if (correct === true) return html`<span class="right">right</span>`
  return html`<span class="wrong">${isUnparsed === true ? "unreadable" : "wrong"}</span>`
}

const wayOf = ({ steps }: Sample): string =>
  steps
    .filter(({ state }) => state === "answered")
    .map(({ worker }) => worker)
    .join(" → ")

/** The answers of one policy; equal ones once. */
const answers = (policy: string, samples: ReadonlyArray<Sample>, isConfidential: boolean): Markup => {
  const distinct = [
    ...Map.groupBy(samples, (sample) => `${sample.answer}\n${wayOf(sample)}\n${sample.correct}`).values()
  ]
  return html`<div><h4>${policy}: ${percent(scoreOf(samples))} %</h4>${distinct.map((group) => {
    const [sample] = group
    const times = group.length === 1 ? "" : ` (${group.length} times)`
    const text = isConfidential ? undefined : sample!.answer
    return html`<p>${verdict(sample!)}${times} <span class="soft">by ${wayOf(sample!) || "nobody"}</span></p>${
      text === undefined ? "" : html`<pre>${clipped(text)}</pre>`
    }`
  })}</div>`
}

interface Pair {
  readonly first: string
  readonly second: string
}

const card = (one: Differing, { first, second }: Pair, report: Report, questionOf: QuestionOf): Markup => {
  const benchmark = report.benchmarks.find(({ benchmark }) => benchmark === one.benchmark)
  const isConfidential = benchmark?.isConfidential !== false
  const text = isConfidential ? undefined : questionOf(one.benchmark, one.task)
  return html`<details class="sample"><summary>${one.task}: ${first} ${percent(scoreOf(one.first))} %, ${second} ${percent(scoreOf(one.second))} %</summary>
${text === undefined ? html`<p class="soft">${isConfidential ? "The questions of this benchmark are not shown." : "The text of this question is not at hand."}</p>` : html`<h4>Question</h4><pre>${clipped(text.question)}</pre>${text.reference === undefined ? "" : html`<p>Right answer: <b>${clipped(text.reference)}</b></p>`}`}
<div class="pair">${answers(first, one.first, isConfidential)}${answers(second, one.second, isConfidential)}</div></details>
`
}

/** The policies to look at: the first of the report, and the best of all others. */
export const pairOf = ({ config, overall }: Report): Pair | undefined => {
  const first = config.policies[0]?.name
  const others = overall.filter(({ policy }) => policy !== first)
  const best = others.toSorted((left, right) => (right.mean ?? -1) - (left.mean ?? -1))[0]
  return first === undefined || best === undefined ? undefined : { first, second: best.policy }
}

const comparisons = (all: ReadonlyArray<Comparison>): Markup => {
  const several = (of: (one: Comparison) => string) => new Set(all.map(of)).size > 1
  const hasPolicies = several(({ policy }) => policy)
  const hasBenchmarks = several(({ benchmark }) => benchmark)
  return table("Differences between policies", all, [
    {
      head: hasPolicies ? "policies" : "less",
      cell: ({ against, policy }) => (hasPolicies ? `${policy} − ${against}` : against)
    },
    ...(hasBenchmarks ? [{ head: "benchmark", cell: ({ benchmark }: Comparison) => benchmark }] : []),
    { head: "difference, points", cell: (one) => points(one.mean), isBest: ({ pAdjusted }) => (pAdjusted ?? 1) < 0.05 },
    { head: "interval", cell: ({ high, low }) => `${points(low)} to ${points(high)}` },
    { head: "p", cell: ({ p }) => pValue(p) },
    { head: "p (Holm)", cell: ({ pAdjusted }) => pValue(pAdjusted) },
    { head: "better", cell: ({ better }) => better },
    { head: "same", cell: ({ same }) => same },
    { head: "worse", cell: ({ worse }) => worse },
    { head: "detectable", cell: ({ minimumDetectable }) => percent(minimumDetectable) }
  ])
}

/** The differences with their tests, and some of the questions behind one of them. */
export const differences = (
  report: Report,
  samples: ReadonlyArray<Sample>,
  questionOf: QuestionOf,
  limit: number
): Markup => {
  const pair = pairOf(report)
  const found = pair === undefined ? [] : differing(samples, pair.first, pair.second)
  const shown = found.slice(0, limit)
  return html`<section id="differences"><h2>Differences</h2>
<p class="soft">${report.config.policies[0]?.name ?? "The first policy"} less each other, question by question. Differences that hold at 5 % after Holm's correction over all rows are bold.</p>
${report.comparisons.length === 0 ? html`<p>There is one policy only.</p>` : comparisons(report.comparisons)}
${
  pair === undefined || found.length === 0
    ? ""
    : html`<h3>Where ${pair.first} and ${pair.second} differ</h3><p class="soft">${found.length} questions; ${shown.length} of them here, where each does better in turn.</p>${shown.map((one) => card(one, pair, report, questionOf))}`
}</section>`
}
