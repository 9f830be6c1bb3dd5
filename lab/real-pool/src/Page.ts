/** Generates the first sentence and the figures in `docs/lab/real-pool.md`. Each is enclosed in two comments. */

import fs from "node:fs"
import { fileURLToPath } from "node:url"
import * as Plan from "./Plan.ts"
import * as Policies from "./Policies.ts"
import * as Questions from "./Questions.ts"
import type { Recorded } from "./Records.ts"
import type { Comparison, Line } from "./Replay.ts"

const file = fileURLToPath(new URL("../../../docs/lab/real-pool.md", import.meta.url))

/** The parts of the page that the replay writes. */
const parts = ["verdict", "figures"] as const
type Parts = Readonly<Record<(typeof parts)[number], string>>

// -------------------------------------------------------------------------------------------------------------------
// Texts
// -------------------------------------------------------------------------------------------------------------------

const percent = (share: number): string => (100 * share).toFixed(0)
const points = (share: number): string => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`

const compared = ({ difference, high, low }: Comparison): string =>
  difference === null || low === null || high === null
    ? "–"
    : `${points(difference)} (${points(low)} to ${points(high)})`

const rowOf = ({ accuracy, atEqualMoney, atEqualTokens, kind, policy, questions, tokens, usd }: Line) => {
  const budget =
    atEqualTokens === null ? "–" : `${atEqualTokens.votesPaid.toFixed(1)} / ${atEqualTokens.votes.toFixed(1)}`
  const differences = [atEqualTokens, atEqualMoney].map((one) => (one === null ? "–" : compared(one))).join(" | ")
  const micro = (1e6 * usd!).toFixed(1)
  return `| ${kind} | ${policy} | ${questions} | ${percent(accuracy!)} | ${Math.round(tokens!)} | ${micro} | ${differences} | ${budget} |`
}

/** The table of the page. */
export const table = (all: ReadonlyArray<Line>): string =>
  [
    "| kind | policy | questions | accuracy, % | tokens | USD per million questions | difference at equal tokens | difference at equal money | votes paid for / recorded |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ...all.filter(({ questions }) => questions > 0).map(rowOf)
  ].join("\n")

const goal = "a team that beats self-consistency of the best worker at equal tokens on two unseen kinds"

/** The significance level of the goal. */
const level = 0.05

const isBetter = ({ difference, p, votes, votesPaid }: Comparison): boolean =>
  difference !== null && difference > 0 && p !== null && p < level && votes >= votesPaid

const chance = (p: number | null): string => (p === null ? "" : p < 0.001 ? ", p < 0.001" : `, p = ${p.toFixed(3)}`)

/** The result of a policy on one kind, as text. */
const resultOf = ({ atEqualTokens, kind, questions }: Line): string => {
  if (atEqualTokens === null) return `${kind}: nothing recorded`
  const fewer = atEqualTokens.votes < atEqualTokens.votesPaid ? ", with fewer votes than its tokens pay for" : ""
  const opponent = atEqualTokens.opponent === "greedy" ? " over one greedy answer" : " over the votes"
  return `${kind}: ${compared(atEqualTokens)} points${opponent}${chance(atEqualTokens.p)}, ${questions} questions${fewer}`
}

const verdictOf = (lines: ReadonlyArray<Line>): string => {
  const own = lines.filter(({ isSeen, policy }) => !isSeen && policy === Policies.primary.name)
  if (own.every(({ questions }) => questions === 0)) {
    return `The goal, ${goal}, is not reached: no answer to an unseen question is recorded yet, so nothing is shown for or against it.`
  }
  const isReached = own.every(({ atEqualTokens }) => atEqualTokens !== null && isBetter(atEqualTokens))
  const all = Questions.read()
  const isWhole = own.every(({ kind, questions }) => questions === all.filter((one) => one.kind === kind).length)
  const extent = isWhole ? "on all questions of both" : "with the records so far"
  return `The goal, ${goal} (p < ${level}), is ${isReached ? "" : "not "}reached ${extent} (${own.map(resultOf).join("; ")}; policy: ${Policies.primary.name}).`
}

const countOf = (records: ReadonlyArray<Recorded>): string => {
  const kinds = [...Questions.seen, ...Questions.unseen].map((kind) => {
    const asked = new Set(
      records.filter(({ question }) => question.startsWith(`${kind}/`)).map(({ question }) => question)
    )
    return `${kind} ${asked.size}`
  })
  return `Recorded: ${records.length} of ${Plan.all().flat().length} planned calls. Questions with records: ${kinds.join(", ")}.`
}

/** The parts of the page, from the lines of a replay of these records. */
export const content = (lines: ReadonlyArray<Line>, records: ReadonlyArray<Recorded>): Parts => ({
  verdict: verdictOf(lines),
  figures: `${countOf(records)}\n\n${table(lines)}`
})

// -------------------------------------------------------------------------------------------------------------------
// The page
// -------------------------------------------------------------------------------------------------------------------

const boundsOf = (text: string, part: string): readonly [start: number, end: number] => {
  const start = `<!-- ${part} -->`
  return [text.indexOf(start) + start.length, text.indexOf(`<!-- end of ${part} -->`)]
}

/** Reads the parts that the page has now. */
export const read = (): Parts => {
  const text = fs.readFileSync(file, "utf8")
  const [verdict, figures] = parts.map((part) => text.slice(...boundsOf(text, part)).trim())
  return { verdict: verdict!, figures: figures! }
}

/** Replaces the parts of the page. */
export const write = (content: Parts): void => {
  let text = fs.readFileSync(file, "utf8")
  for (const part of parts) {
    const [start, end] = boundsOf(text, part)
    text = `${text.slice(0, start)}\n${content[part]}\n${text.slice(end)}`
  }
  fs.writeFileSync(file, text)
}
