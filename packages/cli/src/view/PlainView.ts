/** The view of a run for a pipe or a log: prints one or more lines per event and is never redrawn. */

import { RunEvent, Transcript, type Workflow } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import type { Paid } from "@divisi/core/Usage"
import * as Format from "./Format.ts"
import { clean, oneLine, type Style } from "./Line.ts"
import * as PlanPrice from "./PlanPrice.ts"
import * as Records from "./Records.ts"
import * as Totals from "./Totals.ts"

/** An event in a run, as shown in the view. */
export interface Entry {
  /** A key that is unique within the run, and stays the same in later transcripts. */
  readonly key: string
  /** Time in milliseconds since 1970. */
  readonly at: number
  readonly lines: ReadonlyArray<string>
}

/**
 * Describes the inputs of a step.
 *
 * @internal
 */
export const sees = (access: "all" | ReadonlyArray<number>): string =>
  access === "all"
    ? "sees all earlier answers"
    : access.length === 0
      ? "sees no earlier answers"
      : `sees ${access.join(", ")}`

/** Describes the inputs of a step, including those from earlier rounds. */
const seesOf = ({ access, earlier = [] }: Workflow.Step): string => {
  if (earlier.length === 0) return sees(access)
  const before = earlier.map(({ round, step }) => `${step} of round ${round}`).join(", ")
  return access.length === 0 ? `sees ${before}` : `${sees(access)} and ${before}`
}

const onFailure: { readonly [Reaction in NonNullable<Workflow.Step["check"]>["onFailure"]]: string } = {
  revise: "new plan",
  next: "next worker",
  again: "same worker again",
  continue: "continue"
}

const checkOf = ({ check }: Workflow.Step): ReadonlyArray<string> =>
  check === undefined
    ? []
    : [
        `checked by ${oneLine(typeof check.by === "string" ? `"${check.by}"` : `worker ${check.by}`)} (on failure: ${onFailure[check.onFailure]})`
      ]

const paidFacts = ({ costUsd, usage }: Paid, isPlay: boolean): ReadonlyArray<string> => [
  Format.count(usage.inputTokens + usage.outputTokens, "token"),
  ...(costUsd === undefined ? [] : [Format.cost(costUsd, isPlay)])
]

/**
 * Returns the label at the start of a line.
 *
 * @internal
 */
export const label = (text: string): string => text.padEnd(9)

type Run = Transcript.Transcript

/** Describes a failed call. Text that was already printed for an earlier call is not repeated. */
const lost = (run: Run, calls: ReadonlyArray<Transcript.LostCall>, index: number): string => {
  const call = calls[index]!
  if (call.reason === undefined) {
    const what = call.isInDoubt === true ? "outcome unknown, because the process exited" : "stopped"
    return `${oneLine(call.worker)} ${what} (${paidFacts(call, Records.isPlay(run, call.worker)).join(", ")})`
  }
  const again = call.retryInMillis === undefined ? "" : ` Retrying in ${Format.duration(call.retryInMillis)}.`
  const times = calls.slice(0, index + 1).filter(({ message }) => message === call.message).length
  return times === 1
    ? `${oneLine(call.message ?? call.reason._tag)}${again}`
    : `${oneLine(call.worker)}: the same error for the ${Format.nth(times)} time.${again}`
}

const answer = (run: Run, step: Transcript.StepRecord): string => {
  const paid = Records.paidFor(step)
  const facts = [
    Format.duration(step.durationMillis ?? 0),
    ...(paid === undefined ? [] : paidFacts(paid, Records.isPlay(run, step.worker))),
    ...Records.sourceOf(step)
  ]
  const declined = step.finishReason === "refusal" ? " declined" : ""
  return `${oneLine(RunEvent.authorOf(step))}${declined} (${facts.join(", ")}): ${oneLine(step.text)}`
}

const ended = (run: Run, step: Transcript.StepRecord): string => {
  if (step.unfolded !== undefined && step.state !== "skipped") {
    const why = step.detail === undefined ? "" : `: ${oneLine(step.detail)}`
    return `${Records.itemsOf(step)} (${Format.duration(step.durationMillis ?? 0)})${why}`
  }
  if (step.state === "answered") return answer(run, step)
  if (step.state === "skipped") return `skipped: ${Records.skipReason(step)}`
  const why = oneLine(Records.ownFailure(step))
  const calls = step.lost.length < 2 ? "" : ` after ${Format.count(step.lost.length, "call")}`
  return `${oneLine(step.worker)} failed${calls}${why === "" ? "" : `: ${why}`}`
}

