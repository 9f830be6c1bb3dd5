/**
 * A small network that reads short texts. It labels each word with a subject and with what the text states about that
 * subject, and it classifies the topic of the whole text. The forward pass is plain code; `@divisi/trainer-jax` trains
 * it.
 *
 * Words are represented by the sum of hashed pieces of three to five letters, so that unseen words are close to related
 * ones, plus a pretrained word vector if available, so that words with similar use are close. Three attention layers
 * with relative positions process each text.
 */
import * as Effect from "effect/Effect"
import * as Errors from "./GgufError.ts"
import * as GgufReader from "./GgufReader.ts"
import * as GgufWriter from "./GgufWriter.ts"
import * as Kernels from "./internal/kernels.ts"
import * as Metadata from "./Metadata.ts"
import * as Tensor from "./Tensor.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Dimensions shared by all readers. */
export const sizes = { rows: 8192, width: 64, heads: 4, inner: 128, layers: 3, distance: 12, vector: 96 } as const

/** Properties of the worker that a text may describe. */
export const flags = ["careless", "exact", "general"] as const

/** Labels of a word: what is stated about its subject, or what the word itself states. */
export const marks = ["none", "good", "weak", "check", ...flags] as const

/** Number of subjects. */
export const subjects = 8

/** Tensors keyed by name: those in {@link shapes}, and optionally those in {@link Vectors}. */
export type Weights = Readonly<Record<string, Float32Array>>

/** Pretrained word vectors. They are frozen during training. */
export interface Vectors extends Weights {
  /** The {@link keyOf} of each word. */
  readonly "vector.key": Float32Array
  /** The vectors, with the shape `[words, sizes.vector]`. */
  readonly vector: Float32Array
}

/** The network's output for a text. */
export interface Reading {
  readonly words: ReadonlyArray<string>
  /** Probability of each of the {@link marks}, for each word. */
  readonly marks: ReadonlyArray<ReadonlyArray<number>>
  /** Probability that a word refers to a subject, for each word and subject. */
  readonly subjects: ReadonlyArray<ReadonlyArray<number>>
  /** Probability of each of the {@link flags}. */
  readonly flags: ReadonlyArray<number>
  /** Probability that a question is about a subject, for each subject. */
  readonly about: ReadonlyArray<number>
  /** Probability that a part of a question refers to the answer to an earlier part. */
  readonly refers: number
}

const { distance, heads, inner, layers, rows, vector: vectorSize, width } = sizes
const headSize = width / heads
const buckets = 2 * distance + 1

/** Shapes of all trained tensors, keyed by name. */
export const shapes: Readonly<Record<string, ReadonlyArray<number>>> = {
  embedding: [rows, width],
  word: [width, vectorSize],
  ...Object.fromEntries(
    Array.from({ length: layers }, (_, layer) => [
      [`${layer}.norm`, [width]],
      [`${layer}.query`, [width, width]],
      [`${layer}.key`, [width, width]],
      [`${layer}.value`, [width, width]],
      [`${layer}.distance`, [heads, buckets]],
      [`${layer}.output`, [width, width]],
      [`${layer}.innerNorm`, [width]],
      [`${layer}.up`, [inner, width]],
      [`${layer}.down`, [width, inner]]
    ]).flat()
  ),
  norm: [width],
  mark: [marks.length, width],
  subject: [subjects, width],
  flag: [flags.length, width],
  about: [subjects, width],
  refers: [1, width],
  "mark.bias": [marks.length],
  "subject.bias": [subjects],
  "flag.bias": [flags.length],
  "about.bias": [subjects],
  "refers.bias": [1]
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

/** Parses a share such as `3/4`, `0.75` or `75 %`. Returns `undefined` for any other number. */
const shareOf = (word: string): number | undefined => {
  const [, above, below, percent] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?( ?%)?$/.exec(word) ?? []
  if (above === undefined) return undefined
  const isShare = below !== undefined || percent !== undefined || above.includes(".")
  const value = Number(above) / (below !== undefined ? Number(below) : percent !== undefined ? 100 : 1)
  return isShare && value <= 1 ? value : undefined
}

/** Accuracy at or above which a worker counts as good, and at or below which it counts as weak. */
const [high, low] = [0.7, 0.4]

const numberWord = (word: string): string => {
  const share = shareOf(word)
  return share === undefined ? "0" : share >= high ? "%high" : share <= low ? "%low" : "%middling"
}

/**
 * Splits a text into lowercase words. Numbers become the word `0`; shares such as 3/4 become a word for high, middling
 * or low.
 */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(/[a-z]+|\d+(?:[.,/]\d+)*(?: ?%)?|\n|[^\sa-z\d]/g) ?? []).map((word) =>
    /\d/.test(word) ? numberWord(word) : word
  )

