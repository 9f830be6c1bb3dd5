/** Samples from a snapshot of the weights, with llama.cpp or with the engine's own arithmetic. */
import path from "node:path"
import { Model } from "@divisi/gguf"
import type * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
import type { EngineError, Sample, SampleRequest, Sampler } from "@divisi/trainer/Engine"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pool from "effect/Pool"
import * as ExactSampler from "./exactSampler.ts"
import * as Problem from "./problem.ts"
import type * as State from "./state.ts"
import * as Threads from "./threads.ts"

/** Maximum number of concurrent completions per request; llama.cpp decides how many of them run. */
const concurrency = 64

/** Number of context tokens reserved for llama.cpp. */
const reserve = 8

/** Options for a sampler. */
export interface Options {
  readonly model: Model.Model
  readonly version: number
  /** Folder for the model file. */
  readonly folder: string
  readonly sequences: number
}

const sampleOf = ({ logProbs, reason, tokens }: LlamaCppModel.Sample): Sample => ({
  tokens,
  logProbs,
  reason: reason === "stop" ? "stop" : "length"
})

/** Returns the reason why a request cannot be sampled. */
const problemOf = (config: Model.Config, { count = 1, maxTokens, prompt }: SampleRequest) => {
  const { contextLength, vocabularySize } = config
  if (prompt.length === 0) return Problem.failed("sample", "the prompt has no tokens.")
  const stranger = prompt.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize))
  if (stranger !== undefined) {
    return Problem.failed("sample", `${stranger} is not a token in a vocabulary of ${vocabularySize}.`)
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

/** Loads the llama.cpp runtime, which is in a separate package. */
const runtime = Effect.tryPromise({
  try: (): Promise<typeof LlamaCppModel> => import("@divisi/policy-llamacpp/LlamaCppModel"),
  catch: (cause) => Problem.errorOf("sample", cause)
})

/** Writes the model to a file and loads it. Both are released with the scope. */
export const llamacpp = Effect.fnUntraced(function* ({ folder, model, sequences, version }: Options) {
  const LlamaCppModel = yield* runtime
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

/** A part that is waiting for a thread. */
interface Job {
  readonly part: ExactSampler.Part
  readonly found: Deferred.Deferred<ReadonlyArray<Sample>, EngineError>
}

/** Creates a sampler for a snapshot of the weights. Later steps do not change it. */
export const embedded = (
  threads: Threads.Threads,
  { snapshot: weights, steps: version }: Pick<State.State, "snapshot" | "steps">,
  endToken: number
): Sampler => {
  const queue: Array<Job> = []
  const work = Effect.fnUntraced(function* (thread: Threads.Thread, job: Job) {
    const jobs = ExactSampler.take(queue, job, threads.count)
    if (jobs.length === 0) return
    const task = { type: "sample", parts: jobs.map(({ part }) => part), endToken } as const
    const exit = yield* Effect.exit(Threads.runOn(threads, thread, weights, task, "sample"))
    for (const [index, { found }] of jobs.entries()) {
      yield* Deferred.done(
        found,
        Exit.map(exit, (samples) => samples[index]!)
      )
    }
  }, Effect.uninterruptible)
  const ask = Effect.fnUntraced(function* (part: ExactSampler.Part) {
    const job = { part, found: yield* Deferred.make<ReadonlyArray<Sample>, EngineError>() }
    queue.push(job)
    // Yields first, so that concurrent requests can arrive: jobs with the same shape are computed together.
    yield* Effect.yieldNow
    yield* Pool.use(threads.pool, (thread) => work(thread, job)).pipe(
      Effect.onInterrupt(() => Effect.sync(() => ExactSampler.withdraw(queue, job)))
    )
    return yield* Deferred.await(job.found)
  })
  const sample: Sampler["sample"] = ({ count = 1, maxTokens, prompt, seed }) => {
    const parts = Array.from({ length: Math.ceil(count / ExactSampler.most) }, (_, index) => {
      const done = index * ExactSampler.most
      return { count: Math.min(ExactSampler.most, count - done), maxTokens, prompt, seed: seed + done }
    })
    return Effect.map(Effect.forEach(parts, ask, { concurrency: "unbounded" }), (samples) => samples.flat())
  }
  return { version, sample: checked(weights.config, sample) }
}
