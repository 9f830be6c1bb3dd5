/** A worker over the Gemini API, whichever SDK carries it. */

import { type Worker, type WorkerErrorReason, withDefaults } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApiKey from "../ApiKey.ts"
import * as VendorStream from "../VendorStream.ts"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import type { Defaults, GeminiOptions } from "./options.ts"
import { priceOf } from "./prices.ts"
import { type Body, type Target, toBody } from "./request.ts"
import { type Chunk, protocol } from "./stream.ts"

/** What differs from SDK to SDK. */
export interface Sdk {
  /** The first half of a worker's id. */
  readonly name: string
  /** Makes what sends bodies with a key. */
  readonly connect: (key: string) => (body: Body, signal: AbortSignal) => Promise<AsyncIterable<Chunk>>
  /** Maps what the SDK throws to a reason. */
  readonly toReason: (error: unknown, nowMillis: number) => WorkerErrorReason
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

const generator = (worker: string, target: Target, options: GeminiOptions, sdk: Sdk): Worker["generate"] => {
  const resolved = ApiKey.resolve(options.apiKey, variables)
  if (Result.isFailure(resolved)) {
    const reason = { _tag: "Authentication", detail: resolved.failure } as const
    return () => VendorStream.fail(worker, reason)
  }
  const key = Redacted.value(resolved.success)
  const send = sdk.connect(key)
  const defaults = defaultsOf(options)
  return (request) => {
    const body = toBody(withDefaults(request, defaults), target)
    if (Result.isFailure(body)) return VendorStream.fail(worker, body.failure)
    return VendorStream.make({
      worker,
      messages: request.messages,
      protocol,
      open: async (signal) => ({ events: await send(body.success, signal) }),
      reason: (error) => sdk.toReason(error, Date.now()),
      timeoutMillis: options.timeoutMillis ?? defaultTimeoutMillis,
      secrets: [key]
    })
  }
}

/** Makes a worker. The key does not leave its closure. */
export const makeWorker = (model: string, options: GeminiOptions, sdk: Sdk): Worker => {
  const id = options.id ?? `${sdk.name}:${model}`
  const pricing = options.pricing ?? priceOf(model)
  const limits = options.limits ?? limitsOf(model)
  const target = {
    model,
    capabilities: capabilitiesOf(model, options.capabilities),
    omitUnsupported: options.unsupported === "omit"
  }
  return {
    id,
    provider: options.provider ?? "google",
    description: options.description,
    settings: { baseURL: options.baseURL, ...defaultsOf(options) },
    pricing,
    limits: { ...limits, maxOutputTokens: options.maxOutputTokens ?? limits?.maxOutputTokens },
    generate: generator(id, target, options, sdk)
  }
}
