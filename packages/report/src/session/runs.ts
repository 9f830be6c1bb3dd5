/** A timeline of the runs in a session, and a table with their costs. */

import { Transcript } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { scaleLinear } from "d3-scale"
import { across, type Tick } from "../chart/Axes.ts"
import { head, row } from "../chart/Rows.ts"
import { figure, legend } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { count, counted, duration, usd } from "../page/Numbers.ts"
import { note, section } from "../page/Page.ts"
import { colourOf, rest } from "../page/Style.ts"
import { table } from "../page/Table.ts"
import type { Figures } from "./Session.ts"
import * as Spans from "./Spans.ts"

/** Maximum number of runs to draw and list. */
const most = 100

/** Minimum visible width of a span, as a fraction of the timeline. */
const leastWidth = 0.003

/** A tag that clients put before the user's text. */
const added = /^\s*<([a-z][\w-]*)>[\s\S]*?<\/\1>/i

/** Maximum length of a question to process, in characters. It may be followed by many files. */
const mostRead = 100_000

/** Returns the first words of a question. */
const wordsOf = ({ task }: Transcript.Transcript): string => {
  let text = Task.question(task).slice(0, mostRead)
  for (let next = text.replace(added, ""); next !== text; next = text.replace(added, "")) text = next
  return text.trim().replace(/\s+/g, " ").slice(0, 60) || "(no words)"
}

const spanMark = (
  { from, to, worker }: Spans.Span,
  at: (time: number) => number,
  colours: ReadonlyMap<string, number>,
  [y, height]: readonly [number, number]
): Html => {
  const colour = worker === undefined ? rest : (colours.get(worker) ?? rest)
  const width = Math.max(leastWidth, at(to) - at(from))
  const faint = worker === undefined && html` opacity=".35"`
  return html`<rect class="c${colour}" x="${across(at(from))}" width="${across(width)}" y="${y}" height="${height}"${faint}><title>${worker ?? "tools"}: ${duration(to - from)}</title></rect>`
}

const strip = (
  run: Transcript.Transcript,
  at: (time: number) => number,
  colours: ReadonlyMap<string, number>
): ReadonlyArray<Html> => {
  const lanes = Spans.lanes(Spans.of(run))
  const height = Math.round(180 / Math.max(1, lanes.length) - 5) / 10
  return lanes.flatMap((lane, index) =>
    lane.map((span) => spanMark(span, at, colours, [2 + (18 * index) / lanes.length, height]))
  )
}

const ticksOf = (from: number, to: number, at: (time: number) => number): ReadonlyArray<Tick> => {
  const seconds = scaleLinear([0, (to - from) / 1000], [0, 1])
  return seconds.ticks(5).map((second) => ({ at: at(from + 1000 * second), label: duration(1000 * second) }))
}

/** Returns the most expensive runs, in order of their start. */
const drawn = (runs: ReadonlyArray<Transcript.Transcript>): ReadonlyArray<Transcript.Transcript> =>
  runs
    .toSorted((left, right) => Transcript.spendSoFar(right).costUsd - Transcript.spendSoFar(left).costUsd)
    .slice(0, most)
    .toSorted((left, right) => left.startedAt - right.startedAt)

/** Renders the timeline and the table of runs. */
export const runsSection = (runs: ReadonlyArray<Transcript.Transcript>, { from, to, workers }: Figures): Html => {
  const shown = drawn(runs)
  const colours = new Map(workers.map(({ id }, place) => [id, colourOf(place)]))
  const at = scaleLinear([from, Math.max(to, from + 1)], [0, 1])
  const items = [
    ...workers.map(({ id }) => ({ name: id, colour: colours.get(id)! })),
    { name: "tools, and waiting for them", colour: rest }
  ]
  const list = table("The runs of the session", shown, [
    { head: "question", cell: wordsOf },
    { head: "began", cell: ({ startedAt }) => duration(startedAt - from) },
    { head: "took", cell: (run) => duration(Transcript.endOf(run) - run.startedAt) },
    { head: "ended", cell: ({ ending = "unfinished" }) => ending },
    { head: "policy", cell: ({ policy }) => policy },
    { head: "steps", cell: ({ rounds }) => count(rounds.reduce((sum, { steps }) => sum + steps.length, 0)) },
    { head: "calls", cell: (run) => count(Transcript.spendSoFar(run).calls) },
    { head: "cost", cell: (run) => usd(Transcript.spendSoFar(run).costUsd) }
  ])
  // Runs without any work have nothing to draw.
  const isIdle = shown.every((run) => Spans.of(run).length === 0)
  return section("runs", isIdle ? "Runs" : "When", [
    runs.length > most &&
      note(`The ${count(most)} runs that cost most are shown; ${count(runs.length - most)} cost less.`),
    isIdle
      ? list
      : figure({
          note: "From the first question to the last answer. Very short items are drawn wider than they were.",
          legend: legend(items),
          alternative: `Timeline of workers for ${counted(shown.length, "run")} within ${duration(to - from)}.`,
          picture: [
            head(ticksOf(from, to, at)),
            ...shown.map((run) =>
              row({
                name: wordsOf(run),
                value: usd(Transcript.spendSoFar(run).costUsd),
                strip: strip(run, at, colours)
              })
            )
          ],
          table: list
        })
  ])
}
