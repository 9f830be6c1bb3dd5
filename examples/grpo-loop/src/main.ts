/**
 * GRPO on one page: a policy learns which worker to ask, from nothing but the rewards of its own attempts.
 *
 * Shapes are in the names: `Q` the questions, `G` the completions of one question (a group), `T` the tokens of one.
 */
import assert from "node:assert/strict"
import { Grader, WorkflowText } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as ToyEngine from "@divisi/trainer/ToyEngine"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const settings = { seed: 0, iterations: 15, groupSize: 8, stepsPerIteration: 2, learningRate: 0.2, maxTokens: 8 }

// The world: twelve questions of three kinds, and three workers, each of whom is good at one kind.
const families = ["arithmetic", "calendar", "units"] as const
const tasks_Q = Gym.tasks({ split: "train", count: 12, seed: settings.seed, families, composites: 0 })
const pool = Result.getOrThrow(
  WorkerPool.subset(GymPool.make({ latencyMillis: 0 }), ["abacus", "almanac", "converter"])
)

// The model: a table of numbers that sees the question and its own last tokens. Any other `Engine` fits here as well.
const workflowText = (worker: number) => `model_id = [${worker}]\nsubtasks = [""]\naccess_list = [[]]`
const engine = ToyEngine.make({ pieces: ["model_id = [", "0", "1", "2", ']\nsubtasks = [""]\naccess_list = [[]]'] })
const { decode, encode, endToken, render } = engine.tokenizer

const meanOf = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Supervised steps, so that the policy writes workflows at all: one for each worker, whatever the question. */
const warmUp = Effect.gen(function* () {
  const data = [0, 1, 2].map((worker) => ({ prompt: [], completion: [...encode(workflowText(worker)), endToken] }))
  for (let step = 0; step < 30; step++) {
    yield* engine.forwardBackward(data, { type: "crossEntropy" })
    yield* engine.step({ learningRate: settings.learningRate })
  }
})

/** Runs what a completion proposes: 0 if it is no workflow, 0.5 if the answer is wrong, 1 if it is right. */
const rewardOf = Effect.fnUntraced(function* (task: Task, completion: string) {
  const reading = WorkflowText.read(completion, { poolSize: WorkerPool.size(pool) })
  if (Result.isFailure(reading)) return Grader.reward("unreadable")
  const policy = Policy.fixed("completion", () => reading.success.workflow)
  const { answer } = yield* Conductor.make({ policy, pool, retry: { baseDelayMillis: 0 } }).run(task)
  const grade = yield* GymGrader.grader.grade(task, answer ?? "")
  return Grader.reward(grade.correct ? "correct" : "wrong")
})

/** How much better each completion is than its group. A group of equals teaches nothing. */
const advantagesOf = (rewards_G: ReadonlyArray<number>): ReadonlyArray<number> => {
  const mean = meanOf(rewards_G)
  const deviation = Math.sqrt(meanOf(rewards_G.map((reward) => (reward - mean) ** 2)))
  return rewards_G.map((reward) => (deviation === 0 ? 0 : (reward - mean) / deviation))
}

/** Samples a group of completions for one question, and says what each is worth. */
const rollOut = Effect.fnUntraced(function* (task: Task, seed: number) {
  const { groupSize, maxTokens } = settings
  const prompt = render(task.messages)
  const sampler = yield* engine.sampler
  const samples_G = yield* sampler.sample({ prompt, maxTokens, count: groupSize, seed })
  const rewards_G = yield* Effect.forEach(samples_G, ({ tokens }) => rewardOf(task, decode(tokens)))
  const advantages_G = advantagesOf(rewards_G)
  const data_G = samples_G.map(({ logProbs: logProbs_T, tokens: tokens_T }, member) => ({
    prompt,
    completion: tokens_T,
    // The log-probabilities under the weights that sampled it: the ratio of the loss is taken against them.
    logProbs: logProbs_T,
    advantages: tokens_T.map(() => advantages_G[member]!),
    // An engine sums over tokens. These weights make that a mean over completions, and within each over its tokens.
    weights: tokens_T.map(() => 1 / (tasks_Q.length * groupSize * tokens_T.length))
  }))
  return { rewards_G, data_G }
})

/** One iteration: a group for each question from the present weights, then a few steps on all of them. */
const iterate = Effect.fnUntraced(function* (iteration: number) {
  const seedOf = (question: number) => settings.seed + 1000 * (iteration * tasks_Q.length + question)
  const groups_Q = yield* Effect.forEach(tasks_Q, (task, question) => Effect.scoped(rollOut(task, seedOf(question))))
  const data = groups_Q.flatMap(({ data_G }) => data_G)
  for (let step = 0; step < settings.stepsPerIteration; step++) {
    // From the second step on the weights have left those that sampled, and the clip says how far that may pay.
    yield* engine.forwardBackward(data, { type: "clippedRatio", low: 0.2, high: 0.2 })
    yield* engine.step({ learningRate: settings.learningRate })
  }
  const reward = meanOf(groups_Q.flatMap(({ rewards_G }) => rewards_G))
  console.log(`iteration ${String(iteration).padStart(2)}   reward ${reward.toFixed(3)} ${"=".repeat(30 * reward)}`)
  return reward
})

const learn = Effect.gen(function* () {
  yield* warmUp
  const rewards = yield* Effect.forEach(Array.from({ length: settings.iterations }).keys(), iterate)
  assert(rewards.at(0)! < 0.5, "at first few completions are workflows, and those ask anybody")
  assert(rewards.at(-1)! > 0.95, "in the end it knows whom to ask")
})

await Effect.runPromise(learn)
