/** The worst case of a call: an upper bound of its input and output, before it is made. */
import { atOnce } from "../Callback.ts"
import type { ContentPart, Message } from "./Message.ts"
import { cost } from "./Usage.ts"
import type { Worker, WorkerRequest } from "./Worker.ts"

/** A request to a worker. */
export interface Asked {
  readonly worker: Worker
  readonly request: WorkerRequest
}

/**
 * The output limit of a call without one, if an account must reserve its cost. A model's maximum output costs many
 * times its usual output, so most budgets would not admit a call at the model's maximum.
 */
const defaultOutputTokens = 8_192

/** The usual upper bound of an answer. It is reserved if the output limit of the worker is unknown. */
export const usualOutputTokens = 4_096

const encoder = new TextEncoder()

/** Up to this length, counting a text's bytes is faster than encoding it. */
const shortLength = 512

/** Returns an upper bound of a text's tokens: its bytes, because no tokenizer produces more than one token per byte. */
export const tokenBound = (text: string): number => {
  if (text.length > shortLength) return encoder.encode(text).length
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (text.codePointAt(at)! < 0x10000) bytes += 3
    else {
      bytes += 4
      at += 1
    }
  }
  return bytes
}

/** An upper bound of the tokens that vendors count for a picture. Their largest figure is below 5,000. */
const imageTokens = 6_144

/** An upper bound of the tokens that vendors count for a file: a hundred pages, each as text and as a picture. */
const fileTokens = 300_000

const partBound = (part: ContentPart): number => {
  if (part.type === "text") return tokenBound(part.text)
  if (part.type === "image") return imageTokens
  // A token of a byte where the file is text, and two where a page of a few bytes is shown as a picture.
  return "data" in part ? Math.min(fileTokens, 2 * part.data.length) : fileTokens
}

export const jsonBound = (value: unknown): number => (value === undefined ? 0 : tokenBound(JSON.stringify(value) ?? ""))

const messageBound = (message: Message): number => {
  const { content } = message
  const said =
    typeof content === "string" ? tokenBound(content) : content.reduce((sum, part) => sum + partBound(part), 0)
  // Chat templates wrap each message in a few tokens of their own.
  if (message.role === "assistant") return said + jsonBound(message.toolCalls) + jsonBound(message.echo) + 8
  return said + (message.role === "tool" ? message.name.length + message.callId.length + 16 : 8)
}

/** The tokens that vendors add to a request with tools, in addition to the tool definitions. */
const toolsOverhead = 1_024

const toolsBound = ({ output, tools }: WorkerRequest): number =>
  jsonBound(output) + (tools === undefined ? 0 : toolsOverhead + jsonBound(tools) + 32 * tools.length)

/** Returns the worker's own count of the input tokens, if it returns a valid one. */
export const inputCount = ({ request, worker }: Asked): number | undefined => {
  try {
    const count = atOnce("countInputTokens", () => worker.countInputTokens?.(request))
    return Number.isSafeInteger(count) && count! >= 0 ? count : undefined
  } catch {
    return undefined
  }
}

export const inputBound = (asked: Asked): number =>
  inputCount(asked) ??
  asked.request.messages.reduce((sum, message) => sum + messageBound(message), 8 + toolsBound(asked.request))

/** Returns the maximum output of a call, if it is known. */
export const mostOutput = ({ request, worker }: Asked): number | undefined =>
  request.maxOutputTokens ?? worker.maxOutputTokens ?? worker.limits?.maxOutputTokens

/** Returns the output tokens that an account reserves for a call. */
export const outputBound = ({ request, worker }: Asked): number =>
  request.maxOutputTokens ??
  worker.maxOutputTokens ??
  Math.min(worker.limits?.maxOutputTokens ?? usualOutputTokens, defaultOutputTokens)

/** An upper bound of a call's usage and cost. `costUsd` is `undefined` if the price is unknown. */
export interface WorstCase {
  readonly costUsd: number | undefined
  readonly tokens: number
}

/**
 * Returns the maximum cost of a number of tokens. If cache writes cost more, all input counts as written to the cache.
 */
export const costBound = ({ pricing }: Worker, inputTokens: number, outputTokens: number): number | undefined => {
  const plain = cost(pricing, { inputTokens, outputTokens })
  if (plain === undefined) return undefined
  return Math.max(plain, cost(pricing, { inputTokens, outputTokens, cacheWriteTokens: inputTokens }) ?? 0)
}

/** Returns the worst case of a call. */
export const worstCase = (asked: Asked): WorstCase => {
  const { worker } = asked
  const inputTokens = inputBound(asked)
  const outputTokens = outputBound(asked)
  return { costUsd: costBound(worker, inputTokens, outputTokens), tokens: inputTokens + outputTokens }
}
