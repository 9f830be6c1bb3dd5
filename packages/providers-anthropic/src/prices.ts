/**
 * Anthropic's list prices for the standard tier. A model that is not listed has an unknown price, not a price of 0. Set
 * `pricing` on a worker to override it.
 */
import type { Pricing, TokenPrices } from "@divisi/core/Usage"

/** USD per million tokens. */
export interface Rates {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  readonly cachedInputPerMillion: number
  /** Price of tokens written to the cache with a five-minute TTL. */
  readonly cacheWritePerMillion: number
  /** Price of tokens written to the cache with a one-hour TTL. */
  readonly hourCacheWritePerMillion: number
}

/** The price of a model, with its source page and the ISO date on which it was read. */
export interface ListPrice extends Rates {
  readonly model: string
  readonly source: string
  readonly date: string
  /** Prices of all tokens of a call with more than `aboveTokens` input tokens. */
  readonly longPrompts?: (Rates & { readonly aboveTokens: number }) | undefined
}

const source = "https://platform.claude.com/docs/en/about-claude/pricing"

/** Cache writes cost 1.25 times the input price for a TTL of 5 minutes, and twice the input price for one hour. */
const rates = (input: number, output: number, cached: number): Rates => ({
  inputPerMillion: input,
  outputPerMillion: output,
  cachedInputPerMillion: cached,
  cacheWritePerMillion: input * 1.25,
  hourCacheWritePerMillion: input * 2
})

const price = (model: string, date: string, each: Rates): ListPrice => ({ model, ...each, source, date })

/** The list prices of all known models. */
export const prices: ReadonlyArray<ListPrice> = [
  price("claude-fable-5-2", "2026-11-10", rates(8, 40, 0.2)),
  price("claude-fable-5-1", "2026-10-10", rates(10, 50, 0.25)),
  price("claude-mythos-5-1", "2026-10-10", rates(10, 50, 0.25)),
  price("claude-fable-5", "2026-10-10", rates(10, 50, 1)),
  price("claude-mythos-5", "2026-10-10", rates(10, 50, 1)),
  price("claude-opus-5-5", "2026-10-10", rates(4, 20, 0.2)),
  price("claude-opus-5", "2026-10-10", rates(5, 25, 0.5)),
  price("claude-opus-4-8", "2026-10-10", rates(5, 25, 0.5)),
  price("claude-opus-4-7", "2026-10-10", rates(5, 25, 0.5)),
  price("claude-opus-4-6", "2026-10-10", rates(5, 25, 0.5)),
  price("claude-opus-4-5", "2026-10-10", rates(5, 25, 0.5)),
  price("claude-sonnet-5-5", "2026-10-10", rates(2, 10, 0.1)),
  price("claude-sonnet-5", "2026-10-10", rates(2, 10, 0.2)),
  price("claude-sonnet-4-6", "2026-10-10", rates(3, 15, 0.3)),
  price("claude-sonnet-4-5", "2026-10-10", rates(3, 15, 0.3)),
  {
    ...price("claude-haiku-5-5", "2026-10-10", rates(0.1, 0.5, 0.01)),
    longPrompts: { aboveTokens: 100_000, ...rates(0.5, 2.5, 0.05) }
  },
  price("claude-haiku-4-5", "2026-10-10", rates(1, 5, 0.1))
]

/** Options for selecting a price. */
export interface Choice {
  /** The TTL of cache writes. Default: 5 minutes. */
  readonly cacheFor?: "5m" | "1h" | undefined
}

/**
 * Returns the list price of a model, which may have a dated name; `undefined` if the price is unknown.
 *
 * **Example**
 *
 * ```ts
 * import { priceOf } from "@divisi/providers-anthropic"
 *
 * priceOf("claude-haiku-4-5-20251001")?.outputPerMillion // => 5
 * priceOf("claude-haiku-5-5")?.longPrompts?.outputPerMillion // => 2.5
 * priceOf("claude-unheard-of") // => undefined
 * ```
 */
export const priceOf = (model: string, choice: Choice = {}): Pricing | undefined => {
  const undated = model.replace(/-\d{8}$/, "")
  const found = prices.find((price) => price.model === undated)
  if (found === undefined) return undefined
  const { date, longPrompts, source } = found
  const written = choice.cacheFor === "1h" ? "hourCacheWritePerMillion" : "cacheWritePerMillion"
  const pricesOf = (each: Rates): TokenPrices => ({
    inputPerMillion: each.inputPerMillion,
    outputPerMillion: each.outputPerMillion,
    cachedInputPerMillion: each.cachedInputPerMillion,
    cacheWritePerMillion: each[written]
  })
  return {
    ...pricesOf(found),
    longPrompts: longPrompts && { aboveTokens: longPrompts.aboveTokens, ...pricesOf(longPrompts) },
    source,
    date
  }
}
