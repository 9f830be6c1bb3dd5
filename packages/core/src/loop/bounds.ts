/** The possible usage of a call, and the assumed usage if none is reported. */
import { type Bounds, checked, estimateUsage, isFree, noUsage, type Usage } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"
import {
  type Asked,
  inputBound,
  inputCount,
  jsonBound,
  mostOutput,
  outputBound,
  tokenBound,
  usualOutputTokens
} from "../task/WorstCase.ts"
import type { Received } from "./receive.ts"

/** The assumed maximum of input and output tokens if no account limits the call. No vendor accepts more. */
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

/** Estimates the usage of a complete answer, at most the reserved amount. */
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
