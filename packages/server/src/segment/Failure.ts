/** Why a run gave no answer, as an error for its client. */
import type { RunResult } from "@divisi/core/Conductor"
import type { BudgetExceeded } from "@divisi/core/Usage"
import type { WorkerError, WorkerErrorReason } from "@divisi/core/Worker"
import { ApiError, type Kind } from "../wire/ApiError.ts"

/** The client of a server has nothing to do with its keys and quotas: what is wrong with these is the server's. */
const kinds: { readonly [T in WorkerErrorReason["_tag"]]: Kind } = {
  RateLimited: "rate-limit",
  Overloaded: "overloaded",
  Timeout: "timeout",
  Network: "upstream",
  Malformed: "upstream",
  InvalidRequest: "invalid-request",
  Authentication: "server",
  Quota: "server",
  ContentFiltered: "invalid-request",
  ContextTooLong: "context-too-long",
  Defect: "server"
}

const tagOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined

/** The call that failed, however deep it lies. */
const workerErrorOf = (error: unknown): WorkerError | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) if (tagOf(at) === "WorkerError") return at as WorkerError
  return undefined
}

/** Of a run that nobody came back for, or whose server is going down. */
export const stopped = new ApiError({
  kind: "overloaded",
  message: "The run was stopped before it had an answer: send the request again.",
  retryAfterMillis: 1000
})

/** Of a request that needs a database which is away. */
export const unreachable = new ApiError({
  kind: "overloaded",
  message: "The database of this server cannot be reached at the moment: send the request again.",
  retryAfterMillis: 5000
})

/** Whether an error says, however deep, that a database cannot be reached. */
export const isUnreachable = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("reason" in at && tagOf(at.reason) === "Unreachable") return true
  }
  return false
}

/** The error behind a run that failed, was stopped or ran out of its budget. */
export const of = ({ detail, ending, error, runId }: RunResult): ApiError => {
  const message = detail ?? "The run gave no answer."
  if (ending === "budget") {
    const isTime = (error as BudgetExceeded | undefined)?.limit === "durationMillis"
    return new ApiError({ kind: isTime ? "timeout" : "quota", message })
  }
  if (ending === "interrupted") {
    const kind = "overloaded" as const
    return new ApiError({
      kind,
      message: "The run was stopped, as this server is going down: send the request again.",
      retryAfterMillis: 1000
    })
  }
  const failed = workerErrorOf(error)
  if (failed !== undefined) {
    const { reason } = failed
    const retryAfterMillis = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
    return new ApiError({ kind: kinds[reason._tag], message, retryAfterMillis })
  }
  if (isUnreachable(error)) return unreachable
  const tag = tagOf(error)
  const isAsked = tag === "Unsupported" || tag === "ShapeError" || tag === "OptionsError"
  return new ApiError({
    kind: isAsked ? "invalid-request" : "server",
    message: isAsked ? message : `${message} (run ${runId})`
  })
}
