/**
 * Decides which data are computed together. Data for one prompt share its activations, and shapes are padded to a few
 * sizes, because each shape must be compiled.
 */
import type { Model } from "@divisi/gguf"
import type { Datum, PerToken } from "@divisi/trainer/Engine"
import { type Shape, sizesOf, unseen } from "./network.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A prompt and some of its completions, as indices into the data. */
export interface Row {
  readonly prompt: ReadonlyArray<number>
  readonly places: ReadonlyArray<number>
}

/** The data in one computation. */
export interface Batch {
  readonly shape: Shape
  readonly rows: ReadonlyArray<Row>
}

/** The limits of a batch. */
export interface Limits {
  /** Memory for everything that a pass computes, because nothing is freed before the pass ends. */
  readonly bytes: number
  /** Number of tokens, including padding, above which larger batches are not faster. */
  readonly tokens: number
  /** Maximum number of completions of one prompt in a batch. */
  readonly completions: number
}

// -------------------------------------------------------------------------------------------------------------------
// Shapes
// -------------------------------------------------------------------------------------------------------------------

/** Rounds a size up to a power of two or to the midpoint between two powers, so that at most a third is padding. */
export const padded = (count: number, least: number): number => {
  if (count <= least) return least
  const step = Math.max(least, 2 ** (Math.ceil(Math.log2(count)) - 2))
  return Math.ceil(count / step) * step
}

/** Rounds a number up to a power of two. */
export const powerOfTwo = (count: number): number => 2 ** Math.ceil(Math.log2(count))

/**
 * Minimum sizes of shapes. jax-js needs memory for each shape and a second or more to compile it, which is more
 * expensive than a few tokens of padding.
 */
export const leastPrompt = 128
export const leastCompletion = 16

