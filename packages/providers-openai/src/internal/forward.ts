/** Forwards requests to endpoints other than chat: embeddings and legacy text completions. */
import { type Forward, WorkerError } from "@divisi/core/Worker"
import { ApiKey, Dialects, Endpoint, VendorError } from "@divisi/provider-kit"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { OpenAiOptions } from "../options.ts"
import { sentKey, timeoutMillis } from "./client.ts"

/** The endpoint for forwarded requests, and the account that is charged. */
export interface Target {
  /** Id of the worker, for errors. */
  readonly worker: string
  /** The vendor's name for the model. */
  readonly model: string
  readonly baseURL: string
  readonly options: Pick<OpenAiOptions, "fetch" | "headers" | "timeoutMillis" | "organization" | "project">
  /** The key, or the reason why it is missing; `undefined` for a server that requires no key. */
  readonly key: Result.Result<Redacted.Redacted<string>, string> | undefined
}

const headersOf = ({ options }: Target, key: string | undefined): Headers => {
  const headers = new Headers({ "content-type": "application/json", "user-agent": "divisi" })
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`)
  if (options.organization) headers.set("openai-organization", options.organization)
  if (options.project) headers.set("openai-project", options.project)
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
  return headers
}

const noBytes = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })

/**
 * Creates a forwarding function. If the server rejects the request, it fails with the reason; otherwise the answer is
 * passed through unchanged.
 */
export const forwardTo = (target: Target): Forward => {
  const { baseURL, key, model, options, worker } = target
  const keyed = key && Result.getOrElse(key, () => undefined)
  const secret = keyed && Redacted.value(keyed)
  const endpoint = Endpoint.make({ worker, baseURL, key: secret, headers: options.headers, fetch: options.fetch })
  const failed = (error: unknown) =>
    new WorkerError({
      worker,
      reason: VendorError.fromThrown(error, (error) => VendorError.fromConnection(error, endpoint))
    })
  const reasonOfRefused = (refused: Endpoint.Refused) =>
    Dialects.Errors.reasonOfRefused(refused, { secrets: endpoint.secrets, nowMillis: Date.now() })
  const fetch = Endpoint.refusing(endpoint.fetch, reasonOfRefused, sentKey(keyed, options))
  return (name, body) => {
    if (key !== undefined && Result.isFailure(key)) {
      return Effect.fail(new WorkerError({ worker, reason: ApiKey.missing(key.failure) }))
    }
    const send = (signal: AbortSignal) =>
      fetch(`${endpoint.baseURL}/${name}`, {
        method: "POST",
        headers: headersOf(target, secret),
        body: JSON.stringify({ ...body, model }),
        signal
      })
    // Aborts the whole answer. The request's own signal only applies until its headers have arrived.
    const controller = new AbortController()
    return Effect.tryPromise({
      try: (signal) => {
        signal.addEventListener("abort", () => controller.abort(), { once: true })
        return send(controller.signal)
      },
      catch: failed
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis(options),
        orElse: () => {
          controller.abort()
          return Effect.fail(
            new WorkerError({ worker, reason: { _tag: "Timeout", afterMillis: timeoutMillis(options) } })
          )
        }
      }),
      Effect.map((response) => ({
        contentType: response.headers.get("content-type") ?? "application/json",
        body: Stream.fromReadableStream({ evaluate: () => response.body ?? noBytes, onError: failed }).pipe(
          Stream.ensuring(Effect.sync(() => controller.abort()))
        )
      }))
    )
  }
}
