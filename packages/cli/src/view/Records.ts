/** Text that several views derive from a transcript's records. */

import { type RunEvent, Topology, Transcript, type Workflow } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import type { Paid } from "@divisi/core/Usage"
import * as Format from "./Format.ts"
import { cut, oneLine, widthOf } from "./Line.ts"

/** Whether a step's call was interrupted and not retried. */
export const isStopped = ({ lost, state }: Transcript.StepRecord): boolean => {
  const last = lost.at(-1)
  return state === "running" && last !== undefined && last.reason === undefined && last.isInDoubt !== true
}

/** Whether a worker's price is in play money. */
export const isPlay = ({ pool }: Pick<Transcript.Transcript, "pool">, worker: string): boolean =>
  pool.find(({ id }) => id === worker)?.isPlay === true

/** Returns the message of a failed step, unless its last failed call already reported the same message. */
export const ownFailure = ({ detail = "", lost }: Transcript.StepRecord): string =>
  lost.some(({ message }) => message === detail) ? "" : detail

/** Returns the price of a step's answer, including its earlier turns. For a nested run, this is the run's total. */
export const paidFor = (step: Transcript.StepRecord): Paid | undefined =>
  Transcript.isNested(step) && step.paid !== undefined
    ? Transcript.spendSoFar(step.nested!)
    : Transcript.paidForAnswer(step)

/** Describes how an answer was obtained without a call to a worker. Empty if a worker was called. */
export const sourceOf = ({ cached, origin }: Partial<RunEvent.AnswerSource>): ReadonlyArray<string> => {
  if (origin === "forked-run") return ["from the forked run"]
  if (origin === "caller") return ["supplied for the fork"]
  return cached === true ? ["cached"] : []
}

/** Formats the step that a fork starts at. */
export const placeOf = ({ item, nested, round, step }: Omit<RunEvent.ForkOf, "runId">): string =>
  `${round}.${step}${item === undefined ? "" : `[${item}]`}${nested === undefined ? "" : `/${placeOf(nested)}`}`

/** Returns the id of a fork, with the run and the step that it was forked from; `undefined` for other runs. */
export const forked = ({ forkOf, runId }: Transcript.Transcript): string | undefined =>
  forkOf === undefined ? undefined : oneLine(`${runId}, from step ${placeOf(forkOf)} of ${forkOf.runId}`)

const skipReasons: Readonly<Record<string, string>> = {
  unseen: "no step reads its answer",
  budget: "the budget does not allow it",
  revised: "the plan was changed",
  condition: "the check that it depends on passed",
  late: "enough others have answered"
}

/** Returns the reason why a step was skipped. */
export const skipReason = ({ detail = "" }: Transcript.StepRecord): string => skipReasons[detail] ?? detail

/**
 * Formats the progress of a step over its items, e.g. `12 of 40 items, 1 failed`. Items stopped by a quorum count as skipped. Empty if the step has no items. Counts
 * the answers that the caller of a fork supplied.
 */
export const itemsOf = ({ items = [], unfolded }: Transcript.StepRecord): string => {
  if (unfolded === undefined) return ""
  const count = (...states: ReadonlyArray<Transcript.StepRecord["state"]>) =>
    items.filter(({ state }) => states.includes(state)).length
  const supplied = items.filter(({ origin }) => origin === "caller").length
  return [
    `${count("answered", "failed", "skipped")} of ${Format.count(unfolded, "item")}`,
    ...[`${count("failed")} failed`, `${count("skipped")} skipped`, `${supplied} supplied for the fork`].filter(
      (part) => !part.startsWith("0 ")
    )
  ].join(", ")
}

/** Describes why a running step is retried, and by which worker. */
export const setback = ({ lost, reassigned, worker }: Transcript.StepRecord): string => {
  const call = lost.findLast(({ message }) => message !== undefined)
  const before = reassigned.at(-1)?.from
  return before === undefined || call?.worker === worker ? (call?.message ?? "") : `taken over from ${before}`
}

/** Returns the text written so far, or the model's reasoning before any text. */
export const written = ({ reasoning, text }: Transcript.StepRecord | Transcript.CompletionRecord): string =>
  text === "" ? reasoning : text

/** Describes why the plan is being rewritten. */
export const unreadable = ({ completions, lost }: Transcript.RoundRecord): string | undefined =>
  completions.findLast(({ error }) => error !== undefined)?.error ?? lost.at(-1)?.message

/** Formats a critic's verdict, if there is one. */
export const verdict = ({ grade }: Transcript.RoundRecord): string | undefined =>
  grade === undefined ? undefined : `${grade.critic} scores ${Number(grade.grade.score.toFixed(3))}`