/** Returns the turns of a step before its answer: text, tool calls and their results. */
const turns = ({
  turns = []
}: Transcript.StepRecord): ReadonlyArray<readonly [at: number, what: string, text: string]> =>
  turns.flatMap((turn) => {
    const { endedAt, error, text, tools, worker } = turn
    const what = `turn ${turn.turn}`
    const said = oneLine(text)
    return [
      ...(said === "" ? [] : [[endedAt, `${what} said`, `${oneLine(worker)}: ${said}`] as const]),
      ...(error === undefined ? [] : [[endedAt, `${what} error`, `retried: ${oneLine(error)}`] as const]),
      ...tools.flatMap((tool, index) => {
        const asked = [endedAt, `${what} asked ${index}`, `${oneLine(worker)} calls ${Records.toolCall(tool)}`] as const
        if (tool.endedAt === undefined) return [asked]
        const facts = tool.durationMillis === undefined ? "" : ` (${Format.duration(tool.durationMillis)})`
        const verb = tool.isError === true ? "failed" : "returned"
        const gave = `${oneLine(tool.call.name)} ${verb}${facts}: ${Records.toolResult(tool)}`
        return [asked, [tool.endedAt, `${what} gave ${index}`, gave] as const]
      })
    ]
  })

/**
 * Returns an entry for each failed item. If the step was answered, failed items are part of the step's last line
 * instead.
 */
const ofItems = (key: string, { items = [], step }: Transcript.StepRecord): ReadonlyArray<Entry> =>
  items.flatMap(({ detail = "", endedAt, item, state, worker }) =>
    state !== "failed" || endedAt === undefined
      ? []
      : [
          {
            key: `${key}[${item}] ended`,
            at: endedAt,
            lines: [`${label(`step ${step}`)}item ${item}: ${oneLine(worker)} failed: ${oneLine(detail)}`]
          }
        ]
  )

const ofStep = (run: Run, key: string, step: Transcript.StepRecord): ReadonlyArray<Entry> => {
  const { checks = [], endedAt, nested, notices = [], reassigned, startedAt, waitingFor = [] } = step
  const line = (at: number, what: string, text: string): Entry => ({
    key: `${key} ${what}`,
    at,
    lines: [`${label(`step ${step.step}`)}${text}`]
  })
  return [
    ...(startedAt === undefined ? [] : [line(startedAt, "started", `${oneLine(Records.planned(step))} started`)]),
    ...step.lost.map(({ at }, index) => line(at, `lost ${index}`, lost(run, step.lost, index))),
    ...reassigned.map(({ at, from }, index) => {
      const to = reassigned[index + 1]?.from ?? step.worker
      return line(at, `reassigned ${index}`, `${oneLine(to)} takes over from ${oneLine(from)}`)
    }),
    ...(nested === undefined ? [] : entries(nested).map((entry) => ({ ...entry, lines: indented(entry.lines) }))),
    ...notices.map((notice, index) =>
      line(startedAt ?? run.startedAt, `notice ${index}`, `${oneLine(step.worker)}: ${oneLine(notice)}`)
    ),
    ...checks.map((check) => line(check.at, `checked ${check.turn}`, oneLine(Records.checked(check)))),
    ...turns(step).map(([at, what, text]) => line(at, what, text)),
    ...waitingFor.map((call) =>
      line(step.turns?.at(-1)?.endedAt ?? run.startedAt, `waits ${call.id}`, Records.waiting(call))
    ),
    ...ofItems(key, step),
    ...(endedAt === undefined ? [] : [line(endedAt, "ended", ended(run, step))])
  ]
}

const indented = (lines: ReadonlyArray<string>) => lines.map((line) => `  ${line}`.trimEnd())

const planLines = ({ isOwn, notes, policy = "", steps, workflow }: Transcript.RoundRecord): ReadonlyArray<string> => {
  if (workflow === undefined) return []
  return [
    `${label("plan")}${oneLine(policy)}: ${isOwn === true ? Records.ownAnswer : Records.shapeOf(workflow)}`,
    ...notes.map((note) => `${label("")}note: ${oneLine(note)}`),
    ...workflow.steps.map((step, index) => {
      const subtask = oneLine(step.subtask)
      const name = oneLine(Records.planned(steps[index]!))
      const facts = [name, seesOf(step), ...checkOf(step)].join(", ")
      return `${label(`step ${index}`)}${facts}${subtask === "" ? "" : `: ${subtask}`}`
    })
  ]
}

