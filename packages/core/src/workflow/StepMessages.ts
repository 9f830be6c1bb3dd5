/**
 * The messages that a worker sees for a step. They are separate from `Prompt` so that the executor does not load the
 * workflow reader that `Prompt` needs.
 */
import type * as Arr from "effect/Array"
import { isA } from "../Thrown.ts"
import { between, type Message, type PlainMessage, type ToolCall } from "../task/Message.ts"
import * as Task from "../task/Task.ts"
import type { ToolResult } from "../task/Tool.ts"
import { type FinishReason, WorkerError } from "../task/Worker.ts"
import * as Workflow from "./Workflow.ts"

/** The result of a step: its answer, its worker's refusal, or the reason why there is no answer. */
export type StepAnswer =
  | { readonly type: "answered"; readonly text: string }
  | { readonly type: "refused"; readonly text: string; readonly worker: string }
  | { readonly type: "failed"; readonly message: string; readonly cause?: unknown }

/** The result of a check. */
export interface Verdict {
  readonly passed: boolean
  /** The problem; absent if the answer passed. */
  readonly objection?: string | undefined
}

/** Everything that a model returned with a completion. A journal restores all of it, a transcript all but `echo`. */
export interface Said {
  readonly text: string
  /** The model's tool calls; empty by default. Only the policy can run them. */
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly reasoning: string
  readonly finishReason: FinishReason
  /** Vendor data that the model returned in addition (`WorkerPart`). */
  readonly echo?: unknown
}

/** A finished or current round, with the results of its steps by index. */
export interface PastRound {
  readonly workflow: Workflow.Workflow
  /** The results by step; `undefined` for a step that was not run. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** The verdicts by step; `undefined` for a step without a check, or whose check was not run. */
  readonly verdicts: ReadonlyArray<Verdict | undefined>
  /** The completions of the models that the policy called in this round, in order; absent if it called none. */
  readonly said?: ReadonlyArray<Said> | undefined
}

/** The part of a workflow that a step or one of its items sees. */
export interface StepView {
  /** The results of the steps so far, by index. Answers that the step may not see are never read. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** Returns the subtask of a step as shown, including its item. Default: the subtask in the workflow. */
  readonly subtaskOf?: ((step: number) => string) | undefined
  /** Whether a visible step is hidden because another step with the same answer is shown. */
  readonly isHidden?: ((step: number) => boolean) | undefined
}

/** A step as its worker will see it. */
export interface WorkerView extends StepView {
  readonly task: Task.Task
  readonly workflow: Workflow.Workflow
  /** The index of the current step. */
  readonly step: number
  /** The result of the previous round. Access `"all"` shows it. */
  readonly previous?:
    | { readonly answer: StepAnswer; readonly rounds?: ReadonlyArray<PastRound> | undefined }
    | undefined
}

export const user = (content: string): PlainMessage => ({ role: "user", content })
export const assistant = (content: string): PlainMessage => ({ role: "assistant", content })

const questionIndex = ({ messages }: Task.Task): number => messages.findLastIndex(({ role }) => role === "user")

/** Returns everything before the question: system messages and earlier turns of the conversation. */
export const background = (task: Task.Task): ReadonlyArray<Message> => task.messages.slice(0, questionIndex(task))

/** Returns the messages after the question: the tool calls and their results. */
const aftermath = (task: Task.Task): ReadonlyArray<Message> => task.messages.slice(questionIndex(task) + 1)

/**
 * Returns why a step failed, without the provider's message about the worker's account, which must not be sent to other
 * providers.
 */
const whyFailed = ({ cause, message }: Extract<StepAnswer, { readonly type: "failed" }>): string =>
  isA(cause, WorkerError) && (cause.reason._tag === "Authentication" || cause.reason._tag === "Quota")
    ? `${cause.worker} cannot be used.`
    : message

const said = (answer: StepAnswer | undefined): string => {
  if (answer === undefined) return "This step was not run, so it has no answer."
  if (answer.type === "failed") return `This step failed, so it has no answer: ${whyFailed(answer)}`
  if (answer.text !== "") return answer.text
  return answer.type === "refused" ? "The model of this step declined to answer." : "The answer to this step was empty."
}

/** Returns the subtasks as the policy wrote them. */
const planned =
  ({ steps }: Workflow.Workflow) =>
  (step: number): string =>
    steps[step]!.subtask

/** Returns the subtask of an item: the item replaces `{item}`, or is appended. */
export const itemSubtask = (subtask: string, item: string): string => {
  if (subtask.includes("{item}")) return subtask.replaceAll("{item}", () => item)
  return subtask === "" ? `Item:\n${item}` : `${subtask}\n\nItem:\n${item}`
}

/** The result of an item, for a join. */
export interface ItemResult {
  readonly item: string
  readonly answer: StepAnswer | undefined
}

/**
 * Joins the results of a step's items into one answer: JSON with one line per item, so that the text of an item cannot
 * imitate another item. Without an answered item, there is no answer.
 */
