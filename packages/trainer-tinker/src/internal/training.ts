/** Computes the engine's gradients and optimizer steps. */

import { LossTerms } from "@divisi/trainer"
import {
  type Datum,
  type Engine,
  EngineError,
  type Loss,
  type OptimizerSettings,
  type Pass,
  type PerToken
} from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Dialect } from "../Dialect.ts"
import type * as Protocol from "../Protocol.ts"
import type * as TinkerClient from "../TinkerClient.ts"
import * as Errors from "../TinkerError.ts"
import * as Accumulation from "./accumulation.ts"
import * as Batches from "./batches.ts"
import * as State from "./state.ts"

type Doing = "forward" | "forwardBackward" | "step"

// -------------------------------------------------------------------------------------------------------------------
// Passes
// -------------------------------------------------------------------------------------------------------------------

const reject = (doing: Doing, reason: EngineError["reason"]) =>
  Effect.fail(new EngineError({ engine: "tinker", doing, reason }))

const fit = (doing: Doing, data: ReadonlyArray<Datum>, contextTokens: number) => {
  const longest = Math.max(0, ...data.map(({ completion, prompt }) => prompt.length + completion.length))
  if (longest <= contextTokens) return Effect.void
  return reject(doing, {
    _tag: "TooLarge",
    detail: `${longest} tokens do not fit into a context of ${contextTokens}`
  })
}

const logProbsOf = (call: string, data: ReadonlyArray<Datum>, result: Protocol.BatchResult) => {
  const logProbs = Batches.completionLogProbs(data, result)
  if (logProbs !== undefined) return Effect.succeed(logProbs)
  const detail = "the server's log-probabilities do not match the data that was sent."
  return Effect.fail(Errors.make(call, { _tag: "ServerFailure", detail }))
}

/** Returns loss terms with zero entropies: no server computes entropies, and no supported loss requires them. */
const termsOf = (datum: Datum, loss: Loss, logProbs: PerToken) =>
  LossTerms.of(loss, datum, logProbs, new Float32Array(datum.completion.length))

/** Returns the trainer's sum of losses. Servers report losses differently or not at all. */
const passOf = (data: ReadonlyArray<Datum>, loss: Loss, logProbs: Pass["logProbs"]): Pass => {
  const total = data.reduce((sum, datum, index) => sum + termsOf(datum, loss, logProbs[index]!).loss, 0)
  return { logProbs, loss: total }
}

// -------------------------------------------------------------------------------------------------------------------
// Gradients
// -------------------------------------------------------------------------------------------------------------------

const sendSum = (
  state: State.State,
  dialect: Dialect,
  model: TinkerClient.TrainedModel,
  data: ReadonlyArray<Datum>,
  loss: Loss
) => State.doubting(state, model.forwardBackward(Batches.toBatch(dialect, data, loss, 1)))

/** Sends new data, and earlier data again if there are more data than planned. */
const sendMean = (
  state: State.State,
  dialect: Dialect,
  model: TinkerClient.TrainedModel,
  data: ReadonlyArray<Datum>,
  loss: Loss
) =>
  Effect.gen(function* () {
    const { after, send } = Accumulation.add(state.accumulation, data, loss)
    const [first, ...again] = send.map((call) => Batches.toBatch(dialect, call.data, call.loss, call.factor))
    const result = yield* State.doubting(state, model.forwardBackward(first!))
    for (const batch of again) {
      yield* State.doubting(state, model.forwardBackward(batch)).pipe(
        Effect.tapError(() =>
          Effect.sync(() => {
            state.doubt ??= "Part of a step's gradient could not be sent."
          })
        )
      )
    }
    state.accumulation = after
    return result
  })

/**
 * Expresses a loss that the server lacks as weights of log-probabilities, using its derivatives at the current weights.
 */
const bySlopes = (data: ReadonlyArray<Datum>, loss: Loss, logProbs: Pass["logProbs"]): ReadonlyArray<Datum> =>
  data.map((datum, index) => {
    const { slopes_T } = termsOf(datum, loss, logProbs[index]!)
    return { prompt: datum.prompt, completion: datum.completion, weights: Array.from(slopes_T, (slope) => -slope) }
  })

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

