/** Writes responses in the format of Anthropic's Messages API, as one body or as a stream of events. */
import type { ToolCall } from "@divisi/core/Message"
import { Dialects } from "@divisi/provider-kit"
import { isObject, type JsonObject } from "../wire/Json.ts"
import * as Tools from "../wire/Tools.ts"
import { type About, event, type Part, runOf, type SegmentUsage, type Written } from "../wire/Wire.ts"
import { errorBody } from "./MessagesError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** State of a stream that is being written. */
export interface MessagesState {
  readonly about: About
  /** The type of the block that is currently open, or `undefined` if no block is open. */
  readonly open: "text" | "thinking" | undefined
  /** Number of blocks started. */
  readonly blocks: number
  /** Tools offered in the request. Calls are written with the tool names that the client uses. */
  readonly tools: ReadonlyArray<Tools.Offered>
}

type Finish = Extract<Part, { readonly type: "finish" }>

/**
 * Whether to send thinking blocks. A client that did not enable thinking would mistake the first block for the answer.
 */
const showsThinking = ({ body: { thinking } }: About): boolean =>
  isObject(thinking) && thinking.type !== "disabled" && thinking.display !== "omitted"

// -------------------------------------------------------------------------------------------------------------------
// The end of a message
// -------------------------------------------------------------------------------------------------------------------

const ending = ({ reason, stopSequence }: Finish): JsonObject => ({
  stop_reason: Dialects.Endings.wordOf.messages[reason],
  stop_sequence: stopSequence ?? null,
  stop_details: reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
  container: null
})

const unended: JsonObject = { stop_reason: null, stop_sequence: null, stop_details: null, container: null }

/** Returns the usage of the answer, the usage of the orchestration, and the total cost. */
const usageOf = ({ answer, costUsd, orchestration, unpricedCalls }: SegmentUsage): JsonObject => ({
  ...Dialects.Messages.reported(answer),
  server_tool_use: null,
  orchestration_input_tokens: orchestration.inputTokens,
  orchestration_input_cached_tokens: orchestration.cachedInputTokens ?? 0,
  orchestration_output_tokens: orchestration.outputTokens,
  cost_usd: costUsd,
  unpriced_calls: unpricedCalls
})

/** Placeholder for the usage at the start of a message, before it is known. */
const unused: JsonObject = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null
}

const place: JsonObject = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: "standard" }

const message = ({ id, request }: About, content: ReadonlyArray<JsonObject>, end: JsonObject, usage: JsonObject) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model: request.model,
  content,
  diagnostics: null,
  ...end,
  usage: { ...usage, ...place }
})

// -------------------------------------------------------------------------------------------------------------------
// Blocks
// -------------------------------------------------------------------------------------------------------------------

/** Embeds the run's state in a thinking block, which clients return unchanged. */
const carried = (state: string): JsonObject => ({ type: "redacted_thinking", data: state })

/** Returns the signature of a thinking block, which clients send back. It contains the run id and is never parsed. */
const signatureOf = ({ runId }: About): string => Buffer.from(`divisi:${runId}`).toString("base64")

const text = (said: string): JsonObject => ({ type: "text", text: said })

const toolUse = (call: ToolCall, tools: ReadonlyArray<Tools.Offered>, input: unknown): JsonObject => ({
  type: "tool_use",
  id: call.id,
  name: Tools.clientName(tools, call),
  input,
  caller: { type: "direct" }
})

const isObjectText = (json: string): boolean => {
  try {
    return isObject(JSON.parse(json))
  } catch {
    return false
  }
}

/** Returns the arguments of a call as a JSON object, which this API requires. Other text is wrapped in an object. */
const argumentsOf = ({ arguments: given }: ToolCall): string => {
  if (given.trim() === "") return "{}"
  return isObjectText(given) ? given : JSON.stringify({ INVALID_JSON: given })
}

