/**
 * The pool from the Conductor paper: its seven workers with their settings, created from the available keys and
 * servers. A vendor's package is loaded only if the pool contains one of its models.
 */

import { Callback, Options as Tables } from "@divisi/core"
import { type Pricing, pricingShape } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Environment } from "../Environment.ts"
import * as Vendor from "../Vendor.ts"
import { type Model, type PaperSetting, type Seat, seats } from "./Seats.ts"

export type { PaperSetting } from "./Seats.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for creating the paper's pool. */
export interface PaperPoolOptions {
  /**
   * `controlled`: 4096 output tokens, temperature 0.2 and minimal reasoning, as in training. `unconstrained`: maximum
   * budgets for each worker.
   */
  readonly setting: PaperSetting
  /** Whether a worker that cannot be created is an error. By default, it is omitted and `onNotice` is called. */
  readonly required?: boolean | undefined
  /**
   * Keys by vendor (`openai`, `anthropic`, `google`, `openrouter`, `vllm`). They take precedence over environment
   * variables.
   */
  readonly keys?: Readonly<Record<string, string | Redacted.Redacted<string>>> | undefined
  /**
   * Base URLs by vendor, or by worker (`qwen3-32b`) for an open model on your own Chat Completions server. They take
   * precedence over environment variables.
   */
  readonly baseURLs?: Readonly<Record<string, string>> | undefined
  /** Model names by worker: the name used on your server, or a model that replaces the default. */
  readonly models?: Readonly<Record<string, string>> | undefined
  /**
   * Whether a model that its vendor has shut down is replaced by the recommended successor. Default: `false`, because
   * the pool would then differ from the paper's.
   */
  readonly successors?: boolean | undefined
  /** Prices by worker. They take precedence over the built-in tables, which do not list self-hosted open models. */
  readonly pricing?: Readonly<Record<string, Pricing>> | undefined
  /** Called with the reason for each worker that is omitted or replaced. Default: writes to stderr. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Environment variables to use instead of those of the process. */
  readonly environment?: Environment | undefined
  /** ISO date on which a model must still be available. Default: today. */
  readonly today?: string | undefined
}

