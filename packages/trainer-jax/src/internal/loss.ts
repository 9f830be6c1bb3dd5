/** Computes the value of a loss in double precision, from the log-probabilities and entropies of a pass. */
import type { Datum, Loss } from "@divisi/trainer/Engine"

type Numbers = Float32Array | Float64Array

const sum = (length: number, term: (place: number) => number): number => {
  let total = 0
  for (let place = 0; place < length; place++) total += term(place)
  return total
}

const clip = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)

/** Returns the loss of one datum: the weighted sum of its terms. */
export const valueOf = (loss: Loss, datum: Datum, logProbs: Numbers, entropies: Numbers): number => {
  const { advantages, completion, logProbs: before, weights } = datum
  const length = completion.length
  const weight = (place: number) => weights?.[place] ?? 1
  const advantage = (place: number) => advantages![place]!
  const distance = (place: number) => logProbs[place]! - before![place]!
  if (loss.type === "crossEntropy") return sum(length, (place) => -logProbs[place]! * weight(place))
  if (loss.type === "importanceSampling") {
    return sum(length, (place) => -Math.exp(distance(place)) * advantage(place) * weight(place))
  }
  const { entropy = 0, high, low } = loss
  const mean = loss.type === "sequenceRatio" ? sum(length, distance) / length : undefined
  return sum(length, (place) => {
    const ratio = Math.exp(mean ?? distance(place))
    const clipped = clip(ratio, 1 - low, 1 + high)
    const objective = Math.min(ratio * advantage(place), clipped * advantage(place))
    return -(objective + entropy * entropies[place]!) * weight(place)
  })
}
