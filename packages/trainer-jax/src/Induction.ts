/**
 * First weights that already look things up.
 *
 * To find in a list what stands before a word, a transformer needs two attention heads that are of no use without each
 * other: one that carries the word before along, and one that finds the same word again (the induction heads of Olsson
 * et al. 2022). Trained from noise, small models take very long until both appear by chance; with one pair of them in
 * the first weights they look up right after some dozen steps. Everything else is noise as usual, and all of it learns.
 */
import type { Config, DenseModel } from "@tutti/gguf/Model"
import { initial } from "./internal/initial.ts"

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** How sharply the first head looks at the token before. */
const previousSharpness = 2
/** How sharply the second head looks at the token that is the same. */
const matchSharpness = 2.5
/** How strongly it looks away from what is near: the word that it seeks stands there, too, just written. */
const farSharpness = 1.5
/** How loud the heads speak, as multiples of an embedding. */
const carriedScale = 1.5
const foundScale = 3
/** Embeddings are louder than other weights, so that what heads say does not drown them. */
const embeddingScale = 2
/** Pairs of a head's numbers that are turned by no more than this between neighbours: the others cannot match afar. */
const slowTurn = 1.5e-3
/** Pairs that turn so much tell what is near, within some dozen tokens, from what is far. */
const nearTurns = { from: 5e-3, to: 0.2 }

const defaultTheta = 10_000

// -------------------------------------------------------------------------------------------------------------------
// Linear algebra
// -------------------------------------------------------------------------------------------------------------------

/** Makes rows orthonormal, one after another (Gram and Schmidt). */
const orthonormal = (rows: ReadonlyArray<Float32Array>): ReadonlyArray<Float32Array> => {
  const done: Array<Float32Array> = []
  for (const row of rows) {
    const left = Float32Array.from(row)
    for (const other of done) {
      const shared = other.reduce((sum, value, at) => sum + value * left[at]!, 0)
      for (let at = 0; at < left.length; at++) left[at]! -= shared * other[at]!
    }
    const norm = Math.hypot(...left)
    done.push(left.map((value) => value / norm))
  }
  return done
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const layer = (index: number, name: string) => `model.layers.${index}.self_attn.${name}_proj.weight`

/**
 * Weights by seed for a model of at least two layers, as many heads of keys and values as of queries, and embeddings
 * that are its output, too.
 *
 * **Details**
 *
 * Of the hidden state's `D` numbers the first is the same for all tokens, which gives the first head something to look
 * with that knows positions alone; the last `headSize` are the place to which it carries the word before.
 *
 * **Gotchas**
 *
 * Matching afar needs numbers that turn slowly with the position: give the config a `ropeTheta` of 1e6 or more.
 *
 * **Example**
 *
 * ```ts
 * import * as Induction from "@tutti/trainer-jax/Induction"
 *
 * const tensors = Induction.tensors(
 *   {
 *     architecture: "llama",
 *     vocabularySize: 300,
 *     hiddenSize: 64,
 *     layers: 2,
 *     heads: 4,
 *     feedForwardSize: 96,
 *     contextLength: 128,
 *     tiedEmbeddings: true,
 *     ropeTheta: 1e8
 *   },
 *   7
 * )
 * tensors["model.layers.1.self_attn.q_proj.weight"]?.shape // => [64, 64]
 * ```
 */
export const tensors = (config: Config, seed: number): DenseModel["tensors"] => {
  const weights = initial(config, seed)
  const { hiddenSize: width_D, ropeTheta = defaultTheta } = config
  const head_d = config.headSize ?? width_D / config.heads
  const half = head_d / 2
  const turns = Array.from({ length: half }, (_, pair) => ropeTheta ** (-(2 * pair) / head_d))
  const matrix = (name: string) => {
    const { data, shape } = weights[name]!
    const columns = shape[1]!
    return {
      clear: (rows: number, to: number) => {
        for (let row = 0; row < rows; row++) data.fill(0, row * columns, row * columns + to)
      },
      set: (row: number, column: number, value: number) => {
        data[row * columns + column] = value
      },
      get: (row: number, column: number) => data[row * columns + column]!
    }
  }

  // Embeddings: a constant, the word, and a place that is empty.
  const embedding = matrix("model.embed_tokens.weight")
  const spread = embeddingScale * 0.02 * Math.sqrt(768 / width_D)
  const firstEmpty = width_D - head_d
  for (let token = 0; token < config.vocabularySize; token++) {
    for (let at = 0; at < width_D; at++) embedding.set(token, at, embeddingScale * embedding.get(token, at))
    embedding.set(token, 0, 3 * spread)
    for (let at = firstEmpty; at < width_D; at++) embedding.set(token, at, 0)
  }
  // What is carried of a word: its shadow on `head_d` directions, taken from the noise of the weights that they replace.
  const carrier = matrix(layer(0, "v"))
  const noise = Array.from({ length: head_d }, (_, row) =>
    Float32Array.from({ length: firstEmpty - 1 }, (_, at) => carrier.get(row, at + 1))
  )
  const shadow = orthonormal(noise)

  // Layer 0, head 0: looks at the position before, carries the shadow of the word there to the empty place.
  const [query0, key0, output0] = [matrix(layer(0, "q")), matrix(layer(0, "k")), matrix(layer(0, "o"))]
  for (const each of [query0, key0, carrier]) each.clear(head_d, width_D)
  output0.clear(width_D, head_d)
  for (const [pair, turn] of turns.entries()) {
    query0.set(pair, 0, previousSharpness * Math.cos(turn))
    query0.set(pair + half, 0, -previousSharpness * Math.sin(turn))
    key0.set(pair, 0, previousSharpness)
  }
  for (const [row, direction] of shadow.entries()) {
    for (const [at, value] of direction.entries()) carrier.set(row, at + 1, value)
    output0.set(firstEmpty + row, row, spread * carriedScale)
  }

  // Layer 1, head 0: looks where the word is the one that was before here, and says what was before there.
  const [query1, key1, value1, output1] = [
    matrix(layer(1, "q")),
    matrix(layer(1, "k")),
    matrix(layer(1, "v")),
    matrix(layer(1, "o"))
  ]
  for (const each of [query1, key1, value1]) each.clear(head_d, width_D)
  output1.clear(width_D, head_d)
  const slow = turns.flatMap((turn, pair) => (turn < slowTurn ? [pair] : []))
  for (const [place, row] of [...slow, ...slow.map((pair) => pair + half)].entries()) {
    query1.set(row, firstEmpty + place, matchSharpness)
    for (const [at, value] of shadow[place]!.entries()) key1.set(row, at + 1, matchSharpness * value)
  }
  for (const [pair, turn] of turns.entries()) {
    if (turn < nearTurns.from || turn > nearTurns.to) continue
    query1.set(pair, 0, farSharpness)
    key1.set(pair, 0, -farSharpness)
  }
  for (const [row, direction] of shadow.entries()) {
    value1.set(row, firstEmpty + row, 1)
    for (const [at, value] of direction.entries()) output1.set(at + 1, row, value * spread * foundScale)
  }
  return weights
}
