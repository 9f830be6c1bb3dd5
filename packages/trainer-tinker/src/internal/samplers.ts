/** The engine's samplers. Each one tracks which weights it has, and whether the server still has them. */
import { type Engine, EngineError, type Sample, type SampleRequest, type Sampler } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import type { Dialect } from "../Dialect.ts"
import type * as Protocol from "../Protocol.ts"
import * as Errors from "../TinkerError.ts"
import * as State from "./state.ts"

/** The state of the engine when a sampler was created. */
interface Stamp {
  readonly version: number
  readonly epoch: number
  readonly serial: number
}

const isStale = (state: State.State, { snapshots }: Dialect, { epoch, serial }: Stamp): boolean => {
  if (snapshots === "kept") return false
  return snapshots === "until-step" ? epoch !== state.epoch : serial !== state.samplers
}

const stale = ({ name }: Dialect, { version }: Stamp) =>
  new EngineError({
    engine: "tinker",
    doing: "sample",
    reason: {
      _tag: "Expired",
      detail: `this sampler has the weights of step ${version}, which the server (${name}) no longer stores: create a new one.`
    }
  })

const invalid = (detail: string) =>
  new EngineError({ engine: "tinker", doing: "sample", reason: { _tag: "InvalidRequest", detail } })

/** Converts samples for a trainer, which requires the log-probability of every token. */
const samplesOf = ({ sequences }: Protocol.SampleResult): Effect.Effect<ReadonlyArray<Sample>, Errors.TinkerError> => {
  if (sequences.every(({ logProbs, tokens }) => logProbs.length === tokens.length)) return Effect.succeed(sequences)
  const detail = "the server did not return a log-probability for each token."
  return Effect.fail(Errors.make("asample", { _tag: "ServerFailure", detail }))
}

const flawOf = ({ contextTokens }: State.State, request: SampleRequest): EngineError | undefined => {
  const needed = request.prompt.length + request.maxTokens
  if (needed <= contextTokens) return undefined
  const detail = `${needed} tokens do not fit into a context of ${contextTokens}`
  return new EngineError({ engine: "tinker", doing: "sample", reason: { _tag: "TooLarge", detail } })
}

/** Saves the current weights for sampling. */
export const make = (state: State.State, dialect: Dialect): Engine["sampler"] =>
  Effect.gen(function* () {
    yield* State.trusted(state, "save_weights_for_sampler")
    const model = yield* State.model(state)
    const { epoch, version } = state
    const handle = yield* model.sampler
    const stamp: Stamp = { epoch, version, serial: ++state.samplers }
    const stop = [...new Set([state.options.tokenizer.endToken, ...(state.options.stop ?? [])])]
    const draw = (request: SampleRequest): Effect.Effect<ReadonlyArray<Sample>, EngineError> =>
      Effect.suspend(() => {
        if (isStale(state, dialect, stamp)) return Effect.fail(stale(dialect, stamp))
        const flaw = flawOf(state, request)
        if (flaw !== undefined) return Effect.fail(flaw)
        const { count = 1, maxTokens, prompt, seed } = request
        if (!Number.isSafeInteger(seed)) return Effect.fail(invalid(`the seed is ${seed}: it must be a whole number.`))
        return handle.sample({ prompt, maxTokens, count, seed, stop, temperature: 1 }).pipe(
          Effect.flatMap(samplesOf),
          Effect.mapError((error) => Errors.toEngineError("sample", error))
        )
      })
    const sampler: Sampler = {
      version,
      sample: (request) =>
        dialect.snapshots === "until-step" ? state.sampling.withPermits(1)(draw(request)) : draw(request)
    }
    return sampler
  }).pipe(Effect.mapError((error) => Errors.toEngineError("sample", error)))
