/**
 * Converts runs to the AI SDK's UI message stream, so that `useChat` can display a team (plan and steps as data parts,
 * tools, and the answer as text), and converts `useChat` messages to a question.
 */

import { RunEvent, Options as Tables } from "@divisi/core"
import { isRecord } from "@divisi/core/Fields"
import type { Content, ContentPart, Message } from "@divisi/core/Message"
import { type ConductOptions, type PageEvent, type StreamOptions, streamResponse } from "@divisi/core/promise"
import type { Task } from "@divisi/core/Task"
import type { UIMessage, UIMessageChunk } from "ai"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The content of a message's `data-plan` part. */
export interface PlanData {
  readonly round: number
  readonly policy: string
  readonly steps: ReadonlyArray<{
    readonly worker: string
    readonly subtask: string
    readonly sees: ReadonlyArray<number>
  }>
}

/** The content of a message's `data-step` part, which is updated while the step runs. */
export interface StepData {
  readonly round: number
  readonly step: number
  /** The worker, or `the caller` if it supplied the answer (see `fork`). */
  readonly worker: string
  readonly state: "running" | "answered" | "failed" | "skipped"
  /** The step's answer, or the reason for its failure. */
  readonly text?: string
}

/** Message metadata about its run. */
export interface RunMetadata {
  readonly runId: string
  /** How the run ended. Like the following fields, set once the run has finished. */
  readonly ending?: string
  readonly costUsd?: number
  readonly calls?: number
  readonly durationMillis?: number
}

/** The message type for a run, for `useChat<TeamMessage>()`. */
export type TeamMessage = UIMessage<RunMetadata, { plan: PlanData; step: StepData }>

type Chunk = UIMessageChunk<RunMetadata, { plan: PlanData; step: StepData }>

// -------------------------------------------------------------------------------------------------------------------
// Chunks
// -------------------------------------------------------------------------------------------------------------------

type Of<T extends PageEvent["type"]> = Extract<PageEvent, { readonly type: T }>

const planOf = ({ policy, round, workflow }: Of<"workflow-proposed">, pool: ReadonlyArray<string>): Chunk => ({
  type: "data-plan",
  id: `plan-${round}`,
  data: {
    round,
    policy,
    steps: workflow.steps.map(({ access, subtask, worker }, step) => ({
      worker: pool[worker] ?? "self",
      subtask,
      sees: access === "all" ? Array.from({ length: step }, (_, index) => index) : access
    }))
  }
})

const stepOf = (
  at: { readonly round: number; readonly step: number },
  data: Omit<StepData, "round" | "step">
): Chunk => ({
  type: "data-step",
  id: `step-${at.round}.${at.step}`,
  data: { round: at.round, step: at.step, ...data }
})

const toolId = ({ index, round, step, turn }: Of<"tool-started">): string => `tool-${round}.${step}.${turn}.${index}`

const textOf = (content: Content): string =>
  typeof content === "string"
    ? content
    : content.map((part) => ("text" in part ? part.text : `(${part.type})`)).join("")

/** Returns the message part that an event adds or updates. */
const partOf = (event: PageEvent, pool: ReadonlyArray<string>): Chunk | undefined => {
  switch (event.type) {
    case "workflow-proposed":
      return event.workflow.steps.length === 0 ? undefined : planOf(event, pool)
    case "step-started":
      return stepOf(event, { worker: event.worker, state: "running" })
    case "step-reassigned":
      return stepOf(event, { worker: event.to, state: "running" })
    case "step-finished":
      return stepOf(event, { worker: RunEvent.authorOf(event), state: "answered", text: event.answer })
    case "step-failed":
      return stepOf(event, { worker: event.worker, state: "failed", text: event.message })
    case "step-skipped":
      return stepOf(event, { worker: event.worker, state: "skipped" })
    default:
      return undefined
  }
}

const toolChunks = (event: PageEvent): ReadonlyArray<Chunk> => {
  // The team has already run the tool, and the page has no definition for it.
  const by = { dynamic: true, providerExecuted: true } as const
  if (event.type === "tool-started") {
    const { name } = event
    return [{ type: "tool-input-available", toolCallId: toolId(event), toolName: name, input: {}, ...by }]
  }
  if (event.type !== "tool-finished") return []
  const toolCallId = toolId({ ...event, type: "tool-started" })
  const text = textOf(event.content)
  return [
    event.isError
      ? { type: "tool-output-error", toolCallId, errorText: text, ...by }
      : { type: "tool-output-available", toolCallId, output: text, ...by }
  ]
}

const endOf = (event: Of<"run-finished">): ReadonlyArray<Chunk> => {
  const { detail, durationMillis, ending, runId, spend } = event
  const messageMetadata = { runId, ending, costUsd: spend.costUsd, calls: spend.calls, durationMillis }
  if (ending === "interrupted") return [{ type: "abort" }]
  const failed =
    event.answer === undefined ? [{ type: "error", errorText: detail ?? `The run ended: ${ending}.` } as const] : []
  const finishReason = event.answer === undefined ? "error" : ending === "budget" ? "length" : "stop"
  return [...failed, { type: "finish-step" }, { type: "finish", finishReason, messageMetadata }]
}

