/**
 * Trains a reader from `@divisi/gguf` on labeled texts, with jax-js on WebAssembly in the current thread.
 *
 * The texts in a batch are padded to the same length. The compiled program takes word embeddings and returns their
 * gradient, so that only the rows of words in the batch are updated. The optimizer is the engine's AdamW.
 */
import { Options } from "@divisi/core"
import { Reader, Tensor } from "@divisi/gguf"
import type * as Jax from "@jax-js/jax"
import * as Predicate from "effect/Predicate"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { load } from "./internal/library.ts"
import type { Library } from "./internal/network.ts"
import * as Optimizer from "./internal/optimizer.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The subject that a word refers to, and the statement it makes about the subject. */
export interface Label {
  /** Index into `Reader.marks`. */
  readonly mark: number
  readonly subjects: ReadonlyArray<number>
}

/** A text with its labels. Properties without a label are not trained. */
export interface Example {
  readonly words: ReadonlyArray<string>
  /**
   * For each word, whether only its vector is used, as for a word with unknown pieces. Default: `false` for all words.
   */
  readonly isUnspelt?: ReadonlyArray<boolean> | undefined
  /** The label for each word. */
  readonly said?: ReadonlyArray<Label | undefined> | undefined
  /** For each of `Reader.flags`, whether it applies to the text. */
  readonly flags?: ReadonlyArray<boolean> | undefined
  /** The subject that a question is about. */
  readonly about?: number | undefined
  /** Whether a part of a question refers to the answer of an earlier part. */
  readonly refers?: boolean | undefined
}

/** The state of a training run: weights and optimizer moments. */
export interface Training {
  readonly weights: Reader.Weights
  readonly first: Reader.Weights
  readonly second: Reader.Weights
  steps: number
}

/**
 * The dimensions of every batch: the number of texts, and the number of words to which each text is padded or
 * truncated.
 */
export interface Shape {
  readonly texts: number
  readonly words: number
}

const { distance, heads, layers, vector: vectorSize, width } = Reader.sizes
const headSize = width / heads
const buckets = 2 * distance + 1
const unseen = -1e9

/** All weights except the embeddings, in the order of a program's arrays. */
const order = Object.keys(Reader.shapes).filter((name) => name !== "embedding")

// -------------------------------------------------------------------------------------------------------------------
// Weights
// -------------------------------------------------------------------------------------------------------------------

const normals = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  const uniform = () => ((generator.next() >>> 0) + 1) / 2 ** 32
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

const deviation = (name: string, shape: ReadonlyArray<number>): number => {
  if (name.endsWith("bias")) return 0
  if (name === "embedding") return 0.5
  return (name.endsWith("output") || name.endsWith("down") ? 0.5 : 1) / Math.sqrt(shape.at(-1)!)
}

/**
 * The initial range of distances at which each head attends: statements about a subject are near it, and mostly before
 * it.
 */
const windows: ReadonlyArray<readonly [from: number, to: number]> = [
  [-4, -1],
  [-10, -2],
  [1, 6]
]

const firstDistances = (numbers: Float32Array): Float32Array =>
  numbers.map((_, at) => {
    const [head, away] = [Math.floor(at / buckets), (at % buckets) - distance]
    const window = windows[head]
    return window !== undefined && away >= window[0] && away <= window[1] ? 2 : 0
  })

const zeros = (): Reader.Weights =>
  Object.fromEntries(Object.entries(Reader.shapes).map(([name, shape]) => [name, new Float32Array(Tensor.size(shape))]))

/** Creates the state for a new training run, optionally with word vectors. */
export const begin = (seed: number, vectors?: Reader.Vectors): Training => {
  const normal = normals(seed)
  const weights = Object.fromEntries(
    Object.entries(Reader.shapes).map(([name, shape]) => {
      const numbers = new Float32Array(Tensor.size(shape)).fill(1)
      if (name.endsWith("distance")) return [name, firstDistances(numbers)]
      return [name, /orm$/.test(name) ? numbers : numbers.map(() => deviation(name, shape) * normal())]
    })
  )
  return { weights: { ...weights, ...vectors }, first: zeros(), second: zeros(), steps: 0 }
}

// -------------------------------------------------------------------------------------------------------------------
// The program
// -------------------------------------------------------------------------------------------------------------------

type Arrays = ReadonlyArray<Jax.Array>

