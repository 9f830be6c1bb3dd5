/**
 * Grades mathematical answers in LaTeX or plain text, and reports which rule decided.
 *
 * Rungs are tried in order: normalized text; exact fractions; numbers to 80 digits; sets and lists; tuples; intervals;
 * matrices; relations; identity of formulas, evaluated at generic points; and computer algebra, in a thread that is
 * terminated if it takes too long. All rungs except the last run in bounded time in the current thread.
 *
 * An answer that cannot be proven equal is wrong, because a grader must not give credit by mistake.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { isTranslated } from "../internal/calendar.ts"
import { numeralOf } from "../internal/numerals.ts"
import * as Verdict from "../Verdict.ts"
import * as Algebra from "./Algebra.ts"
import type { Decision } from "./Decision.ts"
import * as Demand from "./Demand.ts"
import { decideText, isSameText } from "./Ladder.ts"
import * as MathAnswer from "./MathAnswer.ts"
import type { Rules } from "./Relations.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Settings that differ between benchmarks. */
export interface Options extends Partial<Rules> {
  /** Name of the grader. Default: `math`. */
  readonly name?: string | undefined
  /** The prover to use. Default: one shared by all graders in the process. `false` disables computer algebra. */
  readonly algebra?: Algebra.Algebra | false | undefined
}

const strict: Rules = { anyOrder: false, bareValues: false }

const shared = Algebra.make()

const table = {
  name: Tables.name,
  algebra: Tables.either(
    Tables.expects("false", (value) => value === false),
    Tables.madeBy("what Algebra.make returns", "prove")
  ),
  anyOrder: Tables.flag,
  bareValues: Tables.flag,
  isClock: Tables.flag
} satisfies Tables.ShapeOf<Options>

// -------------------------------------------------------------------------------------------------------------------
// Comparing
// -------------------------------------------------------------------------------------------------------------------

/** Notation that only computer algebra can evaluate. */
const needsAlgebra =
  /\\(?:int|iint|sum|prod|lim|gcd|lcm|Gamma|zeta|max|min|varphi|det|frac\s*\{\s*d\s*\})(?![a-zA-Z])|!|\\binom/

