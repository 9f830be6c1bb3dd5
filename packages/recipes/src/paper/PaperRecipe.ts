/**
 * The paper's run: a model of 7B learns to conduct the pool of seven on mathematics, knowledge, reasoning and code;
 * then two short phases, for pools of any subset and for a recursive round.
 *
 * The hyperparameters are the paper's but for the learning rate: 1e-6 is for all weights, and LoRA wants about ten
 * times that. The paper does not say how its 960 problems are divided; here each benchmark gives a quarter.
 */
import * as WorkerPool from "@divisi/core/WorkerPool"
import { EngineError, type Tokenizer } from "@divisi/trainer/Engine"
import { type GrpoConfig, type GrpoInput, grpo } from "@divisi/trainer/TrainingConfig"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Recipe, Training } from "../Recipe.ts"
import { type SettingError, workerPrices } from "../Settings.ts"
import * as Tinker from "../Tinker.ts"
import * as Vendor from "../Vendor.ts"
import { type PaperPoolError, type PaperPoolOptions, paperPool } from "./PaperPool.ts"
import * as PaperProblems from "./Problems.ts"

// -------------------------------------------------------------------------------------------------------------------
// Sizes
// -------------------------------------------------------------------------------------------------------------------

/** How much of the paper's run is run. */
export interface Size {
  readonly name: string
  /** Problems of each of the four benchmarks. */
  readonly problems: number
  readonly iterations: number
  readonly questions: number
  readonly groupSize: number
  /** Iterations of the phase with random pools. */
  readonly adaptive: number
  /** Iterations of the phase with recursive rounds, and problems of each of its two benchmarks. */
  readonly recursion: number
  readonly recursionProblems: number
  readonly recursionQuestions: number
}

/** The paper's. */
export const whole: Size = {
  name: "paper",
  problems: 240,
  iterations: 200,
  questions: 4,
  groupSize: 64,
  adaptive: 20,
  recursion: 20,
  recursionProblems: 175,
  recursionQuestions: 18
}

/** A twentieth of the rollouts. */
export const twentieth: Size = {
  name: "paper-small",
  problems: 60,
  iterations: 40,
  questions: 4,
  groupSize: 16,
  adaptive: 6,
  recursion: 4,
  recursionProblems: 40,
  recursionQuestions: 4
}

/** Everything once. */
export const once: Size = {
  name: "paper-smoke",
  problems: 4,
  iterations: 1,
  questions: 2,
  groupSize: 4,
  adaptive: 1,
  recursion: 1,
  recursionProblems: 4,
  recursionQuestions: 2
}

// -------------------------------------------------------------------------------------------------------------------
// Phases
// -------------------------------------------------------------------------------------------------------------------

/** Ten times the paper's, for LoRA. */
const learningRate = 1e-5

const phase = (size: Size, input: GrpoInput): GrpoConfig =>
  grpo({ questions: size.questions, groupSize: size.groupSize, ...input, optimizer: { learningRate } })

/** The three phases for a pool of so many workers. */
export const phasesOf = (size: Size, workers: number): ReadonlyArray<GrpoConfig> => [
  phase(size, { name: "conductor", tasks: "problems", iterations: size.iterations, pool: { type: "fixed" } }),
  phase(size, {
    name: "adaptive pools",
    tasks: "problems",
    iterations: size.adaptive,
    pool: { type: "random", min: Math.min(2, workers), max: Math.max(1, workers - 1) }
  }),
  phase(size, {
    name: "recursion",
    tasks: "recursion",
    iterations: size.recursion,
    questions: size.recursionQuestions,
    pool: { type: "fixed" },
    recursion: { share: 0.5, rounds: 1 }
  })
]

// -------------------------------------------------------------------------------------------------------------------
// The recipe
// -------------------------------------------------------------------------------------------------------------------

const defaultModel = "Qwen/Qwen2.5-7B-Instruct"

