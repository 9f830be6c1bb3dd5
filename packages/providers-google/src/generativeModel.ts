/** Creates workers from models of Google's former SDK, `@google/generative-ai`, for existing code that uses it. */
import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { VendorJson as Json, ProviderOptions } from "@divisi/provider-kit"
import type { Body, WorkerOptions } from "@divisi/provider-kit/Gemini"
import { overConnection, withTools } from "@divisi/provider-kit/Gemini"
import { reasonOf } from "./internal/sdkErrors.ts"

/** The part of the SDK's `GenerativeModel` that a worker uses. */
export interface GenerativeModel {
  readonly apiKey: string
  /** Name including the prefix, such as `models/gemini-3.5-flash-lite`. */
  readonly model: string
  readonly generationConfig?: object | undefined
  readonly safetySettings?: ReadonlyArray<unknown> | undefined
  readonly tools?: ReadonlyArray<unknown> | undefined
  readonly systemInstruction?: object | undefined
  readonly cachedContent?: object | undefined
  readonly generateContentStream: (
    // The SDK's types lack fields that were added to the API later, such as `thinkingConfig`.
    request: never,
    options?: { signal?: AbortSignal }
  ) => Promise<{ readonly stream: AsyncIterable<unknown>; readonly response: Promise<unknown> }>
}

const { apiKey: _key, baseURL: _baseURL, fetch: _fetch, headers: _headers, ...modelShape } = ProviderOptions.shape

const table = ProviderOptions.table(modelShape satisfies Options.ShapeOf<WorkerOptions>)

/** Merges the settings of a request into those of the model. The SDK would replace each object as a whole. */
const requestOf = (model: GenerativeModel, body: Body): object => {
  const own = Json.items(Json.fields(model.systemInstruction).parts)
  const parts = [...own, ...(body.systemInstruction?.parts ?? [])]
  return {
    ...body,
    ...(parts.length === 0 ? {} : { systemInstruction: { role: "system", parts } }),
    ...withTools(body, model.tools),
    generationConfig: { ...model.generationConfig, ...body.generationConfig }
  }
}

const open = async (model: GenerativeModel, body: Body, signal: AbortSignal) => {
  const { response, stream } = await model.generateContentStream(requestOf(model, body) as never, { signal })
  // It fails together with the stream, and no other code awaits it.
  response.catch(() => undefined)
  return { events: stream }
}

/**
 * Creates a worker from a `GenerativeModel` of `@google/generative-ai`, Google's former SDK, including the model's
 * settings.
 *
 * **When to use**
 *
 * Use it if existing code already has such a model. New code should use `google` from this package, which requires no
 * SDK, or `@divisi/providers-genai`.
 *
 * **Details**
 *
 * Its id is `generative-ai:<model>`. Key, URL, headers and API version are taken from the model. Settings of a request
 * take precedence over those of the worker, which take precedence over those of the model; system messages and tools
 * are added to the model's.
 *
 * **Gotchas**
 *
 * The SDK does not expose its `fetch`. It follows redirects with the key and the prompt, discards the `retry-after`
 * header of an error response (a `RetryInfo` in the body is read), reads a stream without backpressure, and fails on
 * comments between events.
 *
 * **Example**
 *
 * ```ts
 * import { generativeModel } from "@divisi/providers-google"
 * import { GoogleGenerativeAI } from "@google/generative-ai"
 *
 * const model = new GoogleGenerativeAI("AIza…").getGenerativeModel({ model: "gemini-3.5-flash-lite" })
 * const worker = generativeModel(model, { temperature: 0.2 })
 * worker.id // => "generative-ai:gemini-3.5-flash-lite"
 * worker.pricing?.inputPerMillion // => 0.3
 * ```
 */
export const generativeModel = (model: GenerativeModel, options: WorkerOptions = {}): Worker => {
  Options.check("generativeModel", options, table)
  const name = model.model.replace(/^models\//, "")
  const { cachedContent, generationConfig, safetySettings, systemInstruction, tools } = model
  const secrets = [model.apiKey]
  return overConnection(name, options, {
    id: `generative-ai:${name}`,
    settings: { cachedContent, generationConfig, safetySettings, systemInstruction, tools },
    open: (body, signal) => open(model, body, signal),
    reason: (error) => reasonOf(error, secrets),
    secrets
  })
}
