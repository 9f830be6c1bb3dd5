/** Converts a run without an answer to an error for the client. */

import { FailedCall, Journal } from "@divisi/core"
import type { RunResult } from "@divisi/core/Conductor"
import type { BudgetExceeded } from "@divisi/core/Usage"
import type { WorkerError, WorkerErrorReason } from "@divisi/core/Worker"
import { ApiError, invalid, type Kind } from "../wire/ApiError.ts"
import * as FieldNames from "../wire/FieldNames.ts"

/** The client's error for one class of upstream failures. */
interface Row {
  readonly kind: Kind
  /**
   * The message after the worker's name. If omitted, the error's message is used, because it concerns the client's own
   * request.
   */
  readonly words?: string
  /** Retry delay in milliseconds if the provider does not specify one. */
  readonly retryAfterMillis?: number
  /** Set if a retry cannot help, although errors of this kind are normally retried. */
  readonly isFinal?: true
}

const forOperator = "Your own key and account are not affected; only the operator of this server can fix it."

const account: Row = {
  kind: "upstream-account",
  words: `cannot be used: its provider rejects this server's account. ${forOperator}`
}

const misconfigured: Row = {
  kind: "upstream-account",
  words: `cannot be used: its provider does not offer the model or setting that this server is configured to use. ${forOperator}`
}

/**
 * Errors by class of upstream failure. Provider messages about the account, hosts or code of this server are meant for
 * its operator: a client that reads "invalid API key" would change its own key. Messages about the request are passed
 * to the client.
 */
const rows: { readonly [T in WorkerErrorReason["_tag"]]: Row } = {
  RateLimited: {
    kind: "rate-limit",
    words: "has reached its provider's rate limit. Retry later.",
    retryAfterMillis: 1_000
  },
  Overloaded: {
    kind: "overloaded",
    words: "is overloaded or unavailable at its provider. Retry the request.",
    retryAfterMillis: 1_000
  },
  Timeout: { kind: "timeout", words: "did not answer in time. Retry the request." },
  Network: { kind: "upstream", words: "is unreachable from this server. Retry the request." },
  Malformed: { kind: "upstream", words: "sent a response that this server cannot read. Retry the request." },
  InvalidRequest: { kind: "invalid-request" },
  Authentication: account,
  Quota: account,
  ContentFiltered: { kind: "content-filtered" },
  ContextTooLong: { kind: "context-too-long" },
  Defect: { kind: "server", words: "failed because of an error in this server's code or configuration." }
}

/** A retry would be charged again and fail the same way. */
const unusable: Row = {
  kind: "upstream",
  words:
    "sent a response that this server cannot use. A retry would fail in the same way: lower the output limit of the request, or use another model.",
  isFinal: true
}

/** Matches the run's own messages about workers that did not do what a valid request asks for. */
const ofTeam =
  /\bits answer does not match the output schema|\bit still requested tools after|\bthe joined answers do not fit/

/** The team failed in spite of repeated attempts. */
const failedTask: Row = { kind: "upstream", isFinal: true }

/**
 * Matches provider messages about an unknown model or deployment, which is a configuration error of the operator, not
 * of the client.
 */
const unknownModel =
  /\bmodel_not_found|not_found_error|DeploymentNotFound|(?:model|deployment)\b.{0,200}?(?:\bnot? (?:exist|found|available|supported)|\bdoes ?n[o']t exist|unknown|no longer|deprecated|decommissioned)|(?:unknown|no such|invalid|unsupported|not find).{0,20}(?:model|deployment)\b/is

const rowOf = (reason: WorkerErrorReason, isOfStep = true): Row => {
  const { _tag, detail = "" } = reason
  if ((_tag === "Malformed" || _tag === "ContextTooLong") && ofTeam.test(detail)) return failedTask
  if (_tag === "Malformed" && reason.remedy !== undefined) return unusable
  return _tag === "InvalidRequest" && (!isOfStep || unknownModel.test(detail)) ? misconfigured : rows[_tag]
}

/**
 * Returns this server's message for a failed call, or `undefined` if the provider's message is about the client's
 * request. Requests of a policy's model (`isOfStep: false`) are written by this server.
 *
 * @internal
 */
export const ownWords = (worker: string, reason: WorkerErrorReason, isOfStep = true): string | undefined => {
  const { words } = rowOf(reason, isOfStep)
  return words === undefined ? undefined : `${worker} ${words}`
}

/**
 * Message for a failed model whose name is not known.
 *
 * @internal
 */
export const unnamed = `A model behind this server ${account.words}`

/**
 * Whether an error without a worker, e.g. from an embedder or a nested run, concerns one of this server's accounts.
 *
 * @internal
 */
export const isAboutAccount = (error: unknown): boolean => {
  const tag = FailedCall.fromThrown(error)?._tag
  return tag === "Authentication" || tag === "Quota"
}

/**
 * Converts a failed call to an error for the client. `runId` is set if the call was part of a run.
 *
 * @internal
 */
export const ofWorker = (
  error: WorkerError,
  message: string,
  runId?: string | undefined,
  isOfStep = true
): ApiError => {
  const { reason, worker } = error
  const { isFinal, kind, retryAfterMillis } = rowOf(reason, isOfStep)
  const words = ownWords(worker, reason, isOfStep)
  const said = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
  return new ApiError({
    kind,
    message: words === undefined ? message : `${words}${runId === undefined ? "" : ` (run ${runId})`}`,
    retryAfterMillis: said ?? retryAfterMillis,
    isFinal,
    providerMessage: words === undefined ? undefined : error.message,
    cause: error
  })
}

const tagOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined

/** Finds a `WorkerError` in the chain of causes. */
const workerErrorOf = (error: unknown): WorkerError | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) if (tagOf(at) === "WorkerError") return at as WorkerError
  return undefined
}

