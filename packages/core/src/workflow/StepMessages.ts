/**
 * Builds the messages sent to a step's worker. Separate from `Prompt`, so that the executor does not load the workflow
 * parser that `Prompt` needs.
 */
import type * as Arr from "effect/Array"
import { isA } from "../Thrown.ts"
import { between, type Message, type PlainMessage, type ToolCall } from "../task/Message.ts"
import * as Task from "../task/Task.ts"
import { type FinishReason, WorkerError } from "../task/Worker.ts"
import * as Workflow from "./Workflow.ts"

/** The result of a step: an answer, a refusal by its worker, or the reason why it has no answer. */
export type StepAnswer =
  | { readonly type: "answered"; readonly text: string }
  | { readonly type: "refused"; readonly text: string; readonly worker: string }
  | { readonly type: "failed"; readonly message: string; readonly cause?: unknown }

/** The result of a check. */
export interface Verdict {
  readonly passed: boolean
  /** Description of the problem. Undefined if the answer passed. */
  readonly objection?: string | undefined
  /** Set if the check itself failed, so that the answer was not checked. */
  readonly couldNotRun?: true | undefined
}

/** A model's complete response to a completion request. It is stored in full in journals; transcripts omit `echo`. */
export interface ModelResponse {
  readonly text: string
  /** Tool calls made by the model. Empty by default. Only the policy can execute them. */
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly reasoning: string
  readonly finishReason: FinishReason
  /** Additional vendor-specific data returned by the model (see `WorkerPart`). */
  readonly echo?: unknown
}

/** A finished or current round with its step results. */
export interface PastRound {
  readonly workflow: Workflow.Workflow
  /** Results by step. `undefined` for steps that did not run. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** Check verdicts by step. `undefined` for steps without a check, or whose check did not run. */
  readonly verdicts: ReadonlyArray<Verdict | undefined>
  /** Completions requested by the policy in this round, in order. Undefined if there were no completions. */
  readonly said?: ReadonlyArray<ModelResponse> | undefined
}

/** The part of a workflow that is visible to a step or one of its items. */
export interface StepView {
  /** Step results by index. Results that the step may not see are never read. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** Returns the text of a step's subtask with its item filled in. Defaults to the subtask from the workflow. */
  readonly subtaskOf?: ((step: number) => string) | undefined
  /** Whether to hide a visible step, because another step with the same answer is already shown. */
  readonly isHidden?: ((step: number) => boolean) | undefined
}

/** A step from the perspective of its worker. */
export interface WorkerView extends StepView {
  readonly task: Task.Task
  readonly workflow: Workflow.Workflow
  /** Index of the current step. */
  readonly step: number
  /** The result of the previous round, shown to steps with access `"all"`. */
  readonly previous?:
    | { readonly answer: StepAnswer; readonly rounds?: ReadonlyArray<PastRound> | undefined }
    | undefined
}

export const user = (content: string): PlainMessage => ({ role: "user", content })
export const assistant = (content: string): PlainMessage => ({ role: "assistant", content })

const questionIndex = ({ messages }: Task.Task): number => messages.findLastIndex(({ role }) => role === "user")

/**
 * Returns the messages before the question: system messages and earlier conversation turns.
 *
 * @internal
 */
export const background = (task: Task.Task): ReadonlyArray<Message> => task.messages.slice(0, questionIndex(task))

/** Returns the messages after the question: tool calls and their results. */
const aftermath = (task: Task.Task): ReadonlyArray<Message> => task.messages.slice(questionIndex(task) + 1)

/**
 * Returns the reason for a step's failure. Messages about the worker's account are replaced, because they must not be
 * sent to other providers.
 */
const whyFailed = ({ cause, message }: Extract<StepAnswer, { readonly type: "failed" }>): string =>
  isA(cause, WorkerError) && (cause.reason._tag === "Authentication" || cause.reason._tag === "Quota")
    ? `${cause.worker} cannot be used.`
    : message

/** Returns the text that represents a step's result. */
export const said = (answer: StepAnswer | undefined): string => {
  if (answer === undefined) return "This step was not run, so it has no answer."
  if (answer.type === "failed") return `This step failed, so it has no answer: ${whyFailed(answer)}`
  if (answer.text !== "") return answer.text
  return answer.type === "refused" ? "The model of this step declined to answer." : "The answer to this step was empty."
}

/**
 * Builds the messages to send to a step's worker.
 *
 * **Details**
 *
 * The task's system messages and earlier turns come first. They are followed by each step in the access list, in step
 * order, with its subtask as a user message and its answer as an assistant message. The final user message contains the
 * question and the step's subtask. In later rounds, access `"all"` also includes the previous final answer and the
 * referenced steps of earlier rounds (`Step.earlier`), placed before the steps. A failed step is represented by its
 * failure and reason, without provider messages about API keys or quotas.
 *
 * **Gotchas**
 *
 * An empty subtask means the question itself, both in the final message and in earlier turns. No message is ever empty,
 * because some vendors reject empty messages.
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
export const workerMessages = (view: WorkerView): Arr.NonEmptyReadonlyArray<Message> =>
  messagesOf(view)(view.step, view)

/** Returns a function that builds the messages of a workflow's steps, which differ only in their views. */
export const messagesOf = ({ previous, task, workflow }: Pick<WorkerView, "previous" | "task" | "workflow">) => {
  const before = background(task)
  const after = aftermath(task)
  const question = Task.question(task)
  const asked = Task.content(task)
  const planned = (step: number): string => workflow.steps[step]!.subtask
  return (step: number, { answers, isHidden, subtaskOf = planned }: StepView): Arr.NonEmptyReadonlyArray<Message> => {
    const { access, earlier } = workflow.steps[step]!
    const subtask = subtaskOf(step)
    const messages: Array<Message> = [...before]
    if (previous !== undefined && access === "all") {
      messages.push(user("Previous answer:"), assistant(said(previous.answer)))
    }
    for (const { round, step } of earlier?.toSorted((one, other) => one.round - other.round || one.step - other.step) ??
      []) {
      const past = previous?.rounds?.[round]
      messages.push(user(past?.workflow.steps[step]?.subtask || question), assistant(said(past?.answers[step])))
    }
    for (const index of Workflow.visible(workflow, step)) {
      if (isHidden?.(index) === true) continue
      messages.push(user(subtaskOf(index) || question), assistant(said(answers[index])))
    }
    const content = subtask === "" ? asked : between("Question:\n", asked, `\n\nSubtask:\n${subtask}`)
    messages.push({ role: "user", content }, ...after)
    return messages as Arr.NonEmptyArray<Message>
  }
}
