/**
 * OpenAI's list prices, as data. They are those of the standard tier, for prompts of usual length; a model that is not
 * here is of unknown price, which is not 0. Give a worker `pricing` to say otherwise.
 */
import type { Pricing } from "@tutti/core/Worker"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The price of a model, with the page it stands on and the day on which it stood there. */
export interface ListPrice extends Pricing {
  readonly model: string
  readonly source: string
  readonly date: string
}

// -------------------------------------------------------------------------------------------------------------------
// Data
// -------------------------------------------------------------------------------------------------------------------

const price = (
  model: string,
  input: number,
  cachedInput: number | undefined,
  output: number,
  date: string
): ListPrice => ({
  model,
  inputPerMillion: input,
  ...(cachedInput === undefined ? {} : { cachedInputPerMillion: cachedInput }),
  outputPerMillion: output,
  source: "https://developers.openai.com/api/docs/pricing",
  date
})

/** USD per million tokens: input, input from the cache, output. */
export const prices: ReadonlyArray<ListPrice> = [
  price("gpt-5.5", 5, 0.5, 30, "2026-06-01"),
  price("gpt-5.5-pro", 30, undefined, 180, "2026-06-01"),
  price("gpt-5.4", 2.5, 0.25, 15, "2026-06-01"),
  price("gpt-5.4-mini", 0.75, 0.075, 4.5, "2026-06-01"),
  price("gpt-5.4-nano", 0.2, 0.02, 1.25, "2026-06-01"),
  price("gpt-5.4-pro", 30, undefined, 180, "2026-06-01"),
  price("gpt-5.2", 1.75, 0.175, 14, "2026-03-01"),
  price("gpt-5.1", 1.25, 0.125, 10, "2026-03-01"),
  price("gpt-5", 1.25, 0.125, 10, "2026-03-01"),
  price("gpt-5-mini", 0.25, 0.025, 2, "2026-03-01"),
  price("gpt-5-nano", 0.05, 0.005, 0.4, "2026-03-01"),
  price("gpt-5-pro", 15, undefined, 120, "2026-03-01"),
  price("gpt-4.1", 2, 0.5, 8, "2026-03-01"),
  price("gpt-4.1-mini", 0.4, 0.1, 1.6, "2026-03-01"),
  price("gpt-4.1-nano", 0.1, 0.025, 0.4, "2026-03-01"),
  price("gpt-4o", 2.5, 1.25, 10, "2026-03-01"),
  price("gpt-4o-mini", 0.15, 0.075, 0.6, "2026-03-01"),
  price("o3", 2, 0.5, 8, "2026-03-01"),
  price("o4-mini", 1.1, 0.275, 4.4, "2026-03-01"),
  price("o3-mini", 1.1, 0.55, 4.4, "2026-03-01"),
  price("o1", 15, 7.5, 60, "2026-03-01")
]

// -------------------------------------------------------------------------------------------------------------------
// Look-up
// -------------------------------------------------------------------------------------------------------------------

const snapshot = /-\d{4}-\d{2}-\d{2}$/

/**
 * The list price of a model, or of the model that a dated name is a snapshot of; `undefined` where it is not known.
 *
 * **Example**
 *
 * ```ts
 * import { priceOf } from "@tutti/providers-openai"
 *
 * priceOf("gpt-5-mini-2025-08-07")?.inputPerMillion // => 0.25
 * priceOf("gpt-5-whatever") // => undefined
 * ```
 */
export const priceOf = (model: string): ListPrice | undefined =>
  prices.find((one) => one.model === model.replace(snapshot, ""))
