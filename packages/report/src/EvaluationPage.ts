/**
 * The page of an evaluation: one self-contained HTML file. It has no scripts, makes no requests, and also contains
 * every picture as a table.
 *
 * Model output is untrusted: it is escaped, and a content security policy in the page allows only its own style sheet.
 */
import { Options as Tables } from "@divisi/core"
import { failures, folded, rows, verdicts } from "./EvaluationTables.ts"
import { accuracy } from "./evaluation/accuracy.ts"
import { cost } from "./evaluation/cost.ts"
import { differences, type QuestionOf } from "./evaluation/differing.ts"
import type * as Data from "./evaluation/Evaluation.ts"
import { playMoney } from "./evaluation/Evaluation.ts"
import { profiles } from "./evaluation/profiles.ts"
import { setting } from "./evaluation/setting.ts"
import { shapesSection, stepsSection, workersSection } from "./evaluation/shares.ts"
import { type Html, html } from "./page/Html.ts"
import { count, counted, type Figure, inPercent, unknown, usd, withError } from "./page/Numbers.ts"
import { note, page, section, tiles } from "./page/Page.ts"
import { type Column, table } from "./page/Table.ts"

export type { QuestionOf, QuestionText } from "./evaluation/differing.ts"

// By name: the declarations of a barrel take types that are handed on from another file for values.
export type BenchmarkRecord = Data.BenchmarkRecord
export type Cell = Data.Cell
export type Comparison = Data.Comparison
export type Evaluation = Data.Evaluation
export type Overall = Data.Overall
export type Profiles = Data.Profiles
export type Rate = Data.Rate
export type Sample = Data.Sample
export type Score = Data.Score
export type Share = Data.Share

/** Optional parts of a page. */
export interface Options {
  /** The heading. Default: the titles of the benchmarks. */
  readonly title?: string | undefined
  /** The answers of policies. Without them, questions on which two policies differ are not shown. */
  readonly samples?: ReadonlyArray<Sample> | undefined
  /** The profiles of workers. Without them, the strengths of workers are not shown. */
  readonly profiles?: Profiles | undefined
  /** Returns the text of a question. Never called for confidential benchmarks. */
  readonly questionOf?: QuestionOf | undefined
  /** The maximum number of shown questions. Default: 20. */
  readonly questions?: number | undefined
}

const optionsTable = {
  title: Tables.name,
  samples: Tables.expects("a list of samples", Array.isArray),
  profiles: Tables.anObject,
  questionOf: Tables.aFunction,
  questions: Tables.whole(0)
} satisfies Tables.ShapeOf<Options>

const sections = "scores accuracy cost steps workers shapes differences setting".split(" ")

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const header = (evaluation: Evaluation, title: string): Html => {
  const { benchmarks, config, overall, extent } = evaluation
  const best = overall.toSorted((left, right) => (right.mean ?? -1) - (left.mean ?? -1))[0]
  const questions = benchmarks.reduce((sum, { selected }) => sum + selected, 0)
  const isStopped = extent.status !== "complete"
  const policies = config.policies.length === 1 ? "1 policy" : `${count(config.policies.length)} policies`
  return html`<h1>${title}</h1>
${note(html`${policies} on ${counted(questions, "question")}, ${counted(config.epochs, "answer")} each.${isStopped && ` It was stopped after ${count(extent.samples)} of ${count(extent.planned)}.`}`)}
<nav aria-label="Sections"><ul>${sections.map((id) => html`<li><a href="#${id}">${capitalised(id)}</a></li>`)}</ul></nav>
${tiles([
  ...(best === undefined ? [] : [["Best", `${withError(best.mean, best.standardError)} %`, best.policy] as const]),
  ["Samples", count(extent.samples)],
  ["Missing samples", count(overall.reduce((sum, { missing }) => sum + missing, 0))],
  [playMoney(evaluation) ? "Cost in play money" : "Paid in all", usd(extent.paidUsd)]
])}`
}

type Row = ReturnType<typeof rows>[number]

const scores = (evaluation: Evaluation): Html => {
  const unpaid = playMoney(evaluation)
  const less = folded(evaluation)
  const all = rows(evaluation).filter(({ policy }) => !less.includes(policy))
  const scored = (
    head: string,
    of: (row: Row) => { mean: number | null; standardError: number | null } | undefined
  ) => {
    const highest = Math.max(...all.map((row) => of(row)?.mean ?? Number.NEGATIVE_INFINITY))
    const column: Column<Row> = {
      head,
      cell: (row) => withError(of(row)?.mean, of(row)?.standardError),
      isBest: (row) => (of(row)?.mean satisfies Figure) === highest
    }
    return column
  }
  const columns = evaluation.benchmarks.map(({ title }, at) => scored(title, ({ cells }) => cells[at]?.score))
  const content = table(
    "Scores",
    all,
    [
      { head: "policy", cell: ({ policy }) => policy },
      ...columns,
      ...(columns.length > 1 ? [scored("mean", ({ overall }) => overall)] : []),
      { head: "tokens", cell: ({ overall }) => count(overall?.tokens) },
      { head: "USD per question", cell: ({ overall }) => usd(overall?.costUsd) },
      { head: "missing", cell: ({ overall }) => count(overall?.missing) }
    ],
    ({ policy }) => policy === evaluation.config.policies[0]?.name
  )
  return section("scores", "Scores", [
    note(
      "Percent ± standard error. Unreadable answers count as wrong; samples lost to infrastructure failures are missing."
    ),
    failures(evaluation).map((sentence) => note(`${sentence}.`)),
    unpaid === undefined ? undefined : note(unpaid),
    content,
    others(evaluation, less),
    verdicts(evaluation).map((sentence) => html`<p>${sentence}</p>`)
  ])
}

/** Returns the range of the scores of single workers that have no row here, as on a terminal. */
const others = ({ benchmarks, cells }: Evaluation, less: ReadonlyArray<string>): Html | undefined => {
  if (less.length === 0) return undefined
  const ranges = benchmarks.map(({ benchmark, title }) => {
    const means = cells.flatMap((cell) =>
      cell.benchmark === benchmark && less.includes(cell.policy) && cell.score.mean !== null ? [cell.score.mean] : []
    )
    return `${title} ${means.length === 0 ? unknown : `${inPercent(Math.min(...means))} to ${inPercent(Math.max(...means))} %`}`
  })
  return note(`${less.length} more single workers: ${ranges.join(", ")}. Their figures are under Accuracy.`)
}

/**
 * Returns the page as the text of an HTML file.
 *
 * **Details**
 *
 * Equal evaluations and options give equal text. Questions and answers of confidential benchmarks are never shown, even
 * if the samples contain them.
 */
export const render = (evaluation: Evaluation, options: Options = {}): string => {
  Tables.check("EvaluationPage.render", options, optionsTable)
  const { questionOf = () => undefined, questions = 20, samples = [] } = options
  const title = options.title ?? evaluation.benchmarks.map(({ title }) => title).join(", ")
  return page(title, header(evaluation, title), [
    scores(evaluation),
    accuracy(evaluation),
    cost(evaluation),
    stepsSection(evaluation),
    workersSection(evaluation, options.profiles && profiles(options.profiles)),
    shapesSection(evaluation),
    differences(evaluation, samples, questionOf, questions),
    setting(evaluation)
  ])
}
