/** The models that vendors list, with their prices: what comes with those of their packages that are installed. */
import type { Pricing } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import * as KnownModels from "./KnownModels.ts"

/** A model of a vendor. */
export interface Listed {
  /** As `--pool` names it. */
  readonly name: string
  readonly description: string | undefined
  /** USD per million tokens. */
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** The day on which the price was read (ISO date). */
  readonly date: string | undefined
}

type Row = Pricing & { readonly model: string }

/** The packages that know prices. */
const sources: ReadonlyArray<{ readonly vendor: string; readonly rows: () => Promise<ReadonlyArray<Row>> }> = [
  { vendor: "openai", rows: async () => (await import("@divisi/providers-openai")).prices },
  { vendor: "anthropic", rows: async () => (await import("@divisi/providers-anthropic")).prices },
  {
    vendor: "google",
    rows: async () => {
      const { priceOf, prices } = await import("@divisi/provider-kit/Gemini")
      const models = [...new Set(prices.map(({ model }) => model))]
      return models.flatMap((model) => {
        const price = priceOf(model)
        return price === undefined ? [] : [{ model, ...price }]
      })
    }
  }
]

/** All of them; a package that is not installed lists nothing. */
export const models: Effect.Effect<ReadonlyArray<Listed>> = Effect.promise(async () => {
  const lists = sources.map(async ({ rows, vendor }) =>
    (await rows().catch(() => [])).map(
      ({ date, inputPerMillion, model, outputPerMillion }): Listed => ({
        name: `${vendor}:${model}`,
        description: KnownModels.describe(vendor, model),
        inputPerMillion,
        outputPerMillion,
        date
      })
    )
  )
  return (await Promise.all(lists)).flat()
})

/** The list price of a model by its name; `undefined` of one that no package lists. */
export const pricingOf = (name: string): Effect.Effect<Pricing | undefined> =>
  Effect.promise(async () => {
    const [vendor, ...model] = name.split(":")
    const rows = await sources
      .find((source) => source.vendor === vendor)
      ?.rows()
      .catch(() => [])
    return rows?.find((row) => row.model === model.join(":"))
  })
