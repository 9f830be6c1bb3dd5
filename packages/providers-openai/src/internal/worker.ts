/** Makes a worker from its options, one API, and a way to reach it. */
import { Allowance } from "@divisi/core"
import type { Pricing } from "@divisi/core/Usage"
import type { Limits, Worker, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import { Dialects, VendorBatch, VendorEvents, VendorStream } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Capabilities, ofWorker } from "../capabilities.ts"
import type { WorkerOptions } from "../options.ts"
import { timeoutMillis } from "./client.ts"
import { forwardTo } from "./forward.ts"

/** The head of an answer, and the events to come. */
export type Sent = (Response | VendorEvents.Incoming) & { readonly headers: Allowance.HeaderSource }

/** A way to an API. */
export interface Connection<Body> {
  readonly baseURL: string
  /** Texts that must not appear in an error. */
  readonly secrets: ReadonlyArray<string>
  /** Sends a body. Throws an unsuccessful response. */
  readonly send: (body: Body, signal: AbortSignal) => Promise<Sent>
  /** Fetches the whole of an answer that the vendor processes in the background; absent if unsupported. */
  readonly again?: ((handle: string, signal: AbortSignal) => Promise<Sent>) | undefined
  /** How it takes batches; absent where it takes none. */
  readonly batches?: VendorBatch.Vendor | undefined
  /** The reason of what `send`, or reading its answer, has thrown. */
  readonly reason: (error: unknown) => WorkerErrorReason
}

/** Connects a worker. */
export type Connect<Body> = (worker: string, options: WorkerOptions, key: string | undefined) => Connection<Body>

/** The differences between APIs. */
export interface Api<Body, State> {
  /** Returns the body of a request. Unsupported settings are refused, or reported to `omit` if it is set. */
  readonly toBody: (request: WorkerRequest, omit?: (notice: string) => void) => Result.Result<Body, WorkerErrorReason>
  readonly connect: Connect<Body>
  readonly protocol: VendorStream.Protocol<unknown, State>
  /** How calls are made batches; absent where each is made by itself. */
  readonly batch?: VendorBatch.Settings | undefined
}

/** The properties of a worker that do not depend on its API. */
export interface About {
  readonly id: string
  /** The model as its vendor names it. */
  readonly model: string
  readonly provider: string
  readonly pricing: Pricing | undefined
  readonly limits: Limits | undefined
  /** The headers that report what is left of the rate limits; not read when absent. */
  readonly rateLimitHeaders: Allowance.HeaderNames | undefined
  /** Capabilities of the model with this API. */
  readonly capabilities: Capabilities
  /** A missing key fails every call; `undefined` if the server wants none. */
  readonly key: Result.Result<Redacted.Redacted<string>, string> | undefined
}

/** Returns the settings that affect answers, for their key in a response cache. */
const settingsOf = (options: WorkerOptions, baseURL: string): unknown => {
  const { body, maxOutputTokens, reasoning, seed, stopSequences, temperature } = options
  return { baseURL, body, maxOutputTokens, reasoning, seed, stopSequences, temperature }
}

/** Makes a worker. The key does not leave its closure. */
export const makeWorker = <Body extends object, State>(
  options: WorkerOptions,
  about: About,
  api: Api<Body, State>
): Worker => {
  const { id, key, pricing, provider } = about
  const secret = key !== undefined && Result.isSuccess(key) ? Redacted.value(key.success) : ""
  const connection = api.connect(id, options, secret === "" ? undefined : secret)
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
        return VendorStream.fail(id, { _tag: "Authentication", detail: key.failure })
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
      key: key && Result.map(key, Redacted.value)
    }),
    recovery:
      batches ?? (again && { reattach: (handle, request) => stream(request, (signal) => again(handle, signal)) })
  }
}
