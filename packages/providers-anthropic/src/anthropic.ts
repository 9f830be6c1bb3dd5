/** A model of Anthropic as a worker, through the Messages API. */
import type Anthropic from "@anthropic-ai/sdk"
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import * as Allowance from "@divisi/core/Allowance"
import { type Limits, type Worker, withDefaults } from "@divisi/core/Worker"
import * as ApiKey from "@divisi/provider-kit/ApiKey"
import * as VendorStream from "@divisi/provider-kit/VendorStream"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import { defaultTimeoutMillis, makeClient, rateLimitHeaders } from "./internal/client.ts"
import { toReason } from "./internal/errors.ts"
import { type Body, type Target, toBody } from "./internal/request.ts"
import { protocol } from "./internal/stream.ts"
import type { AnthropicOptions, Defaults } from "./options.ts"
import { priceOf } from "./prices.ts"

/** Whether this is no event stream: servers without this API answer with a page or an object. */
const isOther = (contentType: string | null): contentType is string =>
  contentType !== null && /html|json/i.test(contentType)

const open = async (
  client: Anthropic,
  body: Body,
  signal: AbortSignal
): Promise<VendorStream.Opened<RawMessageStreamEvent>> => {
  const { data, response } = await client.messages.create(body, { signal }).withResponse()
  const contentType = response.headers.get("content-type")
  if (isOther(contentType)) throw new SyntaxError(`${contentType} came instead of a stream of events`)
  const allowance = Allowance.fromHeaders(response.headers, rateLimitHeaders, Date.now())
  return { events: data, parts: allowance === undefined ? [] : [{ type: "allowance", ...allowance }] }
}

/** The output limit that is sent when nobody sets one and the model's is unknown. */
const assumedMaxTokens = 32_000

const defaultsOf = ({ maxOutputTokens, reasoning, stopSequences, temperature }: AnthropicOptions): Defaults => ({
  maxOutputTokens,
  reasoning,
  stopSequences,
  temperature
})

/** A worker never writes more than its own default, unless a request asks for more. */
const workerLimits = (model: string, { limits = limitsOf(model), maxOutputTokens }: AnthropicOptions): Limits => ({
  ...limits,
  maxOutputTokens: maxOutputTokens ?? limits?.maxOutputTokens
})

const targetOf = (model: string, options: AnthropicOptions, limits: Limits): Target => ({
  model,
  capabilities: capabilitiesOf(model, options.capabilities),
  maxTokens: limits.maxOutputTokens ?? assumedMaxTokens,
  promptCache: { prefix: options.promptCache ?? "system", keepFor: options.promptCacheFor ?? "5m" },
  omitUnsupported: options.unsupported === "omit",
  body: options.body ?? {}
})

const generator = (worker: string, options: AnthropicOptions, target: Target): Worker["generate"] => {
  const key = ApiKey.resolve(options.apiKey, ["ANTHROPIC_API_KEY"])
  if (Result.isFailure(key)) {
    const reason = { _tag: "Authentication", detail: key.failure } as const
    return () => VendorStream.fail(worker, reason)
  }
  const secret = Redacted.value(key.success)
  const client = makeClient(options, secret)
  const timeoutMillis = options.timeoutMillis ?? defaultTimeoutMillis
  const defaults = defaultsOf(options)
  return (request) => {
    const body = toBody(withDefaults(request, defaults), target)
    if (Result.isFailure(body)) return VendorStream.fail(worker, body.failure)
    return VendorStream.make({
      worker,
      messages: request.messages,
      protocol,
      open: (signal) => open(client, body.success, signal),
      reason: (error) => toReason(error, Date.now()),
      timeoutMillis,
      secrets: [secret]
    })
  }
}

/**
 * A model of Anthropic, through the Messages API.
 *
 * **Details**
 *
 * Its id is `anthropic:<model>`. `reasoning` becomes what the model accepts: an effort with adaptive thinking since
 * Claude 4.6, a budget of thinking tokens up to then. A setting that the model does not have fails with an
 * `InvalidRequest` that names it: a seed with all models, a temperature with most since 4.7, turning thinking off with
 * some.
 *
 * **Gotchas**
 *
 * Anthropic requires an output limit. When neither the request nor `maxOutputTokens` sets one, the model's own is sent;
 * thinking counts towards it.
 *
 * **Example**
 *
 * ```ts
 * import { anthropic } from "@divisi/providers-anthropic"
 *
 * const worker = anthropic("claude-opus-5-5", { apiKey: "sk-ant-…", reasoning: { type: "effort", effort: "low" } })
 * worker.id // => "anthropic:claude-opus-5-5"
 * worker.pricing?.inputPerMillion // => 4
 * ```
 */
export const anthropic = (model: string, options: AnthropicOptions = {}): Worker => {
  const limits = workerLimits(model, options)
  const target = targetOf(model, options, limits)
  const pricing = options.pricing ?? priceOf(model, { cacheFor: target.promptCache.keepFor })
  const id = options.id ?? `anthropic:${model}`
  return {
    id,
    provider: options.provider ?? "anthropic",
    description: options.description,
    takesSeed: false,
    settings: { baseURL: options.baseURL, body: options.body, ...defaultsOf(options) },
    pricing,
    limits,
    generate: generator(id, options, target)
  }
}