const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/** Returns the lookup key of a word: as many bits of its hash as fit into a 32-bit float. */
export const keyOf = (word: string): number => hash(word) >>> 8

const rowsByKey = new WeakMap<Float32Array, ReadonlyMap<number, number>>()

/** Word endings, with the letters that replace them in the stem. */
const ends: ReadonlyArray<readonly [end: RegExp, without: string]> = [
  [/ies$/, "y"],
  [/(?<=ss|sh|ch|[xzo])es$/, ""],
  [/(?<!s)s$/, ""],
  [/ied$/, "y"],
  [/ed$/, ""],
  [/([b-z])\1ed$/, "$1"],
  [/ed$/, "e"],
  [/ing$/, ""],
  [/([b-z])\1ing$/, "$1"],
  [/ing$/, "e"],
  [/ily$/, "y"],
  [/(?<=[aeiou].*)ly$/, ""],
  [/ly$/, "le"],
  [/ier$/, "y"],
  [/iest$/, "y"],
  [/er$/, ""],
  [/([b-z])\1er$/, "$1"],
  [/er$/, "e"],
  [/est$/, ""],
  [/([b-z])\1est$/, "$1"],
  [/est$/, "e"]
]

const shortestStem = 3

/**
 * Returns the possible stems of a word, based on its ending: `falters` from `falter`, `baking` from `bak` or `bake`.
 */
export const stemsOf = (word: string): ReadonlyArray<string> =>
  ends.flatMap(([end, without]) => {
    const stem = word.replace(end, without)
    return stem === word || stem.length < shortestStem ? [] : [stem]
  })

/** Returns the vector row of a word or, failing that, of its stem. Returns `undefined` if neither has a vector. */
const rowOf = (keys: Float32Array, word: string): number | undefined => {
  const own = rowsByKey.get(keys) ?? new Map(Array.from(keys, (key, row) => [key, row]))
  rowsByKey.set(keys, own)
  const row = own.get(keyOf(word))
  if (row !== undefined) return row
  const stem = stemsOf(word).find((one) => own.has(keyOf(one)))
  return stem === undefined ? undefined : own.get(keyOf(stem))
}

/** Returns the vectors of words, concatenated. Words without a vector get zeros. */
export const vectorsOf = (weights: Weights, words: ReadonlyArray<string>): Float32Array => {
  const found = new Float32Array(words.length * vectorSize)
  const [keys, vectors] = [weights["vector.key"], weights.vector]
  if (keys === undefined || vectors === undefined) return found
  for (const [at, word] of words.entries()) {
    const row = rowOf(keys, word)
    if (row !== undefined) found.set(vectors.subarray(row * vectorSize, (row + 1) * vectorSize), at * vectorSize)
  }
  return found
}

const known = new Map<string, ReadonlyArray<number>>()

/** Returns the embedding rows whose mean represents a word: one for the whole word and one for each of its pieces. */
export const piecesOf = (word: string): ReadonlyArray<number> => {
  const found = known.get(word)
  if (found !== undefined) return found
  const bounded = `<${word}>`
  const pieces = new Set([hash(`=${word}`) % rows])
  for (let length = 3; length <= 5; length++) {
    for (let start = 0; start + length <= bounded.length; start++)
      pieces.add(hash(bounded.slice(start, start + length)) % rows)
  }
  const own = [...pieces]
  if (known.size < 100_000) known.set(word, own)
  return own
}

// -------------------------------------------------------------------------------------------------------------------
// Forward pass
// -------------------------------------------------------------------------------------------------------------------

const epsilon = 1e-5

/** Multiplies each row of `input` by a matrix of shape `[outputs, inputs]`. */
const linear = (input: Float32Array, weight: Float32Array, inputs: number, outputs: number): Float32Array => {
  const count = input.length / inputs
  const output = new Float32Array(count * outputs)
  Kernels.linear({ weight, rows: outputs, columns: inputs, bias: undefined }, input, output, 0, count)
  return output
}

const normed = (input: Float32Array, weight: Float32Array): Float32Array => {
  const output = new Float32Array(input.length)
  for (let start = 0; start < input.length; start += width) {
    let squares = 0
    for (let index = 0; index < width; index++) squares += input[start + index]! ** 2
    const scale = 1 / Math.sqrt(squares / width + epsilon)
    for (let index = 0; index < width; index++) output[start + index] = input[start + index]! * scale * weight[index]!
  }
  return output
}

