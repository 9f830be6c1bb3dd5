/**
 * Embedders convert text to vectors, so that similar text has nearby vectors.
 *
 * They are used by learned routers and by label-free accuracy estimates that compare answers. Use {@link fromPromise}
 * with any embedding API. {@link hashed} runs locally without a model and is deterministic, which makes it suitable for
 * tests and offline use.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CallbackError, called } from "../Callback.ts"
import * as Options from "../Options.ts"
import { isA, messageOf } from "../Thrown.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Converts a list of strings to vectors, in the same order. All vectors of an embedder have the same length. */
export interface Embedder {
  /** Display name of the embedder. A learned router only works with the embedder that it was trained with. */
  readonly name: string
  readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError>
}

/** Raised when text cannot be embedded. */
export class EmbedderError extends Data.TaggedError("EmbedderError")<{
  readonly embedder: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.embedder} returned no embeddings: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// From elsewhere
// -------------------------------------------------------------------------------------------------------------------

const checked = (name: string, texts: number, points: ReadonlyArray<ArrayLike<number>>) => {
  const lengths = new Set(points.map(({ length }) => length))
  if (points.length === texts && lengths.size <= 1) {
    return Effect.succeed(points.map((point) => Float32Array.from(point)))
  }
  const detail = `it returned ${points.length} vectors of ${[...lengths].join(" and ")} numbers for ${texts} texts.`
  return Effect.fail(new EmbedderError({ embedder: name, detail }))
}

const inBatches = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/**
 * Creates an embedder from a function that calls an embedding API. Strings are passed to the function in sequential
 * batches.
 *
 * **Example**
 *
 * ```ts
 * import { Embedder } from "@divisi/core"
 * import * as Effect from "effect/Effect"
 *
 * // With the openai package: (texts) => client.embeddings.create({ model, input: texts }).then(...)
 * const lengths = Embedder.fromPromise("lengths", async (texts) => texts.map((text) => [text.length]))
 * const points = await Effect.runPromise(lengths.embed(["one", "three"]))
 * points.map((point) => point[0]) // => [3, 5]
 * ```
 */
export const fromPromise = (
  name: string,
  embed: (texts: ReadonlyArray<string>, signal: AbortSignal) => Promise<ReadonlyArray<ArrayLike<number>>>,
  options: { readonly batch?: number | undefined } = {}
): Embedder => {
  Options.check("Embedder.fromPromise", options, { batch: Options.whole(1) })
  return {
    name,
    embed: (texts) =>
      Effect.map(
        Effect.forEach(inBatches(texts, options.batch ?? 128), (batch) =>
          Effect.flatMap(
            Effect.tryPromise({
              try: (signal) => embed(batch, signal),
              catch: (error) =>
                new EmbedderError({ embedder: name, detail: error instanceof Error ? error.message : String(error) })
            }),
            (points) => checked(name, batch.length, points)
          )
        ),
        (batches) => batches.flat()
      )
  }
}

/** Calls an embedder, which may be a user-supplied async function. Exceptions are converted to an `EmbedderError`. */
export const ask = (
  embedder: Embedder,
  texts: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError> =>
  Effect.mapError(
    called(
      "embed",
      () => embedder.embed(texts),
      (error) => isA(error, EmbedderError)
    ),
    (error) =>
      isA(error, CallbackError) ? new EmbedderError({ embedder: embedder.name, detail: messageOf(error.cause) }) : error
  )

// -------------------------------------------------------------------------------------------------------------------
// Local
// -------------------------------------------------------------------------------------------------------------------

/** 32-bit FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  // The low bits of FNV are of poor quality; one round of mixing improves them.
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}

/**
 * Extracts words, word pairs and letter trigrams from a text. Trigrams capture the similarity of words with different
 * endings.
 */
const features = (text: string): ReadonlyMap<string, number> => {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? []
  const counts = new Map<string, number>()
  const add = (feature: string) => counts.set(feature, (counts.get(feature) ?? 0) + 1)
  for (const [index, word] of words.entries()) {
    add(`w ${word}`)
    if (index > 0) add(`p ${words[index - 1]} ${word}`)
    const padded = `<${word}>`
    for (let start = 0; word.length > 3 && start + 3 <= padded.length; start++)
      add(`c ${padded.slice(start, start + 3)}`)
  }
  return counts
}

const unit = (point: Float32Array): Float32Array => {
  const length = Math.hypot(...point)
  return length === 0 ? point : point.map((value) => value / length)
}

const point = (text: string, dimensions: number): Float32Array => {
  const values = new Float32Array(dimensions)
  for (const [feature, count] of features(text)) {
    const code = hash(feature)
    values[code % dimensions]! += (code & 0x80000000 ? -1 : 1) * (1 + Math.log(count))
  }
  return unit(values)
}

/**
 * Creates an embedder that hashes words, word pairs and letter trigrams into a unit vector of length `dimensions`
 * (default 512).
 *
 * **Details**
 *
 * The vectors reflect wording, not meaning: "car" and "automobile" are unrelated. A router trained with this embedder
 * shows how much can be learned from wording alone; a model's embeddings may perform better.
 *
 * **Example**
 *
 * ```ts
 * import { Embedder } from "@divisi/core"
 * import * as Effect from "effect/Effect"
 *
 * const [first, second] = await Effect.runPromise(Embedder.hashed().embed(["How much is 2 + 3?", "How much is 2 + 3?"]))
 * first!.length // => 512
 * first!.every((value, index) => value === second![index]) // => true
 * ```
 */
export const hashed = (options: { readonly dimensions?: number | undefined } = {}): Embedder => {
  Options.check("Embedder.hashed", options, { dimensions: Options.whole(1) })
  const dimensions = options.dimensions ?? 512
  if (!Number.isInteger(dimensions) || dimensions < 1) {
    throw new RangeError(`The number of dimensions must be a whole number of at least 1, not ${dimensions}.`)
  }
  return {
    name: `hashed-${dimensions}`,
    embed: (texts) => Effect.sync(() => texts.map((text) => point(text, dimensions)))
  }
}
