/**
 * Converts a trainer's data to the format of a server, so that the server minimizes the trainer's sum.
 *
 * If the server minimises sums, they are sent as they are. Some servers take the weighted mean of each datum and then
 * the mean over all data since the last step. For these, every token gets weight 1, and its own weight is multiplied
 * into its advantage, with the tokens of its datum and the data of the step. This turns the means back into sums. Cross
 * entropy has no advantages, so it is sent as CISPO with both clips at 1, which is the same loss with advantages.
 */
import type { Datum, Loss, PerToken } from "@divisi/trainer/Engine"
import type { Dialect } from "../Dialect.ts"
import type * as Protocol from "../Protocol.ts"

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

const isFiniteList = (values: PerToken | undefined) => values === undefined || values.every(Number.isFinite)

const isToken = (token: number) => Number.isInteger(token) && token >= 0

const arrays = ["weights", "advantages", "logProbs"] as const

/** Returns the problem with a single datum, if there is one. */
const flawOfDatum = (datum: Datum): string | undefined => {
  const { completion, prompt } = datum
  if (completion.length === 0) return "a completion has no tokens"
  if (prompt.length === 0) return "a prompt has no tokens: the first token of a completion is predicted from it"
  if (!prompt.every(isToken) || !completion.every(isToken)) return "a token is not a whole number of at least 0"
  for (const name of arrays) {
    const values = datum[name]
    if (values !== undefined && values.length !== completion.length) {
      return `${name} has ${values.length} entries for ${completion.length} tokens: give one for each`
    }
    if (!isFiniteList(values)) return `${name} has an entry that is not a finite number`
  }
  return undefined
}

const product = (datum: Datum): ReadonlyArray<number> =>
  Array.from(datum.completion, (_, index) => (datum.advantages?.[index] ?? 1) * (datum.weights?.[index] ?? 1))

const flawForLoss = (datum: Datum, loss: Loss): string | undefined => {
  if (loss.type === "crossEntropy") return undefined
  const missing = (["advantages", "logProbs"] as const).find((name) => datum[name] === undefined)
  return missing === undefined ? undefined : `the ${loss.type} loss needs ${missing}`
}

/** Whether the protocol can express the loss of a datum. */
const isSayable = (datum: Datum, loss: Loss): boolean => {
  if (loss.type === "crossEntropy" || loss.type === "importanceSampling") return true
  // Clipping is reversed for negative advantages, so a negative weight cannot be multiplied into them.
  if (datum.weights?.some((weight) => weight < 0)) return false
  if (loss.type === "clippedRatio") return true
  const values = product(datum)
  return values.every((value) => value >= 0) || values.every((value) => value <= 0)
}

/** Whether the server itself can compute the loss for these data. */
export const isNative = (dialect: Dialect, data: ReadonlyArray<Datum>, loss: Loss): boolean =>
  dialect.losses.includes(loss.type) && data.every((datum) => isSayable(datum, loss))

