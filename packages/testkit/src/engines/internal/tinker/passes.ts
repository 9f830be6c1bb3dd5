/** Forward and backward passes, with the behaviour of the imitated server. */
import type { Datum, Engine, EngineError, Loss, PerToken } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import type { Dialect } from "./dialect.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A datum as received, in either format. */
export interface Received {
  readonly chunks: ReadonlyArray<ReadonlyArray<number>>
  readonly inputs: Readonly<Record<string, ReadonlyArray<number>>>
}

/** A batch as received. */
export interface ReceivedBatch {
  readonly data: ReadonlyArray<Received>
  readonly loss: string
  readonly config: Readonly<Record<string, number>>
}

/** Data for an engine, and the weight of each token in the mean of its datum. */
export interface Call {
  readonly data: ReadonlyArray<Datum>
  readonly loss: Loss
  readonly masses: ReadonlyArray<number>
}

/** Raised for an invalid batch. */
export class Flaw extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the index at which the completion starts: after the first chunk if there are two, otherwise at the first
 * token with a weight.
 */
const promptLength = ({ chunks, inputs }: Received): number => {
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  if (chunks.length > 1) return chunks[0]!.length
  const counts = [inputs.weights, inputs.advantages, inputs.logprobs]
  const first = Array.from({ length: tokens }, (_, index) => index).find((index) =>
    counts.some((values) => (values?.[index] ?? 0) !== 0)
  )
  return first === undefined ? tokens : first + 1
}

const lossOf = ({ config, loss }: ReceivedBatch, dialect: Dialect): Loss => {
  const { clip_high_threshold: high = 1.2, clip_low_threshold: low = 0.8 } = config
  if (loss === "cross_entropy" || (loss === "cispo" && low === 1 && high === 1)) return { type: "crossEntropy" }
  if (loss === "importance_sampling") return { type: "importanceSampling" }
  if (loss === "ppo") return { type: "clippedRatio", low: 1 - low, high: high - 1 }
  if (loss === "gspo" && dialect.name === "skyrl-fsdp") return { type: "sequenceRatio", low: 1 - low, high: high - 1 }
  throw new Flaw(422, `loss_fn: this server cannot do ${loss}.`)
}

/** Represents equal prompts by the same array, so that engines compute them only once. */
const interned = () => {
  const known = new Map<string, ReadonlyArray<number>>()
  return (tokens: ReadonlyArray<number>) => {
    const key = tokens.join()
    const found = known.get(key) ?? tokens
    known.set(key, found)
    return found
  }
}

/** Converts a batch to the engine's format. */
export const read = (batch: ReceivedBatch, dialect: Dialect): Call => {
  const loss = lossOf(batch, dialect)
  const intern = interned()
  const masses: Array<number> = []
  const data = batch.data.map((received): Datum => {
    const { inputs } = received
    const tokens = received.chunks.flat()
    const targets = inputs.target_tokens
    if (targets === undefined) throw new Error("no target_tokens")
    if (targets.length !== tokens.length) throw new Flaw(400, "target_tokens must be as long as model_input.")
    const start = promptLength(received)
    const part = (values: ReadonlyArray<number> | undefined) => values?.slice(start - 1)
    const weights = part(inputs.weights)
    const advantages = part(inputs.advantages)
    const logProbs = part(inputs.logprobs)
    masses.push((inputs.weights ?? targets.map(() => 1)).reduce((sum, weight) => sum + weight, 0))
    const completion = targets.slice(start - 1)
    const prompt = intern(tokens.slice(0, start))
    if (loss.type === "crossEntropy") {
      const counts =
        batch.loss === "cispo" ? completion.map((_, at) => (weights?.[at] ?? 1) * advantages![at]!) : weights
      return { prompt, completion, weights: counts }
    }
    if (advantages === undefined || logProbs === undefined)
      throw new Flaw(400, `${batch.loss} is expected to have advantages and logprobs.`)
    return { prompt, completion, advantages, logProbs, weights }
  })
  return { data, loss, masses }
}

// -------------------------------------------------------------------------------------------------------------------
// Replies
// -------------------------------------------------------------------------------------------------------------------

/** The result of a batch, with zeros for prompt tokens. */
export interface Passed {
  readonly logProbs: ReadonlyArray<ReadonlyArray<number>>
  /** Whether element-wise losses are included, in addition to `logprobs`. */
  readonly hasElementwiseLoss: boolean
}

const passed = ({ data }: Call, logProbs: ReadonlyArray<PerToken>, dialect: Dialect): Passed => ({
  logProbs: data.map(({ prompt }, index) => [
    ...new Array<number>(prompt.length - 1).fill(0),
    ...Array.from(logProbs[index]!)
  ]),
  hasElementwiseLoss: dialect.name !== "skyrl-fsdp"
})

/** Calculates log-probabilities only. */
export const forward = (engine: Engine, call: Call, dialect: Dialect): Effect.Effect<Passed, EngineError> =>
  Effect.map(engine.forward(call.data), ({ logProbs }) => passed(call, logProbs, dialect))

/**
 * Accumulates gradients. If they are summed, this happens immediately; if they are averaged, it happens in the
 * optimizer step.
 */
export const forwardBackward = (
  engine: Engine,
  call: Call,
  dialect: Dialect,
  pending: Array<Call>
): Effect.Effect<Passed, EngineError> => {
  if (dialect.reduction === "sum") {
    return Effect.map(engine.forwardBackward(call.data, call.loss), ({ logProbs }) => passed(call, logProbs, dialect))
  }
  return Effect.tap(forward(engine, call, dialect), () => Effect.sync(() => pending.push(call)))
}

const smallestMass = 1e-9

/** Applies the pending gradients: each datum's loss is the mean over its tokens, averaged over all data. */
export const settle = (engine: Engine, pending: ReadonlyArray<Call>): Effect.Effect<void, EngineError> => {
  const count = pending.reduce((sum, { data }) => sum + data.length, 0)
  return Effect.forEach(
    pending,
    ({ data, loss, masses }) =>
      engine.forwardBackward(
        data.map((datum, index) => ({
          ...datum,
          weights: Array.from(
            datum.completion,
            (_, at) => (datum.weights?.[at] ?? 1) / Math.max(masses[index]!, smallestMass) / count
          )
        })),
        loss
      ),
    { discard: true }
  )
}
