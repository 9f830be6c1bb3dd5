/** A worker over the Gemini API, whatever carries its requests. */

import { type Worker, type WorkerRequest, withDefaults } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApiKey from "../ApiKey.ts"
import * as Endpoint from "../Endpoint.ts"
import * as VendorError from "../VendorError.ts"
import * as VendorEvents from "../VendorEvents.ts"
import * as VendorStream from "../VendorStream.ts"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import { reasonOfRefused } from "./errors.ts"
import type { Defaults, GeminiOptions } from "./options.ts"
import { priceOf } from "./prices.ts"
import { type Body, type Target, toBody } from "./request.ts"
import { protocolOf } from "./stream.ts"

/** What carries requests: an SDK, or `fetch` alone. */
export interface Transport {
  /** The first half of a worker's id. */
  readonly name: string
  /** The variables of the environment that may hold the base URL. */
  readonly baseURLs: ReadonlyArray<string>
  /** Makes what sends bodies: through the `fetch` that is given, and gives the response of `streamGenerateContent`. */
  readonly connect: (
    key: string,
    endpoint: Pick<Endpoint.Endpoint, "baseURL" | "fetch">
  ) => (body: Body, signal: AbortSignal) => Promise<Response>
}

const variables = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const

const defaultTimeoutMillis = 600_000

const defaultsOf = ({ maxOutputTokens, reasoning, seed, stopSequences, temperature }: GeminiOptions): Defaults => ({
  maxOutputTokens,
  reasoning,
  seed,
  stopSequences,
  temperature
})

const generator = (
  worker: string,
  key: string,
  endpoint: Endpoint.Endpoint,
  target: Target,
  options: GeminiOptions,
  transport: Transport
): Worker["generate"] => {
  const { baseURL, secrets } = endpoint
  const send = transport.connect(key, { baseURL, fetch: Endpoint.refusing(endpoint.fetch, reasonOfRefused) })
  const defaults = defaultsOf(options)
  const timeoutMillis = options.timeoutMillis ?? defaultTimeoutMillis
  return (request: WorkerRequest) => {
    const body = toBody(withDefaults(request, defaults), target)
    if (Result.isFailure(body)) return VendorStream.fail(worker, body.failure)
    return VendorStream.make({
      worker,
      messages: request.messages,
      protocol: protocolOf({ model: target.model, messages: request.messages }),
      open: async (signal) => ({ events: VendorEvents.serverSent(await send(body.success, signal), signal) }),
      reason: (error) => VendorError.fromConnection(error, { secrets }),
      timeoutMillis,
      secrets
    })
  }
}

/** Makes a worker. The key does not leave its closure. */
export const makeWorker = (model: string, options: GeminiOptions, transport: Transport): Worker => {
  const id = options.id ?? `${transport.name}:${model}`
  const pricing = options.pricing ?? priceOf(model)
  const limits = options.limits ?? limitsOf(model)
  const resolved = ApiKey.resolve(options.apiKey, variables)
  const key = Result.isSuccess(resolved) ? Redacted.value(resolved.success) : ""
  const { baseURL, fetch, headers } = options
  const endpoint = Endpoint.make({ worker: id, baseURL, variables: transport.baseURLs, fetch, headers, key })
  const capabilities = capabilitiesOf(model, options.capabilities)
  const { files, images, jsonSchema, tools } = capabilities
  const target = {
    model,
    capabilities,
    omitUnsupported: options.unsupported === "omit"
  }
  return {
    id,
    isLanguageModel: true,
    provider: options.provider ?? "google",
    description: options.description,
    settings: { baseURL: endpoint.baseURL, ...defaultsOf(options) },
    pricing,
    limits,
    capabilities: { tools, images, files, jsonSchema },
    maxOutputTokens: options.maxOutputTokens,
    generate: Result.isFailure(resolved)
      ? () => VendorStream.fail(id, { _tag: "Authentication", detail: resolved.failure })
      : generator(id, key, endpoint, target, options, transport)
  }
}