const textId = "answer"

/** Yields UI message stream chunks for the events of a run. Nested runs are not shown. */
async function* uiMessageChunks(
  events: AsyncIterable<PageEvent>
): AsyncGenerator<UIMessageChunk<RunMetadata, { plan: PlanData; step: StepData }>, void, undefined> {
  let runId: string | undefined
  let pool: ReadonlyArray<string> = []
  let hasText = false
  for await (const event of events) {
    if (event.type === "answer-delta") {
      if (!hasText) yield { type: "text-start", id: textId }
      hasText = true
      yield { type: "text-delta", id: textId, delta: event.text }
      continue
    }
    runId ??= event.runId
    if (event.runId !== runId) continue
    if (event.type === "run-started") {
      pool = event.pool.map(({ id }) => id)
      yield { type: "start", messageId: runId, messageMetadata: { runId } }
      yield { type: "start-step" }
    }
    const part = partOf(event, pool)
    if (part !== undefined) yield part
    yield* toolChunks(event)
    if (event.type !== "run-finished") continue
    if (hasText) yield { type: "text-end", id: textId }
    yield* endOf(event)
  }
}

async function* asText(events: AsyncIterable<PageEvent>): AsyncGenerator<string, void, undefined> {
  for await (const chunk of uiMessageChunks(events)) yield `data: ${JSON.stringify(chunk)}\n\n`
  yield "data: [DONE]\n\n"
}

const table = {
  headers: Tables.recordOf(Tables.text),
  keepAliveMillis: Tables.number(0, 2 ** 31 - 1)
} satisfies Tables.ShapeOf<StreamOptions>

/**
 * Runs a question and returns a `Response` in the AI SDK's UI message stream protocol, for the route used by `useChat`.
 *
 * **Details**
 *
 * The message has a `data-plan` part for each plan, a `data-step` part for each step, which is updated while it runs,
 * the tools that were run, and the answer as text. Its metadata contains the run's id, ending, cost and calls. If the
 * client disconnects or stops the answer, the run is stopped. The answers of steps are also sent to the page.
 *
 * **Example**
 *
 * ```ts
 * import { single, worker } from "@divisi/core/promise"
 * import { questionOf, uiMessageResponse } from "@divisi/providers-ai-sdk"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * const messages = [{ role: "user", parts: [{ type: "text", text: "What is 6 times 7?" }] }]
 * const response = await uiMessageResponse({ question: questionOf(messages), pool, policy: single(0) })
 * const text = await response.text()
 * text.includes('data: {"type":"text-delta","id":"answer","delta":"42"}') // => true
 * ```
 */
export const uiMessageResponse = async (options: ConductOptions, stream: StreamOptions = {}): Promise<Response> => {
  Tables.check("uiMessageResponse (stream)", stream, table)
  const headers = { "x-vercel-ai-ui-message-stream": "v1", ...stream.headers }
  return streamResponse(options, asText, { ...stream, headers })
}

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s

/**
 * Converts a part of a page's message; returns `undefined` for parts that are not sent to a model: plans, steps,
 * reasoning and earlier tools.
 */
const contentOf = (part: unknown): ContentPart | undefined => {
  if (!isRecord(part)) return undefined
  const { filename, mediaType, text, type, url } = part
  if (type === "text" && typeof text === "string") return { type: "text", text }
  if (type !== "file" || typeof url !== "string" || typeof mediaType !== "string") return undefined
  const data = dataUrl.exec(url)?.[2]
  // Vendors fetch URLs themselves, so URLs in the local network must not be passed to them.
  if (data === undefined && !url.startsWith("https://")) return undefined
  const source = data === undefined ? { url } : { data }
  if (mediaType.startsWith("image/")) return { type: "image", mediaType, ...source } as ContentPart
  const named = typeof filename === "string" ? { name: filename } : {}
  return { type: "file", mediaType, ...source, ...named } as ContentPart
}

const messageOf = (message: unknown): ReadonlyArray<Message> => {
  if (!isRecord(message) || !Array.isArray(message.parts)) return []
  const { parts, role } = message
  if (role !== "user" && role !== "assistant") return []
  const content = parts.flatMap((part) => contentOf(part) ?? [])
  if (content.length === 0) return []
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const isText = texts.length === content.length || role !== "user"
  return [{ role, content: isText ? texts.join("") : content } as Message]
}

/**
 * Returns the question in the messages of a `useChat` request, with texts, images and files. Plans, steps and tools
 * from earlier answers are omitted, as are system messages, which only the server may set. Accepts the request's
 * `messages` unchanged.
 */
export const questionOf = (messages: unknown): { readonly messages: Task["messages"] } => ({
  // A run rejects a question without messages.
  messages: (Array.isArray(messages) ? messages.flatMap(messageOf) : []) as unknown as Task["messages"]
})
