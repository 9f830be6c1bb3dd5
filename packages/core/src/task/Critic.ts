/**
 * Critics score the answer of a round during a run, so that the policy can improve it in the next round.
 *
 * A critic can be a grader, if the reference answer is known or the answer is verifiable, or a worker that acts as a
 * judge.
 */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import { ask, type Grade, type Grader, type GraderError } from "./Grader.ts"
import { question, type Task } from "./Task.ts"
import type { BudgetExceeded, Paid } from "./Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "./Worker.ts"

/** The input of a critic. */
export interface Context {
  readonly task: Task
  readonly answer: string
  /** Calls a worker. The call is charged to the run's budget, retried on failure, and recorded. */
  readonly ask: (worker: Worker, request: WorkerRequest) => Effect.Effect<{ readonly text: string } & Paid, AskError>
}

type AskError = WorkerError | BudgetExceeded

/** Scores an answer from 0 to 1. The explanation is passed to the policy in the next round. */
export interface Critic {
  readonly name: string
  readonly score: (context: Context) => Effect.Effect<Grade, GraderError | AskError>
  /**
   * Workers that the critic calls. Under a cost limit, a run is rejected before its first call if one of them has no
   * known price.
   */
  readonly workers?: ReadonlyArray<Worker> | undefined
}

/** Creates a critic from a grader. Such a critic makes no calls and costs nothing. */
export const fromGrader = (grader: Grader): Critic => ({
  name: grader.name,
  score: ({ answer, task }) => ask(grader, task, answer)
})

/** Default prompt for a worker that acts as a critic. */
const defaultInstruction =
  "Judge the answer below. Say in one or two sentences what is wrong with it, or that nothing is. " +
  "End with a line `Score: N`, where N is 0 (useless) to 10 (certainly right and complete)."

/** Returns the last score mentioned in a text, scaled to the range 0 to 1, or `undefined` if there is no score. */
const scoreOf = (text: string): number | undefined => {
  const last = [...text.matchAll(/score\W{1,5}(\d{1,2}(?:\.\d+)?)/gi)].at(-1)?.[1]
  return last === undefined || Number(last) > 10 ? undefined : Number(last) / 10
}

/**
 * Creates a critic that asks a worker for a score. If the reply contains no readable score, the score is 0 and the
 * explanation mentions this.
 *
 * **Example**
 *
 * ```ts
 * import { Critic } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 *
 * const critic = Critic.fromWorker(ScriptedWorker.make({ id: "judge", replies: ["A digit is missing. Score: 4"] }))
 * critic.name // => "judge"
 * ```
 */
export const fromWorker = (worker: Worker, options: { readonly instruction?: string | undefined } = {}): Critic => {
  Options.check("Critic.fromWorker", options, { instruction: Options.name })
  return {
    name: worker.id,
    workers: [worker],
    score: ({ answer, ask, task }) => {
      const content = `${options.instruction ?? defaultInstruction}\n\nQuestion:\n${question(task)}\n\nAnswer:\n${answer}`
      return Effect.map(ask(worker, { messages: [{ role: "user", content }] }), ({ text }) => {
        const score = scoreOf(text)
        return {
          score: score ?? 0,
          correct: score === 1,
          explanation: score === undefined ? `No score could be read in: ${text}` : text
        }
      })
    }
  }
}
