/** Recipe settings read from environment variables. */
import type { Pricing } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import * as Environment from "./Environment.ts"
import { seats } from "./paper/Seats.ts"

/** Thrown if an environment variable has an invalid value. */
export class SettingError extends Error {}

/** Parses a list of `count` numbers, separated by `between`; returns `undefined` for any other text. */
export const numbers = (text: string, count: number, between = ","): ReadonlyArray<number> | undefined => {
  const all = text.split(between).map((part) => (part.trim() === "" ? Number.NaN : Number(part)))
  return all.length === count && all.every((value) => value >= 0 && Number.isFinite(value)) ? all : undefined
}

const priceOf = (text: string): readonly [string, Pricing] => {
  const [id = "", prices = ""] = text.split("=").map((part) => part.trim())
  const [inputPerMillion, outputPerMillion] = numbers(prices, 2, "/") ?? []
  if (inputPerMillion === undefined || outputPerMillion === undefined) {
    throw new SettingError(
      `DIVISI_WORKER_PRICES has "${text}"; expected USD per million input and output tokens: qwen3-32b=0.1/0.3.`
    )
  }
  if (!seats.some((seat) => seat.id === id)) {
    const ids = seats.map((seat) => seat.id).join(", ")
    throw new SettingError(`DIVISI_WORKER_PRICES names "${id}", which is not in the paper's pool: ${ids}.`)
  }
  return [id, { inputPerMillion, outputPerMillion, source: "DIVISI_WORKER_PRICES" }]
}

/** Prices of the workers in the paper's pool: `DIVISI_WORKER_PRICES=qwen3-32b=0.1/0.3,gemma-3-27b-it=0/0`. */
export const workerPrices: Effect.Effect<Readonly<Record<string, Pricing>>, SettingError> = Effect.flatMap(
  Environment.read(["DIVISI_WORKER_PRICES"]),
  ({ DIVISI_WORKER_PRICES: prices }) =>
    Effect.try({
      try: () => Object.fromEntries(prices === undefined ? [] : prices.split(",").map(priceOf)),
      catch: (error) => error as SettingError
    })
)
