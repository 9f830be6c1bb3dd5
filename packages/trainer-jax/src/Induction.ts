/**
 * Creates initial weights that can already look up text.
 *
 * To look up the text before a word in a list, a transformer needs two attention heads that are useless without each
 * other. One carries the previous word along, and one finds the same word again (the induction heads of Olsson et al.
 * 2022). To find the line that contains a word, it needs a third head, which carries the heading of the line to every
 * word. Small models trained from random weights take a very long time until all of these heads emerge. With these
 * heads in the initial weights, lookup works after a few dozen steps. All other weights are random as usual, and all
 * weights are trained.
 */
import type { Model } from "@divisi/gguf"
import { initial } from "./internal/initial.ts"

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** Sharpness of the first head's attention to the preceding token. */
const previousSharpness = 1.6
/**
 * Minimum rotation per position of the pairs that distinguish neighboring tokens; other pairs would only add noise to
 * the head.
 */
const neighbourTurn = 0.03
/** Sharpness of the second head's attention to equal tokens. */
const matchSharpness = 1.5
/**
 * Strength with which the second head ignores nearby text, because the word being looked up was also just written
 * there.
 */
const farSharpness = 1.5
/** Magnitude of the heads' output, as a multiple of an embedding. */
const carriedScale = 1.5
const foundScale = 3
/** Magnitude of embeddings relative to other weights, so that the heads' output does not dominate them. */
const embeddingScale = 2
/**
 * Maximum rotation per position of the pairs used for matching; pairs that rotate faster cannot match over long
 * distances.
 */
const slowTurn = 1.5e-3
/** Sharpness of the third head's attention to the preceding heading. */
const headingSharpness = 2
/** Range of rotations that distinguish the heading of the current line from that of the previous line. */
const headingTurns = { from: 5e-3, to: 0.05 }
/** Range of rotations that distinguish nearby positions, within a few dozen tokens, from distant ones. */
const nearTurns = { from: 5e-3, to: 0.2 }

const defaultTheta = 10_000

// -------------------------------------------------------------------------------------------------------------------
// Linear algebra
// -------------------------------------------------------------------------------------------------------------------

/** Makes rows orthonormal, one after another (Gram-Schmidt). */
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
 * Creates weights from a seed, for a model with at least two layers and two heads, equal numbers of query heads and
 * key-value heads, and embeddings that also serve as the output layer.
 *
 * **Details**
 *
 * Of the hidden state's `D` numbers, the first is the same for all tokens, so that heads can attend by position alone,
 * and the second marks headings. The last `headSize` numbers hold the previous word, and the `headSize` numbers before
 * them hold the heading.
 *
 * `headings` are the tokens that can start a line. Without headings, words can be looked up, but not their lines.
 *
 * **Gotchas**
 *
 * Matching over long distances requires low rotary frequencies, so set `ropeTheta` in the config to 1e6 or more.
 *
 * **Example**
 *
 * ```ts
 * import { Induction } from "@divisi/trainer-jax"
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
export const tensors = (
  config: Model.Config,
  seed: number,
  headings: ReadonlyArray<number> = []
): Model.DenseModel["tensors"] => {
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

  // Embeddings: a constant, a heading mark, the word, and two empty regions.
  const embedding = matrix("model.embed_tokens.weight")
  const spread = embeddingScale * 0.02 * Math.sqrt(768 / width_D)
  const [constant, mark, firstOfWord] = [0, 1, 2]
  const placeOfHeading = width_D - 2 * head_d
  const placeBefore = width_D - head_d
  // All embeddings have the same magnitude. Otherwise the norm before a head would enlarge the constant of a small
  // embedding, and the head that attends by position would attend to such words instead.
  const loudness = spread * Math.sqrt(placeOfHeading - firstOfWord)
  const isHeading = new Set(headings)
  for (let token = 0; token < config.vocabularySize; token++) {
    embedding.set(token, constant, 3 * spread)
    embedding.set(token, mark, isHeading.has(token) ? 3 * spread : 0)
    const word = Array.from({ length: placeOfHeading - firstOfWord }, (_, at) => embedding.get(token, firstOfWord + at))
    const scale = Math.sqrt(loudness ** 2 - embedding.get(token, mark) ** 2) / Math.hypot(...word)
    for (const [at, value] of word.entries()) embedding.set(token, firstOfWord + at, scale * value)
    for (let at = placeOfHeading; at < width_D; at++) embedding.set(token, at, 0)
  }

  const inLayer = (index: number) => ({
    query: matrix(layer(index, "q")),
    key: matrix(layer(index, "k")),
    value: matrix(layer(index, "v")),
    output: matrix(layer(index, "o"))
  })
  const [first, second] = [inLayer(0), inLayer(1)]
  // The carried part of a word: its projection on `head_d` directions, taken from the noise of the weights that they
  // replace.
  const noise = Array.from({ length: head_d }, (_, row) =>
    Float32Array.from({ length: placeOfHeading - firstOfWord }, (_, at) => first.value.get(row, at + firstOfWord))
  )
  const shadow = orthonormal(noise)
  for (const { key, output, query, value } of [first, second]) {
    for (const each of [query, key, value]) each.clear(2 * head_d, width_D)
    output.clear(width_D, 2 * head_d)
  }

  // Layer 0, head 0: attends to the previous position and copies the projection of its word to an empty region.
  for (const [pair, turn] of turns.entries()) {
    if (turn < neighbourTurn) continue
    first.query.set(pair, constant, previousSharpness * Math.cos(turn))
    first.query.set(pair + half, constant, -previousSharpness * Math.sin(turn))
    first.key.set(pair, constant, previousSharpness)
  }
  // Layer 0, head 1: attends to the nearest heading and copies its projection to the other empty region.
  for (const [pair, turn] of turns.entries()) {
    if (turn < headingTurns.from || turn > headingTurns.to) continue
    first.query.set(head_d + pair, constant, headingSharpness)
    first.key.set(head_d + pair, mark, headingSharpness)
  }
  for (const [head, place] of [placeBefore, placeOfHeading].entries()) {
    for (const [row, direction] of shadow.entries()) {
      for (const [at, value] of direction.entries()) first.value.set(head * head_d + row, at + firstOfWord, value)
      first.output.set(place + row, head * head_d + row, spread * carriedScale)
    }
  }

  // Layer 1, both heads: attend to positions whose word equals the previous word, and output the word or the heading
  // stored there.
  const slow = turns.flatMap((turn, pair) => (turn < slowTurn ? [pair] : []))
  for (const [head, place] of [placeBefore, placeOfHeading].entries()) {
    const from = head * head_d
    for (const [at, row] of [...slow, ...slow.map((pair) => pair + half)].entries()) {
      second.query.set(from + row, placeBefore + at, matchSharpness)
      for (const [word, value] of shadow[at]!.entries()) {
        second.key.set(from + row, word + firstOfWord, matchSharpness * value)
      }
    }
    for (const [pair, turn] of turns.entries()) {
      if (turn < nearTurns.from || turn > nearTurns.to) continue
      second.query.set(from + pair, constant, farSharpness)
      second.key.set(from + pair, constant, -farSharpness)
    }
    for (const [row, direction] of shadow.entries()) {
      second.value.set(from + row, place + row, 1)
      for (const [at, value] of direction.entries()) {
        second.output.set(at + firstOfWord, from + row, value * spread * foundScale)
      }
    }
  }
  return weights
}
