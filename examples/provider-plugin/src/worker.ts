/** The worker: sends a request, and reads its answer as it comes. What it sends and reads is in the files beside it. */

import type { Pricing } from "@divisi/core/Usage"
import { type Limits, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import * as VendorError from "@divisi/provider-kit/VendorError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type Body, bodyOf, type Defaults } from "./request.ts"
import * as Answer from "./stream.ts"

/** What a worker is made with. Settings are defaults: those of a request win. */
export interface Options extends Defaults {
  /** Where the server is; `http://127.0.0.1:11434` by default. */
  readonly baseURL?: string | undefined
  /** A key, where one is needed; a server of one's own mostly needs none. */
  readonly apiKey?: string | Redacted.Redacted | undefined
  /** Unique within a pool; `ollama:` and the model by default. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** The key under which rate limits are shared; the id when absent. */
  readonly provider?: string | undefined
  /** Unknown when absent. `Usage.free` for a model that costs nothing. */
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /** The longest silence, before an answer and in it, in milliseconds; 600,000 by default. */
  readonly timeoutMillis?: number | undefined
}

/** A model as a worker. Nothing is sent before it is asked. */
export const ollama = (model: string, options: Options = {}): Worker => {
  const { description, id = `ollama:${model}`, limits, pricing, provider, timeoutMillis = 600_000 } = options
  const { maxOutputTokens, reasoning, temperature } = options
  const server: Server = {
    id,
    url: `${(options.baseURL ?? "http://127.0.0.1:11434").replace(/\/$/, "")}/api/chat`,
    apiKey: typeof options.apiKey === "string" ? Redacted.make(options.apiKey) : options.apiKey
  }
  return {
    id,
    description,
    provider,
    pricing,
    limits,
    settings: { maxOutputTokens, reasoning, temperature },
    generate: (request) =>
      Stream.timeoutOrElse(call(server, bodyOf(model, options, request), request), {
        duration: timeoutMillis,
        orElse: () =>
          Stream.fail(new WorkerError({ worker: id, reason: { _tag: "Timeout", afterMillis: timeoutMillis } }))
      })
  }
}

interface Server {
  readonly id: string
  readonly url: string
  readonly apiKey: Redacted.Redacted | undefined
}

const call = (
  { apiKey, id: worker, url }: Server,
  body: ReturnType<typeof bodyOf>,
  request: WorkerRequest
): Stream.Stream<WorkerPart, WorkerError> =>
  Effect.gen(function* () {
    const key = apiKey === undefined ? "" : Redacted.value(apiKey)
    const surroundings = { secrets: [key], nowMillis: Date.now() }
    const fail = (reason: WorkerError["reason"]) => new WorkerError({ worker, reason })
    const thrown = (error: unknown) => fail(VendorError.fromException(error, surroundings))

    if (Result.isFailure(body)) return yield* fail(body.failure)
    // Aborted as soon as nobody reads the stream any more.
    const signal = yield* Effect.abortSignal
    const response = yield* Effect.tryPromise({ try: () => post(url, key, body.success, signal), catch: thrown })
    if (!response.ok || response.body === null) {
      const text = yield* Effect.tryPromise({ try: () => response.text(), catch: thrown })
      const header = (name: string) => response.headers.get(name)
      const refusal = { status: response.status, message: Answer.messageOf(text), codes: text, header }
      return yield* fail(VendorError.fromRefusal(refusal, surroundings))
    }
    const bytes = response.body
    return Stream.fromReadableStream({ evaluate: () => bytes, onError: thrown }).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.concat(Stream.succeed(Answer.end)),
      Stream.mapAccumEffect(
        () => Answer.start,
        (state, line) =>
          Effect.mapError(
            Effect.fromResult(Answer.next(state, line, { messages: request.messages, surroundings })),
            fail
          )
      )
    )
  }).pipe(Stream.unwrap)

const post = (url: string, key: string, body: Body, signal: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
    signal
  })
