/** Samples from weights of one moment: in llama.cpp, or by the engine's own arithmetic. */
import path from "node:path"
import * as Model from "@tutti/gguf/Model"
import * as LlamaCppModel from "@tutti/policy-llamacpp/LlamaCppModel"
import type { EngineError, Sample, SampleRequest, Sampler } from "@tutti/trainer/Engine"
import * as Effect from "effect/Effect"
import { awake } from "./awake.ts"
import * as ExactSampler from "./exactSampler.ts"
import * as Problem from "./problem.ts"
import * as State from "./state.ts"

/** How many completions of one request may be sampled at once; llama.cpp decides how many run. */
const concurrency = 64

/** Tokens of a context that llama.cpp keeps for itself. */
const reserve = 8

/** What a sampler is made of. */
export interface Options {
  readonly model: Model.Model
  readonly version: number
  /** Where its file goes. */
  readonly folder: string
  readonly sequences: number
}

const sampleOf = ({ logProbs, reason, tokens }: LlamaCppModel.Sample): Sample => ({
  tokens,
  logProbs,
  reason: reason === "stop" ? "stop" : "length"
})

/** Why a request cannot be sampled. */
const problemOf = (config: Model.Config, { count = 1, maxTokens, prompt }: SampleRequest) => {
  const { contextLength, vocabularySize } = config
  if (prompt.length === 0) return Problem.failed("sample", "the prompt has no tokens.")
  const stranger = prompt.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize))
  if (stranger !== undefined) {
    return Problem.failed("sample", `${stranger} is no token of a vocabulary of ${vocabularySize}.`)
  }
  const wrong = Object.entries({ count, maxTokens }).find(([, value]) => !(Number.isSafeInteger(value) && value >= 1))
  if (wrong !== undefined) {
    return Problem.failed("sample", `${wrong[0]} must be a whole number of at least 1; got ${wrong[1]}.`)
  }
  if (prompt.length + maxTokens <= contextLength) return undefined
  const detail = `a prompt of ${prompt.length} tokens and ${maxTokens} more do not fit into ${contextLength}.`
  return Problem.failed("sample", detail, "TooLarge")
}

const checked =
  (config: Model.Config, sample: Sampler["sample"]): Sampler["sample"] =>
  (request) =>
    problemOf(config, request) ?? sample(request)

// -------------------------------------------------------------------------------------------------------------------
// In llama.cpp
// -------------------------------------------------------------------------------------------------------------------

/** Writes the model and loads it; both go with the scope. */
export const llamacpp = Effect.fnUntraced(function* ({ folder, model, sequences, version }: Options) {
  const file = path.join(folder, `version-${version}.gguf`)
  yield* Model.write(model, file).pipe(Effect.mapError((cause) => Problem.errorOf("sample", cause)))
  const loaded = yield* LlamaCppModel.load({
    source: file,
    gpu: "none",
    contextTokens: model.config.contextLength + reserve,
    sequences,
    threads: 1,
    flashAttention: false,
    keyValueType: "F32",
    queueLimit: 100_000
  }).pipe(Effect.mapError((cause) => Problem.errorOf("sample", cause)))
  const sample = ({ count = 1, maxTokens, prompt, seed }: SampleRequest) => {
    const one = (index: number) =>
      LlamaCppModel.sample(loaded, { prompt, maxOutputTokens: maxTokens, seed: seed + index })
    const indexes = Array.from({ length: count }, (_, index) => index)
    return Effect.forEach(indexes, one, { concurrency }).pipe(
      Effect.map((samples) => samples.map(sampleOf)),
      Effect.mapError((cause) => Problem.errorOf("sample", cause))
    )
  }
  return { version, sample: checked(model.config, sample) } satisfies Sampler
})

// -------------------------------------------------------------------------------------------------------------------
// In this engine
// -------------------------------------------------------------------------------------------------------------------

/** A part that waits for its turn. */
interface Job {
  readonly part: ExactSampler.Part
  readonly settle: (result: Effect.Effect<ReadonlyArray<Sample>, EngineError>) => void
}

/** Runs parts one batch after another, as long as there are any. */
const workerOf = (run: (parts: ReadonlyArray<ExactSampler.Part>) => Promise<ReadonlyArray<ReadonlyArray<Sample>>>) => {
  const queue: Array<Job> = []
  let working: Promise<void> | undefined
  const work = async () => {
    // Whoever asks at the same time is waited for.
    await new Promise(setImmediate)
    for (let jobs = ExactSampler.take(queue); jobs.length > 0; jobs = ExactSampler.take(queue)) {
      try {
        const found = await run(jobs.map(({ part }) => part))
        for (const [index, { settle }] of jobs.entries()) settle(Effect.succeed(found[index]!))
      } catch (cause) {
        for (const { settle } of jobs) settle(Effect.fail(Problem.errorOf("sample", cause)))
      }
    }
    working = undefined
  }
  const ask = (part: ExactSampler.Part) =>
    Effect.callback<ReadonlyArray<Sample>, EngineError>((resume) => {
      const job = { part, settle: resume }
      queue.push(job)
      working ??= awake(work)
      return Effect.sync(() => {
        if (queue.includes(job)) queue.splice(queue.indexOf(job), 1)
      })
    })
  return { ask, idle: Effect.promise(async () => working) }
}

/** Keeps the weights as they are until the scope closes. */
export const embedded = Effect.fnUntraced(function* (
  decoders: ExactSampler.Decoders,
  state: State.State,
  endToken: number
) {
  const version = state.steps
  const make = () => {
    const snapshot = { weights: State.shared(state.weights), table: state.table }
    const worker = workerOf((parts) => ExactSampler.sample(decoders, state, snapshot, parts, endToken))
    return { snapshot, worker }
  }
  const { worker } = yield* Effect.acquireRelease(Effect.sync(make), ({ snapshot, worker }) =>
    Effect.andThen(
      worker.idle,
      Effect.sync(() => State.dispose(snapshot.weights))
    )
  )
  const sample = ({ count = 1, maxTokens, prompt, seed }: SampleRequest) => {
    const parts = Array.from({ length: Math.ceil(count / ExactSampler.most) }, (_, index) => {
      const done = index * ExactSampler.most
      return { count: Math.min(ExactSampler.most, count - done), maxTokens, prompt, seed: seed + done }
    })
    const found = Effect.forEach(parts, worker.ask, { concurrency: "unbounded" })
    return Effect.map(found, (samples) => samples.flat())
  }
  return { version, sample: checked(state.config, sample) } satisfies Sampler
})
