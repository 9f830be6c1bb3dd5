/** Creates workers from Anthropic models, using the Messages API. */
import type Anthropic from "@anthropic-ai/sdk"
import { Allowance, Options } from "@divisi/core"
import { type Limits, type Worker, withDefaults } from "@divisi/core/Worker"
import { ApiKey, Dialects, Endpoint, VendorBatch, VendorEvents, VendorStream } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { capabilitiesOf, limitsOf, ofWorker } from "./capabilities.ts"
import { vendorOf } from "./internal/batches.ts"
import { defaultTimeoutMillis, makeClient, rateLimitHeaders } from "./internal/client.ts"
import { toReason } from "./internal/errors.ts"
import { type Body, type Target, toBody } from "./internal/request.ts"
import { type AnthropicOptions, anthropicTable, type Defaults } from "./options.ts"
import { priceOf } from "./prices.ts"

/**
 * Sends a body. The SDK's `messages.create` would do the same, but writes a warning about old models to stderr on every
 * call.
 */
const send = (client: Anthropic, body: Body, signal: AbortSignal): Promise<Response> =>
  client.post("/v1/messages", { body, signal, stream: true }).asResponse()

const open = async (
  sending: Promise<Response>,
  signal: AbortSignal,
  notices: ReadonlyArray<string>
): Promise<VendorStream.Opened<unknown>> => {
  const response = await sending
  const allowance = Allowance.fromHeaders(response.headers, rateLimitHeaders, Date.now())
  return {
    events: VendorEvents.serverSent(response, signal),
    parts: [
      ...(allowance === undefined ? [] : [{ type: "allowance", ...allowance } as const]),
      ...Dialects.Preferences.partsOf(notices)
    ]
  }
}

/** Output limit in tokens if neither the request nor the model defines one. */
const assumedMaxTokens = 32_000

const defaultsOf = ({ maxOutputTokens, reasoning, stopSequences, temperature }: AnthropicOptions): Defaults => ({
  maxOutputTokens,
  reasoning,
  stopSequences,
  temperature
})

const targetOf = (model: string, options: AnthropicOptions, limits: Limits): Target => ({
  model,
  capabilities: capabilitiesOf(model, options.capabilities),
  maxTokens: options.maxOutputTokens ?? limits.maxOutputTokens ?? assumedMaxTokens,
  promptCache: { prefix: options.promptCache ?? "system", keepFor: options.promptCacheFor ?? "5m" },
  omitUnsupported: options.unsupported === "omit",
  body: options.body ?? {}
})

/** Defines how calls are sent and retried. */
const calls = (
  worker: string,
  options: AnthropicOptions,
  target: Target,
  key: Redacted.Redacted<string>,
  endpoint: Endpoint.Endpoint
): Pick<Worker, "generate" | "recovery"> => {
  const client = makeClient(options, key, endpoint)
  const { secrets } = endpoint
  const timeoutMillis = options.timeoutMillis ?? defaultTimeoutMillis
  const defaults = defaultsOf(options)
  const protocol = Dialects.Messages.protocolOf(target.model)
  const reason = (error: unknown) => toReason(error, { secrets, nowMillis: Date.now() })
  const settings = VendorBatch.settingsOf("anthropic", options.batch)
  const family = Dialects.Preferences.messages
  const learned = Dialects.Preferences.learnedOf(JSON.stringify([endpoint.baseURL, family.name, target.model]))
  const adapting = { family, learned }
  const vendor = vendorOf(client, reason)
  const batches = settings && VendorBatch.make({ worker, vendor, settings, protocol, secrets, adapting })
  const sendAdapted = (body: Body, signal: AbortSignal, omit: (notice: string) => void) =>
    Dialects.Preferences.send(body, {
      ...adapting,
      send: (adapted) => send(client, adapted, signal),
      reason,
      omit
    })
  const generate: Worker["generate"] = (request) => {
    const { notices, omit } = Dialects.Preferences.collector()
    const mayOmit = target.omitUnsupported || request.preferences === "omit"
    const body = toBody(withDefaults(request, defaults), { ...target, omitUnsupported: mayOmit, onNotice: omit })
    if (Result.isFailure(body)) return VendorStream.fail(worker, body.failure)
    if (batches !== undefined) return batches.ask(request, body.success, { mayOmit, notices })
    return VendorStream.make({
      worker,
      messages: request.messages,
      tools: request.tools,
      protocol,
      open: (signal) => {
        const sending = mayOmit ? sendAdapted(body.success, signal, omit) : send(client, body.success, signal)
        return open(sending, signal, notices)
      },
      reason,
      timeoutMillis,
      secrets
    })
  }
  return { generate, recovery: batches }
}

/**
 * Creates a worker from an Anthropic model, using the Messages API.
 *
 * **Details**
 *
 * Its id is `anthropic:<model>`. `reasoning` is converted to the form that the model supports: an effort with adaptive
 * thinking for Claude 4.6 and later, and a thinking budget in tokens for earlier models. An unsupported setting fails
 * with an `InvalidRequest` that names it: a seed for all models, a temperature for most models since 4.7, and turning
 * thinking off for some.
 *
 * **Gotchas**
 *
 * Anthropic requires an output limit. If neither the request nor `maxOutputTokens` sets one, the model's maximum is
 * sent. Thinking counts toward the limit.
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
  Options.check("anthropic", options, anthropicTable)
  const limits = options.limits ?? limitsOf(model)
  const target = targetOf(model, options, limits)
  const isBatch = options.batch !== undefined && options.batch !== false
  const listed = priceOf(model, { cacheFor: target.promptCache.keepFor })
  const pricing = options.pricing ?? (isBatch ? VendorBatch.halved(listed) : listed)
  const id = options.id ?? `anthropic:${model}`
  const resolved = ApiKey.resolve(options.apiKey, ["ANTHROPIC_API_KEY"])
  const key = Result.isSuccess(resolved) ? Redacted.value(resolved.success) : ""
  const { baseURL, fetch, headers } = options
  const endpoint = Endpoint.make({ worker: id, baseURL, variables: ["ANTHROPIC_BASE_URL"], key, headers, fetch })
  return {
    id,
    // Anthropic has separate rate limits for batches.
    provider: options.provider ?? (isBatch ? "anthropic-batch" : "anthropic"),
    description: options.description,
    instructions: options.instructions,
    capabilities: ofWorker(target.capabilities),
    isLanguageModel: true,
    takesSeed: false,
    settings: { baseURL: endpoint.baseURL, body: options.body, ...defaultsOf(options) },
    pricing,
    limits,
    maxOutputTokens: options.maxOutputTokens,
    ...(Result.isFailure(resolved)
      ? { generate: () => VendorStream.fail(id, ApiKey.missing(resolved.failure)) }
      : calls(id, options, target, resolved.success, endpoint))
  }
}
