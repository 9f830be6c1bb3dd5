/** Trains the head of a reading Conductor on complete runs with generated teams, using the trainer's GRPO. */
import fs from "node:fs"
import { Grader } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import { GymGrader } from "@divisi/gym"
import type * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { TaskSource, Trainer } from "@divisi/trainer"
import * as TrainingConfig from "@divisi/trainer/TrainingConfig"
import * as Effect from "effect/Effect"
import { retry } from "../gym/ComparedPolicies.ts"
import type * as Teams from "../world/Teams.ts"
import * as ReadingEngine from "./ReadingEngine.ts"
import { maxSteps } from "./TeamRuns.ts"

/** The options of a training on whole runs. */
export interface Options {
  /** The folder of the trainer's run. Its contents are replaced. */
  readonly folder: string
  readonly seed: number
  readonly iterations: number
  /** 0.003 by default. */
  readonly learningRate?: number | undefined
  /** The teams whose questions are used. */
  readonly teams: ReadonlyArray<Teams.Team>
  /** Adds to the gradient of each step, upwards, so that what was learned before is kept. */
  readonly addLessons?: ((sums: ChoiceHead.Weights, head: ChoiceHead.Weights) => void) | undefined
  /** Called after each iteration with the mean reward. */
  readonly onIteration?: ((iteration: number, reward: number) => void) | undefined
}

/** Questions of an iteration. */
export const questions = 8

const phase = ({ iterations, learningRate = 0.003 }: Options) =>
  TrainingConfig.grpo({
    name: "whole-runs",
    iterations,
    questions,
    groupSize: 8,
    optimizer: { learningRate, beta2: 0.99, schedule: { type: "constant", warmUpRatio: 0 } },
    // The lists follow from the choices before them.
    objective: { mean: "token", weights: { thought: 1, lists: 0 } },
    rollouts: {
      run: { maxSteps, retry },
      // More than any plan has: a token is a byte.
      maxTokens: 32_768,
      penalties: { perCall: 0.01, perCriticalStep: 0.02, perUsd: 300 }
    }
  })

/** A right answer counts as right, and so does a refusal if no worker can answer. */
const graderOf = (isAnswerable: (task: Task) => boolean): Grader.Grader => ({
  name: "teams",
  grade: (task, answer) =>
    isAnswerable(task) ? GymGrader.grader.grade(task, answer) : Effect.succeed(Grader.verdict(false)),
  gradeRefusal: (task) => Effect.succeed(Grader.verdict(!isAnswerable(task)))
})

/** Trains the head of a model and returns its weights. The model itself is not changed. */
export const train = Effect.fnUntraced(function* (model: ReadingPolicy.Model, options: Options) {
  const { addLessons, folder, onIteration, seed, teams } = options
  fs.rmSync(folder, { recursive: true, force: true })
  const engine = ReadingEngine.make(model)
  const teamOf = new Map(teams.map((team) => [team.task, team]))
  const tasks = TaskSource.fromTasks(
    "teams",
    teams.map(({ task }) => task)
  )
  const parts: Trainer.Parts = {
    engine: {
      ...engine,
      step: (settings) => Effect.andThen(addLessons ? engine.teach(addLessons) : Effect.void, engine.step(settings))
    },
    // Of the first question, for the record: each has its own.
    pool: teams[0]!.pool,
    tasks: { tasks: { ...tasks, pool: (task) => teamOf.get(task)?.pool } },
    grader: graderOf((task) => teamOf.get(task)?.isAnswerable === true),
    policy: (writer) => ReadingPolicy.of(writer, { temperature: 1 })
  }
  const input = { phases: [phase(options)], seed, recordRollouts: false }
  yield* Trainer.start(parts, input, {
    folder,
    listener: (event) => {
      if (event.type === "iteration-finished" && event.metrics.type === "grpo") {
        onIteration?.(event.metrics.iteration + 1, event.metrics.rewardMean)
      }
    }
  })
  return engine.head()
})
