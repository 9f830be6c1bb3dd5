/** Reads quantities and the target unit, and converts them. */
import type Quantity from "js-quantities"
import type { Habits } from "../Habits.ts"
import { decimalsAsked, type Means, shown, solver, type Text } from "./reading.ts"

let loading: Promise<typeof Quantity> | undefined

const load = (): Promise<typeof Quantity> => {
  loading ??= import("js-quantities").then((module) => module.default)
  return loading
}

/**
 * Spellings of units and their names in the library, longer spellings first. The library's ounce is wrong in the tenth
 * digit, so it is defined as a fraction of its pound.
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
  ["(?:degrees |° ?)?(?:celsius|centigrade|c)", "tempC"],
  ["(?:degrees |° ?)?(?:fahrenheit|f)", "tempF"],
  ["kelvin", "tempK"]
]

const anyUnit = names.map(([name]) => name).join("|")
const matchers = names.map(([name, symbol, share = 1]) => ({
  matcher: new RegExp(`^(?:${name})$`, "i"),
  symbol,
  share
}))

/** A unit in the library, and a factor that scales it. */
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

const oneAmount = `(?:-?\\d+(?:\\.\\d+)?|\\ban?|\\bone) ?(?:${anyUnit})\\b`
const between = "(?:,? and |,? plus |,? minus |,? less |, | [-+] | )"
const amounts = new RegExp(`(?<![\\d/.*^)] ?)${oneAmount}(?:${between}${oneAmount})*`, "i")
const amount = new RegExp(`(${between})?(-?\\d+(?:\\.\\d+)?|an?|one) ?(${anyUnit})\\b`, "gi")
const targets = [
  new RegExp(`\\bhow many (${anyUnit})\\b`, "i"),
  new RegExp(`\\b(?:to|in|into|as) (?:degrees )?(${anyUnit})\\b`, "i")
] as const

const isLess = (sign = ""): boolean => /minus|less|-/.test(sign)

/** Takes a sequence of quantities, such as "3 days and 4 hours" or "3 days minus 2 hours". */
const takeAmounts = (text: Text): Read["amounts"] | undefined => {
  const written = text.take(amounts)?.[0]
  if (written === undefined) return undefined
  const found = [...written.matchAll(amount)].map(([, sign, value, name]) => ({
    sign,
    value: (isLess(sign) ? -1 : 1) * (/^[ao]/i.test(value!) ? 1 : Number(value)),
    unit: unitOf(name!)
  }))
  // "minus 2 hours and 5 minutes" is ambiguous, and adding temperatures is meaningless.
  const less = found.findIndex(({ sign }) => isLess(sign))
  const isClear = less < 0 || found.slice(less + 1).every(({ sign }) => /minus|less|plus|[-+]/.test(sign ?? ""))
  const isTemperature = found.some(({ unit }) => unit.symbol.startsWith("temp"))
  return isClear && !(isTemperature && found.length > 1) ? found : undefined
}

const read = (text: Text): Read | undefined => {
  if (text.has(/```|"/)) return undefined
  const decimals = decimalsAsked(text)
  const target = (text.take(targets[0]) ?? text.take(targets[1]))?.[1]
  const amounts = target === undefined ? undefined : takeAmounts(text)
  return amounts === undefined ? undefined : { amounts, target: unitOf(target!), decimals }
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

/** Rounds to the nearest integer if the difference is only floating-point error. */
const settled = (value: number): number => {
  const whole = Math.round(value)
  return Math.abs(value - whole) <= Math.abs(value) * 1e-10 ? whole : value
}

const convert = async ({ amounts, decimals, target }: Read, { digits, habits }: Means): Promise<string | undefined> => {
  const quantity = await load()
  try {
    const total = amounts.reduce((sum, one) => sum + convertOne(quantity, one, target, habits), 0)
    return Number.isFinite(total) ? shown(decimals === undefined ? settled(total) : total, decimals, digits) : undefined
  } catch (error) {
    // Incompatible units, such as metres and hours.
    if (error instanceof quantity.Error) return undefined
    throw error
  }
}

export const units = solver<Read>({
  words:
    "convert express in to is does make makes get have has equal equals thermometer reads that degrees as how many much of",
  read,
  kind: () => "number",
  solve: convert
})
