/** The bounds of a call: the amount to reserve for it, and the assumed usage if none is reported. */
import { atOnce } from "../Callback.ts"
import type { Amount } from "../run/Budget.ts"
import type { ContentPart, Message } from "../task/Message.ts"
import { type Bounds, checked, cost, estimateUsage, isFree, noUsage, type Usage } from "../task/Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "../task/Worker.ts"
import type { Received } from "./receive.ts"

/** A request to a worker. */
export interface Asked {
  readonly worker: Worker
  readonly request: WorkerRequest
}

/**
 * The maximum number of output tokens that an account reserves for a call without an output limit; the worker is held
 * to it. The maximum output of models costs many times their usual output, and no budget would admit a call at that
 * cost.
 */
const defaultOutputTokens = 8_192

/** The usual upper bound of an answer. It is reserved if the output limit of the worker is unknown. */
const usualOutputTokens = 4_096

const encoder = new TextEncoder()

/** Up to this length, a text's bytes are counted faster than they are written. */
const shortLength = 512

/** An upper bound of a text's tokens: no tokenizer makes more than one token of a byte. */
const tokenBound = (text: string): number => {
  if (text.length > shortLength) return encoder.encode(text).length
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (code >= 0x10000) at += 1
  }
  return bytes
}

/**
 * An upper bound for the tokens that vendors count for a picture, with a margin: their largest figure is below 5,000.
 */
const imageTokens = 6_144

/** An upper bound for the tokens that vendors read of a file: a hundred pages, with text and picture of each. */
const fileTokens = 300_000

const partBound = (part: ContentPart): number => {
  if (part.type === "text") return tokenBound(part.text)
  if (part.type === "image") return imageTokens
  // A token of a byte where the file is text, and two where a page of a few bytes is shown as a picture.
  return "data" in part ? Math.min(fileTokens, 2 * part.data.length) : fileTokens
}

const jsonBound = (value: unknown): number => (value === undefined ? 0 : tokenBound(JSON.stringify(value) ?? ""))

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

/** The worker's own count of the input, where it gives one that can be. */
const inputCount = ({ request, worker }: Asked): number | undefined => {
  try {
    const count = atOnce("countInputTokens", () => worker.countInputTokens?.(request))
    return Number.isSafeInteger(count) && count! >= 0 ? count : undefined
  } catch {
    return undefined
  }
}

const inputBound = (asked: Asked): number =>
  inputCount(asked) ??
  asked.request.messages.reduce((sum, message) => sum + messageBound(message), 8 + toolsBound(asked.request))

/** The most that a worker may write, where that is known. */
export const mostOutput = ({ request, worker }: Asked): number | undefined =>
  request.maxOutputTokens ?? worker.maxOutputTokens ?? worker.limits?.maxOutputTokens

/** The output that an account sets aside for a call. */
export const outputBound = ({ request, worker }: Asked): number =>
  request.maxOutputTokens ??
  worker.maxOutputTokens ??
  Math.min(worker.limits?.maxOutputTokens ?? usualOutputTokens, defaultOutputTokens)

/** The most that a call can be billed at. */
export const worstCase = (asked: Asked): Amount => {
  const { worker } = asked
  const inputTokens = inputBound(asked)
  const outputTokens = outputBound(asked)
  const written = { inputTokens, outputTokens, cacheWriteTokens: inputTokens }
  const plain = cost(worker.pricing, { inputTokens, outputTokens })
  const costUsd = plain === undefined ? undefined : Math.max(plain, cost(worker.pricing, written) ?? 0)
  return { costUsd, tokens: inputTokens + outputTokens }
}

/** No vendor's call has more tokens, in or out; used if no account limits the call. */
const mostTokens = 10_000_000

/**
 * Returns the possible usage of a call. Under a limit it is at most the reserved amount. Without one, a worker may have
 * read more than it was sent (an agent does), but cannot have written more than requested.
 */
export const boundsOf = (asked: Asked, isLimited: boolean, text: string): Bounds => {
  const worst = {
    inputTokens: inputBound(asked),
    outputTokens: mostOutput(asked) ?? Math.max(outputBound(asked), isLimited ? 0 : tokenBound(text))
  }
  const most = isLimited
    ? { ...worst, outputTokens: outputBound(asked) }
    : { inputTokens: Math.max(worst.inputTokens, mostTokens), outputTokens: mostOutput(asked) ?? mostTokens }
  return { most, worst, isSome: text !== "" && !isFree(asked.worker.pricing) }
}

/**
 * Returns the tokens that a vendor will count against a limit of tokens per minute: the likely input plus the requested
 * output.
 */
export const likelyTokens = (asked: Asked): number =>
  (inputCount(asked) ?? estimateUsage(asked.request.messages, "").inputTokens) +
  (asked.request.maxOutputTokens ?? asked.worker.maxOutputTokens ?? Math.min(outputBound(asked), usualOutputTokens))

/** The likely usage of a whole answer, and never more than was set aside for it. */
export const estimateOf = (asked: Asked, text: string): Usage => {
  const { inputTokens, outputTokens } = estimateUsage(asked.request.messages, text)
  return {
    inputTokens: Math.min(inputTokens, inputBound(asked)),
    outputTokens: Math.min(outputTokens, mostOutput(asked) ?? outputTokens),
    estimated: true
  }
}

/** Failures that happen before a vendor begins to answer, and so are not billed. */
const unbilled = /^(?:RateLimited|Overloaded|Network|InvalidRequest|Authentication|Quota|ContextTooLong)$/

/** Returns the usage of a failed call, or its upper bound if the vendor did not report it. */
export const usageOf = (
  error: WorkerError | undefined,
  asked: Asked,
  received: Pick<Received, "text" | "reasoning" | "toolCalls" | "finish">,
  isLimited: boolean
): Usage => {
  const written = tokenBound(received.text) + tokenBound(received.reasoning) + jsonBound(received.toolCalls)
  const bound = (): Usage => ({
    inputTokens: inputBound(asked),
    outputTokens: Math.min(written, mostOutput(asked) ?? written),
    estimated: true
  })
  if (error?.usage !== undefined) return checked(error.usage, bound, boundsOf(asked, isLimited, received.text))
  if (received.finish !== undefined) return received.finish.usage
  return written === 0 && error !== undefined && unbilled.test(error.reason._tag) ? noUsage : bound()
}