const einsum = (jax: Library, expression: string, left: Jax.Array, right: Jax.Array): Jax.Array =>
  jax.numpy.einsum(expression, left.ref, right.ref) as Jax.Array

const linear = (jax: Library, input: Jax.Array, weight: Jax.Array) => einsum(jax, "nd,od->no", input, weight)

const norm = (jax: Library, input: Jax.Array, weight: Jax.Array): Jax.Array => {
  const squares = input.ref.mul(input.ref).mean(-1, { keepdims: true })
  return input.ref.mul(jax.numpy.reciprocal(jax.numpy.sqrt(squares.add(1e-5)))).mul(weight.ref)
}

/** Returns the hidden states after the last layer, `[N * L, D]`. */
const hidden = (
  jax: Library,
  weight: (name: string) => Jax.Array,
  embedded_ND: Jax.Array,
  padding_N11L: Jax.Array,
  places: Jax.Array,
  { texts: N, words: L }: Shape
): Jax.Array => {
  let states = embedded_ND
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => weight(`${layer}.${name}`)
    const input = norm(jax, states, of("norm"))
    const split = (name: string) => linear(jax, input, of(name)).reshape([N, L, heads, headSize])
    const bias = einsum(jax, "hb,bp->hp", of("distance"), places).reshape([1, heads, L, L])
    const scores = einsum(jax, "nqhk,nphk->nhqp", split("query").mul(1 / Math.sqrt(headSize)), split("key"))
      .add(bias)
      .add(padding_N11L.ref)
    const largest = jax.lax.stopGradient(jax.numpy.max(scores.ref, -1, { keepdims: true })) as Jax.Array
    const values = jax.numpy.exp(scores.sub(largest))
    const sums = values.ref.sum(-1, { keepdims: true })
    const found = einsum(jax, "nhqp,nphk->nhqk", values, split("value"))
    const gathered = found
      .transpose([0, 2, 1, 3])
      .div(sums.transpose([0, 2, 1, 3]))
      .reshape([N * L, width])
    states = states.ref.add(linear(jax, gathered, of("output")))
    const opened = linear(jax, norm(jax, states, of("innerNorm")), of("up"))
    states = states.ref.add(linear(jax, jax.nn.silu(opened) as Jax.Array, of("down")))
  }
  return norm(jax, states, weight("norm"))
}

/** Returns the weighted cross-entropy over classes, summed over rows. */
const crossEntropy = (jax: Library, logits: Jax.Array, targets: Jax.Array): Jax.Array => {
  const np = jax.numpy
  const largest = jax.lax.stopGradient(np.max(logits.ref, -1, { keepdims: true })) as Jax.Array
  const centred = logits.sub(largest)
  const total = np.log(np.exp(centred.ref).sum(-1, { keepdims: true }))
  return centred.sub(total).mul(targets.ref).sum().neg()
}

/** Returns the sum of weighted binary cross-entropies. */
const binary = (jax: Library, logits: Jax.Array, targets: Jax.Array, weights: Jax.Array): Jax.Array => {
  const np = jax.numpy
  const bounded = np.minimum(np.maximum(logits, -30), 30) as Jax.Array
  const softened = np.log(np.exp(bounded.ref).add(1))
  return softened.sub(bounded.mul(targets.ref)).mul(weights.ref).sum()
}

/** Loss weight of words that make a statement about a subject; higher than 1, because most words make none. */
const saidWeight = 5

/** The weight of each loss. */
const shares = { mark: 1, subject: 2, flag: 0.5, about: 1, refers: 1 } as const

/** Returns the shapes of a step's inputs and of its targets with their weights. */
const tableShapes = ({ texts: N, words: L }: Shape) => ({
  vectors: [N * L, vectorSize],
  padding: [N, 1, 1, L],
  places: [buckets, L * L],
  means: [N, L],
  mark: [N * L, Reader.marks.length],
  subject: [N * L, Reader.subjects],
  subjectWeight: [N * L, Reader.subjects],
  flag: [N, Reader.flags.length],
  flagWeight: [N, Reader.flags.length],
  about: [N, Reader.subjects],
  refers: [N, 1],
  refersWeight: [N, 1]
})

type TableName = keyof ReturnType<typeof tableShapes>

