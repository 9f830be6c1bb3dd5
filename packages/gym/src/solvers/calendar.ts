/** Reads dates, time spans and weekdays, and computes with them. */
import type { Temporal } from "temporal-polyfill"
import type { Habits } from "../Habits.ts"
import { type Means, solver, type Text } from "./reading.ts"

type Dates = typeof Temporal

let loading: Promise<Dates> | undefined

const load = (): Promise<Dates> => {
  loading ??= import("temporal-polyfill").then((module) => module.Temporal)
  return loading
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

interface DateParts {
  readonly year: number
  readonly month: number
  readonly day: number
}

type Read =
  | { readonly type: "weekday"; readonly date: DateParts; readonly offset: number }
  | { readonly type: "date"; readonly date: DateParts; readonly offset: number }
  | { readonly type: "between"; readonly from: DateParts; readonly to: DateParts; readonly extra: number }
  | { readonly type: "nth"; readonly month: DateParts; readonly weekday: number; readonly nth: number }
  | { readonly type: "count"; readonly month: DateParts; readonly weekday: number }

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
const months = "january|february|march|april|may|june|july|august|september|october|november|december"
const monthOf = (name: string) => months.split("|").indexOf(name.toLowerCase()) + 1

const dayFirst = `(?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${months}),? (\\d{4})`
const monthFirst = `(${months}) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})`
const anyDate = new RegExp(
  `(?<![\\d-])(\\d{4})-(\\d{2})-(\\d{2})(?![\\d-])|\\b${dayFirst}\\b|\\b${monthFirst}\\b`,
  "gi"
)

/** Placeholder for a date. */
const D = "\uE001"

const takeDates = (text: Text): ReadonlyArray<DateParts> =>
  text.takeAll(anyDate, D).map((match) => {
    const [, y1, m1, d1, d2, m2, y2, m3, d3, y3] = match
    if (y1 !== undefined) return { year: Number(y1), month: Number(m1), day: Number(d1) }
    if (y2 !== undefined) return { year: Number(y2), month: monthOf(m2!), day: Number(d2) }
    return { year: Number(y3), month: monthOf(m3!), day: Number(d3) }
  })

const isPossible = ({ day, month }: DateParts) => month >= 1 && month <= 12 && day >= 1 && day <= 31

const nthNames = ["first", "second", "third", "fourth", "fifth"]
const weekdayNames = weekdays.join("|")
const nthWeekday = new RegExp(
  `\\b(?:date (?:of|is) )?the (${nthNames.join("|")}) (${weekdayNames}) (?:of|in) (${months}),? (\\d{4})`,
  "i"
)
const countOfWeekday = new RegExp(
  `\\b(?:how many|the number of) (${weekdayNames})s (?:are there |were there |will there be |are |were )?in (${months}),? (\\d{4})`,
  "i"
)
const countInMonth = new RegExp(
  `\\bhow many (${weekdayNames})s (?:does|did|has|had|will) (${months}),? (\\d{4}) have`,
  "i"
)

const weekdayOf = (name: string) => weekdays.indexOf(name.toLowerCase()) + 1
const monthIn = (name: string, year: string): DateParts => ({ year: Number(year), month: monthOf(name), day: 1 })

const readMonth = (text: Text): Read | undefined => {
  const nth = text.take(nthWeekday)
  if (nth !== undefined) {
    const [, place, weekday, name, year] = nth
    text.take(dateForm)
    return {
      type: "nth",
      month: monthIn(name!, year!),
      weekday: weekdayOf(weekday!),
      nth: nthNames.indexOf(place!.toLowerCase()) + 1
    }
  }
  const [, weekday, name, year] = text.take(countOfWeekday) ?? text.take(countInMonth) ?? []
  return name === undefined ? undefined : { type: "count", month: monthIn(name, year!), weekday: weekdayOf(weekday!) }
}

const dateForm = /\b(?:give |write )?the date (?:as|in the form) YYYY-MM-DD\b|\b(?:as|in the form) YYYY-MM-DD\b/i

const daysFrom = new RegExp(
  `\\b(?:how many|the number of) days (?:(?:are|were) there |are |lie |pass(?:ed)? |is it |will pass |elapse )?(?:from|between) ${D} (?:to|until|till|and|up to) ${D}`,
  "i"
)
const daysAway = new RegExp(`\\bhow many days (after|before) ${D} (?:is|was) ${D}`, "i")

const bothDays = "both(?: (?:days|dates|ends|end dates|of them|the first and the last day))?"
const inclusive = new RegExp(
  `[,(]? ?\\b(?:inclusive(?:ly)?|(?:counting|including) ${bothDays}|${bothDays} (?:included|counted|inclusive)|including the first and (?:the )?last day)\\)?`,
  "i"
)
const exclusive = new RegExp(
  `[,(]? ?\\b(?:excluding ${bothDays}|not counting either(?: day| date)?|${bothDays} excluded|excluding the first and (?:the )?last day)\\)?`,
  "i"
)

const readBetween = (text: Text, [first, second]: readonly [DateParts, DateParts]): Read | undefined => {
  const apart = text.take(daysAway)
  if (apart !== undefined) {
    const isAfter = apart[1]!.toLowerCase() === "after"
    return { type: "between", from: isAfter ? first : second, to: isAfter ? second : first, extra: 0 }
  }
  if (text.take(daysFrom) === undefined) return undefined
  const extra = text.take(inclusive) !== undefined ? 1 : text.take(exclusive) !== undefined ? -1 : 0
  return { type: "between", from: first, to: second, extra }
}

const away = new RegExp(`\\b(?:(\\d{1,7}) (days?|weeks?)|the (day)) (after|before) ${D}`, "i")

const read = (text: Text): Read | undefined => {
  if (text.has(/```|"/)) return undefined
  const dates = takeDates(text)
  const [first, second, third] = dates
  if (!dates.every(isPossible) || third !== undefined) return undefined
  if (first === undefined) return readMonth(text)
  if (second !== undefined) return readBetween(text, [first, second])
  const span = text.take(away, D)
  const size = span === undefined ? 0 : Number(span[1] ?? 1) * (/^week/i.test(span[2] ?? "") ? 7 : 1)
  const offset = span?.[4]?.toLowerCase() === "before" ? -size : size
  if (text.take(/\b(?:day of the week|weekday)\b/i) !== undefined) return { type: "weekday", date: first, offset }
  text.take(dateForm)
  return span !== undefined && text.take(/\bdate\b/i) !== undefined ? { type: "date", date: first, offset } : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Calculation
// -------------------------------------------------------------------------------------------------------------------

/** A calendar that numbers days consecutively. */
interface Reckoning {
  readonly number: (date: DateParts) => number
  readonly date: (number: number) => string
  /** Returns the weekday of a day, from 1 (Monday) to 7. */
  readonly weekday: (number: number) => number
}

const exact = (dates: Dates): Reckoning => {
  const start = dates.PlainDate.from("2000-01-01")
  return {
    number: (date) => start.until(dates.PlainDate.from(date, { overflow: "reject" })).days,
    date: (number) => start.add({ days: number }).toString(),
    weekday: (number) => start.add({ days: number }).dayOfWeek
  }
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Creates a calendar in which all years are alike, anchored at Saturday, 1 January 2000. */
const uniform = (lengths: ReadonlyArray<number>): Reckoning => {
  const year = lengths.reduce((sum, length) => sum + length, 0)
  const before = (month: number) => lengths.slice(0, month - 1).reduce((sum, length) => sum + length, 0)
  return {
    number: (date) => (date.year - 2000) * year + before(date.month) + date.day - 1,
    date: (number) => {
      const years = Math.floor(number / year)
      let rest = number - years * year
      let month = 0
      while (rest >= lengths[month]!) rest -= lengths[month++]!
      return `${2000 + years}-${String(month + 1).padStart(2, "0")}-${String(rest + 1).padStart(2, "0")}`
    },
    weekday: (number) => ((((number + 5) % 7) + 7) % 7) + 1
  }
}

const named = (weekday: number): string => {
  const name = weekdays[weekday - 1]!
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

const answer = (read: Read, days: Reckoning, habits: Habits): string | undefined => {
  const extra = habits.countsBothEnds ? 1 : 0
  switch (read.type) {
    case "between":
      return String(days.number(read.to) - days.number(read.from) + (read.extra === 0 ? extra : read.extra))
    case "weekday":
      return named(days.weekday(days.number(read.date) + read.offset - Math.sign(read.offset) * extra))
    case "date":
      return days.date(days.number(read.date) + read.offset - Math.sign(read.offset) * extra)
    case "nth": {
      const first = days.number(read.month)
      const date = days.date(first + ((read.weekday - days.weekday(first) + 7) % 7) + (read.nth - 1) * 7)
      // A month does not always have a fifth occurrence of a weekday.
      return read.nth < 5 || Number(date.slice(-5, -3)) === read.month.month ? date : undefined
    }
    case "count": {
      const first = days.number(read.month)
      const next = days.number(
        read.month.month === 12
          ? { year: read.month.year + 1, month: 1, day: 1 }
          : { ...read.month, month: read.month.month + 1 }
      )
      const start = (read.weekday - days.weekday(first) + 7) % 7
      return String(Math.ceil((next - first - start) / 7))
    }
  }
}

const reckon = async (asked: Read, { habits }: Means): Promise<string | undefined> => {
  try {
    if (habits.thirtyDayMonths) return answer(asked, uniform(monthLengths.map(() => 30)), habits)
    if (habits.ignoresLeapYears) return answer(asked, uniform(monthLengths), habits)
    return answer(asked, exact(await load()), habits)
  } catch (error) {
    // The date does not exist, such as 31 June.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export const calendar = solver<Read>({
  words: "which on fall falls fell does did it day be in date of",
  read,
  kind: ({ type }) => (type === "weekday" ? "word" : type === "between" || type === "count" ? "number" : undefined),
  solve: reckon
})
