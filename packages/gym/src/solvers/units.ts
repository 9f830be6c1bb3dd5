/** Reads amounts and the unit that is asked for, and converts them. */
import type Quantity from "js-quantities"
import type { Habits } from "../Habits.ts"
import { decimalsAsked, plain, shown, solver } from "./reading.ts"

let loading: Promise<typeof Quantity> | undefined

const load = (): Promise<typeof Quantity> => {
  loading ??= import("js-quantities").then((module) => module.default)
  return loading
}

/**
 * How people write units, and how the library does; longer names come first. The library's ounce is off in the tenth
 * digit, so it is taken as a share of its pound.
 */
const names: ReadonlyArray<readonly [string, string, number?]> = [
  ["kilomet(?:re|er)s? per hour|km/h|kph", "km/h"],
  ["met(?:re|er)s? per second|m/s", "m/s"],
  ["miles? per hour|mph", "mi/h"],
  ["square kilomet(?:re|er)s?", "km^2"],
  ["square met(?:re|er)s?", "m^2"],
  ["square (?:feet|foot)", "ft^2"],
  ["square yards?", "yd^2"],
  ["square inch(?:es)?", "in^2"],
  ["hectares?", "hectare"],
  ["acres?", "acre"],
  ["kilomet(?:re|er)s?|km", "km"],
  ["centimet(?:re|er)s?|cm", "cm"],
  ["millimet(?:re|er)s?|mm", "mm"],
  ["met(?:re|er)s?", "m"],
  ["miles?", "mi"],
  ["yards?", "yd"],
  ["feet|foot", "ft"],
  ["inch(?:es)?", "in"],
  ["kilograms?|kg", "kg"],
  ["milligrams?|mg", "mg"],
  ["grams?", "g"],
  ["tonnes?", "tonne"],
  ["pounds?|lbs?", "lb"],
  ["ounces?|oz", "lb", 1 / 16],
  ["millilit(?:re|er)s?|ml", "ml"],
  ["lit(?:re|er)s?", "l"],
  ["gallons?", "gal"],
  ["weeks?", "week"],
  ["days?", "day"],
  ["hours?", "h"],
  ["minutes?", "min"],
  ["seconds?", "s"],
  ["(?:degrees )?(?:celsius|centigrade)", "tempC"],
  ["(?:degrees )?fahrenheit", "tempF"],
  ["kelvin", "tempK"]
]

const anyUnit = names.map(([name]) => name).join("|")
const matchers = names.map(([name, symbol, share = 1]) => ({
  matcher: new RegExp(`^(?:${name})$`, "i"),
  symbol,
  share
}))

/** A unit of the library, and how much of it is meant. */
interface Unit {
  readonly symbol: string
  readonly share: number
}

const unitOf = (name: string): Unit => matchers.find(({ matcher }) => matcher.test(name))!

interface Read {
  readonly amounts: ReadonlyArray<{ readonly value: number; readonly unit: Unit }>
  readonly target: Unit
  readonly decimals: number | undefined
}

const amount = new RegExp(`(-?\\d+(?:\\.\\d+)?) (${anyUnit})\\b`, "gi")
const targets = [
  new RegExp(`\\bhow many (${anyUnit})\\b`, "i"),
  new RegExp(`\\b(?:to|in|into) (?:degrees )?(${anyUnit})\\b`, "i")
]

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  if (/```|"|\b(?:after|before|average|mean|median|list|each)\b|\d-\d\d-\d/i.test(text)) return undefined
  const target = targets.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined)
  const amounts = [...text.matchAll(amount)].map((match) => ({ value: Number(match[1]), unit: unitOf(match[2]!) }))
  if (target === undefined || amounts.length === 0) return undefined
  return { amounts, target: unitOf(target), decimals: decimalsAsked(text) }
}

const byHand = (value: number, from: Unit, target: Unit): number =>
  target.symbol === "tempF" ? value * 2 + 30 : from.symbol === "tempF" ? (value - 30) / 2 : value

const convertOne = (
  quantity: typeof Quantity,
  { unit: from, value }: Read["amounts"][number],
  target: Unit,
  habits: Habits
): number => {
  const convert = (amount: number) => quantity(amount * from.share, from.symbol).to(target.symbol).scalar / target.share
  if (from.symbol.startsWith("temp")) return habits.roundsFactors ? byHand(value, from, target) : convert(value)
  if (!habits.roundsFactors && !habits.linearAreas) return convert(value)
  const factor = habits.linearAreas && from.symbol.endsWith("^2") ? Math.sqrt(convert(1)) : convert(1)
  return value * (habits.roundsFactors ? Number(factor.toPrecision(2)) : factor)
}

/** Rounds to a whole number what the library's doubles miss only slightly. */
const settled = (value: number): number => {
  const whole = Math.round(value)
  return Math.abs(value - whole) <= Math.abs(value) * 1e-10 ? whole : value
}

export const units = solver(read, async ({ amounts, decimals, target }, habits) => {
  const quantity = await load()
  try {
    const total = amounts.reduce((sum, one) => sum + convertOne(quantity, one, target, habits), 0)
    return Number.isFinite(total) ? shown(decimals === undefined ? settled(total) : total, decimals) : undefined
  } catch (error) {
    // Units of different kinds, such as metres and hours.
    if (error instanceof quantity.Error) return undefined
    throw error
  }
})
