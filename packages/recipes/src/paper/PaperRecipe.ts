/**
 * The training run from the paper: a 7B model learns to orchestrate the pool of seven workers on mathematics,
 * knowledge, reasoning and code, followed by two short phases with random subsets of the pool and with recursive
 * rounds.
 *
 * The hyperparameters are the paper's except for the learning rate: the paper's 1e-6 is for full fine-tuning, and LoRA
 * needs about ten times as much. The paper does not state how its 960 problems are divided; here, each benchmark
 * contributes a quarter.
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

/** The size of a run. `whole` is the paper's; the other sizes are smaller. */
export interface Size {
  readonly name: string
  /** Number of problems from each of the four benchmarks. */
  readonly problems: number
  readonly iterations: number
  readonly questions: number
  readonly groupSize: number
  /** Number of iterations in the phase with random pools. */
  readonly adaptive: number
  /** Number of iterations in the phase with recursive rounds. */
  readonly recursion: number
  /** Number of problems from each of the two benchmarks of that phase. */
  readonly recursionProblems: number
  readonly recursionQuestions: number
}

/** The paper's size. */
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

/** One twentieth of the paper's rollouts. */
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

/** One iteration of each phase. */
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

/** Ten times the paper's learning rate, for LoRA. */
const learningRate = 1e-5

const phase = (size: Size, input: GrpoInput): GrpoConfig =>
  grpo({ questions: size.questions, groupSize: size.groupSize, ...input, optimizer: { learningRate } })

/** Returns the three phases for a pool with the given number of workers. */
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

/** Creates the pool in the controlled setting, from the given environment or that of the process. */
const poolWith = Effect.fnUntraced(function* (options: Omit<PaperPoolOptions, "setting">) {
  const environment = options.environment ?? (yield* Vendor.environment(Vendor.vendors))
  return yield* Effect.tryPromise({
    try: () => paperPool({ ...options, environment, setting: "controlled" }),
    catch: (cause) => cause as PaperPoolError
  })
})

/** Collects the parts of a run, and the facts that could not be determined. */
const findParts = Effect.fnUntraced(function* (baseModel: string, options: PaperProblems.Options) {
  const tokenizer = yield* Tinker.tokenizer(baseModel)
  const workers = yield* poolWith({ pricing: yield* workerPrices })
  return { tokenizer, workers, problems: yield* PaperProblems.load(options), unknown: [] }
})

/** Placeholder keys, which are never sent: for an estimate, workers are priced but not called. */
const noKeys = { openai: "none", anthropic: "none", google: "none", openrouter: "none" }

/** Creates a pool of the workers whose keys are set, or the full pool if no key is set. */
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

/** Collects the parts of a run that are available without a server, keys or a network, and lists the missing ones. */
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

/** Opens the engine. Not called for estimates, which may lack the tokenizer. */
const open = (baseModel: string, tokenizer: Tokenizer | undefined) => {
  if (tokenizer !== undefined) return Tinker.open(baseModel, tokenizer)
  const reason = { _tag: "InvalidRequest", detail: `the tokenizer for ${baseModel} is missing.` } as const
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

/** The full run from the paper. */
export const paper = make(whole)

/** The paper's run with a twentieth of the rollouts. */
export const small = make(twentieth)

/** The paper's run with one iteration per phase. */
export const smoke = make(once)
