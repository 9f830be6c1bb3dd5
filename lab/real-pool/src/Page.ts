/** The first sentence and the figures of `docs/lab/real-pool.md`, each between two comments. */

import fs from "node:fs"
import { fileURLToPath } from "node:url"
import * as Combined from "./Combined.ts"
import * as Policies from "./Policies.ts"
import * as Questions from "./Questions.ts"
import type { Recorded } from "./Records.ts"
import type { Line } from "./Replay.ts"
import { models, ways } from "./Ways.ts"

const file = fileURLToPath(new URL("../../../docs/lab/real-pool.md", import.meta.url))

/** The parts of the page that the replay writes. */
const parts = ["verdict", "figures"] as const
type Parts = Readonly<Record<(typeof parts)[number], string>>

// -------------------------------------------------------------------------------------------------------------------
// Texts
// -------------------------------------------------------------------------------------------------------------------

const percent = (share: number): string => (100 * share).toFixed(0)
const points = (share: number): string => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`

const rowOf = ({ accuracy, difference, high, kind, low, policy, questions, tokens, usd, votes, votesPaid }: Line) => {
  const compared = difference === null ? "–" : `${points(difference)} (${points(low!)} to ${points(high!)})`
  const budget = votesPaid === null ? "–" : `${votesPaid.toFixed(1)} / ${votes!.toFixed(1)}`
  const micro = (1e6 * usd!).toFixed(1)
  return `| ${kind} | ${policy} | ${questions} | ${percent(accuracy!)} | ${Math.round(tokens!)} | ${micro} | ${compared} | ${budget} |`
}

/** The table of the page. */
export const table = (all: ReadonlyArray<Line>): string =>
  [
    "| kind | policy | questions | accuracy, % | tokens | USD per million questions | difference to the best worker's votes, points | votes paid for / recorded |",
    "|---|---|--:|--:|--:|--:|--:|--:|",
    ...all.filter(({ questions }) => questions > 0).map(rowOf)
  ].join("\n")

const goal = "a team that beats self-consistency of the best worker at equal tokens on two unseen kinds"

/** The significance level of the goal. */
const level = 0.05

const isTeam = ({ policy }: Line): boolean =>
  policy !== "oracle" && !policy.startsWith("self-consistency") && !Policies.workers.includes(policy)

const isBetter = ({ difference, p, votes, votesPaid }: Line): boolean =>
  difference !== null && difference > 0 && p! < level && votes! >= votesPaid!

/** The teams that are better at equal tokens on both unseen kinds. */
const winners = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  [
    ...Map.groupBy(
      lines.filter((line) => !line.isSeen && isTeam(line)),
      ({ policy }) => policy
    )
  ]
    .filter(([, of]) => of.length === Questions.unseen.length && of.every(isBetter))
    .map(([policy]) => policy)

const verdictOf = (lines: ReadonlyArray<Line>, records: ReadonlyArray<Recorded>): string => {
  const found = winners(lines)
  if (found.length > 0) return `The goal, ${goal}, is reached by: ${found.join(", ")}.`
  const unseen = lines.filter(({ isSeen }) => !isSeen).reduce((most, line) => Math.max(most, line.questions), 0)
  const samples = records.filter(({ sample }) => sample > 0).length
  const missing = [
    ...(unseen === 0 ? ["no answer to an unseen question is recorded yet"] : []),
    ...(samples === 0 ? ["no samples to vote on are recorded yet"] : [])
  ]
  const why = missing.length === 0 ? "" : `: ${missing.join(", and ")}, so nothing is shown for or against it`
  return `The goal, ${goal}, is not reached${why}.`
}

const countOf = (records: ReadonlyArray<Recorded>): string => {
  const questions = Questions.read().length
  const greedy = records.filter(
    ({ model, sample, way }) => sample === 0 && Policies.workers.includes(`${model}/${way}`)
  )
  const samples = records.filter(({ sample }) => sample > 0).length
  const combined = records.length - greedy.length - samples
  return `Recorded: ${greedy.length} of ${questions * models.length * ways.length} greedy answers, ${combined} of ${questions * Combined.combinedWays.length} calls that combine or choose, ${samples} of ${2 * Policies.samples * questions} samples.`
}

/** The parts of the page, from the lines of a replay of these records. */
export const content = (lines: ReadonlyArray<Line>, records: ReadonlyArray<Recorded>): Parts => ({
  verdict: verdictOf(lines, records),
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
