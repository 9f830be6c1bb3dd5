/**
 * Measures the cost of the trainer itself: rollouts per second with an engine and workers that take no time.
 *
 * The completions are real workflows of 40 tokens; the engine samples, learns and steps for nothing. So what is left is
 * prompts, Conductor runs, grading, advantages, data, metrics and the run's folder.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Grader } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import type { Engine } from "../src/Engine.ts"
import * as RunFolder from "../src/RunFolder.ts"
import * as TaskSource from "../src/TaskSource.ts"
import * as ToyEngine from "../src/ToyEngine.ts"
import * as Trainer from "../src/Trainer.ts"
import * as TrainingConfig from "../src/TrainingConfig.ts"

const tokenizer = ToyEngine.tokenizer(["model_id = ", "subtasks = ", "access_list = ", '"Part 1"', '"Part 2"', "[], "])

const workflow = (seed: number) => {
  const [first, second] = [seed % 4, (seed + 1) % 4]
  return [
    ...tokenizer.encode(
      `Two parts.\nmodel_id = [${first}, ${second}]\nsubtasks = ["Part 1", "Part 2"]\naccess_list = [[], "all"]`
    ),
    tokenizer.endToken
  ]
}

/** Seeds that have the same remainder have the same workflow: four of them. */
const workflows = [0, 1, 2, 3].map(workflow)
const logProbs = workflows.map((tokens) => tokens.map(() => -0.1))

let version = 0
const engine: Engine = {
  ...ToyEngine.make(),
  name: "instant",
  tokenizer: { ...tokenizer, render: () => [1, 2, 3] },
  sampler: Effect.sync(() => ({
    version,
    sample: ({ count = 1, seed }) =>
      Effect.succeed(
        Array.from({ length: count }, (_, index) => ({
          tokens: workflows[(seed + index) % 4]!,
          logProbs: logProbs[(seed + index) % 4]!,
          reason: "stop" as const
        }))
      )
  })),
  forwardBackward: (data) => Effect.succeed({ logProbs: data.map((datum) => datum.logProbs!) }),
  step: () => Effect.sync(() => ({ version: ++version })),
  save: () => Effect.succeed({ reference: "nothing", version })
}

const workers = ["a", "b", "c", "d"].map((id) => ScriptedWorker.make({ id, replies: [id === "a" ? "42" : "7"] }))
const parts: Trainer.Parts = {
  engine,
  pool: WorkerPool.makeUnsafe(workers),
  grader: Grader.exact,
  tasks: {
    tasks: TaskSource.make("sums", (_, index) =>
      Task.make({ id: `t${index}`, question: `What is ${index}?`, reference: "42" })
    )
  }
}

const measure = async (questions: number, groupSize: number, recordRollouts: boolean) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bench-"))
  const iterations = 10
  const phases = [TrainingConfig.grpo({ iterations, questions, groupSize })]
  await Effect.runPromise(Trainer.start(parts, { phases, recordRollouts }, { folder }))
  const metrics = await Effect.runPromise(RunFolder.readMetrics(folder))
  fs.rmSync(folder, { recursive: true })
  // The first two iterations are for the compiler.
  const rates = metrics
    .slice(2)
    .map(({ seconds }) => (questions * groupSize) / seconds.total)
    .sort((left, right) => left - right)
  return { questions, groupSize, recordRollouts, rolloutsPerSecond: Math.round(rates[Math.floor(rates.length / 2)]!) }
}

const before = process.cpuUsage()
const results = [
  await measure(4, 64, true),
  await measure(16, 16, true),
  await measure(16, 64, true),
  await measure(16, 64, false)
]
const { system, user } = process.cpuUsage(before)
const rollouts = 10 * results.reduce((sum, { groupSize, questions }) => sum + questions * groupSize, 0)
console.log(
  JSON.stringify(
    { load: os.loadavg()[0], results, cpuMicrosPerRollout: Math.round((system + user) / rollouts) },
    null,
    2
  )
)
