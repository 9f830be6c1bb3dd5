/** Worst-case estimates: upper bounds on the input and output of a call, calculated before it is sent. */
import { atOnce } from "../Callback.ts"
import type { ContentPart, Message } from "./Message.ts"
import { cost } from "./Usage.ts"
import type { Worker, WorkerRequest } from "./Worker.ts"

/** A worker and the request to send to it. */
export interface Asked {
  readonly worker: Worker
  readonly request: WorkerRequest
}

/**
 * Cap on the reserved output tokens for calls that set no limit. A model's maximum output is many times its typical
 * output; reserving that much would exceed most budgets.
 */
const defaultOutputTokens = 8_192

/** Typical upper bound on an answer's length, in tokens. Reserved if the worker's output limit is unknown. */
export const usualOutputTokens = 4_096

const encoder = new TextEncoder()

/** Counts a string's bytes without encoding it, if the runtime supports this. */
const { Buffer } = globalThis as { Buffer?: { byteLength?: (text: string) => number } }
const byteLength = Buffer?.byteLength ?? ((text: string): number => encoder.encode(text).length)

/** Up to this length, counting a string's bytes in a loop is faster. */
const shortLength = 512

/**
 * Returns an upper bound on the number of tokens in a text: its length in bytes, because tokenizers never produce more
 * than one token per byte.
 */
export const tokenBound = (text: string): number => {
  if (text.length > shortLength) return byteLength(text)
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

/** Upper bound on the tokens that any vendor counts for an image. The highest published figure is below 5,000. */
const imageTokens = 6_144

/** Upper bound on the tokens that any vendor counts for a file: 100 pages, each counted as both text and image. */
const fileTokens = 300_000

const partBound = (part: ContentPart): number => {
  if (part.type === "text") return tokenBound(part.text)
  if (part.type === "image") return imageTokens
  // At most one token per byte for a text file, and two if a page of only a few bytes is rendered as an image.
  return "data" in part ? Math.min(fileTokens, 2 * part.data.length) : fileTokens
}

export const jsonBound = (value: unknown): number => (value === undefined ? 0 : tokenBound(JSON.stringify(value) ?? ""))

const messageBound = (message: Message): number => {
  const { content } = message
  const said =
    typeof content === "string" ? tokenBound(content) : content.reduce((sum, part) => sum + partBound(part), 0)
  // Chat templates add a few tokens to each message.
  if (message.role === "assistant") return said + jsonBound(message.toolCalls) + jsonBound(message.echo) + 8
  return said + (message.role === "tool" ? message.name.length + message.callId.length + 16 : 8)
}

/** Tokens that vendors add to requests with tools, in addition to the tool definitions. */
const toolsOverhead = 1_024

/** Returns the worker's own count of the input tokens, if it provides a valid one. */
export const inputCount = ({ request, worker }: Asked): number | undefined => {
  try {
    const count = worker.countInputTokens && atOnce("countInputTokens", () => worker.countInputTokens?.(request))
    return Number.isSafeInteger(count) && count! >= 0 ? count : undefined
  } catch {
    return undefined
  }
}

export const inputBound = (asked: Asked): number => {
  const counted = inputCount(asked)
  if (counted !== undefined) return counted
  const { messages, output, tools } = asked.request
  let bound = 8 + jsonBound(output)
  for (const message of messages) bound += messageBound(message)
  return tools === undefined ? bound : bound + toolsOverhead + jsonBound(tools) + 32 * tools.length
}

/** Returns the maximum number of output tokens for a call, or `undefined` if it is unknown. */
export const mostOutput = ({ request, worker }: Asked): number | undefined =>
  request.maxOutputTokens ?? worker.maxOutputTokens ?? worker.limits?.maxOutputTokens

/** Returns the number of output tokens to reserve for a call. */
export const outputBound = ({ request, worker }: Asked): number =>
  request.maxOutputTokens ??
  worker.maxOutputTokens ??
  Math.min(worker.limits?.maxOutputTokens ?? usualOutputTokens, defaultOutputTokens)

/** Upper bound on a call's usage and cost. `costUsd` is `undefined` if the price is unknown. */
export interface WorstCase {
  readonly costUsd: number | undefined
  readonly tokens: number
}

/**
 * Returns the maximum cost for at most the given numbers of tokens: all input is charged at the highest of its prices,
 * and a prompt that is not long may cost more than a long one.
 */
export const costBound = (
  { pricing }: Pick<Worker, "pricing">,
  inputTokens: number,
  outputTokens: number
): number | undefined => {
  const usage = { inputTokens, outputTokens }
  const plain = cost(pricing, usage)
  if (plain === undefined) return undefined
  const { longPrompts } = pricing!
  return Math.max(
    plain,
    cost(pricing, { ...usage, cacheWriteTokens: inputTokens })!,
    cost(pricing, { ...usage, cachedInputTokens: inputTokens })!,
    longPrompts && inputTokens > longPrompts.aboveTokens
      ? costBound({ pricing }, longPrompts.aboveTokens, outputTokens)!
      : 0
  )
}

/** Returns the worst-case cost and usage of a call. */
export const worstCase = (asked: Asked): WorstCase => {
  const { worker } = asked
  const inputTokens = inputBound(asked)
  const outputTokens = outputBound(asked)
  return { costUsd: costBound(worker, inputTokens, outputTokens), tokens: inputTokens + outputTokens }
}
