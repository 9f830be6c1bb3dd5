/** Lists vendor models with their prices, based on the installed provider packages. */
import type { Pricing } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import * as KnownModels from "./KnownModels.ts"

/** A model offered by a vendor. */
export interface Listed {
  /** The model's name as accepted by `--pool`. */
  readonly name: string
  readonly description: string | undefined
  /** Price in USD per million tokens. */
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** Date on which the price was recorded, in ISO format. */
  readonly date: string | undefined
}

type Row = Pricing & { readonly model: string }

/** Packages that include prices. */
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

/** Returns all models. Packages that are not installed are skipped. */
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

/** Returns the list price of a model, or `undefined` if no package lists it. */
export const pricingOf = (name: string): Effect.Effect<Pricing | undefined> =>
  Effect.promise(async () => {
    const [vendor, ...model] = name.split(":")
    const rows = await sources
      .find((source) => source.vendor === vendor)
      ?.rows()
      .catch(() => [])
    return rows?.find((row) => row.model === model.join(":"))
  })
