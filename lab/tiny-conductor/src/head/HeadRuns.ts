/**
 * Routing heads in the gym: trained on graded answers from every worker, evolved on complete runs, and compared on
 * other questions with the best single worker, the router's table and the lexical rule.
 */
import { Baselines, Embedder } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as TaskOf from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import { Evolution, Head, HeadPolicy, Outcomes, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { retry } from "../gym/ComparedPolicies.ts"

/** The amounts of training and measurement, per seed. */
export interface Options {
  readonly seed: number
  /** Questions that every worker answers, to fit to. */
  readonly graded: number
  /** Questions to evolve on, those among them, and to validate with. */
  readonly tasks: number
  readonly validation: number
  readonly test: number
  readonly generations: number
  readonly weights?: Evolution.Options["weights"]
  readonly sigma?: number | undefined
  readonly runs?: number | undefined
  readonly population?: number | undefined
  readonly scorePerUsd: number
  readonly embedder?: Embedder.Embedder | undefined
  readonly say?: ((text: string) => void) | undefined
}

/** The result of a question. */
export interface Run {
  readonly task: string
  readonly right: number
  readonly costUsd: number
  readonly calls: number
  /** Of the policy's first decision. */
  readonly millis: number
}

/** A policy with its runs on the test questions, in their order. */
export interface Measured {
  readonly policy: string
  readonly runs: ReadonlyArray<Run>
}

/** The results of one seed. */
export interface Found {
  readonly measured: ReadonlyArray<Measured>
  readonly training: Head.Training
  readonly evolved: Evolution.Evolved
}

const pool = GymPool.make({ latencyMillis: 0 })

const answer = (policy: Policy, task: Task, seed: number): Effect.Effect<Run> =>
  Effect.gen(function* () {
    let millis = 0
    const timed: Policy = {
      ...policy,
      propose: (context) =>
        Effect.suspend(() => {
          const startedAt = performance.now()
          // Only the first decision: later ones may wait for a verifier.
          return Effect.tap(policy.propose(context), () =>
            Effect.sync(() => {
              if (context.round === 0) millis = performance.now() - startedAt
            })
          )
        })
    }
    const conductor = Conductor.make({ policy: timed, pool, retry, reassign: "never", seed })
    const result = yield* conductor.run(task)
    const isRight = result.ending === "answered" && GymGrader.isCorrect(result.answer ?? "", task.reference!)
    return {
      task: task.id,
      right: isRight ? 1 : 0,
      costUsd: result.spend.costUsd,
      calls: result.spend.calls,
      millis
    }
  })

/** Questions with the score of each single worker. */
const gradedBy = (tasks: ReadonlyArray<Task>, seed: number) =>
  Effect.forEach(tasks, (task) =>
    Effect.map(
      Effect.forEach(WorkerPool.ids(pool), (id) =>
        Effect.map(answer(Baselines.single(id), task, seed), (run) => [id, run] as const)
      ),
      (runs): Outcomes.GradedQuestion => ({
        id: task.id,
        kind: Gym.metadata(task)?.family,
        text: TaskOf.question(task),
        scores: new Map(runs.map(([id, { right }]) => [id, right])),
        costUsd: new Map(runs.map(([id, { costUsd }]) => [id, costUsd])),
        answers: new Map(),
        at: 0
      })
    )
  )

/** Learns and measures with one seed. */
export const measure = Effect.fnUntraced(function* (options: Options) {
  const { embedder = Embedder.hashed(), say = () => {}, seed } = options
  const train = Gym.tasks({ split: "train", count: Math.max(options.graded, options.tasks), seed: seed * 10_000 })
  const graded = yield* gradedBy(train.slice(0, options.graded), seed)
  say(`seed ${seed}: ${graded.length} questions graded`)
  const examples = yield* Outcomes.examples(graded, embedder)
  const table = Result.getOrThrow(Table.fit(examples, { embedder: embedder.name }))
  const head = Result.getOrThrow(Head.fit(examples, { embedder: embedder.name }))
  const evolved = yield* Evolution.evolve({
    head,
    pool,
    grader: GymGrader.grader,
    tasks: train.slice(0, options.tasks),
    validation: Gym.tasks({ split: "validation", count: options.validation, seed: seed * 10_000 }),
    embedder,
    scorePerUsd: options.scorePerUsd,
    generations: options.generations,
    weights: options.weights,
    sigma: options.sigma,
    population: options.population,
    runs: options.runs,
    seed,
    run: { retry },
    onGeneration: ({ costUsd, fitness, fittest, generation, runs }) =>
      say(
        `seed ${seed}: generation ${generation}, fitness ${fitness.toFixed(3)}, fittest ${fittest.toFixed(3)}, ${runs} runs, $${costUsd.toFixed(2)}`
      )
  })
  const policies = [
    { ...Baselines.single(table.best), name: "best single worker" },
    Router.make(table, { embedder }),
    HeadPolicy.make(head, { name: "head, fitted", embedder }),
    HeadPolicy.make(evolved.head, { name: "head, evolved", embedder }),
    LexicalPolicy.make()
  ]
  const tasks = Gym.tasks({ split: "test", count: options.test, seed: seed * 10_000 })
  const measured = yield* Effect.forEach(policies, (policy) =>
    Effect.map(
      Effect.forEach(tasks, (task) => answer(policy, task, seed)),
      (runs): Measured => ({ policy: policy.name, runs })
    )
  )
  return { measured, training: head.training, evolved } satisfies Found
})
