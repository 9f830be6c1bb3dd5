/** The progress of a run, in lines for people. */
import type { RunEvent, Workflow } from "@divisi/core"

/** The beginning of a text, on one line. */
const short = (text: string, length = 100): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

const seen = (access: Workflow.Step["access"]): string => {
  if (access === "all") return ", sees all before it"
  return access.length === 0 ? "" : `, sees ${access.map((step) => step + 1).join(", ")}`
}

/** The line of an event; `undefined` for minor events and those of nested runs. */
export const progressOf = (event: RunEvent.RunEvent, runId: string | undefined): string | undefined => {
  if (event.runId !== runId) return undefined
  switch (event.type) {
    case "workflow-proposed": {
      const steps = event.workflow.steps.map(
        ({ access, subtask, worker }, index) =>
          `  ${index + 1}. worker ${worker}${seen(access)}: ${short(subtask === "" ? "the question" : subtask)}`
      )
      return [`Plan of ${event.policy}:`, ...steps].join("\n")
    }
    case "step-started":
      return `Step ${event.step + 1}: ${event.worker} begins.`
    case "step-finished":
      return `Step ${event.step + 1}: ${event.worker} has answered.`
    case "step-failed":
      return `Step ${event.step + 1}: ${short(event.message)}`
    case "step-reassigned":
      return `Step ${event.step + 1}: ${event.to} takes over from ${event.from}.`
    case "step-checked":
      return `Step ${event.step + 1}: ${event.worker} ${event.passed ? "passes" : "fails"} the check ${event.check}.`
    case "round-revised":
      return event.decision === "re-plan" ? `${event.policy} plans anew.` : undefined
    case "answer-graded":
      return `${event.critic} scores the answer ${event.grade.score} of 1.`
    default:
      return undefined
  }
}
