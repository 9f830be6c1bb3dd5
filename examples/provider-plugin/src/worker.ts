/** The worker: sends a request, and reads its answer as it comes. What it sends and reads is in the files beside it. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits, Worker } from "@divisi/core/Worker"
import { Endpoint, VendorError, VendorEvents, VendorStream } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Body, callOf, type Defaults } from "./request.ts"
import { protocol, reasonOf } from "./stream.ts"

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

const keyOf = ({ apiKey = "" }: Options): string => (typeof apiKey === "string" ? apiKey : Redacted.value(apiKey))

/** A model as a worker. Nothing is sent before it is asked. */
export const ollama = (model: string, options: Options = {}): Worker => {
  const { baseURL = "http://127.0.0.1:11434", description, id = `ollama:${model}`, limits, pricing, provider } = options
  const { maxOutputTokens, reasoning, temperature, timeoutMillis = 600_000 } = options
  const key = keyOf(options)
  // Follows no redirect with the key, and knows what no error may show.
  const endpoint = Endpoint.make({ worker: id, baseURL, key })
  const { secrets } = endpoint
  const fetch = Endpoint.refusing(
    endpoint.fetch,
    (refused) => reasonOf(refused, { secrets, nowMillis: Date.now() }),
    key === "" ? undefined : Redacted.make(key)
  )
  const headers = { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) }
  const post = (body: Body, signal: AbortSignal): Promise<Response> =>
    fetch(`${endpoint.baseURL}/api/chat`, { method: "POST", headers, body: JSON.stringify(body), signal })
  return {
    id,
    description,
    isLanguageModel: true,
    provider,
    pricing,
    limits,
    settings: { baseURL: endpoint.baseURL, maxOutputTokens, reasoning, temperature },
    generate: (request) => {
      const call = callOf(model, options, request)
      if (Result.isFailure(call)) return VendorStream.fail(id, call.failure)
      const { body, notices } = call.success
      return VendorStream.make({
        worker: id,
        messages: request.messages,
        protocol,
        // Aborted as soon as nobody reads the stream any more.
        open: async (signal) => ({
          parts: notices.map((notice) => ({ type: "notice", notice })),
          events: VendorEvents.lines(await post(body, signal), signal)
        }),
        reason: (error) => VendorError.fromException(error, { secrets }),
        timeoutMillis,
        secrets
      })
    }
  }
}
