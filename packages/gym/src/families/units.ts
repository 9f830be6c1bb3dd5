/** Units: conversions of length, mass, volume, time, speed, area and temperature, with exact factors. */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin } from "../internal/wording.ts"

/** A unit: its plural name, and its size in base units as a fraction. */
interface Unit {
  readonly name: string
  readonly numerator: bigint
  readonly denominator: bigint
}

const unit = (name: string, numerator: number, denominator = 1): Unit => ({
  name,
  numerator: BigInt(numerator),
  denominator: BigInt(denominator)
})

const metric = {
  length: [unit("kilometres", 1_000), unit("metres", 1), unit("centimetres", 1, 100), unit("millimetres", 1, 1_000)],
  mass: [unit("kilograms", 1_000), unit("grams", 1), unit("tonnes", 1_000_000), unit("milligrams", 1, 1_000)],
  volume: [unit("litres", 1), unit("millilitres", 1, 1_000)],
  time: [unit("hours", 3_600), unit("minutes", 60), unit("seconds", 1), unit("days", 86_400), unit("weeks", 604_800)]
}

const mixed = {
  length: [
    ...metric.length,
    unit("miles", 1_609_344, 1_000),
    unit("yards", 9_144, 10_000),
    unit("feet", 3_048, 10_000),
    unit("inches", 254, 10_000)
  ],
  mass: [...metric.mass.slice(0, 2), unit("pounds", 45_359_237, 100_000), unit("ounces", 45_359_237, 1_600_000)]
}

const hard = {
  speed: [
    unit("kilometres per hour", 1_000, 3_600),
    unit("metres per second", 1),
    unit("miles per hour", 1_609_344, 3_600_000)
  ],
  area: [
    unit("square metres", 1),
    unit("square feet", 9_290_304, 100_000_000),
    unit("square yards", 83_612_736, 100_000_000),
    unit("square inches", 64_516, 100_000_000)
  ],
  land: [unit("hectares", 10_000), unit("square metres", 1), unit("square yards", 83_612_736, 100_000_000)]
}

const groups = {
  1: Object.values(metric),
  2: [...Object.values(mixed), metric.time],
  3: [...Object.values(hard), mixed.length, mixed.mass]
} as const

/** Rounds a fraction to a number of decimals. Returns `undefined` for ties, because rounding conventions differ. */
const rounded = (numerator: bigint, denominator: bigint, decimals: number): string | undefined => {
  const scaled = numerator * 10n ** BigInt(decimals) * 2n
  const [quotient, rest] = [scaled / denominator, scaled % denominator]
  if (quotient % 2n === 1n && rest === 0n) return undefined
  const whole = (quotient + 1n) / 2n
  const text = String(whole).padStart(decimals + 1, "0")
  if (decimals === 0) return text
  const fraction = text.slice(-decimals).replace(/0+$/, "")
  return fraction === "" ? text.slice(0, -decimals) : `${text.slice(0, -decimals)}.${fraction}`
}

const rounding = { 0: "Round to the nearest whole number.", 2: "Round to two decimal places." } as const

const ask = (draw: Draw, amount: string, from: string, to: string): string =>
  draw.pick([
    `Convert ${amount} ${from} to ${to}.`,
    `How many ${to} are there in ${amount} ${from}?`,
    `What is ${amount} ${from} in ${to}?`,
    `Express ${amount} ${from} in ${to}.`
  ])

/**
 * Creates a conversion question. If the exact answer has more than three decimals, the question asks for a rounded
 * answer.
 */
const convert = (
  draw: Draw,
  amount: { readonly text: string; readonly numerator: bigint; readonly denominator: bigint },
  [from, to]: readonly [Unit, Unit],
  whole: boolean
): Problem | undefined => {
  const numerator = amount.numerator * from.numerator * to.denominator
  const denominator = amount.denominator * from.denominator * to.numerator
  const question = ask(draw, amount.text, from.name, to.name)
  if (numerator % denominator === 0n) {
    return { question, answer: String(numerator / denominator), kind: "integer" }
  }
  const decimals = whole ? 0 : 2
  const answer = rounded(numerator, denominator, decimals)
  if (answer === undefined || answer.replace(/[0.]/g, "").length < 2) return undefined
  return { question: `${question} ${rounding[decimals]}`, answer, kind: decimals === 0 ? "integer" : "decimal" }
}

const temperature = (draw: Draw): Problem => {
  const whole = draw.int(-40, 250)
  const toFahrenheit = draw.chance(0.5)
  const [from, to] = toFahrenheit ? ["Celsius", "Fahrenheit"] : ["Fahrenheit", "Celsius"]
  const question = draw.pick([
    `Convert ${whole} degrees ${from} to degrees ${to}.`,
    `What is ${whole} degrees ${from} in degrees ${to}?`,
    `A thermometer reads ${whole} degrees ${from}. What is that in degrees ${to}?`
  ])
  const [numerator, denominator] = toFahrenheit ? [whole * 9 + 160, 5] : [(whole - 32) * 5, 9]
  if (numerator % denominator === 0) {
    return { question, answer: String(numerator / denominator), kind: "integer" }
  }
  const size = rounded(BigInt(Math.abs(numerator)), BigInt(denominator), 2)
  if (size === undefined) return temperature(draw)
  return { question: `${question} ${rounding[2]}`, answer: numerator < 0 ? `-${size}` : size, kind: "decimal" }
}

const compound = (draw: Draw): Problem => {
  const [small, large] = [draw.int(1, 59), draw.int(2, 80)]
  return draw.chance(0.5)
    ? {
        question: `How many seconds are there in ${large} minutes and ${small} seconds?`,
        answer: String(large * 60 + small),
        kind: "integer"
      }
    : {
        question: `How many minutes are there in ${large} hours and ${small} minutes?`,
        answer: String(large * 60 + small),
        kind: "integer"
      }
}

const conversion = (draw: Draw, difficulty: Difficulty): Problem => {
  const [from, to] = draw.some<Unit>(draw.pick<ReadonlyArray<Unit>>(groups[difficulty]), 2) as [Unit, Unit]
  const decimals = difficulty === 1 ? 0 : draw.int(0, 2)
  const scale = 10 ** decimals
  const amount = draw.int(2, difficulty === 1 ? 400 : 900 * scale)
  const text = String(amount / scale)
  const made = convert(
    draw,
    { text, numerator: BigInt(amount), denominator: BigInt(scale) },
    [from, to],
    difficulty < 3 && draw.chance(0.5)
  )
  return made ?? conversion(draw, difficulty)
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem => {
  if (difficulty > 1 && draw.chance(difficulty === 3 ? 0.25 : 0.15)) return temperature(draw)
  if (difficulty > 1 && draw.chance(0.1)) return compound(draw)
  return conversion(draw, difficulty)
}

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 1, 1_000_000)
  if (value === undefined) return undefined
  const [from, to] = draw.some<Unit>(draw.pick<ReadonlyArray<Unit>>(groups[difficulty]), 2) as [Unit, Unit]
  const amount = { text: given.many, numerator: BigInt(value), denominator: 1n }
  return convert(draw, amount, [from, to], draw.chance(0.8))
}
