/** Formats run events as lines of text, e.g. for progress output on a terminal. */
import * as Approval from "./approval.ts"
import * as Check from "./check.ts"
import * as Critic from "./critic.ts"
import * as Plan from "./plan.ts"
import type { RunEvent } from "./RunEvent.ts"
import * as Reassignment from "./reassignment.ts"
import * as Revision from "./revision.ts"
import * as Step from "./step.ts"
import * as Suspension from "./suspension.ts"
import * as Tool from "./tool.ts"

/** Events without a line: minor events, and events that the caller displays in a different way. */
type Silent =
  | "run-started"
  | "round-started"
  | "completion-delta"
  | "completion-finished"
  | "step-delta"
  | "turn-finished"
  | "tool-finished"
  | "step-notice"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
  | "step-skipped"
  | "check-answered"
  | "critic-answered"
  | "round-finished"
  | "run-finished"

/**
 * Returns the line for an event, or `undefined` if the event has no line. Steps are counted from 1. A plan is formatted
 * as one line, followed by one line for each step.
 *
 * **Example**
 *
 * ```ts
 * import { EventLine } from "@divisi/core"
 *
 * EventLine.of({ type: "step-started", runId: "r", at: 0, round: 0, step: 0, worker: "a" }) // => "Step 1: a starts."
 * ```
 */
export const of = (event: RunEvent): string | undefined => {
  switch (event.type) {
    case "workflow-proposed":
      return Plan.lines(event)
    case "plan-waiting":
      return Approval.lineOfWaiting(event)
    case "plan-decided":
      return Approval.lineOfDecided(event)
    case "step-started":
      return Step.lineOfStarted(event)
    case "step-unfolded":
      return Step.lineOfUnfolded(event)
    case "step-joined":
      return Step.lineOfJoined(event)
    case "tool-started":
      return Tool.lineOfStarted(event)
    case "tool-progress":
      return Tool.lineOfProgress(event)
    case "step-waiting":
      return Suspension.line(event)
    case "step-reassigned":
      return Reassignment.line(event)
    case "step-finished":
      return Step.lineOfFinished(event)
    case "step-failed":
      return Step.lineOfFailed(event)
    case "step-checked":
      return Check.lineOfChecked(event)
    case "round-revised":
      return Revision.line(event)
    case "answer-graded":
      return Critic.lineOfGraded(event)
    default:
      event.type satisfies Silent
      return undefined
  }
}
