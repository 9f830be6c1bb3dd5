/** The options that workers of all vendors share. */
import { Options } from "@divisi/core"
import { type Pricing, pricingShape } from "@divisi/core/Usage"
import { type Limits, limitsShape, reasoningTable, type WorkerRequest } from "@divisi/core/Worker"
import * as Redacted from "effect/Redacted"
import type { ApiKey } from "./ApiKey.ts"

/**
 * The options that workers of all vendors share. `Capabilities` is what a vendor's models differ in.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
 * variable.
 */
export interface ProviderOptions<Capabilities> {
  /** The vendor's own variable of the environment by default. */
  readonly apiKey?: ApiKey | undefined
  /** The address of the API; the vendor's own by default. */
  readonly baseURL?: string | undefined
  /** Unique within a pool. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** A system prompt of its own, sent before all others: two workers can be one model in two roles. */
  readonly instructions?: string | undefined
  /** The key under which rate limits are shared. */
  readonly provider?: string | undefined
  /** Replaces the list price. */
  readonly pricing?: Pricing | undefined
  /** Replaces the known limits of the model. */
  readonly limits?: Limits | undefined
  /** Overrides what is known about the model. */
  readonly capabilities?: Partial<Capabilities> | undefined
  /**
   * The longest silence in milliseconds, before and within an answer; 600,000 by default. A longer one is a `Timeout`.
   */
  readonly timeoutMillis?: number | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * How to handle a setting that the model does not support: fail the call with an `InvalidRequest` that names it (the
   * default), or replace it by the nearest supported setting, e.g. a budget by an effort, or omit it.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}

/** The settings of a request that a worker may have as its own. */
type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

const isKey = (value: unknown): boolean =>
  typeof value === "string" ||
  Redacted.isRedacted(value) ||
  (typeof value === "object" && value !== null && typeof (value as { env?: unknown }).env === "string")

/** The options that `Options.check` knows, to find those that plain JavaScript misspells. */
export const shape = {
  apiKey: Options.expects("a text, a Redacted, or { env }", isKey),
  baseURL: Options.expects("a URL as text", (value) => typeof value === "string" || value instanceof URL),
  id: Options.name,
  description: Options.text,
  instructions: Options.text,
  provider: Options.text,
  pricing: pricingShape,
  limits: limitsShape,
  capabilities: Options.anObject,
  timeoutMillis: Options.limit,
  headers: Options.recordOf(Options.text),
  unsupported: Options.oneOf("reject", "omit"),
  fetch: Options.aFunction,
  maxOutputTokens: Options.whole(1),
  temperature: Options.number(0),
  seed: Options.expects("a whole number", Number.isSafeInteger),
  reasoning: reasoningTable,
  stopSequences: Options.listOf(Options.name)
} satisfies Options.ShapeOf<ProviderOptions<unknown> & Defaults & { readonly fetch: unknown }>
