/** Habits: systematic, human-like mistakes of a worker. A worker without habits in a family is exact in it. */

/** Mistakes, by the family that they affect. The worker does not have an absent habit. */
export interface Habits {
  // Arithmetic
  /** Works from left to right, ignoring precedence. */
  readonly leftToRight?: boolean | undefined
  /** Keeps only this many leading digits of every intermediate result. */
  readonly significantDigits?: number | undefined

  // Algebra
  /** Reads subtracted constants as added ones. */
  readonly dropsSigns?: boolean | undefined
  /** Overlooks squares, and of two equations reads only the first. */
  readonly linearOnly?: boolean | undefined

  // Units
  /** Rounds conversion factors to two digits before using them: 1.6 kilometres to a mile. */
  readonly roundsFactors?: boolean | undefined
  /** Converts areas as if they were lengths. */
  readonly linearAreas?: boolean | undefined

  // Calendar
  /** Assumes that every year has 365 days. */
  readonly ignoresLeapYears?: boolean | undefined
  /** Assumes that every month has 30 days. */
  readonly thirtyDayMonths?: boolean | undefined
  /** Counts the first day as well as the last. */
  readonly countsBothEnds?: boolean | undefined

  // Text
  /** Overlooks capital letters when counting. */
  readonly overlooksCapitals?: boolean | undefined
  /** Reads only this many words of a quotation. */
  readonly wordsRead?: number | undefined

  // Logic
  /** Interprets "or" as exclusive. */
  readonly exclusiveOr?: boolean | undefined
  /** Interprets "implies" as "and". */
  readonly impliesMeansAnd?: boolean | undefined
  /** Reads only this many clues. */
  readonly cluesRead?: number | undefined

  // Statistics
  /** Takes the middle element of a list as the median without sorting the list. */
  readonly forgetsToSort?: boolean | undefined
  /** Uses `n - 1` in every standard deviation, and averages averages. */
  readonly sampleDeviation?: boolean | undefined

  // Program
  /** Runs a loop with `<=` one time too few. */
  readonly stopsLoopsEarly?: boolean | undefined
  /** Reads only this many lines of a program, and declines longer ones. */
  readonly linesRead?: number | undefined

  // Stock
  /** Looks up only this many of the items in the question. */
  readonly articlesRead?: number | undefined
}
