/**
 * The view of a run for a pipe or a log: one line, or a few, for each thing that happened, never redrawn.
 */

import * as Task from "@divisi/core/Task"
import * as Transcript from "@divisi/core/Transcript"
import type { Paid } from "@divisi/core/Usage"
import { shapeOf } from "./BlockView.ts"
import * as Format from "./Format.ts"
import { clean, oneLine } from "./Line.ts"
import * as Records from "./Records.ts"
import * as Totals from "./Totals.ts"

/** Something that happened in a run. */
export interface Entry {
  /** Tells it from all others of the run, and is the same in every later transcript. */
  readonly key: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly lines: ReadonlyArray<string>
}

/** What a step sees, as words. */
export const sees = (access: "all" | ReadonlyArray<number>): string =>
  access === "all" ? "sees all" : access.length === 0 ? "sees nothing" : `sees ${access.join(", ")}`

const paidFacts = ({ costUsd, usage }: Paid): ReadonlyArray<string> => [
  Format.count(usage.inputTokens + usage.outputTokens, "token"),
  ...(costUsd === undefined ? [] : [Format.cost(costUsd)])
]

const label = (text: string) => text.padEnd(9)

const lost = (call: Transcript.LostCall): string => {
  if (call.reason === undefined) return `${oneLine(call.worker)} stopped (${paidFacts(call).join(", ")})`
  const again = call.retryInMillis === undefined ? "" : ` Again in ${Format.duration(call.retryInMillis)}.`
  return `${oneLine(call.message ?? call.reason._tag)}${again}`
}

const answer = (step: Transcript.StepRecord): string => {
  const paid = Records.paidFor(step, Transcript.spendSoFar)
  const facts = [
    Format.duration(step.durationMillis ?? 0),
    ...(paid === undefined ? [] : paidFacts(paid)),
    ...(step.cached === true ? ["cached"] : [])
  ]
  return `${oneLine(step.worker)} (${facts.join(", ")}): ${oneLine(step.text)}`
}

const ended = (step: Transcript.StepRecord): string => {
  if (step.state === "answered") return answer(step)
  if (step.state === "skipped") return `skipped: ${Records.skipReason(step)}`
  return `${oneLine(step.worker)} failed: ${oneLine(step.detail ?? "")}`
}

const ofStep = (key: string, step: Transcript.StepRecord): ReadonlyArray<Entry> => {
  const { endedAt, nested, reassigned, startedAt } = step
  const line = (at: number, what: string, text: string): Entry => ({
    key: `${key} ${what}`,
    at,
    lines: [`${label(`step ${step.step}`)}${text}`]
  })
  return [
    ...(startedAt === undefined ? [] : [line(startedAt, "started", `${oneLine(Records.planned(step))} started`)]),
    ...step.lost.map((call, index) => line(call.at, `lost ${index}`, lost(call))),
    ...reassigned.map(({ at, from }, index) => {
      const to = reassigned[index + 1]?.from ?? step.worker
      return line(at, `reassigned ${index}`, `${oneLine(to)} takes over from ${oneLine(from)}`)
    }),
    ...(nested === undefined ? [] : entries(nested).map((entry) => ({ ...entry, lines: indented(entry.lines) }))),
    ...(endedAt === undefined ? [] : [line(endedAt, "ended", ended(step))])
  ]
}

const indented = (lines: ReadonlyArray<string>) => lines.map((line) => `  ${line}`.trimEnd())

const planLines = ({ notes, policy = "", steps, workflow }: Transcript.RoundRecord): ReadonlyArray<string> => {
  if (workflow === undefined) return []
  return [
    `${label("plan")}${oneLine(policy)}: ${shapeOf(workflow)}`,
    ...notes.map((note) => `${label("")}note: ${oneLine(note)}`),
    ...workflow.steps.map((step, index) => {
      const subtask = oneLine(step.subtask)
      const name = oneLine(Records.planned(steps[index]!))
      return `${label(`step ${index}`)}${name}, ${sees(step.access)}${subtask === "" ? "" : `: ${subtask}`}`
    })
  ]
}

const ofRound = (runId: string, round: Transcript.RoundRecord): ReadonlyArray<Entry> => {
  const key = `${runId} ${round.round}`
  const entry = (at: number | undefined, what: string, lines: ReadonlyArray<string>): ReadonlyArray<Entry> =>
    at === undefined || lines.length === 0 ? [] : [{ key: `${key} ${what}`, at, lines }]
  const line = (at: number | undefined, what: string, name: string, text: string) =>
    entry(at, what, [`${label(name)}${text}`])
  return [
    ...(round.round === 0 ? [] : line(round.startedAt, "started", "round", String(round.round + 1))),
    ...round.completions.flatMap(({ attempt, endedAt, error }) =>
      error === undefined ? [] : line(endedAt, `attempt ${attempt}`, "policy", `unreadable plan: ${oneLine(error)}`)
    ),
    ...round.lost.flatMap((call, index) => line(call.at, `lost ${index}`, "policy", lost(call))),
    ...entry(round.plannedAt, "planned", planLines(round)),
    ...round.steps.flatMap((step) => ofStep(`${key} ${step.step}`, step)),
    ...line(round.grade?.at, "graded", "critic", Records.verdict(round) ?? ""),
    ...(round.confirmed ? line(round.endedAt, "ended", "plan", "the previous answer stands") : [])
  ]
}

const ending = (run: Transcript.Transcript): ReadonlyArray<Entry> => {
  if (run.ending === undefined) return []
  const lines = [
    ...(run.answer === undefined ? [] : `${label("answer")}${clean(run.answer).trim()}`.split("\n")),
    ...Totals.lines(run).map(({ text }) => `${label("total")}${text.replace(/^[✓■✗] /, "")}`)
  ]
  return [{ key: `${run.runId} ended`, at: Transcript.endOf(run), lines }]
}

/** All that has happened in a run, in the order of time. */
export const entries = (run: Transcript.Transcript): ReadonlyArray<Entry> => {
  const question = oneLine(Task.question(run.task))
  const start = { key: `${run.runId} started`, at: run.startedAt, lines: [`${label("question")}${question}`] }
  // The sort is stable: what happens at the same time stays in order. Whatever the clock says, the end comes last.
  const between = run.rounds.flatMap((round) => ofRound(run.runId, round)).toSorted((one, other) => one.at - other.at)
  return [start, ...between, ...ending(run)]
}
