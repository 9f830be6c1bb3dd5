/** Grading answers: a file of them as it streams by, or one. */
import { once } from "node:events"
import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import * as Task from "@tutti/core/Task"
import * as Graders from "@tutti/evals/Graders"
import type { AnswerGrader, Verdict } from "@tutti/evals/Verdict"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { GradeInput } from "../commands/grade.ts"
import { exitCodes, failed, messageOf, silent, usage } from "../Failure.ts"

/** A pair of answers, or why a line holds none. */
type Pair = { readonly gold: string; readonly answer: string } | { readonly error: string }

const asText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined

const pairOf = (line: string): Pair => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { error: "this line is not JSON" }
  }
  if (typeof value !== "object" || value === null) return { error: "this line is not a JSON object" }
  const gold = asText("gold" in value ? value.gold : undefined)
  const answer = asText("answer" in value ? value.answer : undefined)
  if (gold === undefined) return { error: 'this line has no text "gold"' }
  return answer === undefined ? { error: 'this line has no text "answer"' } : { gold, answer }
}

const toJson = ({ correct, explanation, extracted, rung }: Verdict): string =>
  JSON.stringify({ correct, rung, extracted, explanation })

const gradePair = (grader: AnswerGrader, gold: string, answer: string) =>
  grader.grade(Task.make({ id: "answer", question: "", reference: gold }), answer)

/** The verdict on one line, as JSON; with whether there is one. */
const gradeLine = (
  grader: AnswerGrader,
  line: string
): Effect.Effect<{ readonly text: string; readonly isGraded: boolean }> => {
  const pair = pairOf(line)
  const failure = (error: string) => ({ text: JSON.stringify({ correct: null, error }), isGraded: false })
  if ("error" in pair) return Effect.succeed(failure(pair.error))
  return gradePair(grader, pair.gold, pair.answer).pipe(
    Effect.map((verdict) => ({ text: toJson(verdict), isGraded: true })),
    Effect.catch((error) => Effect.succeed(failure(error.message)))
  )
}

/** Grades line by line; a slow reader of the output slows the reading down. Gives how many lines were not graded. */
const gradeLines = async (grader: AnswerGrader, file: string, signal: AbortSignal): Promise<number> => {
  const input = file === "-" ? process.stdin : createReadStream(file)
  let ungraded = 0
  // An error of the file reaches the loop through its lines only when somebody listens to it.
  const broken = new Promise<never>((_, reject) => input.once("error", reject))
  broken.catch(() => {})
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await Promise.race([lines.next(), broken])
    if (done === true || signal.aborted) return ungraded
    if (value.trim() === "") continue
    const { isGraded, text } = await Effect.runPromise(gradeLine(grader, value))
    if (!isGraded) ungraded++
    if (!process.stdout.write(`${text}\n`)) await once(process.stdout, "drain", { signal })
  }
}

const gradeFile = (grader: AnswerGrader, file: string) =>
  Effect.flatMap(
    Effect.tryPromise({
      try: (signal) => gradeLines(grader, file, signal),
      catch: (error) => usage(`Cannot read ${file}: ${messageOf(error)}.`)
    }),
    (ungraded) =>
      ungraded === 0
        ? Effect.void
        : Effect.fail(failed(`${ungraded} ${ungraded === 1 ? "line was" : "lines were"} not graded.`))
  )

const gradeOne = (grader: AnswerGrader, gold: string, answer: string) =>
  gradePair(grader, gold, answer).pipe(
    Effect.mapError((error) => failed(error.message)),
    Effect.tap((verdict) => Console.log(toJson(verdict))),
    Effect.flatMap(({ correct }) => (correct ? Effect.void : Effect.fail(silent(exitCodes.failed))))
  )

/** Grades what the flags say. */
export const grade = (input: GradeInput) => {
  const grader = Graders.named(input.grader)
  if (grader === undefined) {
    return Effect.fail(usage(`There is no grader "${input.grader}". There are ${Graders.names.join(", ")}.`))
  }
  if (input.lines) return gradeFile(grader, input.file)
  const [gold, answer] = [Option.getOrUndefined(input.gold), Option.getOrUndefined(input.answer)]
  return gold === undefined || answer === undefined
    ? Effect.fail(usage("Give --lines and a file, or --gold and --answer."))
    : gradeOne(grader, gold, answer)
}
