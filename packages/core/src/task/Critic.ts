/**
 * Critics score an answer during a run, so that the Conductor can refine it round by round.
 *
 * A critic is a grader (if the reference answer is known or the answer can be verified), or a worker that acts as a
 * judge.
 */
import * as Effect from "effect/Effect"
import { ask, type Grade, type Grader, type GraderError } from "./Grader.ts"
import { question, type Task } from "./Task.ts"
import type { BudgetExceeded, Paid } from "./Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "./Worker.ts"

/** The input of a critic. */
export interface Context {
  readonly task: Task
  readonly answer: string
  /** Calls a worker. The call is budgeted, retried and recorded like any other call of the run. */
  readonly ask: (worker: Worker, request: WorkerRequest) => Effect.Effect<{ readonly text: string } & Paid, AskError>
}

type AskError = WorkerError | BudgetExceeded

/** Scores an answer from 0 to 1. The explanation is shown to the policy in the next round. */
export interface Critic {
  readonly name: string
  readonly score: (context: Context) => Effect.Effect<Grade, GraderError | AskError>
  /**
   * The workers that it calls. Under a cost limit, a run whose critic calls a worker without a price is refused before
   * its first call.
   */
  readonly workers?: ReadonlyArray<Worker> | undefined
}

/** Makes a critic from a grader. It costs nothing. */
export const fromGrader = (grader: Grader): Critic => ({
  name: grader.name,
  score: ({ answer, task }) => ask(grader, task, answer)
})

/** The default instruction for a worker that acts as a critic. */
export const defaultInstruction =
  "Judge the answer below. Say in one or two sentences what is wrong with it, or that nothing is. " +
  "End with a line `Score: N`, where N is 0 (useless) to 10 (certainly right and complete)."

/** Returns the last score in a text, from 0 to 1, or `undefined` if the text has no score. */
const scoreOf = (text: string): number | undefined => {
  const last = [...text.matchAll(/score\W{1,5}(\d{1,2}(?:\.\d+)?)/gi)].at(-1)?.[1]
  return last === undefined || Number(last) > 10 ? undefined : Number(last) / 10
}

/**
 * Makes a critic that asks a worker. A reply without a readable score counts as 0, and the explanation mentions it.
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
export const fromWorker = (worker: Worker, options: { readonly instruction?: string | undefined } = {}): Critic => ({
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
})