const program = (jax: Library, shape: Shape) => {
  const { texts: N, words: L } = shape
  const tables = Object.keys(tableShapes(shape))
  const loss = (own: Array<Jax.Array>, embedded_ND: Jax.Array, given: Array<Jax.Array>): Jax.Array => {
    const weight = (name: string) => own[order.indexOf(name)]!
    const table = (name: TableName) => given[tables.indexOf(name)]!
    const words_ND = embedded_ND.ref.add(linear(jax, table("vectors"), weight("word")))
    const states = hidden(jax, weight, words_ND, table("padding"), table("places"), shape)
    const mean_ND = einsum(jax, "nl,nld->nd", table("means"), states.ref.reshape([N, L, width]))
    const headOf = (from: Jax.Array, name: string) => linear(jax, from, weight(name)).add(weight(`${name}.bias`).ref)
    const ofMark = crossEntropy(jax, headOf(states, "mark"), table("mark")).mul(shares.mark)
    const ofSubject = binary(jax, headOf(states, "subject"), table("subject"), table("subjectWeight")).mul(
      shares.subject
    )
    const ofFlag = binary(jax, headOf(mean_ND, "flag"), table("flag"), table("flagWeight")).mul(shares.flag)
    const ofAbout = crossEntropy(jax, headOf(mean_ND, "about"), table("about")).mul(shares.about)
    const ofRefers = binary(jax, headOf(mean_ND, "refers"), table("refers"), table("refersWeight")).mul(shares.refers)
    return ofMark.add(ofSubject).add(ofFlag).add(ofAbout).add(ofRefers)
  }
  return jax.jit((own: Array<Jax.Array>, embedded_ND: Jax.Array, given: Array<Jax.Array>) => {
    const [value, pull] = jax.vjp(
      (own: Array<Jax.Array>, embedded: Jax.Array) => loss(own, embedded, given),
      [own.map((one) => one.ref), embedded_ND.ref]
    )
    const [ofOwn, ofEmbedded] = pull(jax.numpy.array(1)) as unknown as [Array<Jax.Array>, Jax.Array]
    pull.dispose()
    return [value, ofEmbedded, ...ofOwn]
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Batches
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates the inputs and targets of a batch. Losses are means: each sum is divided by the number of examples with that
 * label.
 */
const tablesOf = (examples: ReadonlyArray<Example>, shape: Shape) => {
  const { words: L } = shape
  const [marks, subjects, flags] = [Reader.marks.length, Reader.subjects, Reader.flags.length]
  const tables = Object.fromEntries(
    Object.entries(tableShapes(shape)).map(([name, sizes]) => [name, new Float32Array(Tensor.size(sizes))])
  ) as Record<TableName, Float32Array<ArrayBuffer>>
  tables.padding.fill(unseen)
  const labelled = examples.flatMap(({ said = [] }) => said.slice(0, L)).filter(Predicate.isNotUndefined).length || 1
  const flagged = examples.filter(({ flags }) => flags !== undefined).length || 1
  const asked = examples.filter(({ about }) => about !== undefined).length || 1
  const followed = examples.filter(({ refers }) => refers !== undefined).length || 1
  for (const [row, { about, flags: own, refers, said, words }] of examples.entries()) {
    const count = Math.min(L, words.length)
    for (let place = 0; place < count; place++) {
      const at = row * L + place
      tables.padding[at] = 0
      tables.means[at] = 1 / count
      const label = said?.[place]
      if (label === undefined) continue
      tables.mark[at * marks + label.mark] = (label.mark === 0 ? 1 : saidWeight) / labelled
      for (const subject of label.subjects) tables.subject[at * subjects + subject] = 1
      tables.subjectWeight.fill(1 / labelled, at * subjects, (at + 1) * subjects)
    }
    if (own !== undefined) tables.flagWeight.fill(1 / flagged, row * flags, (row + 1) * flags)
    for (const [index, holds] of own?.entries() ?? []) tables.flag[row * flags + index] = holds ? 1 : 0
    if (about !== undefined) tables.about[row * subjects + about] = 1 / asked
    if (refers !== undefined) tables.refersWeight[row] = 1 / followed
    if (refers === true) tables.refers[row] = 1
  }
  return tables
}

const lookUp = (table: Float32Array, examples: ReadonlyArray<Example>, { texts, words: L }: Shape) => {
  const found = new Float32Array(texts * L * width)
  forEachPiece(examples, L, (piece, share, to) => {
    for (let index = 0; index < width; index++) found[to + index]! += share * table[piece * width + index]!
  })
  return found
}

/** Adds the vectors of all words. */
const addVectors = (to: Float32Array, weights: Reader.Weights, examples: ReadonlyArray<Example>, length: number) => {
  for (const [row, { words }] of examples.entries()) {
    to.set(Reader.vectorsOf(weights, words.slice(0, length)), row * length * vectorSize)
  }
}

/**
 * Calls a function with each piece of each word, its share of the word, and the word's offset in the table of all
 * words.
 */
const forEachPiece = (
  examples: ReadonlyArray<Example>,
  length: number,
  use: (piece: number, share: number, to: number) => void
): void => {
  for (const [row, { isUnspelt, words }] of examples.entries()) {
    for (let place = 0; place < Math.min(length, words.length); place++) {
      if (isUnspelt?.[place] === true) continue
      const pieces = Reader.piecesOf(words[place]!)
      for (const piece of pieces) use(piece, 1 / pieces.length, (row * length + place) * width)
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Trains on a batch with as many examples as the shape has texts, and returns the loss. */
export type Step = (examples: ReadonlyArray<Example>, learningRate: number) => Promise<number>

/** Returns the one-hot distance buckets of all pairs of positions, `[buckets, L * L]`. */
const placesOf = (length: number): Float32Array<ArrayBuffer> => {
  const table = new Float32Array(buckets * length * length)
  for (let from = 0; from < length; from++) {
    for (let to = 0; to < length; to++) table[Reader.bucket(from, to) * length * length + from * length + to] = 1
  }
  return table
}

const shapeTable = Options.table(
  { texts: Options.whole(1, 2 ** 20), words: Options.whole(1, 2 ** 20) } satisfies Options.ShapeOf<Shape>,
  { required: ["texts", "words"] }
)

/** Loads jax-js and compiles the training step. Steps update the weights in place. */
export const make = async (training: Training, shape: Shape): Promise<Step> => {
  Options.check("ReaderTrainer.make", shape, shapeTable)
  const jax = await load()
  const run = program(jax, shape)
  const { texts: N, words: L } = shape
  const places = jax.numpy.array(placesOf(L), { shape: [buckets, L * L] })
  const array = (data: Float32Array, ...sizes: Array<number>) =>
    jax.numpy.array(data as Float32Array<ArrayBuffer>, { shape: sizes })
  return async (examples, learningRate) => {
    const { weights } = training
    const tables = tablesOf(examples, shape)
    addVectors(tables.vectors, weights, examples, L)
    const given = Object.entries(tableShapes(shape)).map(([name, sizes]) =>
      name === "places" ? places.ref : array(tables[name as TableName], ...sizes)
    )
    const own = order.map((name) => array(weights[name]!, ...Reader.shapes[name]!))
    const embedded = array(lookUp(weights.embedding!, examples, shape), N * L, width)
    const [value, ofEmbedded, ...ofOwn] = run(own, embedded, given) as unknown as [Jax.Array, Jax.Array, ...Arrays]
    const gradients = await gradientsOf(examples, shape, ofEmbedded, ofOwn)
    const squares = Object.values(gradients).reduce((sum, one) => sum + Optimizer.norm(one) ** 2, 0)
    const settings = { learningRate, beta2: 0.98, maxGradientNorm: 1 }
    const terms = Optimizer.termsOf(settings, training.steps, Math.sqrt(squares))
    for (const [name, gradient] of Object.entries(gradients)) {
      Optimizer.update(weights[name]!, training.first[name]!, training.second[name]!, gradient, terms)
    }
    training.steps += 1
    return (await value.data())[0]!
  }
}

const gradientsOf = async (
  examples: ReadonlyArray<Example>,
  { words }: Shape,
  ofEmbedded: Jax.Array,
  ofOwn: Arrays
) => {
  const gradients: Record<string, Float32Array> = {}
  for (const [index, name] of order.entries()) gradients[name] = (await ofOwn[index]!.data()) as Float32Array
  const table = new Float32Array(Tensor.size(Reader.shapes.embedding!))
  const found = (await ofEmbedded.data()) as Float32Array
  forEachPiece(examples, words, (piece, share, from) => {
    for (let index = 0; index < width; index++) table[piece * width + index]! += share * found[from + index]!
  })
  return { ...gradients, embedding: table }
}
