/** Creates workers from models on any server with a Chat Completions API. */

import { type Allowance, Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { ApiKey, Dialects, ProviderOptions } from "@divisi/provider-kit"
import { capabilitiesOf } from "./capabilities.ts"
import { type Dialect, readingOf, toBody } from "./internal/chatRequest.ts"
import { overHttp } from "./internal/lean.ts"
import { makeWorker } from "./internal/worker.ts"
import { type WorkerOptions, workerShape } from "./options.ts"

export type { Dialect, ReasoningFields } from "./internal/chatRequest.ts"

type Optional<A> = { readonly [K in keyof A]?: A[K] | undefined }

/**
 * Options for a server; `presets` contains well-known ones. By default, usage is requested in the last chunk of a
 * stream, system messages have the role `system`, and the output limit is sent as `max_tokens`.
 */
export interface CompatibleOptions extends Omit<WorkerOptions, "baseURL">, Optional<Dialect> {
  /** Base URL including the version, such as `http://localhost:8000/v1`. */
  readonly baseURL: string
  readonly model: string
  /** The headers with the server's remaining rate limits. Default: not read. */
  readonly rateLimitHeaders?: Allowance.HeaderNames | undefined
  /** Prefix of the worker's id. Default: the host of `baseURL`. */
  readonly name?: string | undefined
}

const compatibleShape = {
  ...workerShape,
  model: Options.name,
  name: Options.text,
  rateLimitHeaders: Options.anObject,
  usage: Options.oneOf("stream-options", "final", "none"),
  reasoningField: Options.oneOf("reasoning_content", "reasoning"),
  reasoningEcho: Options.oneOf("reasoning_content", "reasoning_details"),
  systemRole: Options.oneOf("system", "developer"),
  outputLimit: Options.oneOf("max_tokens", "max_completion_tokens"),
  reasoningFields: Options.anObject,
  thinkTags: Options.flag,
  endsWithDone: Options.flag,
  // The documentation page of a preset.
  source: Options.text
} satisfies Options.ShapeOf<CompatibleOptions & { readonly source: string }>

const table = ProviderOptions.table(compatibleShape, { required: ["baseURL", "model"] })

/**
 * Capabilities assumed for a model on such a server. A server without tools or schemas reports an error itself, but
 * many models without vision silently ignore images and files, so support for these must be declared.
 */
const ofServers = { images: false, files: false, maxStopSequences: Number.POSITIVE_INFINITY }

/**
 * Creates a worker from a model on a server with a Chat Completions API.
 *
 * **Details**
 *
 * For most servers, the base URL and the model are sufficient. Differences are not detected; set them with options: how
 * usage is reported (`usage`), the fields for reasoning in answers (`reasoningField`) and requests (`reasoningEcho`),
 * the role of system messages (`systemRole`), and the field for the output limit (`outputLimit`). `presets` contains
 * the settings for vLLM, SGLang, llama-server, Ollama, LM Studio, OpenRouter, DeepSeek and Together. Without `apiKey`,
 * neither a key nor the OpenAI account from the environment is sent. The price is unknown unless `pricing` is set; for
 * a self-hosted server, use `Usage.free`.
 *
 * By default, the model is assumed to support tools and JSON Schemas, but not images and files; `capabilities`
 * overrides this.
 *
 * Calls are sent over undici, without the SDK; connections are reused, and shared by all workers. If `fetch` is set,
 * calls are sent through it; otherwise, through the proxy set in the environment or a custom dispatcher, if there is
 * one.
 *
 * **Example**
 *
 * ```ts
 * import { free } from "@divisi/core/Usage"
 * import { openaiCompatible, presets } from "@divisi/providers-openai"
 *
 * const local = openaiCompatible({ ...presets.ollama, model: "qwen3:8b", pricing: free })
 * local.id // => "ollama:qwen3:8b"
 *
 * const own = openaiCompatible({ baseURL: "http://gpu-1:8000/v1", model: "my-model" })
 * own.id // => "gpu-1:8000:my-model"
 * ```
 */
export const openaiCompatible = (options: CompatibleOptions): Worker => {
  Options.check("openaiCompatible", options, table)
  const { model } = options
  // An invalid base URL is rejected below, without being shown.
  const name = options.name ?? (URL.canParse(options.baseURL) ? new URL(options.baseURL).host : "a server")
  // Other vendors may use the names of OpenAI models, so the capabilities known for those do not apply.
  const capabilities = capabilitiesOf("", { ...ofServers, ...options.capabilities })
  const dialect: Dialect = {
    usage: options.usage ?? "stream-options",
    systemRole: options.systemRole ?? "system",
    outputLimit: options.outputLimit ?? "max_tokens",
    reasoningField: options.reasoningField,
    reasoningEcho: options.reasoningEcho,
    thinkTags: options.thinkTags,
    endsWithDone: options.endsWithDone,
    reasoningFields: options.reasoningFields
  }
  const about = {
    id: options.id ?? `${name}:${model}`,
    model,
    provider: options.provider ?? name,
    pricing: options.pricing,
    limits: options.limits,
    key: options.apiKey === undefined ? undefined : ApiKey.resolve(options.apiKey, []),
    rateLimitHeaders: options.rateLimitHeaders,
    capabilities
  }
  return makeWorker(options, about, {
    toBody: (request, omit) => toBody(model, request, { ...options, ...dialect }, capabilities, omit),
    connect: overHttp,
    protocol: Dialects.Chat.protocol(readingOf(dialect, model))
  })
}
