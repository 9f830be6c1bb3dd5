/** Habits: systematic, human-like mistakes. A worker without habits in a family is exact in it. */

/** Systematic mistakes, grouped by the family that they affect. All are off by default. */
export interface Habits {
  // Arithmetic
  /** Evaluates from left to right, ignoring operator precedence. */
  readonly leftToRight?: boolean | undefined
  /** Truncates every intermediate result to this many leading digits. */
  readonly significantDigits?: number | undefined

  // Algebra
  /** Reads subtracted constants as added. */
  readonly dropsSigns?: boolean | undefined
  /** Ignores squares, and reads only the first of two equations. */
  readonly linearOnly?: boolean | undefined

  // Units
  /** Rounds conversion factors to two digits before using them, such as 1.6 kilometres to a mile. */
  readonly roundsFactors?: boolean | undefined
  /** Converts areas with the factor for lengths. */
  readonly linearAreas?: boolean | undefined

  // Calendar
  /** Treats every year as having 365 days. */
  readonly ignoresLeapYears?: boolean | undefined
  /** Treats every month as having 30 days. */
  readonly thirtyDayMonths?: boolean | undefined
  /** Counts both the first and the last day. */
  readonly countsBothEnds?: boolean | undefined

  // Text
  /** Misses capital letters when counting. */
  readonly overlooksCapitals?: boolean | undefined
  /** Reads only the first words of a quotation, up to this number. */
  readonly wordsRead?: number | undefined

  // Logic
  /** Treats "or" as exclusive. */
  readonly exclusiveOr?: boolean | undefined
  /** Treats "implies" as "and". */
  readonly impliesMeansAnd?: boolean | undefined
  /** Reads only the first clues, up to this number. */
  readonly cluesRead?: number | undefined

  // Statistics
  /** Takes the middle element of a list as its median, without sorting. */
  readonly forgetsToSort?: boolean | undefined
  /** Uses `n - 1` in every standard deviation, and averages group means without weights. */
  readonly sampleDeviation?: boolean | undefined

  // Program
  /** Stops loops with `<=` one iteration early. */
  readonly stopsLoopsEarly?: boolean | undefined
  /** Reads only this many lines of a program, and declines longer programs. */
  readonly linesRead?: number | undefined

  // Stock
  /** Looks up only this many of the items in a question. */
  readonly articlesRead?: number | undefined
}
