/**
 * Errors from a server of the Tinker API, or from the connection to it.
 *
 * The whole protocol uses one error with a fixed set of reasons, which determine whether a retry can succeed. {@link
 * toEngineError} converts it to the trainer's `EngineError`.
 */
import { EngineError, type EngineErrorReason } from "@divisi/trainer/Engine"
import * as Data from "effect/Data"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The reason why the server did not execute a request. */
export type TinkerErrorReason =
  /** The request is invalid: a shape, a value or a name. */
  | { readonly _tag: "UserMistake"; readonly detail: string }
  /** The request exceeds the server's memory or context. */
  | { readonly _tag: "TooLarge"; readonly detail: string }
  /** The key is invalid or lacks a permission. */
  | { readonly _tag: "Authentication"; readonly detail: string }
  /** The account has no credit. */
  | { readonly _tag: "Billing"; readonly detail: string }
  | { readonly _tag: "RateLimited"; readonly detail: string; readonly retryAfterMillis?: number | undefined }
  /** A session, model, checkpoint or pending result no longer exists. */
  | {
      readonly _tag: "Expired"
      readonly detail: string
      /** Whether a pending result is missing, in which case the same request may be sent again. */
      readonly isPromise?: boolean | undefined
    }
  /** The name already exists, or the sequence number was used for a different request. */
  | { readonly _tag: "Conflict"; readonly detail: string }
  /** A checkpoint is still being written. */
  | { readonly _tag: "NotReady"; readonly detail: string }
  /** The server is unreachable or did not answer in time. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** The server had an internal failure. */
  | { readonly _tag: "ServerFailure"; readonly detail: string }

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised if a call to the Tinker API fails. */
export class TinkerError extends Data.TaggedError("TinkerError")<{
  /** Name of the call, such as `forward_backward`. */
  readonly call: string
  readonly reason: TinkerErrorReason
  /**
   * Whether an earlier attempt may have been executed although its reply was lost. If so, a conflict usually means that
   * it was.
   */
  readonly afterLostReply?: boolean | undefined
  /** Whether only some parts of the request were executed. */
  readonly isPartial?: boolean | undefined
  /** Whether the server accepted the request but never reported its result. */
  readonly isOutcomeUnknown?: boolean | undefined
}> {
  override get message(): string {
    return `${this.call}: ${this.reason.detail}`
  }

  /** Whether it is unknown if the request was executed. */
  get isUncertain(): boolean {
    const { _tag } = this.reason
    return _tag === "Unreachable" || _tag === "ServerFailure" || (this.afterLostReply === true && _tag !== "Conflict")
  }
}

/** Creates the error for a call. */
export const make = (call: string, reason: TinkerErrorReason, afterLostReply = false): TinkerError =>
  new TinkerError({ call, reason, afterLostReply: afterLostReply || undefined })

/** Marks the error of a request that the server accepted but never answered. */
export const withOutcomeUnknown = (error: TinkerError): TinkerError =>
  new TinkerError({ ...error, isOutcomeUnknown: true })

// -------------------------------------------------------------------------------------------------------------------
// Conversions
// -------------------------------------------------------------------------------------------------------------------

const engineReason = (error: TinkerError): EngineErrorReason => {
  const { reason } = error
  const detail = error.message
  switch (reason._tag) {
    case "UserMistake":
    case "Conflict":
      return { _tag: "InvalidRequest", detail }
    case "TooLarge":
    case "Authentication":
    case "Unreachable":
    case "Expired":
      return { _tag: reason._tag, detail }
    case "RateLimited":
      return { ...reason, detail }
    case "Billing":
      return { _tag: "Authentication", detail }
    case "NotReady":
    case "ServerFailure":
      return { _tag: "Failed", detail }
  }
}

/** Converts the error to an `EngineError`. */
export const toEngineError = (doing: EngineError["doing"], error: TinkerError): EngineError =>
  new EngineError({ engine: "tinker", doing, reason: engineReason(error) })

// -------------------------------------------------------------------------------------------------------------------
// Reasons
// -------------------------------------------------------------------------------------------------------------------

const sayings: ReadonlyArray<readonly [RegExp, TinkerErrorReason["_tag"]]> = [
  [
    /out of memory|resource_exhausted|exceeds? (?:the )?max(?:imum|_length)|too (?:long|large|many tokens)/i,
    "TooLarge"
  ],
  [/not loaded|unknown model_id|no longer|session not found|not found|expired|was unloaded/i, "Expired"],
  [/must be|invalid|unsupported|not permitted|not supported|required|expected|does not accept/i, "UserMistake"]
]

/**
 * Returns the reason for the message of a failed operation. Servers report internal failures in the same way as user
 * mistakes.
 */
export const reasonOfWords = (detail: string): TinkerErrorReason => {
  const tag = sayings.find(([pattern]) => pattern.test(detail))?.[1]
  if (tag === "TooLarge" || tag === "Expired" || tag === "UserMistake") return { _tag: tag, detail }
  return { _tag: "ServerFailure", detail }
}

/** Returns the reason for a status without a result. */
export const reasonOfStatus = (status: number, detail: string, retryAfterMillis?: number): TinkerErrorReason => {
  switch (status) {
    case 400: {
      const reason = reasonOfWords(detail)
      return reason._tag === "ServerFailure" ? { _tag: "UserMistake", detail } : reason
    }
    case 401:
    case 403:
      return { _tag: "Authentication", detail: `${detail} Check the key (TINKER_API_KEY) and its permissions.` }
    case 402:
      return { _tag: "Billing", detail: `${detail} The account has no credit left: add some and resume the run.` }
    case 404:
      return { _tag: "Expired", detail }
    case 410:
      return { _tag: "Expired", detail, isPromise: true }
    case 408:
      return { _tag: "Unreachable", detail }
    case 409:
      return { _tag: "Conflict", detail }
    case 413:
      return { _tag: "TooLarge", detail }
    case 425:
      return { _tag: "NotReady", detail }
    case 429:
      return { _tag: "RateLimited", detail, retryAfterMillis }
    default:
      return status >= 500 ? { _tag: "ServerFailure", detail } : { _tag: "UserMistake", detail }
  }
}