/** Returns the block type and the text for a part, or `undefined` if the part is not written as a block. */
const pieceOf = (about: About, part: Part): readonly [of: "text" | "thinking", piece: string] | undefined => {
  if (part.type === "text" || part.type === "refusal") return ["text", part.text]
  return part.type === "note" && showsThinking(about) ? ["thinking", `${part.text}\n`] : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Streams
// -------------------------------------------------------------------------------------------------------------------

const named = (type: string, data: JsonObject = {}): string => event({ type, ...data }, type)

const delta = (index: number, data: JsonObject): string =>
  named(Dialects.Messages.events.blockDelta, { index, delta: data })

const blockStart = (index: number, block: JsonObject): string =>
  named(Dialects.Messages.events.blockStart, { index, content_block: block })

const blockStop = (index: number): string => named(Dialects.Messages.events.blockStop, { index })

/** Closes the open block. */
const close = (state: MessagesState): Written<MessagesState> => {
  if (state.open === undefined) return [state, ""]
  const index = state.blocks - 1
  const signed =
    state.open === "thinking"
      ? delta(index, { type: Dialects.Messages.deltas.signature, signature: signatureOf(state.about) })
      : ""
  return [{ ...state, open: undefined }, `${signed}${blockStop(index)}`]
}

/** Opens a block, unless a block of this type is already open. */
const open = (state: MessagesState, of: "text" | "thinking"): Written<MessagesState> => {
  if (state.open === of) return [state, ""]
  const [{ blocks }, closed] = close(state)
  const block = of === "text" ? text("") : { type: "thinking", thinking: "", signature: "" }
  return [{ ...state, open: of, blocks: blocks + 1 }, `${closed}${blockStart(blocks, block)}`]
}

const call = (state: MessagesState, made: ToolCall): Written<MessagesState> => {
  const [closed, before] = close(state)
  const index = closed.blocks
  const input = { type: Dialects.Messages.deltas.input, partial_json: argumentsOf(made) }
  const events = blockStart(index, toolUse(made, state.tools, {})) + delta(index, input) + blockStop(index)
  return [{ ...closed, blocks: index + 1 }, before + events]
}

/** Starts a stream. */
export const begin = (about: About): Written<MessagesState> => [
  { about, open: undefined, blocks: 0, tools: Tools.ofResponse(about) },
  named(Dialects.Messages.events.messageStart, { message: message(about, [], unended, unused) })
]

/** Returns the events for a part. */
export const write = (state: MessagesState, part: Part): Written<MessagesState> => {
  const piece = pieceOf(state.about, part)
  if (piece !== undefined) {
    const [of, said] = piece
    const [next, opened] = open(state, of)
    const data =
      of === "text"
        ? { type: Dialects.Messages.deltas.text, text: said }
        : { type: Dialects.Messages.deltas.thinking, thinking: said }
    return [next, opened + delta(next.blocks - 1, data)]
  }
  switch (part.type) {
    case "tool-call":
      return call(state, part)
    case "state": {
      const [closed, before] = close(state)
      const index = closed.blocks
      return [{ ...closed, blocks: index + 1 }, before + blockStart(index, carried(part.state)) + blockStop(index)]
    }
    case "finish": {
      const [closed, before] = close(state)
      const divisi = runOf(state.about, part)
      const last = named(Dialects.Messages.events.messageDelta, {
        delta: ending(part),
        usage: usageOf(part.usage),
        divisi
      })
      return [closed, `${before}${last}${named(Dialects.Messages.events.messageStop)}`]
    }
    // No closing events follow an error, so that an aborted stream does not look complete.
    case "error":
      return [state, event(errorBody(part.error), Dialects.Messages.events.error)]
    case "given":
    case "heartbeat":
      return [state, named(Dialects.Messages.events.ping)]
    default:
      return [state, ""]
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Bodies
// -------------------------------------------------------------------------------------------------------------------

/** Returns the content blocks for a list of parts. */
const blocksOf = (about: About, parts: ReadonlyArray<Part>): ReadonlyArray<JsonObject> => {
  const blocks: Array<JsonObject> = []
  const tools = Tools.ofResponse(about)
  let last: { readonly of: "text" | "thinking"; said: string } | undefined
  const end = () => {
    if (last?.of === "text") blocks.push(text(last.said))
    if (last?.of === "thinking") {
      blocks.push({ type: "thinking", thinking: last.said, signature: signatureOf(about) })
    }
    last = undefined
  }
  for (const part of parts) {
    const piece = pieceOf(about, part)
    if (piece !== undefined) {
      if (last?.of !== piece[0]) end()
      last = { of: piece[0], said: (last?.said ?? "") + piece[1] }
    } else if (part.type === "state") {
      end()
      blocks.push(carried(part.state))
    } else if (part.type === "tool-call") {
      end()
      blocks.push(toolUse(part, tools, JSON.parse(argumentsOf(part))))
    }
  }
  end()
  return blocks
}

/** Builds the body of a non-streaming response. */
export const whole = (about: About, parts: ReadonlyArray<Part>): JsonObject => {
  const finish = parts.find((part) => part.type === "finish")
  if (finish === undefined) return message(about, blocksOf(about, parts), unended, unused)
  const end = ending(finish)
  return { ...message(about, blocksOf(about, parts), end, usageOf(finish.usage)), divisi: runOf(about, finish) }
}
