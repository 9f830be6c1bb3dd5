/** Looks up graders by name, for configuration files and command lines. */
import * as CodeGrader from "./code/CodeGrader.ts"
import * as IntegerGrader from "./math/IntegerGrader.ts"
import * as MathGrader from "./math/MathGrader.ts"
import * as RlprGrader from "./math/RlprGrader.ts"
import type { Sandbox } from "./sandbox/Sandbox.ts"
import * as Sandboxes from "./sandbox/Sandboxes.ts"
import * as LetterGrader from "./text/LetterGrader.ts"
import * as TextGrader from "./text/TextGrader.ts"
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

/** Program graders for each sandbox. Reused, because they cache which reference solutions pass in it. */
const programGraders = new WeakMap<Sandbox, ReadonlyArray<AnswerGrader>>()

const gradersOf = (sandbox: Sandbox): ReadonlyArray<AnswerGrader> => {
  const known = programGraders.get(sandbox)
  if (known !== undefined) return known
  const made = [CodeGrader.liveCodeBench(sandbox), CodeGrader.bigCodeBench(sandbox)]
  programGraders.set(sandbox, made)
  return made
}

/** All names accepted by {@link named}. */
export const names: ReadonlyArray<string> = [...graders, ...gradersOf(Sandboxes.shared)].map(({ name }) => name)

/**
 * Returns the grader with the given name, or `undefined` if the name is unknown. Program graders run programs in
 * `sandbox`, which defaults to `Sandboxes.shared`.
 *
 * **Example**
 *
 * ```ts
 * import { Graders } from "@divisi/graders"
 *
 * Graders.named("rlpr-strict")?.name // => "rlpr-strict"
 * Graders.named("vibes") // => undefined
 * ```
 */
export const named = (name: string, sandbox: Sandbox = Sandboxes.shared): AnswerGrader | undefined =>
  [...graders, ...gradersOf(sandbox)].find((grader) => grader.name === name)
