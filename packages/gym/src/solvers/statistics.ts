/** Reads lists of numbers and the requested statistic, and computes it. */
import type { Habits } from "../Habits.ts"
import { withAlgebra } from "./nerdamer.ts"
import { Ambiguous, decimalsAsked, shown, solver, type Text } from "./reading.ts"

type Measure = "mean" | "median" | "mode" | "range" | "deviation" | "sample deviation"

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
  | { readonly type: "sorted"; readonly values: ReadonlyArray<string>; readonly isDescending: boolean }

const measures: ReadonlyArray<readonly [RegExp, Measure]> = [
  [/\bsample standard deviation\b/i, "sample deviation"],
  [/\b(?:population )?standard deviation\b/i, "deviation"],
  [/\bmedian(?: value)?\b/i, "median"],
  [/\b(?:mode|most (?:frequent|common) (?:value|number))\b/i, "mode"],
  [/\brange\b/i, "range"],
  [/\b(?:arithmetic )?(?:mean|average)(?: value)?\b/i, "mean"]
]

const number = "-?\\d+(?:\\.\\d+)?"
const listed = new RegExp(
  `(?<![\\d.)] ?[-+*/^] ?)${number}(?:(?:,? and |, |; |,(?=\\d))${number})+(?! ?[%*/^+(]|\\.\\d| - )`
)
/** A list without commas, as in "sort 3 1 2". */
const spaced = new RegExp(`(?<![\\d.])${number}(?: ${number})+(?![\\d.%]| ?[-+*/^])`)
const group = new RegExp(
  `\\b(?:one|another|a|the other) group of (${number}) ([a-z]+) has an average (?:([a-z]+) )?of (${number})`,
  "gi"
)

/** Matches the label of a list, as in "The waiting times in minutes were 3, 5, 8." */
const label =
  /(?:^|[.?!] ?)(?:the |my |our )?(?:daily |weekly |monthly |test |exam |waiting |lap )?(?:ages|days of sick leave|distances|heights|marks|measurements|numbers|prices|readings|results|sales|scores|temperatures|times|values|visitors|weights)(?: in (?:degrees|dollars|euros|hours|kilograms|kilometres|metres|miles|minutes|seconds|years))? (?:were|are|was)(?= -?\d)/i

const readGroups = (text: Text, decimals: number | undefined): Read | undefined => {
  const found = text.takeAll(group)
  const nouns = new Set(found.map(([, , , noun]) => noun))
  const asked = text.take(
    /\baverage(?: ([a-z]+))? (?:of|for|over) (?:all of them together|all of them|both groups(?: together)?|all(?: people)?(?: together)?|everyone)/i
  )
  if (found.length < 2 || asked === undefined || nouns.size > 1 || (asked[1] !== undefined && !nouns.has(asked[1])))
    return undefined
  return { type: "groups", groups: found.map(([, size, , , average]) => [size!, average!] as const), decimals }
}

const takeValues = (text: Text): ReadonlyArray<string> | undefined =>
  text.take(listed)?.[0].match(new RegExp(number, "g")) ?? undefined

const leaving = new RegExp(
  `,? \\b(?:excluding|except(?: for)?|without|ignoring|leaving out|not counting|not including) (?:the )?(?:number |value )?(${number}|largest|smallest|highest|lowest)(?: (?:number|value|one))?`,
  "i"
)

/** Removes a value from a list. Returns `undefined` if it is unclear which value is meant. */
const without = (values: ReadonlyArray<string>, left: string): ReadonlyArray<string> | undefined => {
  const order = values.toSorted((one, other) => Number(one) - Number(other))
  const out = /^(?:largest|highest)$/i.test(left)
    ? order.at(-1)!
    : /^(?:smallest|lowest)$/i.test(left)
      ? order[0]!
      : left
  const rest = values.filter((value) => Number(value) !== Number(out))
  return rest.length === values.length - 1 ? rest : undefined
}