const softmax = (scores: ReadonlyArray<number>): Array<number> => {
  const largest = Math.max(...scores)
  const values = scores.map((score) => Math.exp(score - largest))
  const sum = values.reduce((left, right) => left + right, 0)
  return values.map((value) => value / sum)
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value))

const add = (left: Float32Array, right: Float32Array): Float32Array => left.map((value, index) => value + right[index]!)

/** Returns the row of the distance table for a pair of word positions. */
export const bucket = (from: number, to: number): number =>
  Math.max(-distance, Math.min(distance, to - from)) + distance

const attend = (states: Float32Array, layer: number, weights: Weights): Float32Array => {
  const of = (name: string) => linear(states, weights[`${layer}.${name}`]!, width, width)
  const [queries, keys, values] = [of("query"), of("key"), of("value")]
  const count = states.length / width
  const table = weights[`${layer}.distance`]!
  const found = new Float32Array(states.length)
  const shares = new Float64Array(count)
  for (let head = 0; head < heads; head++) {
    for (let row = 0; row < count; row++) {
      const from = row * width + head * headSize
      let largest = -Infinity
      for (let other = 0; other < count; other++) {
        const to = other * width + head * headSize
        let sum = 0
        for (let index = 0; index < headSize; index++) sum += queries[from + index]! * keys[to + index]!
        const score = sum / Math.sqrt(headSize) + table[head * buckets + bucket(row, other)]!
        shares[other] = score
        if (score > largest) largest = score
      }
      let total = 0
      for (let other = 0; other < count; other++) {
        shares[other] = Math.exp(shares[other]! - largest)
        total += shares[other]!
      }
      for (let other = 0; other < count; other++) {
        const share = shares[other]! / total
        const to = other * width + head * headSize
        for (let index = 0; index < headSize; index++) found[from + index]! += share * values[to + index]!
      }
    }
  }
  return linear(found, weights[`${layer}.output`]!, width, width)
}

/** Computes the initial state of each word. */
const embedded = (words: ReadonlyArray<string>, weights: Weights): Float32Array => {
  const table = weights.embedding!
  const states = linear(vectorsOf(weights, words), weights.word!, vectorSize, width)
  for (const [row, word] of words.entries()) {
    const pieces = piecesOf(word)
    for (const piece of pieces) {
      for (let index = 0; index < width; index++) {
        states[row * width + index]! += table[piece * width + index]! / pieces.length
      }
    }
  }
  return states
}

const head = (states: Float32Array, weights: Weights, name: string, outputs: number): ReadonlyArray<Array<number>> => {
  const found = linear(states, weights[name]!, width, outputs)
  const bias = weights[`${name}.bias`]!
  return Array.from({ length: states.length / width }, (_, row) =>
    Array.from({ length: outputs }, (_, at) => found[row * outputs + at]! + bias[at]!)
  )
}

/** Maximum number of words read from a text. The rest is ignored. */
const longest = 160

