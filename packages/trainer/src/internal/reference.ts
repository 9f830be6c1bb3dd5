/** Reference weights for a KL penalty: the weights at the start of the phase. */
import * as Effect from "effect/Effect"
import type { Datum, PerToken } from "../Engine.ts"
import { outOfRoom } from "../RunFolder.ts"
import type { GrpoConfig } from "../TrainingConfig.ts"
import type { TrainingError } from "../TrainingError.ts"
import type { LearnedCompletion } from "./grpoBatch.ts"
import type { Session } from "./session.ts"

/** Saves the weights at the start of a phase, unless a separate engine holds the reference. */
export const begin = Effect.fnUntraced(function* (
  session: Session,
  config: GrpoConfig
): Effect.fn.Return<void, TrainingError> {
  const { parts, standing } = session
  if (config.objective.kl === 0 || parts.reference !== undefined || standing.reference !== undefined) return
  const folder = yield* session.folder.referenceFolder
  const reference = yield* Effect.mapError(parts.engine.save(`phase-${standing.phase}`, folder), outOfRoom(folder))
  session.standing = { ...standing, reference }
})

/**
 * Computes the log-probabilities of the data under the reference. Returns `undefined` if the objective does not need
 * them.
 */
export const logProbs = Effect.fnUntraced(function* (
  session: Session,
  config: GrpoConfig,
  completions: ReadonlyArray<LearnedCompletion>
): Effect.fn.Return<ReadonlyArray<PerToken> | undefined, TrainingError> {
  const { parts, standing } = session
  if (config.objective.kl === 0 || completions.length === 0) return undefined
  const data = completions.map(({ completion, prompt }): Datum => ({ prompt, completion }))
  if (parts.reference !== undefined) return (yield* parts.reference.forward(data)).logProbs
  if (standing.reference === undefined) return undefined
  // The engine holds only one set of weights, so load the reference for one pass and then restore the current weights.
  const folder = yield* session.folder.referenceFolder
  const present = yield* Effect.mapError(parts.engine.save("present", folder), outOfRoom(folder))
  yield* parts.engine.load(standing.reference, folder)
  const pass = yield* Effect.exit(parts.engine.forward(data))
  yield* parts.engine.load(present, folder)
  return (yield* pass).logProbs
})

/**
 * Returns the mean over tokens of `r - 1 - log r`, where `r` is the reference's probability divided by the sampler's.
 */
export const divergence = (
  completions: ReadonlyArray<LearnedCompletion>,
  reference: ReadonlyArray<PerToken>
): number => {
  let sum = 0
  let tokens = 0
  completions.forEach(({ completion, logProbs }, index) => {
    for (let token = 0; token < completion.length; token++) {
      const gap = reference[index]![token]! - logProbs[token]!
      sum += Math.exp(gap) - 1 - gap
    }
    tokens += completion.length
  })
  return tokens === 0 ? 0 : sum / tokens
}
