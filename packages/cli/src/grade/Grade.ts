/** Grades a single answer, or a stream of answers. */
import { once } from "node:events"
import { createReadStream } from "node:fs"
import { Nearest } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { JsonLines } from "@divisi/files"
import { Graders, JudgeGrader, type Sandbox, type Verdict } from "@divisi/graders"
import { Sandboxes } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitCodes, type Failure, failed, messageOf, silent, usage } from "../invocation/Failure.ts"
import * as NoEffect from "../invocation/NoEffect.ts"
import { stdout } from "../invocation/Output.ts"
import * as OwnModule from "../team/OwnModule.ts"
import type { GradeInput } from "./flags.ts"

/** A reference answer with the answer to grade, or an error if the line contains none. */
type Pair =
  | { readonly gold: string; readonly answer: string; readonly question: string; readonly label: boolean | undefined }
  | { readonly error: string }

/** Returns a reference answer: a string, a number, or a data set record with tests for a program. */
const goldOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : asText(value)

const asText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined

const pairOf = (line: string): Pair => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { error: "the line is not JSON" }
  }
  if (typeof value !== "object" || value === null) return { error: "the line is not a JSON object" }
  const gold = goldOf("gold" in value ? value.gold : undefined)
  const answer = asText("answer" in value ? value.answer : undefined)
  if (gold === undefined) return { error: '"gold" is missing or not a string' }
  if (answer === undefined) return { error: '"answer" is missing or not a string' }
  const question = asText("question" in value ? value.question : undefined) ?? ""
  return {
    gold,
    answer,
    question,
    label: "label" in value && typeof value.label === "boolean" ? value.label : undefined
  }
}

const toJson = ({ absence, correct, explanation, extracted, rung }: Verdict.Verdict): string =>
  JSON.stringify({ correct, rung, extracted, explanation, absence })

const gradePair = (grader: Verdict.AnswerGrader, gold: string, answer: string, question = "") =>
  grader.grade(Task.make({ id: "answer", question, reference: gold }), answer)

/** The result for one line. */
interface Graded {
  readonly text: string
  /** Omitted if the answer could not be graded. */
  readonly correct?: boolean | undefined
  /** The human label in the line, if any. */
  readonly label?: boolean | undefined
}

/** Grades one line and returns the verdict as JSON. */
const gradeLine = (grader: Verdict.AnswerGrader, line: string): Effect.Effect<Graded> => {
  const pair = pairOf(line)
  const failure = (error: string): Graded => ({ text: JSON.stringify({ correct: null, error }) })
  if ("error" in pair) return Effect.succeed(failure(pair.error))
  const { answer, gold, label, question } = pair
  return gradePair(grader, gold, answer, question).pipe(
    Effect.map((verdict): Graded => ({ text: toJson(verdict), correct: verdict.correct })),
    Effect.catch((error) => Effect.succeed(failure(error.message))),
    Effect.map((graded) => (label === undefined ? graded : { ...graded, label }))
  )
}

/** Counters for the lines of a file. */
interface Tally {
  ungraded: number
  readonly labelled: Array<readonly [verdict: boolean | undefined, label: boolean]>
}

