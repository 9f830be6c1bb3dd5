/**
 * The page of a report: one HTML file that needs nothing else. It has no script, asks nothing of the network, and holds
 * every picture as a table, too.
 *
 * Answers of models are text that nobody has checked: all of it is escaped, and a content security policy in the page
 * allows its own style sheet and nothing more.
 */

import { accuracy } from "./page/accuracy.ts"
import { table } from "./page/chart.ts"
import { cost } from "./page/cost.ts"
import { differences, type QuestionOf } from "./page/differing.ts"
import { html, type Markup, raw } from "./page/markup.ts"
import { profiles } from "./page/profiles.ts"
import { setting } from "./page/setting.ts"
import { shapesSection, stepsSection, workersSection } from "./page/shares.ts"
import { style } from "./page/style.ts"
import { count, percentWithError, usd } from "./report/format.ts"
import type { Report, Sample } from "./report/Report.ts"
import { type Row, rows } from "./report/ReportTables.ts"

export type { QuestionOf, QuestionText } from "./page/differing.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a page may show beside the report. */
export interface Options {
  /** The heading; the benchmarks' titles by default. */
  readonly title?: string
  /** For the questions where two policies differ, and for what workers are good at; neither is shown without. */
  readonly samples?: ReadonlyArray<Sample>
  /** Texts of questions. It is not asked for those of confidential benchmarks. */
  readonly questionOf?: QuestionOf
  /** The most questions that are shown; 20 by default. */
  readonly questions?: number
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const sections = [
  ["scores", "Scores"],
  ["accuracy", "Accuracy"],
  ["cost", "Cost"],
  ["steps", "Steps"],
  ["workers", "Workers"],
  ["shapes", "Shapes"],
  ["differences", "Differences"],
  ["setting", "Setting"]
] as const

const tile = (name: string, value: string): Markup => html`<div class="tile"><b>${value}</b>${name}</div>`

const header = (report: Report, title: string): Markup => {
  const { benchmarks, config, overall, progress } = report
  const best = overall.toSorted((left, right) => (right.mean ?? -1) - (left.mean ?? -1))[0]
  const questions = benchmarks.reduce((sum, { selected }) => sum + selected, 0)
  const state =
    progress.status === "complete"
      ? ""
      : ` It was stopped after ${count(progress.samples)} of ${count(progress.planned)}.`
  return html`<header><h1>${title}</h1>
<p class="soft">${count(config.policies.length)} policies on ${count(questions)} questions, ${config.epochs} ${config.epochs === 1 ? "answer" : "answers"} each.${state}</p>
<nav aria-label="Sections"><ul>${sections.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
<div class="tiles">${best === undefined ? "" : tile(`best: ${best.policy}`, `${percentWithError(best.mean, best.standardError)} %`)}${tile("samples", count(progress.samples))}${tile("missing samples", count(overall.reduce((sum, { missing }) => sum + missing, 0)))}${tile("paid in all", usd(progress.paidUsd))}</div></header>`
}

const isHighest = (all: ReadonlyArray<Row>, of: (row: Row) => number | null | undefined) => {
  const highest = Math.max(...all.map((row) => of(row) ?? Number.NEGATIVE_INFINITY))
  return (row: Row): boolean => of(row) === highest
}

const scores = (report: Report): Markup => {
  const all = rows(report)
  const columns = report.benchmarks.map(({ title }, at) => ({
    head: title,
    cell: ({ cells }: Row) => percentWithError(cells[at]?.score.mean ?? null, cells[at]?.score.standardError ?? null),
    isBest: isHighest(all, ({ cells }) => cells[at]?.score.mean)
  }))
  const mean = {
    head: "mean",
    cell: ({ overall }: Row) => percentWithError(overall?.mean ?? null, overall?.standardError ?? null),
    isBest: isHighest(all, ({ overall }) => overall?.mean)
  }
  return html`<section id="scores"><h2>Scores</h2>
<p class="soft">Percent ± standard error. Unreadable answers are wrong; samples that the infrastructure lost are missing.</p>
${table(
  "Scores",
  all,
  [
    { head: "policy", cell: ({ policy }) => policy },
    ...columns,
    ...(columns.length > 1 ? [mean] : []),
    { head: "tokens", cell: ({ overall }) => count(overall?.tokens) },
    { head: "USD per question", cell: ({ overall }) => usd(overall?.costUsd) },
    { head: "missing", cell: ({ overall }) => count(overall?.missing) }
  ],
  ({ policy }) => policy === report.config.policies[0]?.name
)}</section>`
}

// -------------------------------------------------------------------------------------------------------------------
// Page
// -------------------------------------------------------------------------------------------------------------------

/**
 * The page of a report, as the text of an HTML file.
 *
 * **Details**
 *
 * The same report and samples give the same text. Questions of confidential benchmarks are never shown, and neither are
 * answers to them, whatever the samples hold.
 */
export const render = (report: Report, options: Options = {}): string => {
  const { questionOf = () => undefined, questions = 20, samples = [] } = options
  const title = options.title ?? report.benchmarks.map(({ title }) => title).join(", ")
  const page = html`${raw("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${style}</style></head>
<body>${header(report, title)}<main>
${scores(report)}
${accuracy(report)}
${cost(report)}
${stepsSection(report)}
${workersSection(report, profiles(samples))}
${shapesSection(report)}
${differences(report, samples, questionOf, questions)}
${setting(report)}
</main></body></html>
`
  return page.text
}
