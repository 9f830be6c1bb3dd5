/** Writes responses of Chat Completions: a body, or chunks. */
import { isObject, type JsonObject } from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import {
  type About,
  event,
  type FinishReason,
  type Part,
  type SegmentUsage,
  textOf,
  toolCallsOf,
  type Written
} from "../wire/Wire.ts"

/** A stream that is being written. */
export interface ChatState {
  readonly about: About
  /** Whether the client wants to know at the end what was used; all other chunks then say that they do not. */
  readonly hasUsage: boolean
  /** What a chunk of text has before and behind its text: they are most of a stream, and differ in nothing else. */
  readonly around: readonly [before: string, behind: string]
  /** How many tools were called. */
  readonly toolCalls: number
}

const reasons: { readonly [R in FinishReason]: string } = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  refusal: "content_filter"
}

/** The tokens of the answer as Chat Completions counts them, those of the orchestration beside them, and the cost of all. */
const usageOf = ({ answer, costUsd, orchestration, unpricedCalls }: SegmentUsage): JsonObject => ({
  prompt_tokens: answer.inputTokens,
  completion_tokens: answer.outputTokens,
  total_tokens: answer.inputTokens + answer.outputTokens,
  prompt_tokens_details: {
    cached_tokens: answer.cachedInputTokens ?? 0,
    orchestration_input_tokens: orchestration.inputTokens,
    orchestration_input_cached_tokens: orchestration.cachedInputTokens ?? 0
  },
  completion_tokens_details: {
    reasoning_tokens: answer.reasoningTokens ?? 0,
    orchestration_output_tokens: orchestration.outputTokens
  },
  cost_usd: costUsd,
  unpriced_calls: unpricedCalls
})

/** What is said of the run besides its answer. */
const runOf = ({ runId }: About, { usage, workers }: Extract<Part, { readonly type: "finish" }>): JsonObject => ({
  run: runId,
  workers,
  calls: usage.calls
})

const chunk = (
  { about, hasUsage }: Pick<ChatState, "about" | "hasUsage">,
  choices: ReadonlyArray<JsonObject>,
  more: JsonObject = {}
): string =>
  event({
    id: `chatcmpl-${about.id}`,
    object: "chat.completion.chunk",
    created: about.createdAt,
    model: about.request.model,
    choices,
    ...(hasUsage ? { usage: null } : {}),
    ...more
  })

const choice = (delta: JsonObject, finishReason: string | null = null): ReadonlyArray<JsonObject> => [
  { index: 0, delta, finish_reason: finishReason, logprobs: null }
]

/** Stands for a text; no name of a model or run has it. */
const mark = "\u0000text\u0000"

/** The beginning of a stream: who speaks. */
export const begin = (about: About): Written<ChatState> => {
  const options = about.body.stream_options
  const hasUsage = isObject(options) && options.include_usage === true
  const [before = "", behind = ""] = chunk({ about, hasUsage }, choice({ content: mark })).split(JSON.stringify(mark))
  const state: ChatState = { about, hasUsage, around: [before, behind], toolCalls: 0 }
  return [state, chunk(state, choice({ role: "assistant", content: "", refusal: null }))]
}

/** What goes out for a part. */
export const write = (state: ChatState, part: Part): Written<ChatState> => {
  switch (part.type) {
    case "text":
      return [state, `${state.around[0]}${JSON.stringify(part.text)}${state.around[1]}`]
    case "note":
      return [state, chunk(state, choice({ reasoning_content: `${part.text}\n` }))]
    case "refusal":
      return [state, chunk(state, choice({ refusal: part.text }))]
    case "state":
      return [state, ""]
    case "given":
    case "heartbeat":
      return [state, chunk(state, choice({}))]
    case "tool-call": {
      const { arguments: given, id, name } = part
      const call = { index: state.toolCalls, id, type: "function", function: { name, arguments: given } }
      return [{ ...state, toolCalls: state.toolCalls + 1 }, chunk(state, choice({ tool_calls: [call] }))]
    }
    case "finish": {
      const divisi = runOf(state.about, part)
      const last = chunk(state, choice({}, reasons[part.reason]), { divisi })
      const usage = state.hasUsage ? chunk(state, [], { usage: usageOf(part.usage) }) : ""
      return [state, `${last}${usage}data: [DONE]\n\n`]
    }
    // Nothing follows, no end either: a stream that broke off must not look whole.
    case "error":
      return [state, chunk(state, choice({}, "error"), { error: OpenAi.errorOf(part.error) })]
  }
}

/** The body of a response that is not streamed. */
export const whole = (about: About, parts: ReadonlyArray<Part>): JsonObject => {
  const toolCalls = toolCallsOf(parts).map(({ arguments: given, id, name }) => ({
    id,
    type: "function",
    function: { name, arguments: given }
  }))
  const said = textOf(parts)
  const refusal = parts.flatMap((part) => (part.type === "refusal" ? [part.text] : [])).join("")
  const notes = parts.flatMap((part) => (part.type === "note" ? [part.text] : [])).join("\n")
  const finish = parts.find((part) => part.type === "finish")
  const message = {
    role: "assistant",
    content: said === "" && (toolCalls.length > 0 || refusal !== "") ? null : said,
    refusal: refusal === "" ? null : refusal,
    annotations: [],
    ...(notes === "" ? {} : { reasoning_content: notes }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls })
  }
  return {
    id: `chatcmpl-${about.id}`,
    object: "chat.completion",
    created: about.createdAt,
    model: about.request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasons[finish?.reason ?? "stop"] }],
    usage: finish && usageOf(finish.usage),
    service_tier: "default",
    divisi: finish && runOf(about, finish)
  }
}