/** Grades a file line by line. Input is read only as fast as the output is consumed. */
const gradeLines = async (grader: Verdict.AnswerGrader, file: string, signal: AbortSignal): Promise<Tally> => {
  const input = (file === "-" ? process.stdin : createReadStream(file)).setEncoding("utf8")
  const tally: Tally = { ungraded: 0, labelled: [] }
  for await (const line of JsonLines.textsOf(file === "-" ? "Standard input" : file, input as AsyncIterable<string>)) {
    if (signal.aborted) break
    if (line.trim() === "") continue
    const { correct, label, text } = await Effect.runPromise(gradeLine(grader, line))
    if (correct === undefined) tally.ungraded++
    if (label !== undefined) tally.labelled.push([correct, label])
    if (!stdout.write(`${text}\n`)) await once(stdout, "drain", { signal })
  }
  return tally
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

/** Prints the agreement with human labels to standard error. */
const tellAgreement = ({ labelled }: Tally): void => {
  if (labelled.length === 0) return
  const { accuracy, count, falseNegatives, falsePositives, kappa, ungraded } = JudgeGrader.agreementOf(labelled)
  const parts = [
    count === 0 ? "no verdict" : `agrees with ${percent(accuracy)} of ${count} labels`,
    ...(count === 0
      ? []
      : [`kappa ${kappa.toFixed(2)}`, `false positives: ${falsePositives}`, `false negatives: ${falseNegatives}`]),
    ...(ungraded === 0 ? [] : [`${ungraded} without a verdict`])
  ]
  process.stderr.write(`divisi: ${parts.join(", ")}\n`)
}

const gradeFile = (grader: Verdict.AnswerGrader, file: string) =>
  Effect.flatMap(
    Effect.tryPromise({
      try: (signal) => gradeLines(grader, file, signal),
      catch: (error) =>
        usage(error instanceof JsonLines.LineError ? error.message : `Cannot read ${file}: ${messageOf(error, file)}.`)
    }),
    (tally) => {
      tellAgreement(tally)
      const { ungraded } = tally
      return ungraded === 0
        ? Effect.void
        : Effect.fail(failed(`${ungraded} ${ungraded === 1 ? "line was" : "lines were"} not graded.`))
    }
  )

const gradeOne = (grader: Verdict.AnswerGrader, gold: string, answer: string) =>
  gradePair(grader, gold, answer).pipe(
    Effect.mapError((error) => failed(error.message)),
    Effect.tap((verdict) => Effect.sync(() => void stdout.write(`${toJson(verdict)}\n`))),
    Effect.flatMap(({ correct }) => (correct ? Effect.void : Effect.fail(silent(exitCodes.failed))))
  )

const judge = "judge:"

/** Returns a grader by name. `judge:openai:gpt-6.1-terra` uses that model as a judge. */
const graderOf = (name: string, sandbox: Sandbox.Sandbox): Effect.Effect<Verdict.AnswerGrader, Failure> => {
  if (name.startsWith(judge)) {
    return Effect.gen(function* () {
      const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
      const [workers] = yield* WorkerName.workers([name.slice(judge.length)])
      return JudgeGrader.make({ worker: workers![0]! })
    })
  }
  if (OwnModule.isPath(name)) return OwnModule.grader(name)
  const grader = Graders.named(name, sandbox)
  const meant = Nearest.nearest(name, Graders.names)
  return grader === undefined
    ? Effect.fail(
        usage(
          `Unknown grader "${name}".${Nearest.didYouMean(meant)} Available: ${[...Graders.names, "judge:<vendor>:<model>", "./<file>.ts"].join(", ")}.`
        )
      )
    : Effect.succeed(grader)
}

/** Grades the answers specified by the flags. */
export const grade = (input: GradeInput) =>
  Effect.gen(function* () {
    const makeSandbox = Sandboxes.named(input.sandbox)
    if (makeSandbox === undefined) {
      return yield* usage(`Unknown sandbox "${input.sandbox}". Available: ${Sandboxes.names.join(", ")}.`)
    }
    const grader = yield* graderOf(input.grader, yield* makeSandbox)
    if (input.lines) {
      yield* NoEffect.besides("lines", { gold: input.gold, answer: input.answer })
      return yield* gradeFile(grader, input.file)
    }
    const [gold, answer] = [Option.getOrUndefined(input.gold), Option.getOrUndefined(input.answer)]
    if (gold === undefined || answer === undefined) {
      return yield* usage(
        "Pass --lines, or --gold and --answer. With --lines, the answers are read from a file or standard input."
      )
    }
    return yield* gradeOne(grader, gold, answer)
  }).pipe(Effect.scoped)
