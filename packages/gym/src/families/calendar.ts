/**
 * Calendar: weekdays, dates a number of days away, days between dates, and counts of a weekday. Uses the Gregorian
 * calendar.
 */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin, number, ordinal } from "../internal/wording.ts"

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
] as const

const dayMillis = 86_400_000

/** A calendar day, as the number of days since 1 January 1970. */
type Day = number

const dayOf = (year: number, month: number, date: number): Day => Date.UTC(year, month - 1, date) / dayMillis
const iso = (day: Day): string => new Date(day * dayMillis).toISOString().slice(0, 10)
const weekday = (day: Day): string => weekdays[new Date(day * dayMillis).getUTCDay()]!

const write = (draw: Draw, day: Day): string => {
  const date = new Date(day * dayMillis)
  const [year, month, of] = [date.getUTCFullYear(), months[date.getUTCMonth()]!, date.getUTCDate()]
  return draw.pick([
    `${of} ${month} ${year}`,
    `${month} ${of}, ${year}`,
    `the ${ordinal(of)} of ${month} ${year}`,
    iso(day)
  ])
}

const anyDay = (draw: Draw, difficulty: Difficulty): Day =>
  difficulty === 1
    ? dayOf(2025, 3, 1) + draw.int(0, 250)
    : dayOf(difficulty === 2 ? 2000 : 1890, 1, 1) + draw.int(0, difficulty === 2 ? 14_000 : 70_000)

const spans = { 1: 60, 2: 900, 3: 20_000 } as const

const asDate = "Give the date as YYYY-MM-DD."

const weekdayOf = (draw: Draw, difficulty: Difficulty): Problem => {
  const day = anyDay(draw, difficulty)
  const question = draw.pick([
    `What day of the week is ${write(draw, day)}?`,
    `On which weekday does ${write(draw, day)} fall?`,
    `Which weekday is ${write(draw, day)}?`
  ])
  return { question, answer: weekday(day), kind: "word" }
}

const away = (draw: Draw, difficulty: Difficulty): Problem => {
  const day = anyDay(draw, difficulty)
  const span = draw.int(5, spans[difficulty])
  const after = draw.chance(0.6)
  return shifted(draw, day, after ? span : -span, number(draw, span))
}

const shifted = (draw: Draw, day: Day, offset: number, amount: string): Problem => {
  const direction = offset < 0 ? "before" : "after"
  return draw.chance(0.7)
    ? {
        question: `${draw.pick(["What date is", "Which date falls"])} ${amount} days ${direction} ${write(draw, day)}? ${asDate}`,
        answer: iso(day + offset),
        kind: "date"
      }
    : {
        question: `What day of the week is it ${amount} days ${direction} ${write(draw, day)}?`,
        answer: weekday(day + offset),
        kind: "word"
      }
}

const between = (draw: Draw, difficulty: Difficulty): Problem => {
  const start = anyDay(draw, difficulty)
  const end = start + draw.int(5, spans[difficulty])
  const question = draw.pick([
    `How many days are there from ${write(draw, start)} to ${write(draw, end)}?`,
    `How many days after ${write(draw, start)} is ${write(draw, end)}?`,
    `How many days pass from ${write(draw, start)} until ${write(draw, end)}?`
  ])
  return { question, answer: String(end - start), kind: "integer" }
}

const lengthOf = (year: number, month: number): number => dayOf(year, month + 1, 1) - dayOf(year, month, 1)

const nthWeekday = (draw: Draw, difficulty: Difficulty): Problem => {
  const year = draw.int(difficulty === 2 ? 2000 : 1890, difficulty === 2 ? 2040 : 2080)
  const month = draw.int(1, 12)
  const wanted = draw.int(0, 6)
  const nth = draw.int(1, 4)
  const first = dayOf(year, month, 1)
  const offset = (wanted - new Date(first * dayMillis).getUTCDay() + 7) % 7
  const name = ["first", "second", "third", "fourth"][nth - 1]!
  return {
    question: `What is the date of the ${name} ${weekdays[wanted]} of ${months[month - 1]} ${year}? ${asDate}`,
    answer: iso(first + offset + (nth - 1) * 7),
    kind: "date"
  }
}

const countWeekday = (draw: Draw, difficulty: Difficulty): Problem => {
  const year = draw.int(difficulty === 2 ? 2000 : 1890, difficulty === 2 ? 2040 : 2080)
  const month = draw.int(1, 12)
  const wanted = draw.int(0, 6)
  const first = dayOf(year, month, 1)
  let count = 0
  for (let day = first; day < first + lengthOf(year, month); day++) {
    if (weekday(day) === weekdays[wanted]) count += 1
  }
  return {
    question: `How many ${weekdays[wanted]}s are there in ${months[month - 1]} ${year}?`,
    answer: String(count),
    kind: "integer"
  }
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem => {
  const shapes = {
    1: [weekdayOf, away, between, between],
    2: [weekdayOf, away, between, between, nthWeekday],
    3: [weekdayOf, away, between, nthWeekday, countWeekday]
  }
  return draw.pick(shapes[difficulty])(draw, difficulty)
}

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 1, 30_000)
  if (value === undefined) return undefined
  const day = anyDay(draw, difficulty)
  return shifted(draw, day, draw.chance(0.7) ? value : -value, given.many)
}
