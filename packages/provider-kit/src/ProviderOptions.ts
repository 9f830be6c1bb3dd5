/** The options that workers of all vendors share. */
import { Options } from "@divisi/core"
import { type Pricing, pricingShape } from "@divisi/core/Usage"
import { type Limits, limitsShape, reasoningTable, type WorkerRequest } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import type { ApiKey } from "./ApiKey.ts"

/**
 * Options shared by the workers of all vendors. `Capabilities` describes what differs between a vendor's models.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface ProviderOptions<Capabilities> {
  /** The API key. Default: the vendor's environment variable. */
  readonly apiKey?: ApiKey | undefined
  /** The base URL of the API. Default: the vendor's own. */
  readonly baseURL?: string | undefined
  /** The id of the worker, unique within a pool. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /**
   * A system prompt that is sent before all other messages. Two workers can be the same model with different
   * instructions.
   */
  readonly instructions?: string | undefined
  /** The key under which rate limits are shared. */
  readonly provider?: string | undefined
  /** Replaces the list price. */
  readonly pricing?: Pricing | undefined
  /** Replaces the known limits of the model. */
  readonly limits?: Limits | undefined
  /** Overrides known capabilities of the model. */
  readonly capabilities?: Partial<Capabilities> | undefined
  /**
   * Maximum time in milliseconds without data from the vendor, both before and during an answer. When it is exceeded,
   * the call fails with `Timeout`. Default: 600,000.
   */
  readonly timeoutMillis?: number | undefined
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * How to handle a setting that the model does not support. `"reject"` (the default): the call fails with an
   * `InvalidRequest` that names the setting. Otherwise, the setting is replaced by the nearest supported one, such as a
   * budget with an effort, or omitted.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}

/** Request settings for which a worker can have defaults. */
type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

const isKey = (value: unknown): boolean =>
  Options.name(value) === undefined ||
  Redacted.isRedacted(value) ||
  (typeof value === "object" && value !== null && typeof (value as { env?: unknown }).env === "string")

/** Validation table for `Options.check`, which catches misspelled options in plain JavaScript. */
export const shape = {
  apiKey: Options.expects("a non-empty string, a Redacted, or { env }", isKey),
  baseURL: Options.expects("a URL string", (value) => typeof value === "string" || value instanceof URL),
  id: Options.name,
  description: Options.text,
  instructions: Options.text,
  provider: Options.name,
  pricing: pricingShape,
  limits: limitsShape,
  capabilities: Options.anObject,
  timeoutMillis: Options.limit,
  headers: Options.recordOf(Options.text),
  unsupported: Options.oneOf("reject", "omit"),
  fetch: Options.aFunction,
  maxOutputTokens: Options.whole(1),
  temperature: Options.temperature,
  seed: Options.expects("a whole number", Number.isSafeInteger),
  reasoning: reasoningTable,
  stopSequences: Options.listOf(Options.name)
} satisfies Options.ShapeOf<ProviderOptions<unknown> & Defaults & { readonly fetch: unknown }>

/** Option names used by other libraries, grouped by the name used here. */
const called = Options.aliases({
  "the first argument": "model",
  id: "name",
  apiKey: "key token",
  baseURL: "endpoint url host",
  headers: "defaultHeaders",
  instructions: "system systemPrompt prompt",
  maxOutputTokens: "maxTokens maxCompletionTokens",
  reasoning: "reasoningEffort thinking effort",
  stopSequences: "stop",
  timeoutMillis: "timeout timeoutMs",
  pricing: "price cost",
  "limits: { contextTokens }": "contextWindow",
  "retry: { maxAttempts } of the run": "maxRetries retries",
  "tools of the run": "tools"
})

/**
 * Returns the table for a worker's options. Names that other libraries use are rejected with the name used here.
 *
 * **Example**
 *
 * ```ts
 * import { Options } from "@divisi/core"
 * import { ProviderOptions } from "@divisi/provider-kit"
 *
 * const table = ProviderOptions.table({ ...ProviderOptions.shape, user: Options.text })
 * const problem = Options.problemOf({ maxTokens: 100 }, table, "options")
 * problem // => 'option "options.maxTokens" does not exist. Use "maxOutputTokens".'
 * ```
 */
export const table = (shape: Options.Shape, notes: Options.Notes = {}): Options.Table =>
  Options.table(shape, { ...notes, called })
