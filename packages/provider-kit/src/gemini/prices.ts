/**
 * Google's list prices for text in the paid tier, as data. A model that is not listed has an unknown price, not a price
 * of 0. Set `pricing` of a worker to override it.
 */
import type { Pricing, TokenPrices } from "@divisi/core/Usage"

/** The price of a model, its source page, and the date on which it was read. Thoughts count as output. */
export interface ListPrice extends TokenPrices, Pick<Pricing, "longPrompts"> {
  readonly model: string
  readonly source: string
  readonly date: string
  /** First and last day (ISO dates) on which a price applies, if a change was announced. */
  readonly from?: string | undefined
  readonly until?: string | undefined
}

const rates = (input: number, output: number, cached?: number): TokenPrices => ({
  inputPerMillion: input,
  outputPerMillion: output,
  cachedInputPerMillion: cached
})

const price = (
  model: string,
  each: TokenPrices,
  more: Pick<ListPrice, "from" | "until" | "longPrompts"> = {}
): ListPrice => ({
  model,
  ...each,
  source: "https://ai.google.dev/gemini-api/docs/pricing",
  date: "2026-10-07",
  ...more
})

/** USD per million tokens: input, output, input from the cache. */
export const prices: ReadonlyArray<ListPrice> = [
  price("gemini-3.8-flash", rates(0.75, 3.75), { until: "2026-12-31" }),
  price("gemini-3.8-flash", rates(1.5, 7.5), { from: "2027-01-01" }),
  price("gemini-3.5-flash", rates(1.5, 9, 0.15)),
  price("gemini-3.5-flash-lite", rates(0.3, 2.5, 0.03)),
  price("gemini-3.1-pro-preview", rates(2, 12), { longPrompts: { aboveTokens: 200_000, ...rates(4, 18) } }),
  price("gemini-2.5-pro", rates(1.25, 10, 0.125), { longPrompts: { aboveTokens: 200_000, ...rates(2.5, 15, 0.25) } }),
  price("gemini-2.5-flash", rates(0.3, 2.5, 0.03)),
  price("gemini-2.5-flash-lite", rates(0.1, 0.4, 0.01))
]

/** Options for selecting a price. */
export interface Choice {
  /** Date of the call, in ISO format. Default: today. */
  readonly on?: string | undefined
}

/**
 * Returns the list price of a model. `undefined` if it is unknown.
 *
 * **Example**
 *
 * ```ts
 * import * as Gemini from "@divisi/provider-kit/Gemini"
 *
 * Gemini.priceOf("gemini-2.5-pro")?.outputPerMillion // => 10
 * Gemini.priceOf("gemini-2.5-pro")?.longPrompts?.outputPerMillion // => 15
 * Gemini.priceOf("gemini-3.8-flash", { on: "2027-02-01" })?.inputPerMillion // => 1.5
 * Gemini.priceOf("gemini-unheard-of") // => undefined
 * ```
 */
export const priceOf = (model: string, choice: Choice = {}): Pricing | undefined => {
  const on = choice.on ?? new Date().toISOString().slice(0, 10)
  const name = model.replace(/^models\//, "")
  const found = prices.find(({ from = on, model, until = on }) => model === name && from <= on && on <= until)
  if (found === undefined) return undefined
  const { from: _, model: __, until: ___, ...pricing } = found
  return pricing
}
