/**
 * Habits: the human-like limits that a worker solves questions with. Each is a mistake that a person makes, always in
 * the same way; a worker without habits in a family is exact in it.
 */

/** Mistakes, by the family that they show in. An absent habit is not had. */
export interface Habits {
  // Arithmetic
  /** Works from left to right, whatever binds first. */
  readonly leftToRight?: boolean
  /** Keeps only so many leading digits of every intermediate result. */
  readonly significantDigits?: number

  // Algebra
  /** Reads subtracted constants as added ones. */
  readonly dropsSigns?: boolean
  /** Overlooks squares, and of two equations reads only the first. */
  readonly linearOnly?: boolean

  // Units
  /** Rounds conversion factors to two digits before using them: 1.6 kilometres to a mile. */
  readonly roundsFactors?: boolean
  /** Converts areas as if they were lengths. */
  readonly linearAreas?: boolean

  // Calendar
  /** Believes that every year has 365 days. */
  readonly ignoresLeapYears?: boolean
  /** Believes that every month has 30 days. */
  readonly thirtyDayMonths?: boolean
  /** Counts the first day as well as the last. */
  readonly countsBothEnds?: boolean

  // Text
  /** Overlooks capital letters when counting. */
  readonly overlooksCapitals?: boolean
  /** Reads only so many words of a quotation. */
  readonly wordsRead?: number

  // Logic
  /** Takes "or" to mean "one of them, but not both". */
  readonly exclusiveOr?: boolean
  /** Takes "implies" to mean "and". */
  readonly impliesMeansAnd?: boolean
  /** Reads only so many clues. */
  readonly cluesRead?: number

  // Statistics
  /** Takes the middle of a list without sorting it. */
  readonly forgetsToSort?: boolean
  /** Divides by one less than the count for every deviation, and averages averages. */
  readonly sampleDeviation?: boolean

  // Program
  /** Runs a loop with `<=` once too few. */
  readonly stopsLoopsEarly?: boolean
  /** Reads only so many lines of a program, and gives up on a longer one. */
  readonly linesRead?: number
}
