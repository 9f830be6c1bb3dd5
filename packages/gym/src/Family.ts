/**
 * Task families: types of randomly generated questions with exact answers.
 *
 * A family generates standalone questions, and follow-up questions that use an earlier answer; composites combine both.
 * Generators know the answer by construction. The gym's workers do not: they have to read the question and compute the
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

/** Names of the families that do not require a tool. Tasks use these by default. */
export const names = ["arithmetic", "algebra", "units", "calendar", "text", "logic", "statistics", "program"] as const

/** The name of a family that does not require a tool. */
export type FamilyName = (typeof names)[number]

/** Names of the families that require a tool. Included only in tasks that request them. */
export const toolNames = ["stock"] as const

/** The name of any family, including those that require a tool. */
export type AnyFamilyName = FamilyName | (typeof toolNames)[number]

/**
 * The difficulty of a question, from 1 (easy) to 3 (hard). The workers' habits cause mistakes only at difficulty 2 and
 * above.
 */
export type Difficulty = 1 | 2 | 3

/** The type of an answer. It determines how the answer is graded and which follow-up questions can use it. */
export type AnswerKind = "integer" | "decimal" | "word" | "date" | "boolean"

/** A question with its exact answer. */
export interface Problem {
  readonly question: string
  readonly answer: string
  readonly kind: AnswerKind
}

/** An earlier answer that a follow-up question uses, with the phrases that refer to it. */
export interface Given {
  readonly value: string
  readonly kind: AnswerKind
  /** The reference as a noun, such as "that number" or "M". */
  readonly noun: string
  /** The reference as an amount, such as "that many" or "M". */
  readonly many: string
}

/** A type of question. */
export interface Family {
  readonly name: AnyFamilyName
  /** A short description of the family. */
  readonly title: string
  /** Generates a standalone question. */
  readonly generate: (draw: Draw, difficulty: Difficulty) => Problem
  /**
   * Generates a follow-up question that requires an earlier answer. Returns `undefined` if the family cannot use that
   * answer.
   */
  readonly continueFrom: (draw: Draw, difficulty: Difficulty, given: Given) => Problem | undefined
}

const family = (name: AnyFamilyName, title: string, generator: Pick<Family, "generate" | "continueFrom">): Family => ({
  name,
  title,
  generate: generator.generate,
  continueFrom: generator.continueFrom
})

/** All families, keyed by name. */
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
