/** A small world to train in: two sorts of questions, and for each one worker that is right. */

import { Grader, Prompt } from "@divisi/core"
import { text } from "@divisi/core/Message"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import type { Pricing } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as ExampleSource from "../src/ExampleSource.ts"
import * as TaskSource from "../src/TaskSource.ts"
import * as ToyEngine from "../src/ToyEngine.ts"
import type { Parts } from "../src/Trainer.ts"
import * as TrainingConfig from "../src/TrainingConfig.ts"

/** The kind that each worker knows. */
const knows = { adder: "sum", speller: "word" } as const

/** Answers the questions of its kind, and says nonsense to others. */
const worker = (id: keyof typeof knows, pricing?: Pricing) =>
  ScriptedWorker.make({
    id,
    pricing,
    replies: ({ messages }) => {
      const [, kind, reference] = /(sum|word) (\w+)/.exec(text(messages.at(-1))) ?? []
      return kind === knows[id] ? reference! : "no idea"
    }
  })

const price: Pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 }

export const pool = WorkerPool.makeUnsafe([worker("adder", price), worker("speller", price)])

export const tasks = TaskSource.make("sums and words", (_, index) => {
  const kind = index % 2 === 0 ? "sum" : "word"
  return Task.make({
    id: `task-${index}`,
    question: `${kind} ${index % 6}`,
    reference: `${index % 6}`,
    metadata: { kind }
  })
})

/** Pieces so large that a workflow is a handful of tokens. */
export const pieces = ["model_id = [", "]\nsubtasks = [", "]\naccess_list = [", '""', "[]", "0", "1", ", ", "]"]

const lists = (workers: ReadonlyArray<number>) =>
  `model_id = [${workers.join(", ")}]\nsubtasks = [${workers.map(() => '""').join(", ")}]\naccess_list = [${workers.map(() => "[]").join(", ")}]`

/** The policy's prompt: the question alone. */
const template: Prompt.Template = {
  ...Prompt.emptyTemplate,
  question: "{question}",
  recursion: "Answered: {answer}"
}

export const prompt = { template, examples: [] }

/** Valid workflows of any worker, for any question. */
export const examples = ExampleSource.make("workflows", (_, index) => ({
  messages: [{ role: "user", content: `anything ${index % 3}` }],
  completions: [[0], [1], [0, 1]].map((workers) => ({ text: lists(workers) }))
}))

export const engine = () => ToyEngine.make({ pieces, order: 5 })

export const parts = (): Parts => ({
  engine: engine(),
  pool,
  grader: Grader.exact,
  tasks: { tasks },
  examples: { examples },
  evaluate: ({ engine, iteration, sampler }) => {
    const prompt = engine.tokenizer.render([{ role: "user", content: "sum 2" }])
    return Effect.map(sampler.sample({ prompt, maxTokens: 16, count: 8, seed: iteration }), (samples) => ({
      score: samples.filter(({ tokens }) => engine.tokenizer.decode(tokens).startsWith("model_id = [0]")).length / 8
    }))
  }
})

export const warmStart = TrainingConfig.warmStart({
  steps: 30,
  batch: 3,
  optimizer: { learningRate: 0.2, schedule: { type: "constant", warmUpRatio: 0 } }
})

/** A phase of reinforcement learning that gets somewhere in a second. */
export const grpo = (input: TrainingConfig.GrpoInput = {}) =>
  TrainingConfig.grpo({
    iterations: 20,
    questions: 4,
    groupSize: 8,
    ...input,
    optimizer: { learningRate: 0.3, schedule: { type: "constant", warmUpRatio: 0 }, ...input.optimizer },
    rollouts: { prompt, maxTokens: 24, ...input.rollouts }
  })

/** A whole run of three phases, in a second or two. */
export const phases = (isLagged: boolean): ReadonlyArray<TrainingConfig.PhaseConfig> => [
  { ...warmStart, steps: 18, batch: 3 },
  grpo({
    iterations: 8,
    groupSize: 6,
    ...(isLagged ? { offPolicySteps: 4, minibatches: 2 } : {}),
    pool: { type: "shuffled" },
    advantage: { zeroVariance: { type: "resample", maxExtra: 1 } }
  }),
  grpo({
    name: "recursion",
    iterations: 5,
    groupSize: 6,
    recursion: { share: 0.5, rounds: 1 },
    ...(isLagged ? { objective: { kl: 0.01 }, offPolicySteps: 1 } : {})
  })
]
