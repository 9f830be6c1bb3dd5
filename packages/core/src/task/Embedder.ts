/**
 * Embedders map texts to vectors, so that similar texts are close to each other.
 *
 * They are used by routers that learn from questions, and by label-free estimates that compare answers. Any provider's
 * embeddings are suitable ({@link fromPromise}). {@link hashed} is local, needs no model, and is deterministic, which
 * suits tests and offline work.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CallbackError, called } from "../Callback.ts"
import { isA, messageOf } from "../Thrown.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Maps each text to a vector, in order. All vectors of one embedder have the same dimension. */
export interface Embedder {
  /** The name of the embedder in reports. A learned router works only with the embedder that it was trained with. */
  readonly name: string
  readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError>
}

/** A failure to embed texts. */
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
 * Makes an embedder from a function that calls a service, one batch at a time.
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
): Embedder => ({
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
})

/** Calls an embedder, which may be async. Exceptions become an `EmbedderError`. */
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

/** FNV-1a, 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  // The low bits of FNV are weak; one round of mixing spreads them.
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}

/** Returns the words, word pairs and letter triples of a text. Letter triples make different word endings similar. */
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
 * Makes an embedder that hashes words, word pairs and letter triples into a unit vector of `dimensions` (default 512).
 *
 * **Details**
 *
 * It compares words, not meaning: "car" and "automobile" are unrelated. A router trained on it shows how much can be
 * learned from wording alone; a model's embeddings may give better results.
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
  const dimensions = options.dimensions ?? 512
  if (!Number.isInteger(dimensions) || dimensions < 1) {
    throw new RangeError(`The number of dimensions must be a whole number of at least 1, not ${dimensions}.`)
  }
  return {
    name: `hashed-${dimensions}`,
    embed: (texts) => Effect.sync(() => texts.map((text) => point(text, dimensions)))
  }
}