/**
 * The error for a run that was stopped because its clients disconnected or the server is shutting down.
 *
 * @internal
 */
export const stopped = new ApiError({
  kind: "overloaded",
  message: "The run was stopped before it produced an answer. Retry the request.",
  retryAfterMillis: 1000
})

/** The error for a request that needs an unreachable database. */
export const unreachable = new ApiError({
  kind: "overloaded",
  message: "The server's database is unreachable. Retry the request.",
  retryAfterMillis: 5000
})

/**
 * Whether an error or any of its causes reports an unreachable database.
 *
 * @internal
 */
export const isUnreachable = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("reason" in at && tagOf(at.reason) === "Unreachable") return true
  }
  return false
}

/**
 * The error for an `Idempotency-Key` that was already used for a different request.
 *
 * @internal
 */
export const usedKey: ApiError = invalid(
  "Idempotency-Key",
  "This Idempotency-Key was used with a different request within the last 24 hours. Repeat that request unchanged, or use a new key."
)

/**
 * Converts a journal error for the client, without the journal's location. Returns `undefined` if only the operator can
 * fix the error.
 *
 * @internal
 */
export const ofJournal = (error: Journal.JournalError): ApiError | undefined => {
  const { reason } = error
  if (isUnreachable(error)) return unreachable
  switch (reason._tag) {
    case "Held":
    case "Fenced": {
      const message = `Run "${reason.run}" is running in another process. Retry the request.`
      return new ApiError({ kind: "overloaded", message, retryAfterMillis: 1000 })
    }
    case "Missing":
      return new ApiError({ kind: "not-found", message: `Run "${reason.run}" does not exist.`, field: "id" })
    default:
      return undefined
  }
}

const stores: ReadonlySet<unknown> = new Set([
  "AccountsError",
  "FileError",
  "JournalError",
  "PostgresError",
  "RecordsError"
])

/**
 * Whether an error or any of its causes concerns a store of this server. Such messages contain a path or an address.
 */
const isAboutStore = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) if (stores.has(tagOf(at))) return true
  return false
}

/**
 * Converts a store error for the client. The location of the store is only logged.
 *
 * @internal
 */
export const ofStore = (cause: unknown, runId?: string | undefined): ApiError => {
  const what = runId === undefined ? "" : ` of run ${runId}`
  const message = `Internal server error. The server log has the details${what}.`
  return new ApiError({ kind: "server", message, cause })
}

/** Returns the error for a worker without a known price under a cost limit. Only the operator can set prices. */
const unpriced = (worker = "a worker"): ApiError =>
  new ApiError({
    kind: account.kind,
    message: `A cost limit applies to this request, but this server does not know the price of ${worker}. ${forOperator}`,
    providerMessage: `the price of ${worker} is unknown; set it with --price ${worker}=<input>/<output>, or under prices in the config`
  })

/**
 * Returns the error for a run that failed, was stopped or exceeded its budget.
 *
 * @internal
 */
export const of = ({ detail, ending, error, runId }: RunResult, names?: FieldNames.FieldNames): ApiError => {
  const message = FieldNames.inMessage(detail ?? "The run ended without an answer.", names)
  if (ending === "budget") {
    const exceeded = error as BudgetExceeded | undefined
    if (exceeded?.limit === "costUsd" && exceeded.needed === undefined && exceeded.plan === undefined) {
      return unpriced(exceeded.worker)
    }
    const isTime = exceeded?.limit === "durationMillis"
    return new ApiError({ kind: isTime ? "timeout" : "quota", message })
  }
  if (ending === "interrupted") {
    const kind = "overloaded" as const
    return new ApiError({
      kind,
      message: "The run was stopped because the server is shutting down. Retry the request.",
      retryAfterMillis: 1000
    })
  }
  const failed = workerErrorOf(error)
  if (failed !== undefined) return ofWorker(failed, message, runId, tagOf(error) === "StepFailed")
  if (isUnreachable(error)) return unreachable
  if (error instanceof Journal.JournalError) return ofJournal(error) ?? ofStore(error, runId)
  if (isAboutStore(error)) return ofStore(error, runId)
  // Two requests with the same key arrived at the same time.
  if (error instanceof Journal.JournalMismatch && error.detail === Journal.otherQuestion) return usedKey
  if (isAboutAccount(error)) {
    return new ApiError({ kind: account.kind, message: `${unnamed} (run ${runId})`, providerMessage: message })
  }
  const tag = tagOf(error)
  const isAsked = tag === "Unsupported" || tag === "ShapeError" || tag === "OptionsError"
  return new ApiError({
    kind: isAsked ? "invalid-request" : "server",
    message: isAsked ? message : `${message} (run ${runId})`,
    field: isAsked ? FieldNames.subjectOf(message, names) : undefined,
    cause: error
  })
}