/** Runs a reader on a text. */
export const read = (weights: Weights, text: string): Reading => {
  const words = wordsOf(text).slice(0, longest)
  // Treat an empty text as a single empty line.
  const all = words.length === 0 ? ["\n"] : words
  let states = embedded(all, weights)
  for (let layer = 0; layer < layers; layer++) {
    states = add(states, attend(normed(states, weights[`${layer}.norm`]!), layer, weights))
    const opened = linear(normed(states, weights[`${layer}.innerNorm`]!), weights[`${layer}.up`]!, width, inner)
    const active = opened.map((value) => value * sigmoid(value))
    states = add(states, linear(active, weights[`${layer}.down`]!, inner, width))
  }
  const last = normed(states, weights.norm!)
  const mean = new Float32Array(width)
  for (let at = 0; at < last.length; at++) mean[at % width]! += last[at]! / all.length
  return {
    words: all,
    marks: head(last, weights, "mark", marks.length).map(softmax),
    subjects: head(last, weights, "subject", subjects).map((row) => row.map(sigmoid)),
    flags: head(mean, weights, "flag", flags.length)[0]!.map(sigmoid),
    about: softmax(head(mean, weights, "about", subjects)[0]!),
    refers: sigmoid(head(mean, weights, "refers", 1)[0]![0]!)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The value of `general.architecture` in files of this module. */
export const architecture = "divisi-reader"

/** The contents of a reader file. */
export interface File {
  /**
   * One or more independently trained readers, whose errors differ from text to text. All use the word vectors of the
   * first reader.
   */
  readonly readers: ReadonlyArray<Weights>
  /** Additional metadata as strings, for example the training seed. */
  readonly metadata: Readonly<Record<string, string>>
  /** Other parts of the same model, keyed by tensor name. */
  readonly parts?: Weights | undefined
}

/** Returns the prefix of a reader's tensor names. */
const prefixOf = (ordinal: number): string => (ordinal === 0 ? "" : `reader.${ordinal}.`)

/** Returns a reader's word vectors as tensors for a file, quantized to 8 bits. */
const vectorTensors = (weights: Weights): ReadonlyArray<GgufWriter.NamedTensor> => {
  const [keys, vectors] = [weights["vector.key"], weights.vector]
  if (keys === undefined || vectors === undefined) return []
  return [
    { name: "vector.key", shape: [keys.length], data: keys },
    { name: "vector", shape: [keys.length, vectorSize], data: vectors, type: "Q8_0" }
  ]
}

const vectorNames: ReadonlyArray<string> = ["vector.key", "vector"] satisfies ReadonlyArray<keyof Vectors>

const numbersOf = Effect.fnUntraced(function* (file: GgufReader.GgufFile, name: string) {
  const found = yield* Effect.fromResult(GgufReader.tensor(file, name))
  return yield* Effect.promise(() => Tensor.collect(found))
})

const corrupt = (path: string, detail: string) => Errors.make({ _tag: "Corrupt", detail }, path)

/** Loads readers from a GGUF file. Fails with `Corrupt` if the architecture differs or a tensor is missing. */
export const load = Effect.fnUntraced(function* (path: string) {
  const file = yield* GgufReader.read(path)
  if (GgufReader.architecture(file) !== architecture) return yield* corrupt(path, "it does not contain a reader.")
  const all = file.tensors.map(({ name }) => name)
  const vectors: Record<string, Float32Array> = {}
  for (const name of vectorNames) if (all.includes(name)) vectors[name] = yield* numbersOf(file, name)
  const taken = new Set(vectorNames)
  const readers: Array<Weights> = []
  do {
    const prefix = prefixOf(readers.length)
    const weights: Record<string, Float32Array> = {}
    for (const [own, shape] of Object.entries(shapes)) {
      const name = `${prefix}${own}`
      weights[own] = yield* numbersOf(file, name)
      if (weights[own].length !== Tensor.size(shape)) return yield* corrupt(path, `its ${name} has the wrong size.`)
      taken.add(name)
    }
    readers.push({ ...weights, ...vectors })
  } while (all.some((name) => name.startsWith(prefixOf(readers.length))))
  const parts: Record<string, Float32Array> = {}
  for (const name of all) if (!taken.has(name)) parts[name] = yield* numbersOf(file, name)
  const metadata = Object.fromEntries(
    Object.entries(file.metadata).flatMap(([key, { type, value }]) =>
      type === "string" && key !== "general.architecture" ? [[key, value]] : []
    )
  )
  return { readers, metadata, parts } satisfies File
})

/**
 * Writes readers to a GGUF file.
 *
 * **Details**
 *
 * Weights are stored with 32 bits, or with 16 bits if `type` is `"F16"`. Word vectors are quantized to 8 bits; other
 * parts always use 32 bits.
 */
export const save = (
  path: string,
  { metadata, parts = {}, readers }: File,
  type: GgufWriter.FloatType = "F32"
): Effect.Effect<GgufWriter.Written, Errors.GgufError> =>
  GgufWriter.write(path, {
    metadata: { "general.architecture": Metadata.string(architecture), ...Metadata.texts(metadata) },
    tensors: [
      ...readers.flatMap((weights, ordinal) =>
        Object.entries(shapes).map(([name, shape]) => ({
          name: `${prefixOf(ordinal)}${name}`,
          shape,
          type,
          data: weights[name]!
        }))
      ),
      ...readers.slice(0, 1).flatMap(vectorTensors),
      ...Object.entries(parts).map(([name, data]) => ({ name, shape: [data.length], data }))
    ]
  })

/** Loads only the word vectors, from a reader file or from a file written by {@link saveVectors}. */
export const loadVectors = Effect.fnUntraced(function* (path: string) {
  const file = yield* GgufReader.read(path)
  const [keys, vector] = [yield* numbersOf(file, "vector.key"), yield* numbersOf(file, "vector")]
  if (vector.length !== keys.length * vectorSize) return yield* corrupt(path, "its vectors have the wrong size.")
  return { "vector.key": keys, vector } satisfies Vectors
})

/** Writes word vectors to a separate file, to start a training run from. */
export const saveVectors = (path: string, vectors: Vectors): Effect.Effect<GgufWriter.Written, Errors.GgufError> =>
  GgufWriter.write(path, {
    metadata: { "general.architecture": Metadata.string("divisi-words") },
    tensors: vectorTensors(vectors)
  })
