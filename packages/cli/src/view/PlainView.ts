/**
 * The view of a run for a pipe or a log: one line, or a few, for each thing that happens, never redrawn.
 */
import type { RunEvent } from "@divisi/core/RunEvent"
import { shapeOf } from "./BlockView.ts"
import * as Format from "./Format.ts"
import { clean, oneLine } from "./Line.ts"
import { find, type RunView } from "./RunView.ts"
import * as Totals from "./Totals.ts"

/** What a step sees, as words. */
export const sees = (access: "all" | ReadonlyArray<number>): string =>
  access === "all" ? "sees all" : access.length === 0 ? "sees nothing" : `sees ${access.join(", ")}`

const paid = (event: { usage: { inputTokens: number; outputTokens: number }; costUsd: number | undefined }) => [
  Format.count(event.usage.inputTokens + event.usage.outputTokens, "token"),
  ...(event.costUsd === undefined ? [] : [Format.cost(event.costUsd)])
]

const label = (text: string) => text.padEnd(9)

const stepLine = (step: number | undefined, text: string) =>
  `${label(step === undefined ? "policy" : `step ${step}`)}${text}`

const planLines = (view: RunView, round: number): ReadonlyArray<string> => {
  const plan = view.rounds[round]
  if (plan?.workflow === undefined) return []
  return [
    `${label("plan")}${oneLine(plan.policy)}: ${shapeOf(plan)}`,
    ...plan.notes.map((note) => `${label("")}note: ${oneLine(note)}`),
    ...plan.workflow.steps.map((step, index) => {
      const subtask = oneLine(step.subtask)
      const name = oneLine(plan.steps[index]!.worker)
      return `${label(`step ${index}`)}${name}, ${sees(step.access)}${subtask === "" ? "" : `: ${subtask}`}`
    })
  ]
}

const describe = (event: RunEvent, view: RunView): ReadonlyArray<string> => {
  switch (event.type) {
    case "run-started":
      return [`${label("question")}${oneLine(view.question)}`]
    case "round-started":
      return event.round === 0 ? [] : [`${label("round")}${event.round + 1}`]
    case "completion-finished":
      return event.error === undefined ? [] : [stepLine(undefined, `unreadable plan: ${oneLine(event.error)}`)]
    case "workflow-proposed":
      return planLines(view, event.round)
    case "step-started":
      return [stepLine(event.step, `${oneLine(event.worker)} started`)]
    case "step-finished": {
      // Of a step that a nested run answers, the view knows what that run took.
      const { costUsd, usage = event.usage } = view.rounds[event.round]?.steps[event.step] ?? event
      const facts = [
        Format.duration(event.durationMillis),
        ...paid({ usage, costUsd }),
        ...(event.cached ? ["cached"] : [])
      ]
      return [stepLine(event.step, `${oneLine(event.worker)} (${facts.join(", ")}): ${oneLine(event.answer)}`)]
    }
    case "call-failed": {
      const again = event.retryInMillis === undefined ? "" : ` Again in ${Format.duration(event.retryInMillis)}.`
      return [stepLine(event.step, `${oneLine(event.message)}${again}`)]
    }
    case "call-interrupted":
      return [stepLine(event.step, `${oneLine(event.worker)} stopped (${paid(event).join(", ")})`)]
    case "step-reassigned":
      return [stepLine(event.step, `${oneLine(event.to)} takes over from ${oneLine(event.from)}`)]
    case "step-failed":
      return [stepLine(event.step, `${oneLine(event.worker)} failed: ${oneLine(event.message)}`)]
    case "step-skipped":
      return [stepLine(event.step, `skipped: ${view.rounds[event.round]?.steps[event.step]?.message ?? event.reason}`)]
    case "answer-graded":
      return [`${label("critic")}${view.rounds[event.round]?.verdict ?? event.critic}`]
    case "round-finished":
      return event.confirmed ? [`${label("plan")}the previous answer stands`] : []
    case "run-finished":
      return [
        ...(view.answer === undefined ? [] : `${label("answer")}${clean(view.answer).trim()}`.split("\n")),
        ...Totals.lines(view).map(({ text }) => `${label("total")}${text.replace(/^[✓■✗] /, "")}`)
      ]
    default:
      return []
  }
}

/** The lines to print for an event; `view` is the state with the event in it. */
export const lines = (view: RunView | undefined, event: RunEvent): ReadonlyArray<string> => {
  const found = view === undefined ? undefined : find(view, event.runId)
  return found === undefined
    ? []
    : describe(event, found.view).map((line) => `${"  ".repeat(found.depth)}${line}`.trimEnd())
}