/** Describes the result of a check. */
export const checked = ({ check, couldNotRun, objection = "", passed, worker }: Transcript.CheckRecord): string =>
  passed
    ? `${worker} passed the check "${check}"`
    : couldNotRun === true
      ? `${worker} was not checked by "${check}". ${objection}`
      : `${worker} failed the check "${check}"${objection === "" ? "" : `: ${objection}`}`

/** Describes the policy's revision after failed checks. */
export const revised = ({ answer, decision }: Transcript.RevisionRecord): string => {
  if (decision === "go-on") return "continues with its plan"
  if (decision === "re-plan") return "plans again"
  return `stops: the answer of step ${answer?.step} ${answer === undefined ? "" : `of round ${answer.round} `}is accepted`
}

/** Returns the worker that was originally assigned to a step. */
export const planned = ({ reassigned, worker }: Transcript.StepRecord): string => reassigned[0]?.from ?? worker

/** Maximum number of characters of a tool's text to inspect, because tools can return megabytes. */
const mostLookedAt = 1_000

const glance = (text: string, width: number): string => cut(oneLine(text.slice(0, mostLookedAt)), width)

/** Formats a tool call with its arguments, shortened: `weather({"city":"Ulm"})`. */
export const toolCall = ({ call }: Pick<Transcript.ToolRecord, "call">, width = 80): string =>
  `${oneLine(call.name)}(${glance(call.arguments, width)})`

/** Formats the progress of a tool, e.g. `3 of 10, reading a.md`. Empty if the tool has reported no progress. */
export const toolProgress = ({ progress: reported }: Pick<Transcript.ToolRecord, "progress">): string => {
  if (reported === undefined) return ""
  const { message, progress, total } = reported
  const count = progress === undefined ? [] : [total === undefined ? `${progress}` : `${progress} of ${total}`]
  return [...count, ...(message === undefined ? [] : [oneLine(message)])].join(", ")
}

/** Returns a tool's result, shortened. Content other than text is only counted. */
export const toolResult = ({ content = "" }: Transcript.ToolRecord, width = 200): string => {
  const media = Message.parts(content).filter(({ type }) => type !== "text").length
  const text = glance(Message.text(content), width)
  return media === 0
    ? text
    : [text, `[${media === 1 ? "a picture or file" : `${media} pictures and files`}]`].join(" ").trim()
}

/** Fits a tool call and its status into one line, so that both stay visible. */
export const fitting = (
  tool: Transcript.ToolRecord,
  said: string,
  width: number
): readonly [call: string, said: string] => {
  const left = Math.max(Math.floor(width / 2), width - widthOf(said))
  const names = widthOf(toolCall(tool, 0))
  const call = toolCall(tool, Math.max(1, left - names))
  return [call, cut(said, Math.max(1, width - widthOf(call)))]
}

/** Returns a tool call and its result, as {@link fitting}. */
export const toolTexts = (tool: Transcript.ToolRecord, width: number): readonly [call: string, result: string] =>
  fitting(tool, toolResult(tool, width), width)

/** Describes the state of a plan that needs approval, if it does. */
export const approval = ({ decision, waitingFor }: Transcript.RoundRecord): string | undefined => {
  if (decision === undefined) return waitingFor && `waiting for approval (id: ${waitingFor[0]?.id})`
  const why = decision.reason === undefined ? "" : `: ${oneLine(decision.reason)}`
  return decision.decision === "edited"
    ? "the plan was replaced by a person"
    : `the plan was ${decision.decision}${why}`
}

/** Describes the pending call of a suspended step. */
export const waiting = (call: RunEvent.WaitingCall): string =>
  call.for === "approval" ? `waits for approval of ${toolCall(call)}` : `waits for the result of ${toolCall(call)}`

/** Describes a round in which the policy answers the question itself. */
export const ownAnswer = "answers directly, without a plan"

/** Returns the name of the step that produced a partial answer, or a name for the policy's draft. */
export const partialOf = ({ step, worker }: Transcript.PartialAnswer): string =>
  step === undefined ? "The policy's draft" : `Partial answer from step ${step} by ${oneLine(worker ?? "")}`

/** Summarizes a plan: `3 steps, tree, 2 in parallel`. */
export const shapeOf = (workflow: Workflow.Workflow): string => {
  if (workflow.steps.length === 0) return "no further steps: the previous answer is accepted"
  const topology = Topology.make(workflow)
  const width = Topology.width(topology)
  const shape = Topology.shape(topology)
  return [
    Format.count(workflow.steps.length, "step"),
    ...(shape === "single" ? [] : [shape === "best-of-n" ? "independent attempts" : shape]),
    ...(width > 1 ? [`${width} in parallel`] : [])
  ].join(", ")
}
