/**
 * Any Vercel AI SDK language model as a worker, including its providers, gateways, registries and middleware.
 *
 * The worker calls the model through the AI SDK's specification (`doStream`, versions 3 and 4) instead of `streamText`,
 * so nothing retries, logs or buffers in between, and a truncated stream fails.
 */
import type { LanguageModelV3, LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { type Allowance, Options as Tables } from "@divisi/core"
import { type Pricing, pricingShape } from "@divisi/core/Usage"
import type { Capabilities, Limits, Reasoning, Worker, WorkerRequest } from "@divisi/core/Worker"
import { capabilitiesShape, limitsShape, reasoningTable, WorkerError, type WorkerPart } from "@divisi/core/Worker"
import { Dialects, VendorJson as Json, ModelTurn, VendorStream } from "@divisi/provider-kit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { allowanceOf } from "./internal/allowance.ts"
import { reasonOf } from "./internal/errors.ts"
import * as Parts from "./internal/parts.ts"
import { callOptions } from "./internal/request.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An AI SDK model, as created by its providers. For names of the AI Gateway, use its `gateway("openai/gpt-6.1-sol")`. */
export type Model = LanguageModelV3 | LanguageModelV4

/** Model properties that the AI SDK does not expose, and the worker's defaults. */
export interface Options {
  /**
   * Id of the worker. Default: provider and model, such as `openai:gpt-6.1-sol` for the model `gpt-6.1-sol` of `openai.responses`.
   */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** System prompt sent before all other messages, so that two workers can use one model in different roles. */
  readonly instructions?: string | undefined
  /**
   * Capabilities of the model. The AI SDK does not expose them: tools, images, files and JSON Schemas are sent unless
   * they are false here, and calls with unsupported content fail.
   */
  readonly capabilities?: Capabilities | undefined
  /** Workers with the same provider share rate limits. Default: the id. */
  readonly provider?: string | undefined
  /** Price of the model. If omitted, the price is unknown, because the AI SDK has no prices. */
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /** Whether the model supports a seed. If `false`, calls are sent without one. Default: `true`. */
  readonly takesSeed?: boolean | undefined
  /** Output limit in tokens for requests without one. */
  readonly maxOutputTokens?: number | undefined
  /** Temperature for requests without one. */
  readonly temperature?: number | undefined
  /** Reasoning for requests that do not set it. */
  readonly reasoning?: Reasoning | undefined
  /** The AI SDK's `providerOptions`, sent with every call. */
  readonly providerOptions?: SharedV4ProviderOptions | undefined
  /**
   * Maps a reasoning setting to the vendor's `providerOptions`. Version 4 of the AI SDK supports efforts and "off"
   * itself, but no token budget; version 3 supports neither. `undefined` adds nothing.
   */
  readonly reasoningOptions?: ((reasoning: Reasoning) => SharedV4ProviderOptions | undefined) | undefined
  /**
   * Maps `parallelToolCalls` to the vendor's `providerOptions`, because the AI SDK has no such setting. If omitted, a
   * request for sequential tool calls fails, unless unsupported preferences are ignored.
   */
  readonly parallelOptions?: ((parallelToolCalls: boolean) => SharedV4ProviderOptions | undefined) | undefined
  /** Headers sent with every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The headers with the remaining rate limits. Default: those of OpenAI and Anthropic. */
  readonly rateLimitHeaders?: Allowance.HeaderNames | undefined
  /** Maximum time without data, before or within an answer, in milliseconds. Default: unlimited. */
  readonly timeoutMillis?: number | undefined
  /**
   * How to handle a preference that the model does not support (temperature, seed, reasoning, parallel calls): fail
   * with `InvalidRequest` (default), or continue without it and report a notice. An unsupported demand (an output
   * schema, a tool choice, stop sequences, an output limit) always fails.
   */
  readonly unsupported?: "fail" | "ignore" | undefined
  /**
   * Strings that must not appear in errors. The AI SDK does not expose a model's key; pass it here if its vendor might
   * repeat it. Anything that looks like a key is always redacted.
   */
  readonly secrets?: ReadonlyArray<string | Redacted.Redacted> | undefined
}

const table = {
  id: Tables.name,
  description: Tables.text,
  instructions: Tables.text,
  capabilities: capabilitiesShape,
  provider: Tables.name,
  pricing: pricingShape,
  limits: limitsShape,
  takesSeed: Tables.flag,
  maxOutputTokens: Tables.whole(1),
  temperature: Tables.temperature,
  reasoning: reasoningTable,
  providerOptions: Tables.anObject,
  reasoningOptions: Tables.aFunction,
  parallelOptions: Tables.aFunction,
  headers: Tables.recordOf(Tables.text),
  rateLimitHeaders: Tables.anything,
  timeoutMillis: Tables.number(0),
  unsupported: Tables.oneOf("fail", "ignore"),
  secrets: Tables.expects("a list of strings", Array.isArray)
} satisfies Tables.ShapeOf<Options>

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the settings, besides the model's name, that affect answers, for the response cache key. Headers may contain
 * secrets.
 */
const settingsOf = ({ maxOutputTokens, providerOptions, reasoning, temperature }: Options) => ({
  maxOutputTokens,
  temperature,
  reasoning,
  providerOptions
})

const idOf = ({ modelId, provider }: Model): string => `${provider.split(".")[0]}:${modelId}`

/** Returns the capabilities. Models of compatible servers declare whether their server supports schemas. */
const capabilitiesOf = (model: Model, { capabilities }: Options): Capabilities => ({
  tools: true,
  images: true,
  files: true,
  jsonSchema: Json.fields(model).supportsStructuredOutputs !== false,
  ...capabilities
})

/** Returns the name of the model that can read the resulting turns again. */
const ownerOf = ({ modelId, provider }: Model): string => `${provider}:${modelId}`

/**
 * Creates a worker from an AI SDK model.
 *
 * **Gotchas**
 *
 * The model's package sends the request and follows redirects by default, which sends the question and all headers
 * except `authorization` to another server, including a key in any other header. Create the model with `fetch:
 * fetchWithoutRedirects()` from `@divisi/provider-kit`, as in the example.
 *
 * **Details**
 *
 * Usage that the vendor does not report is estimated at four characters per token. A setting that the model does not
 * support fails the call with an `InvalidRequest` that names it: before the call is sent if the specification has no
 * such setting, or at the first event if the model reports it.
 *
 * **Example**
 *
 * ```ts no-run
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { conduct, single } from "@divisi/core/promise"
 * import { Endpoint } from "@divisi/provider-kit"
 * import { aiSdk } from "@divisi/providers-ai-sdk"
 *
 * const lab = createOpenAICompatible({
 *   name: "lab",
 *   baseURL: "https://llm.example.org/v1",
 *   includeUsage: true,
 *   fetch: Endpoint.fetchWithoutRedirects()
 * })
 * const result = await conduct({
 *   question: "What is 6 times 7?",
 *   pool: [aiSdk(lab("qwen3-32b"), { temperature: 0.2 })],
 *   policy: single(0)
 * })
 * ```
 */
export const aiSdk = (model: Model, options: Options = {}): Worker => {
  Tables.check("aiSdk", options, table)
  if (typeof model !== "object" || !["v3", "v4"].includes(model.specificationVersion)) {
    throw new TypeError(
      'aiSdk requires a model of AI SDK 6 or 7 (specification v3 or v4), such as openai("gpt-6.1-sol"): update the provider\'s ' +
        'package, or use gateway("…") for a name.'
    )
  }
  const worker = options.id ?? idOf(model)
  const secrets = (options.secrets ?? []).map((secret) =>
    Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
  )
  const { description, instructions, limits, maxOutputTokens, pricing, provider, takesSeed } = options
  const failure = (error: unknown, nowMillis: number) =>
    error instanceof WorkerError ? error : new WorkerError({ worker, reason: reasonOf(error, { secrets, nowMillis }) })
  return {
    id: worker,
    description,
    provider,
    pricing,
    limits,
    maxOutputTokens,
    isLanguageModel: true,
    takesSeed,
    instructions,
    capabilities: capabilitiesOf(model, options),
    settings: settingsOf(options),
    generate: (request) =>
      VendorStream.limitSilence(worker, options.timeoutMillis, call(model, worker, options, request, failure))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

const call = (
  model: Model,
  worker: string,
  options: Options,
  request: WorkerRequest,
  failure: (error: unknown, nowMillis: number) => WorkerError
): Stream.Stream<WorkerPart, WorkerError> =>
  Effect.gen(function* () {
    const target = { version: model.specificationVersion, model: ownerOf(model) }
    const { notices, omit } = Dialects.Preferences.collector()
    const mayOmit = options.unsupported === "ignore" || request.preferences === "omit"
    const converted = callOptions(target, options, request, mayOmit ? omit : undefined)
    if (Result.isFailure(converted)) return yield* new WorkerError({ worker, reason: converted.failure })
    const abortSignal = yield* Effect.abortSignal
    const clock = yield* Clock.Clock
    const fail = (error: unknown) => failure(error, clock.currentTimeMillisUnsafe())
    const { response, stream } = yield* Effect.tryPromise({
      // The fields used here are the same in versions 3 and 4.
      try: () => (model as LanguageModelV4).doStream({ ...converted.success, abortSignal }),
      catch: fail
    })
    const reading: Parts.Reading = {
      model: target.model,
      messages: request.messages,
      mayOmit
    }
    const allowance = allowanceOf(response?.headers, options.rateLimitHeaders, clock.currentTimeMillisUnsafe())
    const left: ReadonlyArray<WorkerPart> = [
      ...(allowance === undefined ? [] : [{ type: "allowance", ...allowance } as const]),
      ...Dialects.Preferences.partsOf(notices)
    ]
    const parts = Stream.fromReadableStream({ evaluate: () => stream, onError: fail }).pipe(
      Stream.concat(Stream.succeed(Parts.end)),
      Stream.mapAccumEffect(
        () => ModelTurn.startWith(request.tools),
        // A model with another specification may emit any value.
        (turn, part) => Effect.try({ try: () => Parts.next(turn, part, reading), catch: fail })
      )
    )
    return Stream.concat(Stream.fromArray(left), parts)
  }).pipe(Stream.unwrap)