const table = Tables.table(
  {
    setting: Tables.oneOf("controlled", "unconstrained"),
    required: Tables.flag,
    keys: Tables.recordOf(Tables.anything),
    baseURLs: Tables.recordOf(Tables.text),
    models: Tables.recordOf(Tables.text),
    successors: Tables.flag,
    pricing: Tables.recordOf(pricingShape),
    onNotice: Tables.aFunction,
    environment: Tables.anObject,
    today: Tables.expects("a date such as 2025-01-31", (value) => /^\d{4}-\d{2}-\d{2}/.test(String(value)))
  } satisfies Tables.ShapeOf<PaperPoolOptions>,
  { required: ["setting"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised if workers of the paper's pool cannot be created. Lists these workers, each with the reason. */
export class PaperPoolError extends Data.TaggedError("PaperPoolError")<{
  readonly missing: ReadonlyArray<{ readonly worker: string; readonly detail: string }>
}> {
  override get message(): string {
    return `The paper's pool is incomplete. ${this.missing.map(({ detail }) => detail).join(" ")}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Returns the available connection settings for a vendor. */
const connectionOf = (vendor: Vendor.Vendor, seat: Seat, options: PaperPoolOptions) => {
  const environment = Vendor.connection(vendor, options.environment ?? {})
  const apiKey = options.keys?.[vendor.name] ?? environment.apiKey
  const baseURL = options.baseURLs?.[seat.id] ?? options.baseURLs?.[vendor.name] ?? environment.baseURL
  return { apiKey, baseURL }
}

type Connection = ReturnType<typeof connectionOf>

/** Whether a provider can be used: a self-hosted server must have a URL, a vendor must have a key. */
const isOpen = (vendor: Vendor.Vendor, { apiKey, baseURL }: Connection): boolean =>
  vendor.needsKey ? apiKey !== undefined : baseURL !== undefined

interface Found {
  readonly vendor: Vendor.Vendor
  readonly connection: Connection
  readonly model: Model
}

const findRoute = (seat: Seat, options: PaperPoolOptions): Found | undefined =>
  seat.routes
    .map((model) => {
      const vendor = Vendor.find(Vendor.vendors, model.vendor, {})!
      return { vendor, model, connection: connectionOf(vendor, seat, options) }
    })
    .find(({ connection, vendor }) => isOpen(vendor, connection))

const whatIsMissing = (seat: Seat): string => {
  const ways = seat.routes.map(({ vendor: name }) => {
    const { baseURLs, keys, needsKey } = Vendor.find(Vendor.vendors, name, {})!
    return (needsKey ? keys : baseURLs).join(" or ")
  })
  return `${seat.id} needs ${ways.join(" or ")}.`
}

/** Returns the replacement for a seat whose model was shut down: nothing, or the vendor's successor. */
const afterShutDown = (seat: Seat, found: Found, options: PaperPoolOptions) => {
  const { shutDown } = seat
  const today = options.today ?? new Date().toISOString().slice(0, 10)
  // If the caller names a model or server, it is assumed to be available.
  const isChosen = options.models?.[seat.id] !== undefined || found.connection.baseURL !== undefined
  if (shutDown === undefined || isChosen || today < shutDown.date) return { found }
  const { date, source, successor } = shutDown
  const ended = `${seat.id} was shut down by its vendor on ${date} (${source})`
  return options.successors
    ? { found: { ...found, model: successor }, notice: `${ended}; ${successor.model} replaces it.` }
    : {
        notice: `${ended}; set successors to replace it with ${successor.model}, or models["${seat.id}"] to use another model.`
      }
}

const makeWorker = async (
  { connection, model, vendor }: Found,
  { id }: Seat,
  { models, pricing, setting }: PaperPoolOptions
): Promise<Worker> => {
  const made = await vendor.make(models?.[id] ?? model.model, { ...model.settings[setting], ...connection, id })
  const price = pricing?.[id]
  return price === undefined ? made : { ...made, pricing: price }
}

const tell = (notice: string): void => void process.stderr.write(`divisi: ${notice}\n`)

/**
 * Creates the paper's pool.
 *
 * **Details**
 *
 * The seven workers, in the paper's order: `gemini-2.5-pro`, `claude-sonnet-4`, `gpt-5`,
 * `deepseek-r1-distill-qwen-32b`, `gemma-3-27b-it`, `qwen3-32b-thinking`, `qwen3-32b`. Open models are called on your
 * own server (`VLLM_BASE_URL`, or `baseURLs` by worker) or, without one, through OpenRouter. In the controlled setting,
 * each model uses the lowest reasoning that it supports: off, minimal effort, or a budget of 128 tokens.
 *
 * **Gotchas**
 *
 * Models that a vendor has shut down are omitted like those without a key, unless `successors` or `models` replaces
 * them. The promise rejects with a {@link PaperPoolError} if `required` is set and a worker is missing, or if no
 * workers remain.
 *
 * **Example**
 *
 * ```ts
 * import { paperPool } from "@divisi/recipes"
 *
 * const pool = await paperPool({
 *   setting: "controlled",
 *   keys: { openai: "sk-…" },
 *   baseURLs: { "qwen3-32b": "http://gpu-1:8000/v1" },
 *   models: { "gpt-5": "gpt-5" },
 *   onNotice: () => {},
 *   environment: {}
 * })
 * pool.map((worker) => worker.id) // => ["gpt-5", "qwen3-32b"]
 * ```
 */
export const paperPool = async (given: PaperPoolOptions): Promise<ReadonlyArray<Worker>> => {
  Tables.check("paperPool", given, table)
  const environment = given.environment ?? (await Effect.runPromise(Vendor.environment(Vendor.vendors)))
  const options = { ...given, environment }
  const notice = (text: string) => Callback.notifyLogged("onNotice", () => (options.onNotice ?? tell)(text))
  const workers: Array<Worker> = []
  const missing: Array<{ readonly worker: string; readonly detail: string }> = []
  for (const seat of seats) {
    const route = findRoute(seat, options)
    if (route === undefined) {
      missing.push({ worker: seat.id, detail: whatIsMissing(seat) })
      continue
    }
    const { found, notice: said } = afterShutDown(seat, route, options)
    if (found === undefined) missing.push({ worker: seat.id, detail: said })
    else {
      if (said !== undefined) notice(said)
      workers.push(await makeWorker(found, seat, options))
    }
  }
  if (missing.length > 0 && (options.required === true || workers.length === 0)) throw new PaperPoolError({ missing })
  for (const { detail } of missing) notice(`Left out of the paper's pool: ${detail}`)
  return workers
}
