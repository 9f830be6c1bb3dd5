/** Grades an answer from the pool. Programs run in the sandbox. */

import * as Task from "@divisi/core/Task"
import { LetterGrader, Sandbox, Sandboxes } from "@divisi/graders"
import { IntegerGrader, MathGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import type { Question } from "./Questions.ts"
import type { Way } from "./Ways.ts"

const code = (text: string): string => /```(?:python|py)?\s*\n([\s\S]*?)(?:```|$)/.exec(text)?.[1] ?? text

const run = (program: string) =>
  Effect.map(Sandbox.run(Sandboxes.shared, { code: program, limits: { wallMillis: 20_000 } }), (execution) =>
    execution.type === "finished" ? execution : undefined
  )

const graderOf = ({ kind }: Question) =>
  kind === "math500"
    ? MathGrader.math500
    : kind === "mmlu" || kind === "docs"
      ? LetterGrader.letter
      : IntegerGrader.integer

const passes = Effect.fnUntraced(function* ({ reference }: Question, answer: string) {
  const execution = yield* run(`${code(answer)}\n${reference}\nprint("passed")`)
  const correct = execution?.exitCode === 0 && Sandbox.lastLine(execution.stdout) === "passed"
  return { correct, extracted: correct ? "passes" : "fails" }
})

/** Grades one answer. A program's output, not its text, is the answer of the way `program`. */
export const grade = Effect.fnUntraced(function* (question: Question, way: Way, answer: string) {
  if (question.kind === "programs") return yield* passes(question, answer)
  const execution = way === "program" ? yield* run(code(answer)) : undefined
  const last = execution?.exitCode === 0 ? Sandbox.lastLine(execution.stdout) : ""
  const text = way !== "program" ? answer : question.kind === "math500" ? `\\boxed{${last}}` : last
  if (text.trim() === "") return { correct: false }
  const grader = graderOf(question)
  const task = Task.make({ id: question.id, question: question.text, reference: question.reference })
  const { correct, extracted } = yield* grader.grade(task, text)
  return extracted === undefined ? { correct } : { correct, extracted }
})