/** The pool of the controlled setting, with what the environment has for its vendors unless another is given. */
const poolWith = Effect.fnUntraced(function* (options: Omit<PaperPoolOptions, "setting">) {
  const environment = options.environment ?? (yield* Vendor.environment(Vendor.vendors))
  return yield* Effect.tryPromise({
    try: () => paperPool({ ...options, environment, setting: "controlled" }),
    catch: (cause) => cause as PaperPoolError
  })
})

/** Collects the parts of a run, and the facts that an estimate could not determine. */
const findParts = Effect.fnUntraced(function* (baseModel: string, options: PaperProblems.Options) {
  const tokenizer = yield* Tinker.tokenizer(baseModel)
  const workers = yield* poolWith({ pricing: yield* workerPrices })
  return { tokenizer, workers, problems: yield* PaperProblems.load(options), unknown: [] }
})

/** Keys that are never sent: for an estimate, the pool is priced and not asked. */
const noKeys = { openai: "none", anthropic: "none", google: "none", openrouter: "none" }

/** The pool of the workers whose keys are set, or the whole pool if no key is set. */
const pricedPool = Effect.gen(function* () {
  const notices: Array<string> = []
  const onNotice = (notice: string) => void notices.push(notice)
  const options = { pricing: yield* workerPrices, onNotice }
  const pool = yield* Effect.result(poolWith(options))
  if (Result.isSuccess(pool)) return { workers: pool.success, unknown: notices }
  notices.length = 0
  const workers = yield* poolWith({ ...options, environment: {}, keys: noKeys })
  return { workers, unknown: ["No API key is set, so all workers of the pool are counted.", ...notices] }
})

/** The same as far as it is there without a server, keys and a network, and what is not. */
const findForEstimate = Effect.fnUntraced(function* (baseModel: string, options: PaperProblems.Options) {
  const tokenizer = yield* Effect.result(Tinker.tokenizer(baseModel))
  const { unknown: leftOut, workers } = yield* pricedPool
  const { problems, unknown } = yield* PaperProblems.loadWhatIsThere(options)
  return {
    workers,
    problems,
    tokenizer: Result.isSuccess(tokenizer) ? tokenizer.success : undefined,
    unknown: [
      ...leftOut,
      ...unknown,
      ...(Result.isFailure(tokenizer) ? [`Tokens are counted as four characters: ${tokenizer.failure.message}`] : [])
    ]
  }
})

/** Opens the engine; an estimate may lack the tokenizer, and never comes here. */
const open = (baseModel: string, tokenizer: Tokenizer | undefined) => {
  if (tokenizer !== undefined) return Tinker.open(baseModel, tokenizer)
  const reason = { _tag: "InvalidRequest", detail: `the tokenizer of ${baseModel} is not there.` } as const
  return Effect.fail(new EngineError({ engine: "tinker", doing: "open", reason }))
}

const make =
  (size: Size): Recipe =>
  ({ baseModel = defaultModel, trainsNothing = false, seed }) =>
    Effect.gen(function* () {
      const options = { limit: Math.max(size.problems, size.recursionProblems), seed }
      const find = trainsNothing ? findForEstimate : findParts
      const { problems, tokenizer, unknown, workers } = yield* find(baseModel, options)
      const engine = yield* Effect.flatMap(Tinker.settings, (settings) =>
        Effect.try({ try: () => Tinker.rates(settings), catch: (cause) => cause as SettingError })
      )
      const training: Training = {
        name: size.name,
        engine: open(baseModel, tokenizer),
        pool: yield* Effect.fromResult(WorkerPool.make(workers)),
        grader: PaperProblems.gradedBy(problems),
        tasks: {
          problems: PaperProblems.sourceOf(problems, size.problems),
          recursion: PaperProblems.sourceOf(PaperProblems.recursiveOf(problems), size.recursionProblems)
        },
        phases: phasesOf(size, workers.length),
        dryRun: {
          engine,
          tokenizer,
          unknown,
          secondsPerCall: { low: 3, high: 40 },
          answerTokens: 700
        }
      }
      return training
    })

/** The paper's run. */
export const paper = make(whole)

/** The same at a twentieth of its rollouts. */
export const small = make(twentieth)

/** Every phase once. */
export const smoke = make(once)
