/**
 * Validates the reference answers in a questions file before any call is paid for, by grading each of them with its own
 * grader.
 */
import * as Task from "@divisi/core/Task"
import { Graders, type Verdict } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { Sandboxes } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Format from "../view/Format.ts"
import { clean } from "../view/Line.ts"

/** Maximum number of questions listed in the error. */
const shown = 3

/** Graders whose reference contains tests for a program instead of an answer. */
const ofPrograms = new Set(
  [CodeGrader.liveCodeBench(Sandboxes.shared), CodeGrader.bigCodeBench(Sandboxes.shared)].map(({ name }) => name)
)

const short = (text: string): string => {
  const line = clean(text.replaceAll(/\s+/g, " ").trim())
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/** Returns the reason why no answer to a task can be graded as correct, or `undefined` if one can. */
const problemOf = (task: Task.Task, name: string, grader: Verdict.AnswerGrader): Effect.Effect<string | undefined> => {
  const { reference = "" } = task
  return Effect.match(grader.grade(task, ofPrograms.has(name) ? "" : reference), {
    onFailure: ({ detail }) => detail,
    onSuccess: ({ correct }) =>
      correct || ofPrograms.has(name)
        ? undefined
        : `the ${name} grader rejects the reference answer "${short(reference)}"`
  })
}

/**
 * Returns an error message if the file contains questions that no answer can satisfy, such as `"answer": "seven"` with
 * the grader `integer`. Judges and user-supplied graders are skipped, since they may cost money or compare in another
 * way.
 */
export const problem = (
  file: string,
  tasks: ReadonlyArray<Task.Task>,
  grader: Verdict.AnswerGrader,
  fallback = "text"
): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    const found: Array<string> = []
    for (const task of tasks) {
      const name = String(task.metadata?.grader ?? (task.metadata?.options === undefined ? fallback : "letter"))
      const reason = Graders.names.includes(name) ? yield* problemOf(task, name, grader) : undefined
      if (reason !== undefined) found.push(`"${short(Task.question(task))}": ${reason}`)
    }
    if (found.length === 0) return undefined
    const more = found.length > shown ? `; and ${found.length - shown} more` : ""
    return `${file} has ${Format.count(found.length, "question")} for which no answer counts as correct. ${found.slice(0, shown).join("; ")}${more}. No worker was called.`
  })
