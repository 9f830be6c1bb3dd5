/** The graders that have a name, for files and command lines that say which one they want. */
import * as IntegerGrader from "./IntegerGrader.ts"
import * as LetterGrader from "./LetterGrader.ts"
import * as MathGrader from "./MathGrader.ts"
import * as RlprGrader from "./RlprGrader.ts"
import * as TextGrader from "./TextGrader.ts"
import type { AnswerGrader } from "./Verdict.ts"

const graders: ReadonlyArray<AnswerGrader> = [
  MathGrader.math,
  MathGrader.math500,
  LetterGrader.letter,
  LetterGrader.paper,
  IntegerGrader.integer,
  IntegerGrader.aime,
  RlprGrader.strict,
  RlprGrader.paper,
  TextGrader.text
]

/** The names there are. */
export const names: ReadonlyArray<string> = graders.map(({ name }) => name)

/**
 * The grader of a name; `undefined` when there is none.
 *
 * **Example**
 *
 * ```ts
 * import * as Graders from "@tutti/evals/Graders"
 *
 * Graders.named("rlpr-strict")?.name // => "rlpr-strict"
 * Graders.named("vibes") // => undefined
 * ```
 */
export const named = (name: string): AnswerGrader | undefined => graders.find((grader) => grader.name === name)