/** Notation that computer algebra does not support reliably. */
const isBeyondAlgebra =
  /\\(?:text|mbox|mathrm|begin|pm|mp|in|cup|bmod|pmod|mod|overline|bar|prime|angle|infty\s*[)\]])(?![a-zA-Z])|[<>=≤≥,;']|!\s*!|[a-zA-Z]{4,}(?<!\\[a-zA-Z]*)/

const formula = (text: string) =>
  text
    .replace(/^[\s$]+|[\s$.]+$/g, "")
    .replace(/^\\[([]|\\[)\]]$/g, "")
    .replace(/\\[,;:! ]/g, " ")

/** Removes symbols that occur in sums and argument lists. */
const bare = (text: string) =>
  text.replace(/_\s*\{\s*[a-zA-Z]\s*=[^{}=,]*\}/g, "").replace(/\\(gcd|lcm|max|min)\s*\([\d\s,]*\)/g, "\\$1")

const isForAlgebra = (gold: string, answer: string): boolean =>
  gold.length + answer.length < 400 &&
  (needsAlgebra.test(gold) || needsAlgebra.test(answer)) &&
  !isBeyondAlgebra.test(bare(gold)) &&
  !isBeyondAlgebra.test(bare(answer))

/**
 * Compares two answers with the rungs that run in the current thread. The order of arguments matters: the answer `x =
 * 5` is correct for the reference `5`, but `5` is not correct for `x = 5`.
 *
 * **Example**
 *
 * ```ts
 * import { MathGrader } from "@divisi/graders/math"
 *
 * MathGrader.compare("\\frac{1}{2}", "0.5") // => { correct: true, rung: "rational" }
 * MathGrader.compare("(x+1)^2", "x^2+2x+1") // => { correct: true, rung: "identity" }
 * MathGrader.compare("(3,4]", "[3,4]") // => { correct: false, rung: "interval" }
 * ```
 */
export const compare = (gold: string, answer: string, rules: Partial<Rules> = {}): Decision =>
  decideText(gold, answer, { ...strict, ...rules })

const proveOpen = (
  decision: Decision,
  gold: string,
  answer: string,
  options: Options
): Effect.Effect<Decision & { readonly detail?: string | undefined }, Algebra.AlgebraError> => {
  const algebra = options.algebra ?? shared
  const [a, b] = [formula(gold), formula(answer)]
  if (decision.rung !== "none" || algebra === false || !isForAlgebra(a, b)) return Effect.succeed(decision)
  return Effect.map(algebra.prove(a, b), (proof) => {
    if (proof === "equal") return { correct: true, rung: "algebra" }
    return { ...decision, detail: proof === "exhausted" ? "computer algebra ran out of time" : "not proven equal" }
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Grader
// -------------------------------------------------------------------------------------------------------------------

const golden = (reference: string) =>
  /\\f?box/.test(reference) ? (MathAnswer.extract(reference) ?? reference) : reference

/** Returns the words of a gold answer that consists only of words, such as `\\text{Evelyn}`. */
const wordsOf = (gold: string): string | undefined =>
  /^[\s$]*(?:\\(?:text|mbox|textbf|mathrm)\s*\{)?\s*(\p{L}{2,}(?:[ -]\p{L}+){0,2}|(?<=\{\s*)[A-Z])\s*\}?[\s$.]*$/u.exec(
    gold
  )?.[1]

/** Words that are answers to mathematical questions, besides those with a canonical spelling. */
const mathematical =
  /^(?:true|false|undefined|infinite\w*|infinity|none|no (?:real )?solutions?|(?:does not|doesn't) exist|all (?:real )?(?:numbers|integers)|diverge\w*|converge\w*|even|neither|both|prime|composite|never|always|sometimes|increasing|decreasing|rational|irrational)$/i

/** Returns a warning about a reference in words, which is compared only as text. `\\text{…}` means that on purpose. */
const oddityOf = (reference: string): string | undefined => {
  const said = reference.trim().replace(/[.!]$/, "")
  const isInWords = /^[\p{L}\p{M}'’,\s-]*\p{L}{4}[\p{L}\p{M}'’,\s-]*$/u.test(said)
  return !isInWords || mathematical.test(said) || numeralOf(said) !== said
    ? undefined
    : 'the answer is in words, which this grader compares only as text (for answers in words, use the grader "text")'
}

/** Whether a gold answer is that there is no solution. */
const isNothing = (gold: string): boolean =>
  /^[\s$]*(?:\\text\s*\{\s*)?(?:no (?:real |integer )?solutions?|\\emptyset|\\varnothing|∅)\s*\}?[\s$.]*$/i.test(gold)

/** Matches questions whose answer may be a time of day. */
const asksForTime = /\b(?:time|clock|o'clock|[ap]\.?m\.?|when|noon|midnight|hours?|arrives?|departs?|schedule)\b/i

/**
 * Creates a grader for mathematical answers.
 *
 * **Details**
 *
 * By default, comma-separated values must be in the order of the reference, values in `{…}` or joined by "and" may be
 * in any order, and `5` is not correct for `x = 5`. MATH asks for "all solutions, separated by commas", so {@link
 * math500} is more lenient in both respects.
 *
 * **Example**
 *
 * ```ts
 * import { MathGrader } from "@divisi/graders/math"
 * import * as Task from "@divisi/core/Task"
 * import * as Effect from "effect/Effect"
 *
 * const task = Task.make({ question: "What is 1/2 + 1/3?", reference: "\\frac{5}{6}" })
 * const verdict = await Effect.runPromise(MathGrader.make().grade(task, "It is \\boxed{10/12}."))
 * verdict.rung // => "rational"
 * ```
 */
export const make = (options: Options = {}): Verdict.AnswerGrader => {
  Tables.check("MathGrader.make", options, table)
  return grading(options)
}

const grading = (options: Options): Verdict.AnswerGrader => ({
  ...Verdict.graderEffect(options.name ?? "math", (reference, answer, task) => {
    const found = MathAnswer.find(answer)
    const gold = golden(reference)
    // Gold answers such as "odd $n$" are equal as written, although extraction would truncate them.
    const isWhole = "answer" in found && found.answer === answer
    if (!isWhole && answer.length < 60 + 3 * gold.length && isSameText(gold, answer, strict)) {
      return Effect.succeed(Verdict.make({ correct: true, rung: "text", extracted: answer }))
    }
    const words = wordsOf(gold)
    if (words !== undefined && MathAnswer.states(answer, words)) {
      return Effect.succeed(Verdict.make({ correct: true, rung: "text", extracted: words }))
    }
    const name = words === undefined || !isTranslated(words) ? undefined : MathAnswer.namedAnswer(answer, words)
    if (name !== undefined && name.toLowerCase() === words!.toLowerCase()) {
      return Effect.succeed(Verdict.make({ correct: true, rung: "text", extracted: name }))
    }
    if (isNothing(gold) && MathAnswer.statesNoSolution(answer)) {
      return Effect.succeed(Verdict.make({ correct: true, rung: "text", extracted: "\\emptyset" }))
    }
    if (MathAnswer.isDate(answer, gold)) {
      return Effect.succeed(Verdict.make({ correct: true, rung: "text", extracted: gold }))
    }
    if (!("answer" in found)) return Effect.succeed(Verdict.absent(found))
    const question = Task.question(task)
    const extracted = Demand.completed(question, gold, found.answer)
    const rules = {
      ...options,
      anyOrder: options.anyOrder === true || Demand.isUnordered(question, gold),
      isClock: options.isClock ?? asksForTime.test(question)
    }
    const decision = compare(gold, extracted, rules)
    const unmet = decision.correct ? Demand.unmet(question, gold, extracted) : undefined
    if (unmet !== undefined) {
      return Effect.succeed(Verdict.make({ correct: false, rung: decision.rung, extracted, explanation: unmet }))
    }
    return Effect.mapBoth(proveOpen(decision, gold, extracted, options), {
      onFailure: (error) => error.message,
      onSuccess: ({ correct, detail, rung }) =>
        Verdict.make({
          correct,
          rung,
          extracted,
          explanation: detail
        })
    })
  }),
  ready: options.algebra === undefined ? Algebra.installed : undefined,
  oddityOf
})

/** Grades mathematical answers, strictly. */
export const math: Verdict.AnswerGrader = make()

/** Grades MATH answers: accepts comma-separated values in any order, and `5` for `x = 5`. */
export const math500: Verdict.AnswerGrader = make({ name: "math500", anyOrder: true, bareValues: true })
