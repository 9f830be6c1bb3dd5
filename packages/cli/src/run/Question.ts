/** Determines the question of a run: from the arguments, a file, standard input, or the built-in default. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as StandardInput from "../invocation/StandardInput.ts"
import * as TextFile from "../invocation/TextFile.ts"

/**
 * The default question. It has two independent parts and a third that depends on both, so its plan contains concurrent
 * steps and a dependent step.
 */
const builtIn = [
  "1. How many minutes are there in 3 days and 4 hours?",
  "2. How many days pass from 20 July 1969 until 9 November 1989?",
  "3. Add the answer to part 1 to the answer to part 2. What is the total?",
  "Give only the last answer."
].join("\n")

/** How long to wait for input on an implicit pipe before using the built-in question, in milliseconds. */
const patienceMillis = 1_500

const notEmpty = (text: string, source?: string): Effect.Effect<string, Failure> =>
  text.trim() === ""
    ? Effect.fail(usage(`The question${source === undefined ? "" : ` in ${source}`} is empty.`))
    : Effect.succeed(text.trim())

const fromFile = (file: string): Effect.Effect<string, Failure> =>
  Effect.flatMap(TextFile.named(file, "the question"), (text) => notEmpty(text, file))

const unasked = Effect.gen(function* () {
  if (!StandardInput.isPiped()) return builtIn
  const text = yield* StandardInput.read(patienceMillis)
  if (text === undefined) {
    process.stderr.write("divisi: standard input is empty; asking a built-in question (use `-` to wait for yours).\n")
  }
  return text?.trim() || builtIn
})

/** Returns the question. Unquoted words are joined. */
export const resolve = (input: {
  readonly question: ReadonlyArray<string>
  readonly file: Option.Option<string>
}): Effect.Effect<string, Failure> => {
  const { file, question } = input
  if (Option.isSome(file)) {
    return question.length === 0
      ? fromFile(file.value)
      : Effect.fail(usage("Pass the question as an argument or with --file, not both."))
  }
  if (question.length === 0) return unasked
  return question.length === 1 && question[0] === "-"
    ? Effect.flatMap(StandardInput.read(), (text) => notEmpty(text ?? "", "standard input"))
    : notEmpty(question.join(" "))
}