/** Returns the price of a plan that is waiting for approval. */
const priceLines = (run: Run, { decision, waitingFor: [waiting] = [] }: Transcript.RoundRecord) =>
  decision !== undefined || waiting === undefined
    ? []
    : PlanPrice.ofWaiting(waiting.call, Transcript.isAllPlay(run.pool)).map((text) => `${label("")}${text}`)

const ofRound = (run: Run, round: Transcript.RoundRecord): ReadonlyArray<Entry> => {
  const key = `${run.runId} ${round.round}`
  const entry = (at: number | undefined, what: string, lines: ReadonlyArray<string>): ReadonlyArray<Entry> =>
    at === undefined || lines.length === 0 ? [] : [{ key: `${key} ${what}`, at, lines }]
  const line = (at: number | undefined, what: string, name: string, text: string) =>
    entry(at, what, [`${label(name)}${text}`])
  const approval = Records.approval(round)
  return [
    ...(round.round === 0 ? [] : line(round.startedAt, "started", "round", String(round.round))),
    ...round.completions.flatMap(({ attempt, endedAt, error }) =>
      error === undefined ? [] : line(endedAt, `attempt ${attempt}`, "policy", `unreadable plan: ${oneLine(error)}`)
    ),
    ...round.lost.flatMap(({ at }, index) => line(at, `lost ${index}`, "policy", lost(run, round.lost, index))),
    ...entry(round.plannedAt, "planned", planLines(round)),
    ...(approval === undefined ? [] : line(round.plannedAt, `approval ${approval}`, "plan", approval)),
    ...entry(round.plannedAt, "price", priceLines(run, round)),
    ...round.steps.flatMap((step) => ofStep(run, `${key} ${step.step}`, step)),
    ...(round.revisions ?? []).flatMap((revision, index) =>
      entry(revision.at, `revised ${index}`, [
        `${label("policy")}${oneLine(revision.policy)} ${Records.revised(revision)}`,
        // A new plan's notes are printed with the plan.
        ...(revision.decision === "re-plan" ? [] : revision.notes.map((note) => `${label("")}note: ${oneLine(note)}`))
      ])
    ),
    ...line(round.grade?.at, "graded", "critic", Records.verdict(round) ?? "")
  ]
}

const ending = (run: Run): ReadonlyArray<Entry> => {
  if (run.ending === undefined) return []
  const at = Transcript.endOf(run)
  const labels: Partial<Record<Style, string>> = { plain: "reason", dim: "note" }
  const lines = Totals.lines(run, true).map(
    ({ style, text }) => `${label(labels[style] ?? "total")}${text.replace(/^[✓■✗◦] /, "")}`
  )
  const said = run.answer === undefined ? [] : `${label("answer")}${clean(run.answer).trim()}`.split("\n")
  const { partial } = run
  const furthest =
    partial === undefined ? [] : [`${label("partial")}${Records.partialOf(partial)}: ${oneLine(partial.text)}`]
  return [
    ...(said.length === 0 ? [] : [{ key: answerKey(run), at, lines: said }]),
    ...(furthest.length === 0 ? [] : [{ key: `${run.runId} partial`, at, lines: furthest }]),
    { key: `${run.runId} ended`, at, lines }
  ]
}

/**
 * Returns the key of the entry with a run's answer.
 *
 * @internal
 */
export const answerKey = ({ runId }: Run): string => `${runId} answer`

/** Returns all entries of a run in chronological order. */
export const entries = (run: Transcript.Transcript): ReadonlyArray<Entry> => {
  const question = oneLine(Task.question(run.task))
  const why = run.reason === undefined ? [] : [`${label("policy")}${oneLine(run.policy)}: ${oneLine(run.reason)}`]
  const forked = Records.forked(run)
  const fork = forked === undefined ? [] : [`${label("fork")}${forked}`]
  const lines = [`${label("question")}${question}`, ...fork, ...why]
  const start = { key: `${run.runId} started`, at: run.startedAt, lines }
  // The sort is stable: simultaneous events stay in order. The end comes last, regardless of the clock.
  const between = run.rounds.flatMap((round) => ofRound(run, round)).toSorted((one, other) => one.at - other.at)
  return [start, ...between, ...ending(run)]
}
