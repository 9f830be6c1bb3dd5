/** What was measured, and how: enough to do it again. */

import type { Limits } from "@divisi/core/Budget"
import { count, usd } from "../report/format.ts"
import type { BenchmarkRecord, Report } from "../report/Report.ts"
import { table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"

const limits = ({ calls, costUsd, durationMillis, tokens }: Limits): string => {
  const said = [
    ...(costUsd === undefined ? [] : [usd(costUsd)]),
    ...(tokens === undefined ? [] : [`${count(tokens)} tokens`]),
    ...(calls === undefined ? [] : [`${count(calls)} calls`]),
    ...(durationMillis === undefined ? [] : [`${durationMillis / 1000} s`])
  ]
  return said.length === 0 ? "none" : said.join(", ")
}

const benchmarks = (all: ReadonlyArray<BenchmarkRecord>) =>
  table("Benchmarks", all, [
    { head: "benchmark", cell: ({ title }) => title },
    { head: "questions", cell: ({ available, selected }) => `${count(selected)} of ${count(available)}` },
    { head: "grader", cell: ({ grader }) => grader },
    { head: "prompt", cell: ({ prompt }) => prompt },
    { head: "licence", cell: ({ licence }) => licence },
    { head: "ids (SHA-256)", cell: ({ idsSha256 }) => idsSha256.slice(0, 12) }
  ])

const pool = ({ pool }: Report) =>
  table("Workers", pool, [
    { head: "worker", cell: ({ id }) => id },
    {
      head: "USD per million tokens, in and out",
      cell: ({ pricing }) =>
        pricing === undefined ? "unknown" : `${usd(pricing.inputPerMillion)}, ${usd(pricing.outputPerMillion)}`
    }
  ])

const entry = (name: string, value: string | number) => html`<dt>${name}</dt><dd>${value}</dd>`

/** The configuration, the benchmarks with their licences, the pool and the versions. */
export const setting = (report: Report): Markup => {
  const { config, progress, versions } = report
  const terms = report.benchmarks.flatMap(({ terms, title }) => (terms === undefined ? [] : [`${title}: ${terms}`]))
  return html`<section id="setting"><h2>Setting</h2>
<dl>${entry("Answers to each question", config.epochs)}${entry("Seed", config.seed)}${entry("Limits of a question", limits(config.perQuestion))}${entry("Most steps", config.maxSteps)}${entry("Recursive rounds", config.recursion)}${entry("Output tokens of a call", config.maxOutputTokens ?? "each worker's own")}${entry("Temperature", config.temperature ?? "each worker's own")}${entry("Paid in all", usd(progress.paidUsd))}${Object.entries(versions).map(([name, version]) => entry(name, version))}</dl>
<h3>Benchmarks</h3>${benchmarks(report.benchmarks)}${terms.map((text) => html`<p class="soft">${text}</p>`)}
<h3>Workers</h3>${pool(report)}</section>`
}
