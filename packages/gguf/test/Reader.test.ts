import os from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GgufReader from "../src/GgufReader.ts"
import * as GgufWriter from "../src/GgufWriter.ts"
import * as Metadata from "../src/Metadata.ts"
import * as Reader from "../src/Reader.ts"
import * as Tensor from "../src/Tensor.ts"

const weightsOf = (seed: number): Reader.Weights =>
  Object.fromEntries(
    Object.entries(Reader.shapes).map(([name, shape], tensor) => [
      name,
      Float32Array.from({ length: Tensor.size(shape) }, (_, at) => 0.2 * Math.sin(seed + 7 * tensor + 1.3 * at))
    ])
  )

const near = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
  left.forEach((value, index) => {
    assert.approximately(value, right[index]!, 1e-5)
  })

/** Words with vectors. */
const vectorsOf = (words: ReadonlyArray<string>): Reader.Vectors => ({
  "vector.key": Float32Array.from(words, Reader.keyOf),
  vector: Float32Array.from({ length: words.length * Reader.sizes.vector }, (_, at) => Math.sin(1.7 * at))
})

describe("Reader", () => {
  it("words are in small letters, and every number is the same word", () => {
    assert.deepStrictEqual(Reader.wordsOf("Good at 3,456 Sums; 2027-05-03"), [
      "good",
      "at",
      "0",
      "sums",
      ";",
      "0",
      "-",
      "0",
      "-",
      "0"
    ])
  })

  it("a share says whether it is high or low, however it is written", () => {
    assert.deepStrictEqual(Reader.wordsOf("3/4 0.9 85% 92 % 1/3 0.2 12 % 0.5 7/3 85"), [
      ...["%high", "%high", "%high", "%high"],
      ...["%low", "%low", "%low", "%middling"],
      ...["0", "0"]
    ])
  })

  it("related words share pieces, unrelated ones hardly any", () => {
    const shared = (left: string, right: string) =>
      Reader.piecesOf(left).filter((piece) => Reader.piecesOf(right).includes(piece)).length
    assert.isAbove(shared("weekday", "weekdays"), 8)
    assert.isBelow(shared("weekday", "polynomial"), 2)
  })

  it("probabilities add up, and every word has its own", () => {
    const { about, marks, subjects, words } = Reader.read(weightsOf(1), "weak at dates, good at sums")
    assert.lengthOf(marks, words.length)
    assert.lengthOf(subjects, words.length)
    for (const row of [...marks, about]) {
      assert.approximately(
        row.reduce((sum, value) => sum + value, 0),
        1,
        1e-6
      )
    }
  })

  it("a word far before another moves it no more than the distances that are distinguished", () => {
    const weights = weightsOf(2)
    const filler = Array.from({ length: 20 }, () => "so").join(" ")
    const last = (text: string) => Reader.read(weights, text).marks.at(-1)!
    // Beyond twelve words, it is the same distance: one more word of the same kind changes shares, not places.
    near(last(`sums ${filler} so dates`), last(`so sums ${filler} dates`))
  })

  it("a word that has a vector is read by it, another as before", () => {
    const weights = { ...weightsOf(1), ...vectorsOf(["superb", "dates"]) }
    const first = (weights: Reader.Weights, text: string) => Reader.read(weights, text).marks[0]!
    assert.deepStrictEqual(first(weights, "sums"), first(weightsOf(1), "sums"))
    assert.notDeepEqual(first(weights, "superb"), first(weightsOf(1), "superb"))
    const [none, dates] = [0, 1].map((at) =>
      Reader.vectorsOf(weights, ["sums", "dates"]).slice(at * Reader.sizes.vector, (at + 1) * Reader.sizes.vector)
    )
    assert.deepStrictEqual(none, new Float32Array(Reader.sizes.vector))
    assert.deepStrictEqual(dates, weights.vector.slice(Reader.sizes.vector))
  })

  it("a text without words can be read", () => {
    assert.lengthOf(Reader.read(weightsOf(1), "").about, Reader.subjects)
  })

  it.live("a file holds the readers that were saved, and says what it is", () =>
    Effect.gen(function* () {
      const file = path.join(os.tmpdir(), `reader-${process.pid}.gguf`)
      const words = path.join(os.tmpdir(), `words-${process.pid}.gguf`)
      yield* Reader.saveVectors(words, vectorsOf(["superb"]))
      const vectors = yield* Reader.loadVectors(words)
      const readers = [3, 4, 5].map((seed) => ({ ...weightsOf(seed), ...vectors }))
      const parts = { head: Float32Array.of(1, 2, 3) }
      yield* Reader.save(file, { readers, metadata: { "divisi.seed": "3" }, parts })
      assert.strictEqual(GgufReader.architecture(yield* GgufReader.read(file)), Reader.architecture)
      assert.deepStrictEqual(yield* Reader.load(file), { readers, metadata: { "divisi.seed": "3" }, parts })
    })
  )

  it("a word without a vector has that of the word that it comes from", () => {
    const weights = { ...weightsOf(1), ...vectorsOf(["superb", "falter", "bake", "tidy", "red", "class", "stop"]) }
    const size = Reader.sizes.vector
    const rowOf = (word: string) => {
      const [first] = Reader.vectorsOf(weights, [word])
      return first === 0
        ? undefined
        : weights.vector.findIndex((value, at) => at % size === 0 && value === first) / size
    }
    const rows = {
      falters: 1,
      faltering: 1,
      baking: 2,
      baked: 2,
      tidied: 3,
      tidily: 3,
      tidiest: 3,
      redder: 4,
      stopped: 6
    }
    for (const [word, row] of Object.entries(rows)) assert.strictEqual(rowOf(word), row, word)
    for (const word of ["classy", "re", "stopper-"]) assert.isUndefined(rowOf(word), word)
    assert.notInclude(Reader.stemsOf("class"), "clas")
  })

  it.live("vectors of words are stored with 8 bits for each number, and are the same after every later read", () =>
    Effect.gen(function* () {
      const file = path.join(os.tmpdir(), `reader-vectors-${process.pid}.gguf`)
      const again = Effect.fnUntraced(function* (weights: Reader.Weights) {
        yield* Reader.save(file, { readers: [weights], metadata: {} })
        return (yield* Reader.load(file)).readers[0]!
      })
      const weights = { ...weightsOf(5), ...vectorsOf(["superb", "dates"]) }
      const once = yield* again(weights)
      for (const [at, value] of once.vector!.entries()) assert.approximately(value, weights.vector[at]!, 0.005)
      assert.deepStrictEqual(yield* again(once), once)
      assert.deepStrictEqual(once["vector.key"], weights["vector.key"])
      const { "vector.key": key, vector } = once as Reader.Vectors
      const vectors = { "vector.key": key, vector }
      assert.deepStrictEqual(yield* Reader.loadVectors(file), vectors)
      yield* Reader.saveVectors(file, vectors)
      assert.deepStrictEqual(yield* Reader.loadVectors(file), vectors)
    })
  )

  it.live("with 16 bits a file is half as long and reads nearly the same", () =>
    Effect.gen(function* () {
      const file = path.join(os.tmpdir(), `reader-halves-${process.pid}.gguf`)
      const weights = weightsOf(4)
      const whole = yield* Reader.save(file, { readers: [weights], metadata: {} })
      const half = yield* Reader.save(file, { readers: [weights], metadata: {} }, "F16")
      assert.approximately(half.bytes / whole.bytes, 0.5, 0.01)
      const text = "good at sums, weak at dates"
      const [about, expected] = [(yield* Reader.load(file)).readers[0]!, weights].map(
        (one) => Reader.read(one, text).about
      )
      for (const [at, value] of expected!.entries()) assert.approximately(about![at]!, value, 0.01)
    })
  )

  it.live("a model of another kind, and one that lacks a tensor, is not a reader", () =>
    Effect.gen(function* () {
      const file = path.join(os.tmpdir(), `no-reader-${process.pid}.gguf`)
      yield* GgufWriter.write(file, { metadata: { "general.architecture": Metadata.string("qwen2") }, tensors: [] })
      assert.include((yield* Effect.flip(Reader.load(file))).message, "it does not contain a reader")
      const data = Float32Array.of(1)
      const metadata = { "general.architecture": Metadata.string(Reader.architecture) }
      yield* GgufWriter.write(file, { metadata, tensors: [{ name: "head", shape: [1], data }] })
      assert.include((yield* Effect.flip(Reader.load(file))).message, "no such tensor")
    })
  )
})
