/**
 * The toy recipe: twelve questions from the gym, three of its workers, and a lookup table that memorizes which worker
 * to ask. It needs no additional installation and demonstrates a training run in seconds. With the engine `jax`, the
 * table is replaced by a transformer with a hundred thousand weights, which can be exported and run.
 */
import { Prompt } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import { ExampleSource, TaskSource } from "@divisi/trainer"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import { grpo, warmStart } from "@divisi/trainer/TrainingConfig"
import * as Result from "effect/Result"
import type { Recipe, Training } from "../Recipe.ts"

const workers = ["abacus", "almanac", "converter"]

/** The prompt contains only the question, because a table cannot read a list of workers. */
const template: Prompt.Template = { ...Prompt.emptyTemplate, question: "{question}" }

/** Pieces long enough that a workflow takes only a few tokens. */
const pieces = ["model_id = [", "]\nsubtasks = [", "]\naccess_list = [", '""', "[]", "0", "1", "2", ", ", "]"]

const plan = (chosen: ReadonlyArray<number>) => ({
  text: [
    `model_id = [${chosen.join(", ")}]`,
    `subtasks = [${chosen.map(() => '""').join(", ")}]`,
    `access_list = [${chosen.map(() => "[]").join(", ")}]`
  ].join("\n")
})

const steady = { type: "constant", warmUpRatio: 0 } as const

const plans = [[0], [1], [2], [0, 1], [1, 2], [2, 0]].map(plan)

/** The trained model, and how it is trained. */
interface Holder {
  readonly engine: Training["engine"]
  /** Returns a question for the examples that teach the format of a plan. */
  readonly question: (index: number) => string
  readonly steps: number
  readonly learningRates: { readonly examples: number; readonly rewards: number }
}

/** Creates a lookup table, which only distinguishes whether two prompts are equal. */
const table = (seed: number): Holder => ({
  engine: ToyEngine.make({ pieces, order: 5, seed }),
  question: (index) => `anything ${index}`,
  steps: 20,
  learningRates: { examples: 0.2, rewards: 0.2 }
})

/** Creates a transformer. It reads the words of a question, so its examples use the actual questions. */
const transformer = async (questions: ReadonlyArray<string>, seed: number): Promise<Holder> => {
  const ToyTransformer = await import("./ToyTransformer.ts")
  return {
    engine: ToyTransformer.engine([...questions, ...plans.map(({ text }) => text)], seed),
    question: (index) => questions[index % questions.length]!,
    steps: 60,
    learningRates: { examples: 4e-3, rewards: 1e-3 }
  }
}

/** Creates the recipe for a seed. */
export const toy: Recipe = ({ engine, seed }) => {
  const tasks = Gym.tasks({
    split: "train",
    count: 12,
    seed,
    families: ["arithmetic", "calendar", "units"],
    composites: 0
  })
  return engine === "jax"
    ? transformer(tasks.map(Task.question), seed).then((holder) => trainingOf(tasks, holder))
    : trainingOf(tasks, table(seed))
}

const trainingOf = (tasks: ReadonlyArray<Task.Task>, { engine, learningRates, question, steps }: Holder): Training => {
  return {
    name: "toy",
    engine,
    pool: Result.getOrThrow(WorkerPool.subset(GymPool.make({ latencyMillis: 0 }), workers)),
    grader: GymGrader.grader,
    tasks: { gym: TaskSource.fromTasks("twelve questions of the gym", tasks) },
    examples: {
      plans: ExampleSource.make("plans of any worker", (_, index) => ({
        messages: [{ role: "user", content: question(index) }],
        completions: plans
      }))
    },
    phases: [
      warmStart({
        name: "warm start",
        examples: "plans",
        steps,
        batch: 3,
        optimizer: { learningRate: learningRates.examples, schedule: steady }
      }),
      grpo({
        name: "learn",
        tasks: "gym",
        iterations: 30,
        questions: 6,
        groupSize: 8,
        optimizer: { learningRate: learningRates.rewards, schedule: steady },
        rollouts: { prompt: { template, examples: [] }, maxTokens: 24, run: { maxSteps: 3 } }
      })
    ],
    dryRun: { asksWorkers: true, secondsPerCall: { low: 0, high: 0.001 } }
  }
}