const readSorted = (text: Text): Read | undefined => {
  if (
    text.take(
      /^\W*(?:please )?(?:sort|order|arrange|rank)\b|\b(?:please )?(?:sort|order|arrange|rank)\b(?= (?:these|the|this|-?\d))/i
    ) === undefined
  )
    return undefined
  const isDescending =
    text.take(
      /\b(?:in )?descending(?: order)?\b|\bfrom (?:the )?(?:largest|highest|biggest|greatest) to (?:the )?(?:smallest|lowest)\b|\b(?:largest|highest|biggest) (?:number )?first\b/i
    ) !== undefined
  if (!isDescending)
    text.take(
      /\b(?:in )?ascending(?: order)?\b|\bfrom (?:the )?(?:smallest|lowest) to (?:the )?(?:largest|highest|biggest|greatest)\b|\b(?:smallest|lowest) (?:number )?first\b|\bby size\b/i
    )
  const values = takeValues(text) ?? text.take(spaced)?.[0].split(" ")
  return values === undefined ? undefined : { type: "sorted", values, isDescending }
}

/** Whether one value is more frequent than every other value. */
const hasMode = (values: ReadonlyArray<string>): boolean => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(Number(value), (counts.get(Number(value)) ?? 0) + 1)
  const [first = 0, second = 0] = [...counts.values()].sort((left, right) => right - left)
  return first > second
}

const added = new RegExp(`\\badd (${number}) to the list\\b`, "i")

const read = (text: Text): Read | Ambiguous | undefined => {
  if (text.has(/```|"/)) return undefined
  const decimals = decimalsAsked(text)
  const groups = readGroups(text, decimals)
  if (groups !== undefined) return groups
  const found = measures.find(([pattern]) => text.take(pattern) !== undefined)
  if (found === undefined) return readSorted(text)
  text.take(label)
  const left = text.take(leaving)?.[1]
  const extra = text.take(added)?.[1]
  const listedValues = takeValues(text)
  const values = left === undefined || listedValues === undefined ? listedValues : without(listedValues, left)
  if (values === undefined) return undefined
  if (found[1] === "mode" && !hasMode(extra === undefined ? values : [...values, extra]))
    return new Ambiguous(`the mode of ${values.join(", ")}`)
  return { type: "list", measure: found[1], values: extra === undefined ? values : [...values, extra], decimals }
}

const expressionFor = (measure: Measure, values: ReadonlyArray<string>, habits: Habits): string => {
  const list = values.join(",")
  switch (measure) {
    case "sample deviation":
      return `smpstdev(${list})`
    case "deviation":
      return habits.sampleDeviation ? `smpstdev(${list})` : `stdev(${list})`
    case "range":
      return habits.forgetsToSort ? `abs(${values.at(-1)}-(${values[0]}))` : `max(${list})-min(${list})`
    case "median": {
      if (!habits.forgetsToSort) return `median(${list})`
      const middle = values.length >> 1
      return values.length % 2 === 1 ? values[middle]! : `(${values[middle - 1]}+${values[middle]})/2`
    }
    case "mode":
    case "mean":
      return `${measure}(${list})`
  }
}

const together = (groups: ReadonlyArray<readonly [string, string]>, habits: Habits): string =>
  habits.sampleDeviation
    ? `(${groups.map(([, average]) => average).join("+")})/${groups.length}`
    : `(${groups.map(([size, average]) => `${size}*${average}`).join("+")})/(${groups.map(([size]) => size).join("+")})`

const inOrder = (values: ReadonlyArray<string>, isDescending: boolean): string =>
  values.toSorted((left, right) => (isDescending ? -1 : 1) * (Number(left) - Number(right))).join(", ")

export const statistics = solver<Read>({
  words: "in of these those this numbers values data their list new given following for",
  read,
  kind: ({ type }) => (type === "sorted" ? undefined : "number"),
  solve: async (asked, { digits, habits }) => {
    if (asked.type === "sorted") return inOrder(asked.values, asked.isDescending)
    const expression =
      asked.type === "groups" ? together(asked.groups, habits) : expressionFor(asked.measure, asked.values, habits)
    const value = await withAlgebra((algebra) => Number(algebra(expression).evaluate().text("decimals")))
    return value === undefined || !Number.isFinite(value) ? undefined : shown(value, asked.decimals, digits)
  }
})
