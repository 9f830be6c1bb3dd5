/** Creates a worker from its options, an API, and a connection. */
import { Allowance } from "@divisi/core"
import type { Pricing } from "@divisi/core/Usage"
import type { Limits, Worker, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import { ApiKey, Dialects, VendorBatch, VendorEvents, VendorStream } from "@divisi/provider-kit"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Capabilities, ofWorker } from "../capabilities.ts"
import type { WorkerOptions } from "../options.ts"
import { timeoutMillis } from "./client.ts"
import { forwardTo } from "./forward.ts"

/** The headers of an answer, and its events. */
export type Sent = (Response | VendorEvents.Incoming) & { readonly headers: Allowance.HeaderSource }

/** A connection to an API. */
export interface Connection<Body> {
  readonly baseURL: string
  /** Strings that must not appear in errors. */
  readonly secrets: ReadonlyArray<string>
  /** Sends a body. Throws for an unsuccessful response. */
  readonly send: (body: Body, signal: AbortSignal) => Promise<Sent>
  /** Fetches the complete answer that the vendor generates in the background; undefined if unsupported. */
  readonly again?: ((handle: string, signal: AbortSignal) => Promise<Sent>) | undefined
  /** How batches are sent; undefined if they are not supported. */
  readonly batches?: VendorBatch.Vendor | undefined
  /** Returns the reason for an exception thrown by `send` or while reading its answer. */
  readonly reason: (error: unknown) => WorkerErrorReason
}

/** Opens the connection for a worker. */
export type Connect<Body> = (
  worker: string,
  options: WorkerOptions,
  key: Redacted.Redacted<string> | undefined
) => Connection<Body>

/** The parts in which APIs differ. */
export interface Api<Body, State> {
  /** Returns the body for a request. Unsupported settings are rejected, or reported to `omit` if it is given. */
  readonly toBody: (request: WorkerRequest, omit?: (notice: string) => void) => Result.Result<Body, WorkerErrorReason>
  readonly connect: Connect<Body>
  readonly protocol: VendorStream.Protocol<unknown, State>
  /** How calls are combined into batches; undefined if each call is sent separately. */
  readonly batch?: VendorBatch.Settings | undefined
}

/** The properties of a worker that every API has: its model, price, limits, capabilities and key. */
export interface About {
  readonly id: string
  /** The vendor's name for the model. */
  readonly model: string
  readonly provider: string
  readonly pricing: Pricing | undefined
  readonly limits: Limits | undefined
  /** The headers with the remaining rate limits; undefined if they are not read. */
  readonly rateLimitHeaders: Allowance.HeaderNames | undefined
  /** Capabilities of the model with this API. */
  readonly capabilities: Capabilities
  /** The key; if it is missing, every call fails. `undefined` if the server requires none. */
  readonly key: Result.Result<Redacted.Redacted<string>, string> | undefined
}

/** Returns the settings that affect answers, for the response cache key. */
const settingsOf = (options: WorkerOptions, baseURL: string): unknown => {
  const { body, maxOutputTokens, reasoning, seed, stopSequences, temperature } = options
  return { baseURL, body, maxOutputTokens, reasoning, seed, stopSequences, temperature }
}

/** Creates a worker. The key is accessible only within its closure. */
export const makeWorker = <Body extends object, State>(
  options: WorkerOptions,
  about: About,
  api: Api<Body, State>
): Worker => {
  const { id, key, pricing, provider } = about
  const connection = api.connect(id, options, key && Result.getOrElse(key, () => undefined))
  const { again, baseURL, reason, secrets, send } = connection
  const { batch: settings, protocol } = api
  const adapting = {
    family: Dialects.Preferences.openai,
    learned: Dialects.Preferences.learnedOf(JSON.stringify([baseURL, id]))
  }
  const batches =
    settings &&
    connection.batches &&
    VendorBatch.make({ worker: id, vendor: connection.batches, settings, protocol, secrets, adapting })

  const sendAdapted = (body: Body, signal: AbortSignal, omit: (notice: string) => void): Promise<Sent> =>
    Dialects.Preferences.send(body, {
      ...adapting,
      send: (adapted) => send(adapted, signal),
      reason,
      omit
    })

  const open = async (
    sending: Promise<Sent>,
    signal: AbortSignal,
    notices: ReadonlyArray<string>
  ): Promise<VendorStream.Opened<unknown>> => {
    const response = await sending
    const allowance =
      about.rateLimitHeaders && Allowance.fromHeaders(response.headers, about.rateLimitHeaders, Date.now())
    return {
      events: VendorEvents.serverSent(response, signal, { givesDone: true }),
      parts: [
        ...(allowance === undefined ? [] : [{ type: "allowance", ...allowance } as const]),
        ...Dialects.Preferences.partsOf(notices)
      ]
    }
  }

  const stream = (
    { messages, tools }: WorkerRequest,
    sent: (signal: AbortSignal) => Promise<Sent>,
    notices: ReadonlyArray<string> = []
  ) =>
    VendorStream.make({
      worker: id,
      messages,
      tools,
      protocol,
      open: (signal) => open(sent(signal), signal, notices),
      reason,
      timeoutMillis: timeoutMillis(options),
      secrets
    })

  return {
    id,
    provider,
    description: options.description,
    isLanguageModel: true,
    instructions: options.instructions,
    capabilities: ofWorker(about.capabilities),
    takesSeed: about.capabilities.seed ? undefined : false,
    settings: settingsOf(options, baseURL),
    pricing,
    limits: about.limits,
    maxOutputTokens: options.maxOutputTokens,
    generate: (request) => {
      if (key !== undefined && Result.isFailure(key)) {
        return VendorStream.fail(id, ApiKey.missing(key.failure))
      }
      const { notices, omit } = Dialects.Preferences.collector()
      const mayOmit = options.unsupported === "omit" || request.preferences === "omit"
      const body = api.toBody(request, mayOmit ? omit : undefined)
      if (Result.isFailure(body)) return VendorStream.fail(id, body.failure)
      return batches === undefined
        ? stream(
            request,
            (signal) => (mayOmit ? sendAdapted(body.success, signal, omit) : send(body.success, signal)),
            notices
          )
        : batches.ask(request, body.success, { mayOmit, notices })
    },
    forward: forwardTo({
      worker: id,
      model: about.model,
      baseURL,
      options,
      key
    }),
    recovery:
      batches ?? (again && { reattach: (handle, request) => stream(request, (signal) => again(handle, signal)) })
  }
}
