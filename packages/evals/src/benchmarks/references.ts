/** Checks reference answers before any call is paid for, by grading each of them with its own grader. */
import type * as Task from "@divisi/core/Task"
import type { Verdict } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { Sandboxes } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"

/** Graders whose reference contains tests for a program instead of an answer. */
const ofPrograms = new Set(
  [CodeGrader.liveCodeBench(Sandboxes.shared), CodeGrader.bigCodeBench(Sandboxes.shared)].map(({ name }) => name)
)

const maxShown = 60

/** Shortens a text to one line, for errors. */
export const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > maxShown ? `${line.slice(0, maxShown - 1)}…` : line
}

/** Returns the reason why no answer to a task can be graded as correct, or `undefined` if one can. */
export const problemOf = (task: Task.Task, grader: Verdict.AnswerGrader): Effect.Effect<string | undefined> => {
  const { name } = grader
  const { reference = "" } = task
  const isProgram = ofPrograms.has(name)
  return Effect.match(grader.grade(task, isProgram ? "" : reference), {
    onFailure: ({ detail }) => detail,
    onSuccess: ({ correct }) =>
      correct || isProgram ? undefined : `the ${name} grader rejects the reference answer "${short(reference)}"`
  })
}
