/** Prices for workers without a list price: local models, compatible servers, and individual contracts. */

import { Nearest } from "@divisi/core"
import { free, type Pricing } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Config } from "../config.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"

/** Prices by worker id. The key `"*"` applies to all workers with an unknown price. */
export type Prices = Readonly<Record<string, Pricing>>

/** Key for all workers with an unknown price. */
const others = "*"

const amount = String.raw`\d+(?:\.\d+)?`

/** Parses a price in USD per million input and output tokens: `0` or `0.5/1.5`. */
const parsePrice = (text: string): Pricing | undefined => {
  const found = new RegExp(`^(${amount})(?:/(${amount}))?$`).exec(text)
  if (found === null) return undefined
  const [, input, output] = found
  if (output === undefined) return Number(input) === 0 ? free : undefined
  return { inputPerMillion: Number(input), outputPerMillion: Number(output) }
}

/**
 * Parses the value of `--price`: prices prefixed with worker ids, or one price for all workers with an unknown price.
 * `undefined` if it is invalid.
 */
export const parse = (text: string): Prices | undefined => {
  const entries = text.split(",").map((item) => {
    const end = item.lastIndexOf("=")
    return [end === -1 ? others : item.slice(0, end).trim(), parsePrice(item.slice(end + 1).trim())] as const
  })
  const isWrong = entries.some(([id, price]) => id === "" || price === undefined)
  return isWrong ? undefined : Object.fromEntries(entries as ReadonlyArray<readonly [string, Pricing]>)
}

/** Formats prices as a value of `--price`. */
export const format = (prices: Prices): string =>
  Object.entries(prices)
    .map(([id, { inputPerMillion, outputPerMillion }]) => {
      const price = inputPerMillion === 0 && outputPerMillion === 0 ? "0" : `${inputPerMillion}/${outputPerMillion}`
      return id === others ? price : `${id}=${price}`
    })
    .join(",")

const ofConfig = ({ prices = {} }: Config): Prices =>
  Object.fromEntries(Object.entries(prices).map(([id, price]) => [id, price === 0 ? free : price]))

/** Returns the prices in the config and the flag. The flag takes precedence. */
export const of = (config: Config, flags: { readonly price?: Option.Option<Prices> | undefined }): Prices => ({
  ...ofConfig(config),
  ...(flags.price === undefined ? {} : Option.getOrElse(flags.price, () => ({})))
})

/**
 * Returns a worker with its configured price, which replaces a list price. A worker with no price receives the price
 * configured for all such workers, if any.
 */
export const priced =
  (prices: Prices) =>
  (worker: Worker): Worker => {
    const pricing =
      (Object.hasOwn(prices, worker.id) ? prices[worker.id] : undefined) ?? worker.pricing ?? prices[others]
    return pricing === worker.pricing ? worker : { ...worker, pricing }
  }

/** Fails if the flag prices a worker that is not used. */
export const checkIds = (
  flag: Option.Option<Prices> | undefined,
  known: ReadonlyArray<string>
): Result.Result<void, string> => {
  const given = flag === undefined ? [] : Object.keys(Option.getOrElse(flag, () => ({})))
  const stranger = given.find((id) => id !== others && !known.includes(id))
  if (stranger === undefined) return Result.succeed(undefined)
  const hint = Nearest.didYouMean(Nearest.nearest(stranger, known), `Workers: ${known.join(", ")}.`)
  return Result.fail(`--price: unknown worker "${stranger}".${hint}`)
}

/** Fails if a cost limit cannot be enforced because a price is unknown. The message contains the missing flag. */
export const checkLimit = (workers: ReadonlyArray<Worker>, limit: number | undefined): Effect.Effect<void, Failure> => {
  const unpriced = workers.filter(({ pricing }) => pricing === undefined).map(({ id }) => id)
  if (limit === undefined || unpriced.length === 0) return Effect.void
  const write = (price: string) => `--price ${unpriced.map((id) => quoted(`${id}=${price}`)).join(",")}`
  return Effect.fail(
    usage(
      [
        `The cost limit of $${limit} needs prices: ${unpriced.length === 1 ? "the price" : "the prices"} of ${unpriced.join(", ")} ${unpriced.length === 1 ? "is" : "are"} unknown. Set ${unpriced.length === 1 ? "it" : "them"} with:`,
        `  ${write("0.5/1.5")}   USD per million input and output tokens`,
        `  ${write("0")}   free`,
        "or under `prices` in the config."
      ].join("\n")
    )
  )
}

/** Quotes an argument for use in a shell, if necessary. */