const parametersOf = (settings: OptimizerSettings): Protocol.AdamParams => ({
  learning_rate: settings.learningRate,
  beta1: settings.beta1 ?? 0.9,
  beta2: settings.beta2 ?? 0.999,
  eps: settings.epsilon ?? 1e-8,
  weight_decay: settings.weightDecay ?? 0,
  grad_clip_norm: settings.maxGradientNorm ?? 0
})

const gradientNormOf = (metrics: Readonly<Record<string, number>>): number | undefined =>
  Object.entries(metrics).find(([name]) => /(?:^|[/.])grad(?:ient)?_norm(?::|$)/.test(name))?.[1]

const stepped = (state: State.State) => {
  state.version += 1
  state.epoch += 1
  state.accumulation = Accumulation.stepped(state.accumulation)
}

const step = (state: State.State, dialect: Dialect, settings: OptimizerSettings) =>
  Effect.gen(function* () {
    yield* State.trusted(state, "optim_step")
    const model = yield* State.model(state)
    const missing = dialect.reduction === "mean" ? Accumulation.missing(state.accumulation) : 0
    if (missing > 0) {
      const filler = Batches.fillers(missing, state.options.tokenizer.endToken)
      yield* State.doubting(state, model.forwardBackward(filler))
      state.accumulation = { ...state.accumulation, counted: state.accumulation.planned }
    }
    const metrics = yield* State.doubting(state, model.optimStep(parametersOf(settings)))
    stepped(state)
    const gradientNorm = gradientNormOf(metrics)
    return { version: state.version, gradientNorm }
  })

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Creates the part of an engine that trains. */
export const make = (state: State.State, dialect: Dialect): Pick<Engine, "forward" | "forwardBackward" | "step"> => {
  const turn = Semaphore.makeUnsafe(1)
  /** If a message depends on previous ones, each call is completed before the next one. */
  const inTurn = dialect.reduction === "mean" ? turn.withPermits(1) : <A, E>(effect: Effect.Effect<A, E>) => effect
  /** No sampling is in progress while the weights that it uses change. */
  const alone =
    dialect.snapshots === "until-step"
      ? state.sampling.withPermits(State.allSamples)
      : <A, E>(effect: Effect.Effect<A, E>) => effect
  const as =
    (doing: Doing) =>
    <A>(effect: Effect.Effect<A, Errors.TinkerError>) =>
      Effect.mapError(effect, (error) => Errors.toEngineError(doing, error))

  const check = (doing: Doing, data: ReadonlyArray<Datum>, loss: Loss | undefined) => {
    const detail = Batches.flaw(data, loss)
    return detail === undefined
      ? fit(doing, data, state.contextTokens)
      : reject(doing, { _tag: "InvalidRequest", detail })
  }

  const logProbs = (data: ReadonlyArray<Datum>) =>
    Effect.gen(function* () {
      const model = yield* State.model(state)
      return yield* logProbsOf("forward", data, yield* model.forward(Batches.toForward(data)))
    })

  const learn = (data: ReadonlyArray<Datum>, loss: Loss): Effect.Effect<Pass, Errors.TinkerError> =>
    Effect.gen(function* () {
      yield* State.trusted(state, "forward_backward")
      const model = yield* State.model(state)
      const send = dialect.reduction === "mean" ? sendMean : sendSum
      if (Batches.isNative(dialect, data, loss)) {
        const result = yield* send(state, dialect, model, data, loss)
        return passOf(data, loss, yield* logProbsOf("forward_backward", data, result))
      }
      const before = yield* logProbs(data)
      yield* send(state, dialect, model, bySlopes(data, loss, before), { type: "crossEntropy" })
      return passOf(data, loss, before)
    })

  return {
    forward: (data) =>
      Effect.andThen(
        check("forward", data, undefined),
        data.length === 0
          ? Effect.succeed({ logProbs: [] })
          : as("forward")(Effect.map(inTurn(logProbs(data)), (found) => ({ logProbs: found })))
      ),
    forwardBackward: (data, loss) =>
      Effect.andThen(
        check("forwardBackward", data, loss),
        data.length === 0 ? Effect.succeed({ logProbs: [], loss: 0 }) : as("forwardBackward")(inTurn(learn(data, loss)))
      ),
    step: (settings) => as("step")(inTurn(alone(step(state, dialect, settings))))
  }
}