/** Returns the first problem with the data, if there is one. Data that a server would misinterpret are never sent. */
export const flaw = (data: ReadonlyArray<Datum>, loss: Loss | undefined): string | undefined => {
  if (loss !== undefined && "entropy" in loss && (loss.entropy ?? 0) !== 0) {
    return "servers of the Tinker API have no entropy bonus: set entropy to 0"
  }
  for (const datum of data) {
    const detail = flawOfDatum(datum) ?? (loss === undefined ? undefined : flawForLoss(datum, loss))
    if (detail !== undefined) return detail
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Alignment
// -------------------------------------------------------------------------------------------------------------------

/** Prepends zeros for the prompt to a completion's values: position `i` of the input predicts token `i + 1`. */
const behindPrompt = ({ prompt }: Datum, values: PerToken): ReadonlyArray<number> => {
  const all = new Array<number>(prompt.length - 1 + values.length).fill(0)
  for (let index = 0; index < values.length; index++) all[prompt.length - 1 + index] = values[index]!
  return all
}

const aligned = (datum: Datum, inputs: Omit<Protocol.LossInputs, "target_tokens">): Protocol.Datum => {
  const { completion, prompt } = datum
  const seen = completion.slice(0, -1)
  return {
    chunks: seen.length === 0 ? [prompt] : [prompt, seen],
    inputs: { target_tokens: [...prompt.slice(1), ...completion], ...inputs }
  }
}

const ones = ({ completion }: Datum): ReadonlyArray<number> => completion.map(() => 1)

// -------------------------------------------------------------------------------------------------------------------
// Losses
// -------------------------------------------------------------------------------------------------------------------

const lossOf = (loss: Loss): Pick<Protocol.Batch, "loss" | "config"> => {
  if (loss.type === "crossEntropy") return { loss: "cross_entropy" }
  if (loss.type === "importanceSampling") return { loss: "importance_sampling" }
  // In the protocol, the clip settings are bounds of the ratio itself.
  const config = { clip_low_threshold: 1 - loss.low, clip_high_threshold: 1 + loss.high }
  return { loss: loss.type === "clippedRatio" ? "ppo" : "gspo", config }
}

/** Returns the factor for each token. A ratio of whole completions has the same factor for all tokens. */
const advantagesOf = (datum: Datum, loss: Loss): ReadonlyArray<number> => {
  const values = product(datum)
  if (loss.type !== "sequenceRatio") return values
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.map(() => mean)
}

const ratioInputs = (dialect: Dialect, datum: Datum, advantages: ReadonlyArray<number>, logProbs: PerToken) => ({
  logprobs: behindPrompt(datum, logProbs),
  advantages: behindPrompt(datum, advantages),
  ...(dialect.ratioWeights ? { weights: behindPrompt(datum, ones(datum)) } : {})
})

/** CISPO with a ratio that is always 1: `-log p A`. */
const weightedLogProb = { loss: "cispo", config: { clip_low_threshold: 1, clip_high_threshold: 1 } } as const

/**
 * Returns a batch whose gradient on the server equals that of the sum.
 *
 * **Details**
 *
 * `dataOfStep` is the number of data that the server will have received when the optimizer steps; it is used only for
 * servers that average.
 */
export const toBatch = (
  dialect: Dialect,
  data: ReadonlyArray<Datum>,
  loss: Loss,
  dataOfStep: number
): Protocol.Batch => {
  const isMean = dialect.reduction === "mean"
  if (loss.type === "crossEntropy" && !isMean) {
    const weighted = (datum: Datum) => aligned(datum, { weights: behindPrompt(datum, datum.weights ?? ones(datum)) })
    return { ...lossOf(loss), data: data.map(weighted) }
  }
  const isCrossEntropy = loss.type === "crossEntropy"
  const convert = (datum: Datum) => {
    const scale = isMean ? datum.completion.length * dataOfStep : 1
    const advantages = advantagesOf(isCrossEntropy ? { ...datum, advantages: ones(datum) } : datum, loss)
    const logProbs = isCrossEntropy ? datum.completion.map(() => 0) : datum.logProbs!
    return aligned(
      datum,
      ratioInputs(
        dialect,
        datum,
        advantages.map((value) => value * scale),
        logProbs
      )
    )
  }
  return { ...(isCrossEntropy ? weightedLogProb : lossOf(loss)), data: data.map(convert) }
}

/** Returns a batch for computing only log-probabilities. */
export const toForward = (data: ReadonlyArray<Datum>): Protocol.Batch => ({
  loss: "cross_entropy",
  data: data.map((datum) => aligned(datum, { weights: behindPrompt(datum, ones(datum)) }))
})

/** Returns data that have no effect except on the number of data. */
export const fillers = (count: number, token: number): Protocol.Batch => ({
  loss: "importance_sampling",
  data: Array.from({ length: count }, () => ({
    chunks: [[token]],
    inputs: { target_tokens: [token], weights: [1], logprobs: [0], advantages: [0] }
  }))
})

/** Returns the results for the completions; `undefined` if the result does not match the data. */
export const completionLogProbs = (
  data: ReadonlyArray<Datum>,
  { logProbs }: Protocol.BatchResult
): ReadonlyArray<PerToken> | undefined => {
  if (logProbs.length !== data.length) return undefined
  const parts = data.map((datum, index) => logProbs[index]!.slice(datum.prompt.length - 1))
  return parts.every((part, index) => part.length === data[index]!.completion.length) ? parts : undefined
}
