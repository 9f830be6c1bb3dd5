/** The settings of an evaluation, in enough detail to repeat it. */
import type { Budget } from "@divisi/core"
import { type Html, html } from "../page/Html.ts"
import { count, usd } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import { type Evaluation, playMoney } from "./Evaluation.ts"

const limits = ({ calls, costUsd, durationMillis, tokens }: Budget.Limits): string => {
  const said = [
    costUsd === undefined ? [] : usd(costUsd),
    tokens === undefined ? [] : `${count(tokens)} tokens`,
    calls === undefined ? [] : `${count(calls)} calls`,
    durationMillis === undefined ? [] : `${Math.round(durationMillis) / 1000} s`
  ].flat()
  return said.length === 0 ? "none" : said.join(", ")
}

const choices = (evaluation: Evaluation): Readonly<Record<string, string | number>> => {
  const { config, extent, versions } = evaluation
  return {
    "Answers to each question": config.epochs,
    Seed: config.seed,
    "Limits of a question": limits(config.perQuestion),
    "Most steps": config.maxSteps,
    "Recursive rounds": config.recursion,
    "Output tokens of a call": config.maxOutputTokens ?? "each worker's own",
    Temperature: config.temperature ?? "each worker's own",
    [playMoney(evaluation) ? "Cost in play money" : "Paid in all"]: usd(extent.paidUsd),
    ...versions
  }
}

/** The configuration, the benchmarks with their licences, the pool and the versions. */
export const setting = (evaluation: Evaluation): Html =>
  section(
    "setting",
    "Setting",
    html`<dl>${Object.entries(choices(evaluation)).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h3>Benchmarks</h3>${table("Benchmarks", evaluation.benchmarks, [
      { head: "benchmark", cell: ({ title }) => title },
      { head: "questions", cell: ({ available, selected }) => `${count(selected)} of ${count(available)}` },
      { head: "grader", cell: ({ grader }) => grader },
      { head: "prompt", cell: ({ prompt }) => prompt },
      { head: "licence", cell: ({ licence }) => licence },
      { head: "ids (SHA-256)", cell: ({ idsSha256 }) => idsSha256.slice(0, 12) }
    ])}
${evaluation.benchmarks.map(({ terms, title }) => terms !== undefined && note(`${title}: ${terms}`))}
<h3>Workers</h3>${table("Workers", evaluation.pool, [
      { head: "worker", cell: ({ id }) => id },
      {
        head: "USD per million input and output tokens",
        cell: ({ pricing }) =>
          pricing === undefined ? "unknown" : `${usd(pricing.inputPerMillion)}, ${usd(pricing.outputPerMillion)}`
      }
    ])}`
  )
