/** The RouterDC-light router as a contender, trained on recorded scores. */
import { type Embedder, Price } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as RouterDc from "../baselines/routerDc.ts"
import type { WorkerSample } from "../baselines/samples.ts"
import { ask, type Contender, type Question, type Training } from "./Contender.ts"

const name = "routerdc-light"

/** Maximum number of training questions, used for six passes, because training is slow. */
const mostQuestions = 800
const steps = 150

/** Creates an embedder that looks up points by question text, so that no text is embedded twice. */
const lookedUp = (points: ReadonlyMap<string, Float32Array>): Embedder.Embedder => ({
  name: "looked-up",
  embed: (texts) => Effect.sync(() => texts.map((text) => points.get(text)!))
})

const samplesOf = (questions: ReadonlyArray<Question>): ReadonlyArray<WorkerSample> =>
  questions.flatMap(({ costUsd, id, scores, text }) => {
    const task = Task.make({ id, question: text })
    return [...scores].map(([worker, score]) => ({
      task,
      policy: worker,
      worker,
      score,
      costUsd: costUsd.get(worker) ?? 0,
      durationMillis: 0
    }))
  })

/** Returns the worker chosen by a policy that plans one step. */
const chosen = (policy: Policy.Policy, workers: ReadonlyArray<string>, pool: WorkerPool.WorkerPool, text: string) => {
  const task = Task.make({ id: "question", question: text })
  return Effect.runSync(
    Effect.map(
      policy.propose({
        task,
        pool,
        maxSteps: 1,
        self: false,
        round: 0,
        seed: 0,
        price: (workflow) => Price.of(workflow, { pool, task }),
        complete: () => Effect.die(new Error("a router asks no model"))
      }),
      ({ workflow }) => workers[workflow.steps[0]!.worker]!
    )
  )
}

/** Creates the contender. All questions must be known in advance, because their points are looked up. */
export const contender = (all: ReadonlyArray<Question>): Contender => {
  const embedder = lookedUp(new Map(all.map(({ point, text }) => [text, point])))
  return {
    name,
    fit: ({ questions, seed, workers }: Training) => {
      const step = Math.max(1, questions.length / mostQuestions)
      const some = Array.from(
        { length: Math.floor(questions.length / step) },
        (_, index) => questions[Math.floor(index * step)]!
      )
      const pool = WorkerPool.makeUnsafe(workers.map((id) => ScriptedWorker.echo(id)))
      return Effect.map(
        RouterDc.fit(name, samplesOf(some), embedder, { seed, steps }),
        (policy) => (question) => ask(question, chosen(policy, workers, pool, question.text))
      )
    }
  }
}
