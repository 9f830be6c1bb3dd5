/**
 * Task families: kinds of randomly generated questions with exact answers.
 *
 * A family generates standalone questions, and questions that continue from an earlier answer, from which composites
 * are built. Generators know their answers by construction; the gym's workers must read the question and compute the
 * answer independently.
 */
import * as algebra from "./families/algebra.ts"
import * as arithmetic from "./families/arithmetic.ts"
import * as calendar from "./families/calendar.ts"
import * as logic from "./families/logic.ts"
import * as program from "./families/program.ts"
import * as statistics from "./families/statistics.ts"
import * as stock from "./families/stock.ts"
import * as text from "./families/text.ts"
import * as units from "./families/units.ts"
import type { Draw } from "./internal/draw.ts"

export type { Draw } from "./internal/draw.ts"

/** The names of the families that need no tool. Tasks use these by default. */
export const names = ["arithmetic", "algebra", "units", "calendar", "text", "logic", "statistics", "program"] as const

/** The name of a family. */
export type FamilyName = (typeof names)[number]

/** The families whose questions require a tool. They occur only in tasks that request them. */
export const toolNames = ["stock"] as const

/** The name of any family, including those that need a tool. */
export type AnyFamilyName = FamilyName | (typeof toolNames)[number]

/** The difficulty of a question: 1 is easy, 3 is hard. The workers' habits cause mistakes from 2 on. */
export type Difficulty = 1 | 2 | 3

/** The type of an answer. It determines which questions can continue from it, and how it is graded. */
export type AnswerKind = "integer" | "decimal" | "word" | "date" | "boolean"

/** A question with its exact answer. */
export interface Problem {
  readonly question: string
  readonly answer: string
  readonly kind: AnswerKind
}

/** An earlier answer that a question continues from, with the phrases that refer to it. */
export interface Given {
  readonly value: string
  readonly kind: AnswerKind
  /** The reference as a noun: "that number", "M". */
  readonly noun: string
  /** The reference as an amount: "that many", "M". */
  readonly many: string
}

/** A kind of question. */
export interface Family {
  readonly name: AnyFamilyName
  /** A short description of the question. */
  readonly title: string
  /** Generates a standalone question. */
  readonly generate: (draw: Draw, difficulty: Difficulty) => Problem
  /** Generates a question that needs an earlier answer, or returns `undefined` if it cannot continue from this one. */
  readonly continueFrom: (draw: Draw, difficulty: Difficulty, given: Given) => Problem | undefined
}

const family = (name: AnyFamilyName, title: string, generator: Pick<Family, "generate" | "continueFrom">): Family => ({
  name,
  title,
  generate: generator.generate,
  continueFrom: generator.continueFrom
})

/** All families, by name. */
export const families: { readonly [Name in AnyFamilyName]: Family } = {
  arithmetic: family("arithmetic", "Sums, products and remainders", arithmetic),
  algebra: family("algebra", "Equations and unknown numbers", algebra),
  units: family("units", "Conversions between units of measure", units),
  calendar: family("calendar", "Dates, weekdays and days between", calendar),
  text: family("text", "Letters and words", text),
  logic: family("logic", "Orders, truth values, knights and knaves", logic),
  statistics: family("statistics", "Means, medians and spreads", statistics),
  program: family("program", "The output of a JavaScript program", program),
  stock: family("stock", "The stock of a warehouse, which only a tool knows", stock)
}
