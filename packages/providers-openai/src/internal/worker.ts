/** Makes a worker from its options and one API of the SDK. */
import * as Allowance from "@divisi/core/Allowance"
import type { Pricing } from "@divisi/core/Usage"
import type { Limits, Worker, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Endpoint from "@divisi/provider-kit/Endpoint"
import * as VendorEvents from "@divisi/provider-kit/VendorEvents"
import * as VendorStream from "@divisi/provider-kit/VendorStream"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type OpenAI from "openai"
import type { WorkerOptions } from "../options.ts"
import { connect, timeoutMillis } from "./client.ts"
import { reasonOf, reasonOfRefused } from "./errors.ts"

/** What differs from API to API. */
export interface Api<Body, State> {
  readonly toBody: (request: WorkerRequest) => Result.Result<Body, WorkerErrorReason>
  /** Sends a body; the response is not read by the SDK. */
  readonly send: (
    client: OpenAI,
    body: Body,
    options: { readonly signal: AbortSignal }
  ) => { readonly asResponse: () => Promise<Response> }
  readonly protocol: VendorStream.Protocol<unknown, State>
}

/** The properties of a worker that do not depend on its API. */
export interface About {
  readonly id: string
  readonly provider: string
  readonly pricing: Pricing | undefined
  readonly limits: Limits | undefined
  /** The headers that report what is left of the rate limits; not read when absent. */
  readonly rateLimitHeaders: Allowance.HeaderNames | undefined
  /** Whether the model takes a seed here. */
  readonly takesSeed: boolean
  /** A missing key fails every call; `undefined` if the server wants none. */
  readonly key: Result.Result<Redacted.Redacted<string>, string> | undefined
  readonly identity: { readonly organization?: string | null | undefined; readonly project?: string | null | undefined }
}

/** What its answers depend on, for their key in a response cache. */
const settingsOf = (options: WorkerOptions, baseURL: string): unknown => {
  const { body, maxOutputTokens, reasoning, seed, stopSequences, temperature } = options
  return { baseURL, body, maxOutputTokens, reasoning, seed, stopSequences, temperature }
}

/** Makes a worker. The key does not leave its closure. */
export const makeWorker = <Body, State>(options: WorkerOptions, about: About, api: Api<Body, State>): Worker => {
  const { id, key, pricing, provider } = about
  const secret = key !== undefined && Result.isSuccess(key) ? Redacted.value(key.success) : ""
  const connection = connect(id, options, secret === "" ? undefined : secret, about.identity)
  const { baseURL, secrets } = connection
  const surroundings = () => ({ secrets, nowMillis: Date.now() })
  const client = connection.client.withOptions({
    fetch: Endpoint.refusing(connection.fetch, (refused) => reasonOfRefused(refused, surroundings()))
  })

  const open = async (body: Body, signal: AbortSignal): Promise<VendorStream.Opened<unknown>> => {
    const response = await api.send(client, body, { signal }).asResponse()
    const allowance =
      about.rateLimitHeaders && Allowance.fromHeaders(response.headers, about.rateLimitHeaders, Date.now())
    return {
      events: VendorEvents.serverSent(response, signal),
      parts: allowance === undefined ? [] : [{ type: "allowance", ...allowance }]
    }
  }

  return {
    id,
    provider,
    description: options.description,
    isLanguageModel: true,
    takesSeed: about.takesSeed ? undefined : false,
    settings: settingsOf(options, baseURL),
    pricing,
    limits: about.limits,
    maxOutputTokens: options.maxOutputTokens,
    generate: (request) => {
      if (key !== undefined && Result.isFailure(key)) {
        return VendorStream.fail(id, { _tag: "Authentication", detail: key.failure })
      }
      const body = api.toBody(request)
      if (Result.isFailure(body)) return VendorStream.fail(id, body.failure)
      return VendorStream.make({
        worker: id,
        messages: request.messages,
        protocol: api.protocol,
        open: (signal) => open(body.success, signal),
        reason: (error) => reasonOf(error, surroundings()),
        timeoutMillis: timeoutMillis(options),
        secrets
      })
    }
  }
}
