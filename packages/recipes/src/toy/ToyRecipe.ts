/**
 * The toy recipe: twelve questions of the gym, three of its workers, and a table of numbers that learns by heart whom
 * to ask. It needs nothing that is not installed, and shows in seconds what a training run is.
 */
import * as Prompt from "@divisi/core/Prompt"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Gym from "@divisi/gym/Gym"
import * as GymGrader from "@divisi/gym/GymGrader"
import * as GymPool from "@divisi/gym/GymPool"
import * as ExampleSource from "@divisi/trainer/ExampleSource"
import * as TaskSource from "@divisi/trainer/TaskSource"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import { grpo, warmStart } from "@divisi/trainer/TrainingConfig"
import * as Result from "effect/Result"
import type { Recipe } from "../Recipe.ts"

const workers = ["abacus", "almanac", "converter"]

/** The prompt is the question alone: a table cannot read a list of workers. */
const template: Prompt.Template = { ...Prompt.emptyTemplate, question: "{question}" }

/** Pieces so large that a workflow is a handful of tokens. */
const pieces = ["model_id = [", "]\nsubtasks = [", "]\naccess_list = [", '""', "[]", "0", "1", "2", ", ", "]"]

const plan = (chosen: ReadonlyArray<number>) => ({
  text: [
    `model_id = [${chosen.join(", ")}]`,
    `subtasks = [${chosen.map(() => '""').join(", ")}]`,
    `access_list = [${chosen.map(() => "[]").join(", ")}]`
  ].join("\n")
})

const steady = { type: "constant", warmUpRatio: 0 } as const

/** Made for the seed. */
export const toy: Recipe = ({ seed }) => {
  const tasks = Gym.tasks({
    split: "train",
    count: 12,
    seed,
    families: ["arithmetic", "calendar", "units"],
    composites: 0
  })
  return {
    name: "toy",
    engine: ToyEngine.make({ pieces, order: 5, seed }),
    pool: Result.getOrThrow(WorkerPool.subset(GymPool.make({ latencyMillis: 0 }), workers)),
    grader: GymGrader.grader,
    tasks: { gym: TaskSource.fromTasks("twelve questions of the gym", tasks) },
    examples: {
      plans: ExampleSource.make("plans of any worker", (_, index) => ({
        messages: [{ role: "user", content: `anything ${index}` }],
        completions: [[0], [1], [2], [0, 1], [1, 2], [2, 0]].map(plan)
      }))
    },
    phases: [
      warmStart({
        name: "warm start",
        examples: "plans",
        steps: 20,
        batch: 3,
        optimizer: { learningRate: 0.2, schedule: steady }
      }),
      grpo({
        name: "learn",
        tasks: "gym",
        iterations: 30,
        questions: 6,
        groupSize: 8,
        optimizer: { learningRate: 0.2, schedule: steady },
        rollouts: { prompt: { template, examples: [] }, maxTokens: 24, run: { maxSteps: 3 } }
      })
    ],
    dryRun: { asksWorkers: true, secondsPerCall: { low: 0, high: 0.001 } }
  }
}
