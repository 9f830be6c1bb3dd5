/** Waits for the result of an operation by long polling, until it arrives or can no longer arrive. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Errors from "../TinkerError.ts"
import * as Transport from "./transport.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Timeouts for awaiting results. */
export interface Waiting {
  /** Timeout for one poll; servers may reply earlier. */
  readonly pollMillis: number
  /** Maximum time to wait for a result. */
  readonly patienceMillis: number
  /** Maximum time to wait while the account has no credit. */
  readonly billingMillis: number
  /**
   * Whether status 400 means that the operation failed. On other servers, it may come from a proxy, so the poll is
   * repeated.
   */
  readonly isBadRequestFinal: () => boolean
  readonly onNotice: (notice: string) => void
}

/** A result that is awaited. */
export interface Awaited {
  readonly requestId: string
  /** Name of the call for messages, such as `forward_backward`. */
  readonly call: string
  readonly accept?: string | undefined
}

interface Body {
  readonly type?: string | undefined
  readonly status?: string | undefined
  readonly error?: unknown
  readonly category?: string | undefined
  readonly queue_state?: string | undefined
  readonly queue_state_reason?: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

/** How to continue after a reply. */
type Verdict =
  | { readonly type: "done" }
  | { readonly type: "pending"; readonly queue?: string | undefined }
  | { readonly type: "billing" }
  /** Poll again, up to `times` times. */
  | { readonly type: "doubtful"; readonly error: Errors.TinkerError; readonly times: number }
  | { readonly type: "failed"; readonly error: Errors.TinkerError }

const failed = (call: string, { category, error }: Body): Verdict => {
  const detail = typeof error === "string" ? error : JSON.stringify(error)
  const reason = category === "user" ? ({ _tag: "UserMistake", detail } as const) : Errors.reasonOfWords(detail)
  return { type: "failed", error: Errors.make(call, reason) }
}

const queueOf = ({ queue_state: state, queue_state_reason: why }: Body): string | undefined =>
  state === undefined || state === "active" ? undefined : `${state.replaceAll("_", " ")}${why ? `: ${why}` : ""}`

const pending = (body: Body): Verdict => {
  const queue = queueOf(body)
  return { type: "pending", queue }
}

const verdict = (
  settings: Transport.Settings,
  { call }: Awaited,
  reply: Transport.Reply,
  isBadRequestFinal: boolean
): Verdict => {
  const body = (typeof reply.json === "object" && reply.json !== null ? reply.json : {}) as Body
  const error = Transport.refusal(settings, { call, path: "retrieve_future" }, reply, 0)
  if (reply.status === 200) {
    if (body.type === "try_again") return pending(body)
    // The server may announce a large result without having been asked to.
    if (body.status === "complete_metadata") return { type: "pending" }
    if (body.error !== undefined && body.error !== null) return failed(call, body)
    return { type: "done" }
  }
  if (reply.status === 408) return pending(body)
  if (reply.status === 402) return { type: "billing" }
  if (reply.status === 429) return { type: "doubtful", error, times: Number.POSITIVE_INFINITY }
  if (reply.status >= 500) return { type: "doubtful", error, times: 8 }
  if (reply.status === 401) return { type: "doubtful", error, times: 1 }
  if (reply.status !== 400) return { type: "failed", error }
  const operation = Errors.make(call, Errors.reasonOfWords(error.reason.detail))
  return isBadRequestFinal ? { type: "failed", error: operation } : { type: "doubtful", error: operation, times: 3 }
}

// -------------------------------------------------------------------------------------------------------------------
// Waiting
// -------------------------------------------------------------------------------------------------------------------

/** Minimum interval between polls in milliseconds, for servers that reply immediately while the result is pending. */
const breathMillis = 100

const billingStepMillis = 5_000

/** Returns the reply with the result as soon as it is available. */
export const retrieve = (
  settings: Transport.Settings,
  waiting: Waiting,
  awaited: Awaited
): Effect.Effect<Transport.Reply, Errors.TinkerError> =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const { accept, call, requestId } = awaited
    let doubts = 0
    /** The time at which the server stopped responding. */
    let silentSince: number | undefined
    let lastQueue: string | undefined
    let billingSince: number | undefined
    for (let iteration = 0; ; iteration++) {
      const asked = yield* Clock.currentTimeMillis
      if (asked - started > waiting.patienceMillis) {
        const detail = `no result arrived within ${Math.round(waiting.patienceMillis / 1000)} s; see the server's log.`
        return yield* Errors.withOutcomeUnknown(Errors.make(call, { _tag: "Unreachable", detail }))
      }
      const result = yield* Effect.result(
        Transport.exchange(settings, {
          call,
          path: "retrieve_future",
          body: JSON.stringify({ request_id: requestId, allow_metadata_only: false }),
          headers: { "x-tinker-request-iteration": String(iteration), "x-tinker-request-type": call },
          timeoutMillis: waiting.pollMillis,
          accept
        })
      )
      const now = yield* Clock.currentTimeMillis
      if (result._tag === "Failure") {
        // A poll that reaches its timeout does not count as silence, because servers hold polls for minutes.
        if (now - asked >= waiting.pollMillis) continue
        silentSince ??= asked
        doubts += 1
        const wait = yield* Transport.waitMillis(settings.retry, doubts)
        if (now - silentSince + wait > settings.retry.patienceMillis)
          return yield* Errors.withOutcomeUnknown(result.failure)
        yield* Effect.sleep(wait)
        continue
      }
      silentSince = undefined
      const said = verdict(settings, awaited, result.success, waiting.isBadRequestFinal())
      if (said.type === "done") return result.success
      if (said.type === "failed") return yield* said.error
      if (said.type === "pending") {
        doubts = 0
        if (said.queue !== undefined && said.queue !== lastQueue) {
          waiting.onNotice(`${call} is queued at the server (${said.queue}).`)
        }
        lastQueue = said.queue
        if (now - asked < breathMillis) yield* Effect.sleep(breathMillis)
        continue
      }
      if (said.type === "billing") {
        if (billingSince === undefined) waiting.onNotice(`${call} is waiting: the account has no credit left.`)
        billingSince ??= now
        if (now - billingSince > waiting.billingMillis) {
          const detail = "the account has had no credit for too long: add some and resume the run."
          return yield* Errors.make(call, { _tag: "Billing", detail })
        }
        yield* Effect.sleep(billingStepMillis)
        continue
      }
      if (result.success.status === 401) yield* settings.refused
      doubts += 1
      if (doubts > said.times) return yield* Errors.withOutcomeUnknown(said.error)
      yield* Effect.sleep(yield* Transport.waitMillis(settings.retry, doubts))
    }
  })
