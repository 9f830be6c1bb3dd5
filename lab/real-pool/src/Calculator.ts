/** A calculator as a worker: it has no model, answers sums at no cost, and declines all other questions. */

import { conduct, single } from "@divisi/core/promise"
import { GymWorker } from "@divisi/gym"
import * as Effect from "effect/Effect"
import * as Grading from "./Grading.ts"
import type { Question } from "./Questions.ts"

const calculator = GymWorker.make({
  id: "calculator",
  description: "Computes a sum exactly, and declines anything else.",
  pricing: { inputPerMillion: 0, outputPerMillion: 0 },
  skills: { arithmetic: {} }
})

/** For each question that the calculator answers, by its id: whether the answer is correct. */
export const results = async (questions: ReadonlyArray<Question>): Promise<ReadonlyMap<string, boolean>> => {
  const correct = new Map<string, boolean>()
  for (const question of questions) {
    const { transcript } = await conduct({ question: question.text, pool: [calculator], policy: single(0) })
    const { answer } = transcript
    if (answer === undefined || GymWorker.isDecline(answer)) continue
    const graded = await Effect.runPromise(Grading.grade(question, "direct", answer))
    correct.set(question.id, graded.correct)
  }
  return correct
}
