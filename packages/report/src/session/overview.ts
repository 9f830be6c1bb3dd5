/** The header of a session report, with its key figures. */
import { type Html, html } from "../page/Html.ts"
import { count, counted, duration, percent, unknown, usd } from "../page/Numbers.ts"
import { note, tiles } from "../page/Page.ts"
import type { Figures, Totals } from "./Session.ts"

const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`

const shareOf = (share: number | undefined): string => (share === undefined ? unknown : percent(share))

/** Formats the number of runs by ending: `12 answered, 1 failed`. */
export const endings = ({ endings }: Pick<Totals, "endings">): string =>
  Object.entries(endings)
    .map(([name, number]) => `${count(number)} ${name}`)
    .join(", ")

/** The amount spent, with the number of calls of unknown price. */
const priced = ({ isPlay, spend: { calls, unpricedCalls } }: Figures): string =>
  [
    counted(calls, "call"),
    ...(unpricedCalls > 0 ? [`${count(unpricedCalls)} of unknown price`] : []),
    ...(isPlay ? ["play money"] : [])
  ].join(", ")

/** Renders the key figures of the session. */
export const overview = (title: string, figures: Figures): Html => {
  const { from, orchestration, spend, to, toolMillis, workedMillis } = figures
  const { inputTokens, outputTokens } = spend.usage
  return html`<h1>${title}</h1>
${note(`${timeOf(from)}, ${duration(to - from)} from the first question to the last answer.`)}
${tiles([
  ["Cost", usd(spend.costUsd), priced(figures)],
  ["Runs", count(figures.runs), endings(figures)],
  ["Tokens", count(inputTokens + outputTokens), `${count(inputTokens)} in, ${count(outputTokens)} out`],
  ["Orchestration", shareOf(orchestration.cost), `of the cost; ${shareOf(orchestration.tokens)} of the tokens`],
  ["Workers at work", duration(workedMillis), `and ${duration(toolMillis)} with tools alone`]
])}`
}
