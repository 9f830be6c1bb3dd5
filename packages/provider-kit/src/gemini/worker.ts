/** A worker for the Gemini API, independent of the transport. */

import { type Worker, type WorkerErrorReason, type WorkerRequest, withDefaults } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApiKey from "../ApiKey.ts"
import { reasonOfRefused } from "../dialects/generate-content/errors.ts"
import { type Body, type Target, toBody } from "../dialects/generate-content/request.ts"
import { protocolOf } from "../dialects/generate-content/stream.ts"
import * as Preferences from "../dialects/preferences.ts"
import * as Endpoint from "../Endpoint.ts"
import * as VendorError from "../VendorError.ts"
import * as VendorEvents from "../VendorEvents.ts"
import * as VendorStream from "../VendorStream.ts"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import type { Defaults, GeminiOptions, WorkerOptions } from "./options.ts"
import { priceOf } from "./prices.ts"

/** Sends requests, through an SDK or directly with `fetch`. */
export interface Transport {
  /** The first half of a worker's id. */
  readonly name: string
  /** The environment variables for the base URL. */
  readonly baseURLs: ReadonlyArray<string>
  /**
   * Returns a function that sends bodies with the given `fetch` and returns the response of `streamGenerateContent`.
   */
  readonly connect: (
    key: string,
    endpoint: Pick<Endpoint.Endpoint, "baseURL" | "fetch">
  ) => (body: Body, signal: AbortSignal) => Promise<Response>
}

const variables = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const

const defaultTimeoutMillis = 600_000

const defaultsOf = ({ maxOutputTokens, reasoning, seed, stopSequences, temperature }: WorkerOptions): Defaults => ({
  maxOutputTokens,
  reasoning,
  seed,
  stopSequences,
  temperature
})

/** Connects a worker to the API. Abstracts over `fetch`, Google's SDKs and other transports. */
export interface Connection {
  /** The default id of the worker. */
  readonly id: string
  /** The worker's settings that affect its answers; see `Worker.settings`. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Address of the server. If omitted, rejected preferences are remembered only for this worker. */
  readonly baseURL?: string | undefined
  /** Sends a body, and returns the events of the answer. */
  readonly open: (body: Body, signal: AbortSignal) => Promise<VendorStream.Opened<unknown>>
  /** Returns the reason for a value that `open` or its events threw. */
  readonly reason: (error: unknown) => WorkerErrorReason
  /** Strings that must not appear in errors. */
  readonly secrets: ReadonlyArray<string>
}

type Collected = ReturnType<typeof Preferences.collector>

const generator = (worker: string, target: Target, options: WorkerOptions, connection: Connection) => {
  const defaults = defaultsOf(options)
  const timeoutMillis = options.timeoutMillis ?? defaultTimeoutMillis
  const { baseURL, open, reason, secrets } = connection
  const family = Preferences.generateContent
  const learned =
    baseURL === undefined
      ? Preferences.nothingLearned()
      : Preferences.learnedOf(JSON.stringify([baseURL, family.name, target.model]))
  const openAdapted = async (body: Body, signal: AbortSignal, mayOmit: boolean, collected: Collected) => {
    const { notices, omit } = collected
    const send = (adapted: Body) => open(adapted, signal)
    const opened = await (mayOmit ? Preferences.send(body, { family, learned, send, reason, omit }) : send(body))
    return { ...opened, parts: [...(opened.parts ?? []), ...Preferences.partsOf(notices)] }
  }
  return (request: WorkerRequest) => {
    const mayOmit = target.omitUnsupported || request.preferences === "omit"
    const collected = Preferences.collector()
    const asked = withDefaults(request, defaults)
    const body = toBody(asked, { ...target, omitUnsupported: mayOmit, onNotice: collected.omit })
    if (Result.isFailure(body)) return VendorStream.fail(worker, body.failure)
    return VendorStream.make({
      worker,
      messages: request.messages,
      tools: request.tools,
      protocol: protocolOf({ model: target.model, messages: request.messages }),
      open: (signal) => openAdapted(body.success, signal, mayOmit, collected),
      reason,
      timeoutMillis,
      secrets
    })
  }
}

/** Creates a worker from a model and a connection. */
export const overConnection = (model: string, options: WorkerOptions, connection: Connection): Worker => {
  const id = options.id ?? connection.id
  const capabilities = capabilitiesOf(model, options.capabilities)
  const { files, images, json, jsonSchema, shapesWithTools, tools } = capabilities
  const target = { model, capabilities, omitUnsupported: options.unsupported === "omit" }
  return {
    id,
    isLanguageModel: true,
    provider: options.provider ?? "google",
    description: options.description,
    instructions: options.instructions,
    settings: { ...connection.settings, ...defaultsOf(options) },
    pricing: options.pricing ?? priceOf(model),
    limits: options.limits ?? limitsOf(model),
    capabilities: { tools, images, files, jsonSchema, json, shapesWithTools },
    maxOutputTokens: options.maxOutputTokens,
    generate: generator(id, target, options, connection)
  }
}

/** Creates a worker. The key is accessible only within its closure. */
export const makeWorker = (model: string, options: GeminiOptions, transport: Transport): Worker => {
  const id = options.id ?? `${transport.name}:${model}`
  const resolved = ApiKey.resolve(options.apiKey, variables)
  const keyed = Result.getOrElse(resolved, () => undefined)
  const key = keyed === undefined ? "" : Redacted.value(keyed)
  const { baseURL: given, fetch, headers } = options
  const endpoint = Endpoint.make({ worker: id, baseURL: given, variables: transport.baseURLs, fetch, headers, key })
  const { baseURL, secrets } = endpoint
  const send = transport.connect(key, { baseURL, fetch: Endpoint.refusing(endpoint.fetch, reasonOfRefused, keyed) })
  const worker = overConnection(model, options, {
    id,
    settings: { baseURL },
    baseURL,
    open: async (body, signal) => ({ events: VendorEvents.serverSent(await send(body, signal), signal) }),
    reason: (error) => VendorError.fromConnection(error, { secrets }),
    secrets
  })
  return Result.isSuccess(resolved)
    ? worker
    : { ...worker, generate: () => VendorStream.fail(id, ApiKey.missing(resolved.failure)) }
}
