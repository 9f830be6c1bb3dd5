/**
 * Errors between this client and a server of the Tinker API.
 *
 * One error for the whole protocol, with a closed set of reasons; each says whether sending the same again can help.
 * The engine's callers see it as core's `EngineError`: {@link toEngineError}.
 */
import { EngineError, type EngineErrorReason } from "@divisi/trainer/Engine"
import * as Data from "effect/Data"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Why the server did not do what it was asked. */
export type TinkerErrorReason =
  /** The request makes no sense to the server: a shape, a value, a name. */
  | { readonly _tag: "UserMistake"; readonly detail: string }
  /** More than the server has memory or context for. */
  | { readonly _tag: "TooLarge"; readonly detail: string }
  /** The key is wrong, or may not do this. */
  | { readonly _tag: "Authentication"; readonly detail: string }
  /** The account has no money left. */
  | { readonly _tag: "Billing"; readonly detail: string }
  | { readonly _tag: "RateLimited"; readonly detail: string; readonly retryAfterMillis?: number | undefined }
  /** A session, model, checkpoint or promise that is no longer there. */
  | {
      readonly _tag: "Expired"
      readonly detail: string
      /** Whether it is the promise of a result, and the same request may be made again. */
      readonly isPromise?: boolean | undefined
    }
  /** Something of this name is there already, or this number was used for another request. */
  | { readonly _tag: "Conflict"; readonly detail: string }
  /** A checkpoint that is still being written. */
  | { readonly _tag: "NotReady"; readonly detail: string }
  /** The server is unreachable, or did not answer in time. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** The server's own failure. */
  | { readonly _tag: "ServerFailure"; readonly detail: string }

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** A call of the Tinker API that failed. */
export class TinkerError extends Data.TaggedError("TinkerError")<{
  /** The name of the call, e.g. `forward_backward`. */
  readonly call: string
  readonly reason: TinkerErrorReason
  /**
   * Whether an earlier attempt of the same call may have been carried out although no reply came back. Then a conflict
   * usually means that it was.
   */
  readonly afterLostReply?: boolean | undefined
  /** Whether pieces of the request were carried out and others not. */
  readonly isPartial?: boolean | undefined
  /** Whether the server took the request and then never said what came of it. */
  readonly isOutcomeUnknown?: boolean | undefined
}> {
  override get message(): string {
    return `${this.call}: ${this.reason.detail}`
  }

  /** Whether it is unknown if the request was carried out. */
  get isUncertain(): boolean {
    const { _tag } = this.reason
    return _tag === "Unreachable" || _tag === "ServerFailure" || (this.afterLostReply === true && _tag !== "Conflict")
  }
}

/** An error of a call. */
export const make = (call: string, reason: TinkerErrorReason, afterLostReply = false): TinkerError =>
  new TinkerError({ call, reason, afterLostReply: afterLostReply || undefined })

/** The same error, of a request that the server took and never answered. */
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

/** The error as every engine reports it. */
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
 * Derives the reason from the message of a failed operation. Servers report their own failures like the user's
 * mistakes.
 */
export const reasonOfWords = (detail: string): TinkerErrorReason => {
  const tag = sayings.find(([pattern]) => pattern.test(detail))?.[1]
  if (tag === "TooLarge" || tag === "Expired" || tag === "UserMistake") return { _tag: tag, detail }
  return { _tag: "ServerFailure", detail }
}

/** Derives the reason from a status without a result. */
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
