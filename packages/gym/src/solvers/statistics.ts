/** Reads lists of numbers and the measure that is asked for, and computes it. */
import type { Habits } from "../Habits.ts"
import { withAlgebra } from "./nerdamer.ts"
import { decimalsAsked, plain, shown, solver } from "./reading.ts"

type Measure = "mean" | "median" | "mode" | "range" | "deviation"

type Read =
  | {
      readonly type: "list"
      readonly measure: Measure
      readonly values: ReadonlyArray<string>
      readonly decimals: number | undefined
    }
  | {
      readonly type: "groups"
      readonly groups: ReadonlyArray<readonly [string, string]>
      readonly decimals: number | undefined
    }

const measures: ReadonlyArray<readonly [RegExp, Measure]> = [
  [/\bstandard deviation\b/i, "deviation"],
  [/\bmedian\b/i, "median"],
  [/\b(?:mode|most (?:frequent|common) (?:value|number))\b/i, "mode"],
  [/\brange\b/i, "range"],
  [/\b(?:mean|average)\b/i, "mean"]
]

const number = "-?\\d+(?:\\.\\d+)?"
const listed = new RegExp(`${number}(?:(?:, (?:and )?| and )${number})+`)
const group = new RegExp(`\\bgroup of (${number}) \\w+ has an average (?:\\w+ )?of (${number})`, "gi")

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  const measure = measures.find(([pattern]) => pattern.test(text))?.[1]
  if (measure === undefined || /```|"/.test(text)) return undefined
  const decimals = decimalsAsked(text)
  const groups = [...text.matchAll(group)].map(([, size, average]) => [size!, average!] as const)
  if (groups.length > 1) return { type: "groups", groups, decimals }
  const values = listed.exec(text)?.[0].match(new RegExp(number, "g"))
  if (values === undefined || values === null) return undefined
  const extra = new RegExp(`\\badd (${number}) to the list`, "i").exec(text)?.[1]
  return { type: "list", measure, values: extra === undefined ? values : [...values, extra], decimals }
}

const expressionFor = (measure: Measure, values: ReadonlyArray<string>, habits: Habits): string => {
  const list = values.join(",")
  switch (measure) {
    case "deviation":
      return habits.sampleDeviation ? `smpstdev(${list})` : `stdev(${list})`
    case "range":
      return habits.forgetsToSort ? `abs(${values.at(-1)}-(${values[0]}))` : `max(${list})-min(${list})`
    case "median": {
      if (!habits.forgetsToSort) return `median(${list})`
      const middle = values.length >> 1
      return values.length % 2 === 1 ? values[middle]! : `(${values[middle - 1]}+${values[middle]})/2`
    }
    default:
      return `${measure}(${list})`
  }
}

const together = (groups: ReadonlyArray<readonly [string, string]>, habits: Habits): string =>
  habits.sampleDeviation
    ? `(${groups.map(([, average]) => average).join("+")})/${groups.length}`
    : `(${groups.map(([size, average]) => `${size}*${average}`).join("+")})/(${groups.map(([size]) => size).join("+")})`

export const statistics = solver(read, async (asked, habits) => {
  const expression =
    asked.type === "groups" ? together(asked.groups, habits) : expressionFor(asked.measure, asked.values, habits)
  const value = await withAlgebra((algebra) => Number(algebra(expression).evaluate().text("decimals")))
  return value === undefined || !Number.isFinite(value) ? undefined : shown(value, asked.decimals)
})
