/** Reads dates, spans and weekdays, and computes with them. */
import type { Temporal } from "temporal-polyfill"
import type { Habits } from "../Habits.ts"
import { plain, solver } from "./reading.ts"

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
  | { readonly type: "between"; readonly from: DateParts; readonly to: DateParts }
  | { readonly type: "nth"; readonly month: DateParts; readonly weekday: number; readonly nth: number }
  | { readonly type: "count"; readonly month: DateParts; readonly weekday: number }

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
const months = "january|february|march|april|may|june|july|august|september|october|november|december"
const monthOf = (name: string) => months.split("|").indexOf(name.toLowerCase()) + 1

const dayFirst = `(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${months}),? (\\d{4})`
const monthFirst = `(${months}) (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})`
const anyDate = new RegExp(`(\\d{4})-(\\d{2})-(\\d{2})|${dayFirst}|${monthFirst}`, "gi")

const datesIn = (text: string): ReadonlyArray<DateParts> =>
  [...text.matchAll(anyDate)].map((match) => {
    const [, y1, m1, d1, d2, m2, y2, m3, d3, y3] = match
    if (y1 !== undefined) return { year: Number(y1), month: Number(m1), day: Number(d1) }
    if (y2 !== undefined) return { year: Number(y2), month: monthOf(m2!), day: Number(d2) }
    return { year: Number(y3), month: monthOf(m3!), day: Number(d3) }
  })

const isPossible = ({ day, month }: DateParts) => month >= 1 && month <= 12 && day >= 1 && day <= 31

const nthNames = ["first", "second", "third", "fourth", "fifth"]
const monthYear = new RegExp(`\\b(?:of|in) (${months}),? (\\d{4})`, "i")

const readMonth = (text: string): Read | undefined => {
  const [, name, year] = monthYear.exec(text) ?? []
  const weekday = weekdays.findIndex((day) => new RegExp(`\\b${day}s?\\b`, "i").test(text)) + 1
  if (name === undefined || weekday === 0) return undefined
  const month = { year: Number(year), month: monthOf(name), day: 1 }
  if (/\bhow many\b/i.test(text)) return { type: "count", month, weekday }
  const nth = nthNames.findIndex((word) => new RegExp(`\\b${word}\\b`, "i").test(text)) + 1
  return nth === 0 ? undefined : { type: "nth", month, weekday, nth }
}

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  if (/```|"/.test(text)) return undefined
  const dates = datesIn(text)
  if (!dates.every(isPossible)) return undefined
  const [first, second] = dates
  if (first === undefined) return readMonth(text)
  if (second !== undefined) {
    return /\bhow many days\b/i.test(text)
      ? {
          type: "between",
          ...(/\bafter\b.*\bis\b/i.test(text) || !/\bbefore\b/i.test(text)
            ? { from: first, to: second }
            : { from: second, to: first })
        }
      : undefined
  }
  const span = /\b(\d{1,7}) (days?|weeks?) (after|before)\b/i.exec(text)
  const size = span === null ? 0 : Number(span[1]) * (/^week/i.test(span[2]!) ? 7 : 1)
  const offset = span?.[3]?.toLowerCase() === "before" ? -size : size
  if (/\b(?:day of the week|weekday)\b/i.test(text)) return { type: "weekday", date: first, offset }
  return span !== null && /\bdate\b/i.test(text) ? { type: "date", date: first, offset } : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reckoning
// -------------------------------------------------------------------------------------------------------------------

/** A way to number days one after the other. */
interface Reckoning {
  readonly number: (date: DateParts) => number
  readonly date: (number: number) => string
  /** 1 is Monday. */
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

/** All years alike, counted from a known Saturday: 1 January 2000. */
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

const answer = (read: Read, days: Reckoning, habits: Habits): string => {
  const extra = habits.countsBothEnds ? 1 : 0
  switch (read.type) {
    case "between":
      return String(days.number(read.to) - days.number(read.from) + extra)
    case "weekday":
      return named(days.weekday(days.number(read.date) + read.offset - Math.sign(read.offset) * extra))
    case "date":
      return days.date(days.number(read.date) + read.offset - Math.sign(read.offset) * extra)
    case "nth": {
      const first = days.number(read.month)
      return days.date(first + ((read.weekday - days.weekday(first) + 7) % 7) + (read.nth - 1) * 7)
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

export const calendar = solver(read, async (asked, habits) => {
  try {
    if (habits.thirtyDayMonths) return answer(asked, uniform(monthLengths.map(() => 30)), habits)
    if (habits.ignoresLeapYears) return answer(asked, uniform(monthLengths), habits)
    return answer(asked, exact(await load()), habits)
  } catch (error) {
    // A date that does not exist, such as 31 June.
    if (error instanceof RangeError) return undefined
    throw error
  }
})