/** Returns the approximate memory that a pass with a given shape needs, in bytes. Measured; see the README. */
export const bytesOf = (config: Model.Config, shape: Shape): number => {
  const { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
  const { group_R, heads_H } = sizesOf(config)
  const tokens = B * (P + G * C)
  const scores = heads_H * group_R * B * (P * P + G * C * (P + C))
  const layer = tokens * (40 * config.hiddenSize + 12 * config.feedForwardSize) + 8 * scores
  return 4 * (config.layers * layer + 10 * B * G * C * config.vocabularySize)
}

export const tokensOf = ({ completionTokens_C, completions_G, prompts_B, promptTokens_P }: Shape): number =>
  prompts_B * (promptTokens_P + completions_G * completionTokens_C)

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

/** Returns the indices of each prompt's data, in order of first occurrence. */
const groups = (data: ReadonlyArray<Datum>): ReadonlyArray<Row> => {
  const keys = new Map<ReadonlyArray<number>, string>()
  const found = new Map<string, { readonly prompt: ReadonlyArray<number>; readonly places: Array<number> }>()
  for (const [place, { prompt }] of data.entries()) {
    const key = keys.get(prompt) ?? prompt.join()
    keys.set(prompt, key)
    const group = found.get(key) ?? { prompt, places: [] }
    group.places.push(place)
    found.set(key, group)
  }
  return [...found.values()]
}

const shapeOf = (data: ReadonlyArray<Datum>, prompts_B: number, rows: ReadonlyArray<Row>): Shape => {
  const promptTokens_P = padded(Math.max(...rows.map(({ prompt }) => prompt.length - 1)), leastPrompt)
  const completions_G = powerOfTwo(Math.max(...rows.map(({ places }) => places.length)))
  const longest = Math.max(...rows.flatMap(({ places }) => places.map((place) => data[place]!.completion.length)))
  // A few completions of a long prompt are inexpensive, regardless of their length.
  const least = Math.max(leastCompletion, powerOfTwo(promptTokens_P / completions_G) / 8)
  return { prompts_B, promptTokens_P, completions_G, completionTokens_C: padded(longest, least) }
}

/** Splits a group into rows within the limits. Completions of similar length stay together. */
const rowsOf = (config: Model.Config, data: ReadonlyArray<Datum>, group: Row, limits: Limits): ReadonlyArray<Row> => {
  const shape = shapeOf(data, 1, [group])
  const isFitting = shape.completions_G <= limits.completions && bytesOf(config, shape) <= limits.bytes
  if (isFitting || group.places.length === 1) return [group]
  const byLength = group.places.toSorted(
    (left, right) => data[left]!.completion.length - data[right]!.completion.length || left - right
  )
  const size = Math.min(powerOfTwo(group.places.length) / 2, limits.completions)
  return Array.from({ length: Math.ceil(byLength.length / size) }, (_, index) => ({
    prompt: group.prompt,
    places: byLength.slice(index * size, (index + 1) * size)
  })).flatMap((row) => rowsOf(config, data, row, limits))
}

/**
 * Cost of starting a pass, as the number of tokens that could be computed in that time: it runs several hundred
 * kernels, regardless of size.
 */
const tokensPerStart = 400

const maxOf = (left: Shape, right: Shape, prompts_B: number): Shape => ({
  prompts_B,
  promptTokens_P: Math.max(left.promptTokens_P, right.promptTokens_P),
  completions_G: Math.max(left.completions_G, right.completions_G),
  completionTokens_C: Math.max(left.completionTokens_C, right.completionTokens_C)
})

/**
 * Groups data into batches, deterministically.
 *
 * Rows of similar size are grouped, and a row is added to a batch if its padding costs less than a separate pass.
 */
export const plan = (config: Model.Config, data: ReadonlyArray<Datum>, limits: Limits): ReadonlyArray<Batch> => {
  const rows = groups(data)
    .flatMap((group) => rowsOf(config, data, group, limits))
    .map((row) => ({ row, shape: shapeOf(data, 1, [row]) }))
    .sort(
      (left, right) =>
        right.shape.completions_G - left.shape.completions_G ||
        right.shape.promptTokens_P - left.shape.promptTokens_P ||
        right.shape.completionTokens_C - left.shape.completionTokens_C
    )
  const batches: Array<{ shape: Shape; readonly rows: Array<Row> }> = []
  for (const { row, shape } of rows) {
    const open = batches.at(-1)
    if (open !== undefined) {
      const merged = maxOf(open.shape, shape, powerOfTwo(open.rows.length + 1))
      const isFitting = tokensOf(merged) <= limits.tokens && bytesOf(config, merged) <= limits.bytes
      if (isFitting && tokensOf(merged) < tokensOf(open.shape) + tokensOf(shape) + tokensPerStart) {
        open.shape = merged
        open.rows.push(row)
        continue
      }
    }
    batches.push({ shape, rows: [row] })
  }
  return batches
}

// -------------------------------------------------------------------------------------------------------------------
// Numbers
// -------------------------------------------------------------------------------------------------------------------

/** The arrays of a batch, as passed to a pass. */
export interface Tables {
  /** Token ids, with -1 for padding: `[B, P]` and `[B, G, C]`. */
  readonly prompts: Int32Array
  readonly inputs: Int32Array
  /** Ids of the predicted tokens, in the numeric type of the arrays they are compared with; 0 for padding. */
  readonly tokens: Float32Array<ArrayBuffer>
  readonly padding: Float32Array<ArrayBuffer>
  readonly weights: Float32Array<ArrayBuffer>
  readonly advantages: Float32Array<ArrayBuffer>
  readonly logProbs: Float32Array<ArrayBuffer>
  readonly shares: Float32Array<ArrayBuffer>
}

const copy = (target: Float32Array, at: number, values: PerToken | undefined) => {
  if (values !== undefined) target.set(values, at)
}

/** Returns the offset of the completion at row `row` and position `place` in it. */
const offset = ({ completionTokens_C, completions_G }: Shape, row: number, place: number): number =>
  (row * completions_G + place) * completionTokens_C

/** Creates the arrays for a batch. */
export const tablesOf = (data: ReadonlyArray<Datum>, { rows, shape }: Batch): Tables => {
  const { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
  const floats = () => new Float32Array(B * G * C)
  const tables: Tables = {
    prompts: new Int32Array(B * P).fill(-1),
    inputs: new Int32Array(B * G * C).fill(-1),
    tokens: floats(),
    padding: new Float32Array(B * P).fill(unseen),
    weights: floats(),
    advantages: floats(),
    logProbs: floats(),
    shares: floats()
  }
  for (const [row, { places, prompt }] of rows.entries()) {
    const start = (row + 1) * P - (prompt.length - 1)
    tables.prompts.set(prompt.slice(0, -1), start)
    tables.padding.fill(0, start, (row + 1) * P)
    for (const [place, index] of places.entries()) {
      const { advantages, completion, logProbs, weights } = data[index]!
      const at = offset(shape, row, place)
      tables.inputs.set([prompt.at(-1)!, ...completion.slice(0, -1)], at)
      tables.tokens.set(completion, at)
      if (weights === undefined) tables.weights.fill(1, at, at + completion.length)
      copy(tables.weights, at, weights)
      copy(tables.advantages, at, advantages)
      copy(tables.logProbs, at, logProbs)
      tables.shares.fill(1 / completion.length, at, at + completion.length)
    }
  }
  return tables
}

/** Extracts the values for each datum from those of a batch. */
export const read = (
  data: ReadonlyArray<Datum>,
  { rows, shape }: Batch,
  values: Float32Array,
  into: Array<Float32Array>
): void => {
  for (const [row, { places }] of rows.entries()) {
    for (const [place, index] of places.entries()) {
      const at = offset(shape, row, place)
      into[index] = values.slice(at, at + data[index]!.completion.length)
    }
  }
}