export const joined = (results: ReadonlyArray<ItemResult>): StepAnswer => {
  if (results.length === 0) return { type: "answered", text: "[]" }
  const lines = results.map(({ answer, item }) => {
    if (answer?.type === "answered") return JSON.stringify({ item, answer: answer.text })
    const why = answer === undefined ? "it was not run" : said(answer)
    return JSON.stringify(answer?.type === "refused" ? { item, refused: why } : { item, failed: why })
  })
  if (results.some(({ answer }) => answer?.type === "answered")) {
    return { type: "answered", text: `[\n${lines.join(",\n")}\n]` }
  }
  const first = results.find(({ answer }) => answer !== undefined)
  const why = first === undefined ? "" : `; the first: ${said(first.answer)}`
  return { type: "failed", message: `none of its ${results.length} items has an answer${why}` }
}

/**
 * Returns the messages that are sent to the worker of a step.
 *
 * **Details**
 *
 * The task's system messages and earlier turns come first. Each step in the access list follows, in step order: its
 * subtask as the user's turn and its answer as the assistant's. The last user message contains the question and the
 * step's own subtask. In a later round, access `"all"` shows the previous final answer before the steps, followed by
 * the listed steps of earlier rounds (`Step.earlier`). A failed step is shown as a turn with the failure and its
 * reason, without the provider's message about its key or quota.
 *
 * **Gotchas**
 *
 * An empty subtask stands for the question itself, both as the last message and as a past turn. No turn is ever empty:
 * some vendors refuse empty messages.
 *
 * **Example**
 *
 * ```ts
 * import { Prompt } from "@divisi/core"
 * import * as Task from "@divisi/core/Task"
 *
 * const workflow = {
 *   steps: [
 *     { worker: 0, subtask: "Plan it.", access: [] },
 *     { worker: 1, subtask: "Do it.", access: [0] }
 *   ]
 * }
 * const messages = Prompt.workerMessages({
 *   task: Task.make("Build a raft."),
 *   workflow,
 *   step: 1,
 *   answers: [{ type: "answered", text: "Logs, then rope." }]
 * })
 * messages.map((message) => message.role) // => ["user", "assistant", "user"]
 * messages[2]?.content // => "Question:\nBuild a raft.\n\nSubtask:\nDo it."
 * ```
 */
export const workerMessages = (view: WorkerView): Arr.NonEmptyReadonlyArray<Message> => {
  const { answers, isHidden, previous, step, subtaskOf = planned(view.workflow), task, workflow } = view
  const { access, earlier = [] } = workflow.steps[step]!
  const subtask = subtaskOf(step)
  const question = Task.question(task)
  const messages: Array<Message> = task.messages.slice(0, questionIndex(task))
  if (previous !== undefined && access === "all") {
    messages.push(user("Previous answer:"), assistant(said(previous.answer)))
  }
  for (const { round, step } of earlier.toSorted((one, other) => one.round - other.round || one.step - other.step)) {
    const past = previous?.rounds?.[round]
    messages.push(user(past?.workflow.steps[step]?.subtask || question), assistant(said(past?.answers[step])))
  }
  for (const index of Workflow.visible(workflow, step)) {
    if (isHidden?.(index) === true) continue
    messages.push(user(subtaskOf(index) || question), assistant(said(answers[index])))
  }
  const asked = Task.content(task)
  const content = subtask === "" ? asked : between("Question:\n", asked, `\n\nSubtask:\n${subtask}`)
  messages.push({ role: "user", content }, ...aftermath(task))
  return messages as Arr.NonEmptyArray<Message>
}

// -------------------------------------------------------------------------------------------------------------------
// Later turns
// -------------------------------------------------------------------------------------------------------------------

/** A turn in which a worker called tools. */
export interface ToolTurn {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  /** The result of each call, in the same order. */
  readonly results: ReadonlyArray<ToolResult>
  /** The vendor's opaque data for the turn. */
  readonly echo?: unknown
}

const toolMessage = ({ id, name }: ToolCall, { content, isError }: ToolResult): Message => {
  const message = { role: "tool" as const, callId: id, name, content }
  return isError === true ? { ...message, isError } : message
}

/** Returns the messages that a turn with tool calls adds to the conversation of its step. */
export const toolTurnMessages = ({ calls, echo, results, text }: ToolTurn): ReadonlyArray<Message> => {
  const message = { role: "assistant" as const, content: text, toolCalls: calls }
  return [
    echo === undefined ? message : { ...message, echo },
    ...results.map((result, index) => toolMessage(calls[index]!, result))
  ]
}

/** Returns the messages that request another answer because `text` does not have the requested shape. */
export const shapeCorrectionMessages = (text: string, why: string): ReadonlyArray<Message> => [
  assistant(text),
  user(`Your answer does not match the output schema: ${why}\nAnswer again with only the JSON.`)
]
