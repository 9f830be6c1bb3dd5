/** The request log. An entry is written when a request completes; it includes no content from requests or answers. */
import type { Segment } from "./segment/Segments.ts"
import type { Kind } from "./wire/ApiError.ts"
import { type FailedStep, type FinishReason, lastOf, totalOf } from "./wire/Wire.ts"

/** The log entry for a completed request. */
export interface Entry {
  /** Arrival time, in milliseconds since 1970. */
  readonly at: number
  readonly durationMillis: number
  readonly wire: string
  /** HTTP status of the response. A stream is logged as 200 even if it was cut off. */
  readonly status: number
  readonly isStreamed: boolean
  /** Whether the client disconnected before the response was complete. */
  readonly isCut: boolean
  /** Name of the caller's key. Omitted if the key was rejected. */
  readonly owner?: string | undefined
  readonly model?: string | undefined
  readonly runId?: string | undefined
  /** Finish reason of the response, or the kind of error. */
  readonly ending?: FinishReason | Kind | undefined
  /**
   * A message for the operator: an error from a provider about this server's account, or the reason why the provider is
   * unreachable.
   */
  readonly providerMessage?: string | undefined
  /** Steps whose worker failed after all retries. Omitted if no worker failed. */
  readonly failedSteps?: ReadonlyArray<FailedStep> | undefined
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Cost in USD, counting only calls with a known price. */
  readonly costUsd: number
}

/** Called synchronously with an entry for each completed request, so it should return quickly. */
export type Log = (entry: Entry) => void

/**
 * The mutable log record for a request in flight.
 */
export interface Open {
  readonly at: number
  readonly wire: string
  owner?: string | undefined
  model?: string | undefined
  segment?: Segment | undefined
  /** Whether this request started its segment. Usage is logged only for the request that started the segment. */
  isFirst?: boolean | undefined
  error?: Kind | undefined
}

/**
 * Logs a completed request. If the run continues because the client disconnected or did not wait, the entry is written
 * when the run ends, so that it includes the full cost.
 *
 * @internal
 */
export const tell = (log: Log, open: Open, status: number, now: number, isCut: boolean): void => {
  const { isFirst = false, segment } = open
  const say = () => log(entryOf(open, status, now, isCut))
  if (isFirst && segment !== undefined) segment.onOver(say)
  else say()
}

/** Builds the log entry for a request. */
const entryOf = (open: Open, status: number, now: number, isCut: boolean): Entry => {
  const { at, error, isFirst = false, model, owner, segment, wire } = open
  const last = lastOf(segment?.parts)
  const usage = isFirst ? last?.usage : undefined
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
    failedSteps: isFirst ? last?.failedSteps : undefined,
    ending: error ?? (last?.type === "finish" ? last.reason : last?.type === "error" ? last.error.kind : undefined),
    calls: usage?.calls ?? 0,
    inputTokens: total?.inputTokens ?? 0,
    outputTokens: total?.outputTokens ?? 0,
    costUsd: usage?.costUsd ?? 0
  }
}
