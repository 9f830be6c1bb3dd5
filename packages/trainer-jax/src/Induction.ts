/**
 * Initial weights that can already look up text.
 *
 * To look up the text before a word in a list, a transformer needs two attention heads that are useless without each
 * other. One carries the previous word along, and one finds the same word again (the induction heads of Olsson et al.
 * 2022). To find the line that contains a word, it needs a third head, which carries the heading of the line to every
 * word. Small models that are trained from random weights take a very long time until all of these heads emerge. With
 * these heads in the initial weights, they look up correctly after a few dozen steps. All other weights are random as
 * usual, and all weights are trained.
 */
import type { Model } from "@divisi/gguf"
import { initial } from "./internal/initial.ts"

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** How sharply the first head looks at the token before. */
const previousSharpness = 1.6
/** Pairs that turn at least so much tell neighbours apart; the others would only make the head easier to upset. */
const neighbourTurn = 0.03
/** How sharply the second head looks at the token that is the same. */
const matchSharpness = 1.5
/** The strength with which it ignores nearby text, because the word that it looks up was also just written there. */
const farSharpness = 1.5
/** How loud the heads speak, as multiples of an embedding. */
const carriedScale = 1.5
const foundScale = 3
/** Embeddings are louder than other weights, so that what heads say does not drown them. */
const embeddingScale = 2
/** Pairs of a head's numbers that are turned by no more than this between neighbours: the others cannot match afar. */
const slowTurn = 1.5e-3
/** How sharply the third head looks at the heading before. */
const headingSharpness = 2
/** Pairs that turn so much tell a line's own heading from that of the line before. */
const headingTurns = { from: 5e-3, to: 0.05 }
/** Pairs with this many turns separate nearby positions, within some dozen tokens, from distant ones. */
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
 * Weights from a seed for a model with at least two layers and two heads, as many key and value heads as query heads,
 * and embeddings that are also its output layer.
 *
 * **Details**
 *
 * Of the hidden state's `D` numbers, the first is the same for all tokens, so that heads can attend by position alone;
 * the second marks headings. The last `headSize` numbers receive the previous word, and the `headSize` numbers before
 * them receive the heading.
 *
 * `headings` are the tokens that can start a line. Without headings, words can be looked up, but not their lines.
 *
 * **Gotchas**
 *
 * Matching over long distances needs low rotary frequencies: set the config's `ropeTheta` to 1e6 or more.
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

  // Embeddings: a constant, a mark of headings, the word, and two places that are empty.
  const embedding = matrix("model.embed_tokens.weight")
  const spread = embeddingScale * 0.02 * Math.sqrt(768 / width_D)
  const [constant, mark, firstOfWord] = [0, 1, 2]
  const placeOfHeading = width_D - 2 * head_d
  const placeBefore = width_D - head_d
  // All are as loud as each other: the norm before a head would make the constant of a quiet word a loud one, and the
  // head that seeks a position would look at quiet words instead.
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

  // Layer 0, head 0: looks at the position before, carries the shadow of the word there to an empty place.
  for (const [pair, turn] of turns.entries()) {
    if (turn < neighbourTurn) continue
    first.query.set(pair, constant, previousSharpness * Math.cos(turn))
    first.query.set(pair + half, constant, -previousSharpness * Math.sin(turn))
    first.key.set(pair, constant, previousSharpness)
  }
  // Layer 0, head 1: looks at the nearest heading, carries its shadow to the other empty place.
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

  // Layer 1, both heads: look where the word is the one that was before here, and say what was before there, or over it.
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
