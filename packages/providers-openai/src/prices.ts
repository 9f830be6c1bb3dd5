/**
 * OpenAI's list prices for the standard tier. A model that is not listed has an unknown
 * price, not a price of 0. Set `pricing` on a worker to override it.
 */
import type { Pricing } from "@divisi/core/Usage"

/**
 * The price of a model, with its source page and the date on which it was valid. Prices dated before November 2026 come
 * from reports about those pages, not from the pages themselves, so verify them before relying on them.
 */
export interface ListPrice extends Pricing {
  readonly model: string
  readonly source: string
  readonly date: string
}

/** USD per million tokens: input, cached input, input written to the cache, output. */
type Row = readonly [
  model: string,
  input: number,
  cached: number | undefined,
  written: number | undefined,
  output: number,
  date: string
]

const rows: ReadonlyArray<Row> = [
  ["gpt-6.1-sol", 2, 0.1, 2.5, 10, "2026-09-29"],
  ["gpt-6.1-terra", 1, 0.05, 1.25, 5, "2026-10-27"],
  ["gpt-6-sol", 2, 0.2, 2.5, 10, "2026-09-29"],
  // Valid until at least 21 November 2026.
  ["gpt-5.6-sol", 4, 0.4, 5, 20, "2026-11-01"],
  ["gpt-5.6", 4, 0.4, 5, 20, "2026-11-01"],
  ["gpt-5.6-terra", 2, 0.2, 2.5, 12, "2026-11-01"],
  ["gpt-5.5", 5, 0.5, undefined, 30, "2026-06-01"],
  ["gpt-5.5-pro", 30, undefined, undefined, 180, "2026-06-01"],
  ["gpt-5.4", 2.5, 0.25, undefined, 15, "2026-06-01"],
  ["gpt-5.4-mini", 0.75, 0.075, undefined, 4.5, "2026-06-01"],
  ["gpt-5.4-nano", 0.2, 0.02, undefined, 1.25, "2026-06-01"],
  ["gpt-5.4-pro", 30, undefined, undefined, 180, "2026-06-01"],
  ["gpt-5.2", 1.75, 0.175, undefined, 14, "2026-03-01"],
  ["gpt-5.1", 1.25, 0.125, undefined, 10, "2026-03-01"],
  ["gpt-5", 1.25, 0.125, undefined, 10, "2026-03-01"],
  ["gpt-5-mini", 0.25, 0.025, undefined, 2, "2026-11-01"],
  ["gpt-5-nano", 0.05, 0.005, undefined, 0.4, "2026-03-01"],
  ["gpt-5-pro", 15, undefined, undefined, 120, "2026-11-01"],
  ["gpt-4.1", 2, 0.5, undefined, 8, "2026-03-01"],
  ["gpt-4.1-mini", 0.4, 0.1, undefined, 1.6, "2026-03-01"],
  ["gpt-4.1-nano", 0.1, 0.025, undefined, 0.4, "2026-03-01"],
  ["gpt-4o", 2.5, 1.25, undefined, 10, "2026-03-01"],
  ["gpt-4o-mini", 0.15, 0.075, undefined, 0.6, "2026-03-01"],
  ["o3", 2, 0.5, undefined, 8, "2026-03-01"],
  ["o4-mini", 1.1, 0.275, undefined, 4.4, "2026-03-01"],
  ["o3-mini", 1.1, 0.55, undefined, 4.4, "2026-03-01"],
  ["o1", 15, 7.5, undefined, 60, "2026-03-01"]
]

/** Models with a context of a million tokens. For them, long prompts cost more. */
const longContext: ReadonlySet<string> = new Set([
  "gpt-6.1-sol",
  "gpt-6.1-terra",
  "gpt-6-sol",
  "gpt-5.6-sol",
  "gpt-5.6",
  "gpt-5.6-terra",
  "gpt-5.5",
  "gpt-5.5-pro",
  "gpt-5.4",
  "gpt-5.4-pro"
])

const twice = (price: number | undefined): number | undefined => price && 2 * price

/** If the input has more than 272,000 tokens, all input costs twice as much, and output one and a half times. */
const longPrompts = ([model, input, cached, written, output]: Row): Pricing["longPrompts"] =>
  longContext.has(model)
    ? {
        aboveTokens: 272_000,
        inputPerMillion: 2 * input,
        cachedInputPerMillion: twice(cached),
        cacheWritePerMillion: twice(written),
        outputPerMillion: 1.5 * output
      }
    : undefined

/** All known list prices. The source is the model's page; the alias `gpt-5.6` is on the page of `gpt-5.6-sol`. */
export const prices: ReadonlyArray<ListPrice> = rows.map((row) => {
  const [model, input, cached, written, output, date] = row
  return {
    model,
    inputPerMillion: input,
    cachedInputPerMillion: cached,
    cacheWritePerMillion: written,
    outputPerMillion: output,
    longPrompts: longPrompts(row),
    source: `https://developers.openai.com/api/docs/models/${model === "gpt-5.6" ? "gpt-5.6-sol" : model}`,
    date
  }
})

const snapshot = /-\d{4}-\d{2}-\d{2}$/

/**
 * Returns the list price of a model or of one of its dated snapshots; `undefined` if it is unknown.
 *
 * **Example**
 *
 * ```ts
 * import { priceOf } from "@divisi/providers-openai"
 *
 * priceOf("gpt-5-mini-2025-08-07")?.inputPerMillion // => 0.25
 * priceOf("gpt-6.1-sol")?.longPrompts?.inputPerMillion // => 4
 * priceOf("gpt-5-whatever") // => undefined
 * ```
 */
export const priceOf = (model: string): ListPrice | undefined =>
  prices.find((one) => one.model === model.replace(snapshot, ""))
