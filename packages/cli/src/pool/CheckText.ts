/** Formats the results of `divisi pool check`. */
import type { Pricing } from "@divisi/core/Usage"
import * as Format from "../view/Format.ts"
import { clean } from "../view/Line.ts"
import { table } from "../view/Table.ts"
import type { Checked } from "./Check.ts"
import type { Cooldown } from "./Cooldowns.ts"

/** Formats a price in USD per million input and output tokens. */
export const price = (pricing: Pricing | undefined): string => {
  if (pricing === undefined) return "unknown"
  const { inputPerMillion, isPlay, outputPerMillion, perCall = 0 } = pricing
  const tokens = `${Format.cost(inputPerMillion)} / ${Format.cost(outputPerMillion, isPlay)}`
  if (perCall === 0) return inputPerMillion === 0 && outputPerMillion === 0 ? "free" : tokens
  return `${inputPerMillion + outputPerMillion === 0 ? "" : `${tokens} + `}${Format.cost(perCall, isPlay)} per call`
}

const speed = ({ tokensPerSecond }: Checked): string =>
  tokensPerSecond === undefined ? "–" : tokensPerSecond.toFixed(tokensPerSecond < 10 ? 1 : 0)

const row = (result: Checked): ReadonlyArray<string> => [
  `${result.reachable ? "✓" : "✗"} ${result.worker}`,
  result.latencyMillis === undefined ? "–" : Format.duration(result.latencyMillis),
  speed(result),
  price(result.pricing)
]

const total = (results: ReadonlyArray<Checked>): string => {
  const reachable = results.filter((result) => result.reachable)
  const unpriced = reachable.filter(({ costUsd }) => costUsd === undefined).length
  const spent = reachable.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
  const isPlay = reachable.length > 0 && reachable.every(({ pricing }) => pricing?.isPlay === true)
  const unknown = unpriced === 0 ? "" : `, ${Format.count(unpriced, "call")} of unknown price`
  return `${reachable.length} of ${Format.count(results.length, "worker")} reachable · ${Format.cost(spent, isPlay)}${unknown}`
}

const reasons = { "rate-limited": "rate limited", failing: "failing" } as const

/** Describes a cooldown: the reason, its duration, and the time of the next call. */
const waiting = ({ because, by, millis, provider, until }: Cooldown): string => {
  const next = `for ${Format.duration(millis)}; next attempt at ${until}`
  return by === "server"
    ? `⏸ ${clean(provider)} is ${reasons[because]}: the server has paused calls ${next}`
    : `⏸ ${clean(provider)} is ${reasons[because]}: the vendor asked to wait ${next}`
}

/** Formats the results as a table, followed by errors, cooldowns and the total. */
export const text = (results: ReadonlyArray<Checked>, others: ReadonlyArray<Cooldown> = []): string => {
  const rows = [["  worker", "first token", "tokens/s", "price in / out per million"], ...results.map(row)]
  const isRight = (column: number) => column === 1 || column === 2
  const errors = results.flatMap(({ error }) => (error === undefined ? [] : [`✗ ${clean(error)}`]))
  const cooldowns = [...results.flatMap(({ cooldown }) => cooldown ?? []), ...others].map(waiting)
  const notes = [...errors, ...new Set(cooldowns)]
  return [table(rows, isRight), "", ...(notes.length === 0 ? [] : [...notes, ""]), total(results)].join("\n")
}
