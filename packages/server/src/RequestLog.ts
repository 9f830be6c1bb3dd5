/**
 * The log of requests. An entry is written when a request has ended, and contains no content of requests or answers.
 */
import type { Segment } from "./segment/Segments.ts"
import type { Kind } from "./wire/ApiError.ts"
import { type FailedStep, type FinishReason, totalOf } from "./wire/Wire.ts"

/** The log entry of a completed request. */
export interface Entry {
  /** The time of its arrival, in milliseconds since 1970. */
  readonly at: number
  readonly durationMillis: number
  readonly wire: string
  /** The status of its response; 200 for a stream, even if the stream was cut off. */
  readonly status: number
  readonly isStreamed: boolean
  /** Whether the client disconnected before the end of the response. */
  readonly isCut: boolean
  /** The name of its key; absent if the request was refused because of the key. */
  readonly owner?: string | undefined
  readonly model?: string | undefined
  readonly runId?: string | undefined
  /** The finish reason of the response, or the kind of error. */
  readonly ending?: FinishReason | Kind | undefined
  /** For the operator: a provider's message about this server's account, or why the provider could not be reached. */
  readonly providerMessage?: string | undefined
  /** The workers that failed a step after all retries; absent if no worker failed. */
  readonly failedSteps?: ReadonlyArray<FailedStep> | undefined
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** The cost in USD of the calls with a known price. */
  readonly costUsd: number
}

/** Called with the entry of each completed request. It should return quickly. */
export type Log = (entry: Entry) => void

/** A request in flight. */
export interface Open {
  readonly at: number
  readonly wire: string
  owner?: string | undefined
  model?: string | undefined
  segment?: Segment | undefined
  /** Whether its segment was begun for it: what another request has begun, that one says. */
  isFirst?: boolean | undefined
  error?: Kind | undefined
}

/**
 * Logs a request that has ended. If its run continues because the client disconnected or did not wait, the run is
 * logged when it ends, since it is paid for as well.
 */
export const tell = (log: Log, open: Open, status: number, now: number, isCut: boolean): void => {
  const { isFirst = false, segment } = open
  const say = () => log(entryOf(open, status, now, isCut))
  if (isFirst && segment !== undefined) segment.onOver(say)
  else say()
}

/** The entry of a request. */
const entryOf = (open: Open, status: number, now: number, isCut: boolean): Entry => {
  const { at, error, isFirst = false, model, owner, segment, wire } = open
  const last = segment?.parts.at(-1)
  const usage = isFirst && (last?.type === "finish" || last?.type === "error") ? last.usage : undefined
  const total = usage && totalOf(usage)
  return {
    at,
    durationMillis: now - at,
    wire,
    status,
    isStreamed: segment?.about.request.isStreamed ?? false,
    isCut,
    owner,
    model,
    runId: segment?.about.runId,
    providerMessage: last?.type === "error" ? last.error.providerMessage : undefined,
    failedSteps: isFirst && last?.type === "finish" ? last.failedSteps : undefined,
    ending: error ?? (last?.type === "finish" ? last.reason : last?.type === "error" ? last.error.kind : undefined),
    calls: usage?.calls ?? 0,
    inputTokens: total?.inputTokens ?? 0,
    outputTokens: total?.outputTokens ?? 0,
    costUsd: usage?.costUsd ?? 0
  }
}
