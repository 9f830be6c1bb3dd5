/**
 * The gym recipe: trains a Conductor with under a million weights from scratch in the offline gym, on two processor
 * cores.
 */

import { Tokenizer } from "@divisi/gguf/browser"
import { GymGrader } from "@divisi/gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as TinyPrompt from "@divisi/policy-tiny/TinyPrompt"
import { TaskSource } from "@divisi/trainer"
import { type GrpoInput, grpo, recursion, warmStart } from "@divisi/trainer/TrainingConfig"
import { Induction } from "@divisi/trainer-jax"
import * as ChatTemplate from "@divisi/trainer-jax/ChatTemplate"
import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
import * as Effect from "effect/Effect"
import type { Recipe } from "../Recipe.ts"
import * as Draw from "./Draw.ts"
import { heldOutPools } from "./HeldOutPools.ts"
import * as Plan from "./Plan.ts"
import * as WarmStart from "./WarmStart.ts"

/** Samples any subset of the pool, except the pools held out for testing. */
const pools = (min: number, max: number) => ({ type: "random", min, max, heldOut: heldOutPools }) as const

/** All gym workers, without simulated latency. */
const pool = GymPool.make({ latencyMillis: 0 })

const tokenizerOf = Effect.gen(function* () {
  const source = WarmStart.examples("corpus", {
    pool,
    pools: pools(2, 16),
    plans: 2,
    recursive: 0.2,
    composites: 0.5
  })
  const texts = yield* Effect.forEach(Array.from({ length: 2_000 }), (_, index) => source.example(0, index))
  return Tokenizer.train(
    texts.flatMap(({ completions, messages }) => [
      ...messages.map(({ content }) => `${content}\n`),
      ...completions.map(({ text }) => text)
    ]),
    { merges: 750, controlTokens: ChatTemplate.linesControlTokens, chatTemplate: ChatTemplate.lines }
  )
})

/** Returns the tokens that can start a description. */
const titles = (tokenizer: Tokenizer.Tokenizer) =>
  pool.workers.map((_, worker) => Tokenizer.encode(tokenizer, ` ${Plan.titleOf(pool, worker)}`)[0]!)

const engineOf = (seed: number) =>
  Effect.gen(function* () {
    const tokenizer = yield* tokenizerOf
    const config = {
      architecture: "llama",
      vocabularySize: tokenizer.tokens.length,
      hiddenSize: 128,
      layers: 4,
      heads: 4,
      feedForwardSize: 256,
      contextLength: 1024,
      tiedEmbeddings: true,
      ropeTheta: 1e8
    } as const
    return yield* JaxEngine.make({
      config,
      tokenizer,
      tensors: Induction.tensors(config, seed, titles(tokenizer)),
      name: "divisi-tiny",
      // More threads would be faster, but need more than 3 GB.
      threads: 2,
      // Completions of similar length are grouped, so that half of them need no padding to the longest.
      completionsPerPass: 8,
      memoryBytes: 3.6e8
    })
  })

/** Sizes that differ between full and shortened runs. */
export interface Sizes {
  readonly reading: number
  readonly finding: number
  readonly learning: number
  readonly recursing: number
  /** Number of examples per step of the warm start. */
  readonly examples: number
  /** Number of questions per iteration. */
  readonly questions: number
  /** Number of completions per question. */
  readonly group: number
}

const falling = (warmUpRatio: number) => ({ type: "cosine", warmUpRatio, finalRatio: 0.1 }) as const

const rollouts: GrpoInput["rollouts"] = {
  prompt: TinyPrompt.options,
  maxTokens: 96,
  run: { maxSteps: WarmStart.maxSteps, retry: { maxAttempts: 3, baseDelayMillis: 0 } }
}

const plansFor = (min: number, max: number) =>
  WarmStart.examples(`plans for ${min} to ${max} workers`, {
    pool,
    pools: pools(min, max),
    plans: 1,
    recursive: 0.2,
    composites: 0.7
  })

const words = WarmStart.exercises("words of descriptions", { pool, pools: pools(3, 16), composites: 0.5 })

const plansForFew = plansFor(1, 2)

/** Mostly exercises: if plans dominate the loss, the model forgets how to look up workers. */
const finding = WarmStart.mixed("words, and plans by lot", [
  { source: words, share: 7 },
  { source: plansForFew, share: 3 }
])

const reading = WarmStart.mixed("plans by lot, and words", [
  { source: plansForFew, share: 9 },
  { source: plansFor(3, 16), share: 4 },
  { source: words, share: 3 }
])

/** Returns the settings shared by both reinforcement learning phases. */
const rewarded = ({ group, questions }: Sizes): GrpoInput => ({
  tasks: "gym",
  questions,
  groupSize: group,
  minibatches: Math.min(4, questions),
  advantage: { equalBy: "correctness" },
  // Limits the distance from the warm start. Without this penalty, looking up workers gets worse while choosing them
  // gets better.
  objective: { kl: 0.03 },
  // Small subsets, so that the model also learns the second-best worker for the case that the best one is missing.
  pool: pools(3, 12),
  rollouts
})

/** Creates the recipe for the given sizes. */
export const make = (sizes: Sizes, { seed }: { readonly seed: number }) => ({
  name: "gym",
  engine: engineOf(seed),
  pool,
  grader: GymGrader.grader,
  tasks: {
    gym: TaskSource.make("the gym's training split", (seed, index) => WarmStart.anyTask(Draw.make(seed, index), 0.25))
  },
  examples: { finding, reading },
  phases: [
    warmStart({
      name: "finding",
      examples: "finding",
      steps: sizes.finding,
      batch: sizes.examples,
      optimizer: { learningRate: 2e-3, beta2: 0.95, schedule: falling(0.05) }
    }),
    warmStart({
      name: "reading",
      examples: "reading",
      steps: sizes.reading,
      batch: sizes.examples,
      optimizer: { learningRate: 2e-3, beta2: 0.95, schedule: falling(0.02) }
    }),
    grpo({
      name: "learning",
      ...rewarded(sizes),
      iterations: sizes.learning,
      // A small share, so that the model does not forget how second rounds look.
      recursion: { share: 0.1, rounds: 1 },
      optimizer: { learningRate: 2.5e-4, beta2: 0.99, schedule: falling(0.05) }
    }),
    recursion({
      name: "recursion",
      ...rewarded(sizes),
      iterations: sizes.recursing,
      optimizer: { learningRate: 1.5e-4, beta2: 0.99, schedule: falling(0.05) }
    })
  ]
})

/** The sizes for `divisi train --recipe gym`: about an hour on two processor cores. */
const whole: Sizes = {
  finding: 80,
  reading: 340,
  learning: 80,
  recursing: 16,
  examples: 32,
  questions: 12,
  group: 16
}

/** The recipe for `divisi train --recipe gym`. */
export const gym: Recipe = ({ seed }) => ({
  ...make(whole, { seed }),
  checkpoints: { every: 20, keep: 3 },
  dryRun: { asksWorkers: true, secondsPerCall: { low: 0, high: 0.01 } }
})
