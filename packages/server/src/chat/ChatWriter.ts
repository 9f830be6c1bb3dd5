/** Writes Chat Completions responses, as one body or as a stream of chunks. */
import type { ToolCall } from "@divisi/core/Message"
import { Dialects } from "@divisi/provider-kit"
import { fieldsOf } from "../segment/TokenRecords.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Tools from "../wire/Tools.ts"
import {
  type About,
  event,
  type FinishReason,
  type Part,
  runOf,
  type SegmentUsage,
  textOf,
  toolCallsOf,
  type Written
} from "../wire/Wire.ts"

/** State of a stream that is being written. */
export interface ChatState {
  readonly about: About
  /** Whether the client requested usage in the last chunk. If so, all other chunks carry `usage: null`. */
  readonly hasUsage: boolean
  /**
   * The serialized chunk before and after its text. Most chunks of a stream differ only in this text, so they are not
   * serialized again.
   */
  readonly around: readonly [before: string, behind: string]
  /** Number of tool calls written to the stream. */
  readonly toolCalls: number
  /** Tools offered in the request, because calls of custom tools have a different format. */
  readonly tools: ReadonlyArray<Tools.Offered>
  /** Whether the client uses the legacy `functions` field, whose answers contain one `function_call`. */
  readonly isLegacy: boolean
}

/** Serializes a tool call: functions have JSON arguments, custom tools have free-form input. */
const callOf = (call: ToolCall, tools: ReadonlyArray<Tools.Offered>): JsonObject => {
  const { arguments: given, id } = call
  const name = Tools.clientName(tools, call)
  return Tools.calledOf(tools, call)?.type === "custom"
    ? { id, type: "custom", custom: { name, input: Tools.textOf(call) } }
    : { id, type: "function", function: { name, arguments: given } }
}

const legacyCall = (call: ToolCall, tools: ReadonlyArray<Tools.Offered>): JsonObject => ({
  name: Tools.clientName(tools, call),
  arguments: call.arguments
})

const reasonOf = (reason: FinishReason, isLegacy: boolean): string =>
  isLegacy && reason === "tool-calls" ? Dialects.Endings.legacyCall : Dialects.Endings.wordOf.chat[reason]

/**
 * Returns the usage of the answer as Chat Completions counts it, plus the tokens spent on orchestration and the total
 * cost.
 */
const usageOf = ({ answer, costUsd, orchestration, unpricedCalls }: SegmentUsage): JsonObject => {
  const own = Dialects.UsageFields.chatUsage(answer)
  return {
    ...own,
    prompt_tokens_details: {
      ...own.prompt_tokens_details,
      orchestration_input_tokens: orchestration.inputTokens,
      orchestration_input_cached_tokens: orchestration.cachedInputTokens ?? 0
    },
    completion_tokens_details: {
      ...own.completion_tokens_details,
      orchestration_output_tokens: orchestration.outputTokens
    },
    cost_usd: costUsd,
    unpriced_calls: unpricedCalls
  }
}

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

/** Placeholder for the text of a chunk. It cannot occur in a model name or run id. */
const mark = "\u0000text\u0000"

/** Starts a stream with the chunk that sets the role. */
export const begin = (about: About): Written<ChatState> => {
  const options = about.body.stream_options
  const hasUsage = isObject(options) && options.include_usage === true
  const [before = "", behind = ""] = chunk({ about, hasUsage }, choice({ content: mark })).split(JSON.stringify(mark))
  const tools = Tools.ofResponse(about)
  const state = {
    about,
    hasUsage,
    around: [before, behind],
    toolCalls: 0,
    tools,
    isLegacy: Tools.isLegacy(about.body)
  } as const
  return [state, chunk(state, choice({ role: "assistant", content: "", refusal: null }))]
}

/** Returns the chunks for a part. */
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
      if (state.isLegacy) return [state, chunk(state, choice({ function_call: legacyCall(part, state.tools) }))]
      const call = { index: state.toolCalls, ...callOf(part, state.tools) }
      return [{ ...state, toolCalls: state.toolCalls + 1 }, chunk(state, choice({ tool_calls: [call] }))]
    }
    case "finish": {
      const divisi = runOf(state.about, part)
      const last = chunk(state, choice({}, reasonOf(part.reason, state.isLegacy)), { divisi })
      const usage = state.hasUsage ? chunk(state, [], { usage: usageOf(part.usage) }) : ""
      return [state, `${last}${usage}data: [DONE]\n\n`]
    }
    // Sends no final chunk or `[DONE]` after an error, so that an aborted stream does not look complete.
    case "error":
      return [state, chunk(state, choice({}, "error"), { error: OpenAi.errorOf(part.error) })]
  }
}

/** Serializes the tool calls of a message. */
const callsOf = (
  calls: ReadonlyArray<ToolCall>,
  tools: ReadonlyArray<Tools.Offered>,
  isLegacy: boolean
): JsonObject => {
  const [first] = calls
  if (first === undefined) return {}
  return isLegacy
    ? { function_call: legacyCall(first, tools) }
    : { tool_calls: calls.map((call) => callOf(call, tools)) }
}

/** Builds the body of a non-streaming response. */
export const whole = (about: About, parts: ReadonlyArray<Part>): JsonObject => {
  const isLegacy = Tools.isLegacy(about.body)
  const tools = Tools.ofResponse(about)
  const toolCalls = toolCallsOf(parts)
  const said = textOf(parts)
  const refusal = parts.flatMap((part) => (part.type === "refusal" ? [part.text] : [])).join("")
  const notes = parts.flatMap((part) => (part.type === "note" ? [part.text] : [])).join("\n")
  const finish = parts.find((part) => part.type === "finish")
  const record = finish?.tokenRecords?.at(-1)
  const message = {
    role: "assistant",
    content: said === "" && (toolCalls.length > 0 || refusal !== "") ? null : said,
    refusal: refusal === "" ? null : refusal,
    annotations: [],
    ...(notes === "" ? {} : { reasoning_content: notes }),
    ...callsOf(toolCalls, tools, isLegacy),
    ...(record && fieldsOf(record))
  }
  return {
    id: `chatcmpl-${about.id}`,
    object: "chat.completion",
    created: about.createdAt,
    model: about.request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(finish?.reason ?? "stop", isLegacy) }],
    usage: finish && usageOf(finish.usage),
    service_tier: "default",
    divisi: finish && runOf(about, finish)
  }
}
