/** Files as they are written: read back by this package, by node-llama-cpp and by Hugging Face's reader. */

import fs from "node:fs"
import path from "node:path"
import { Model, Tensor, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import { gguf } from "@huggingface/gguf"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { readGgufFileInfo } from "node-llama-cpp"
import * as GgufWriter from "../src/GgufWriter.ts"
import * as Float16 from "../src/internal/float16.ts"
import type * as Metadata from "../src/Metadata.ts"
import { temporaryFile } from "./files.ts"

const everyType: Metadata.Metadata = {
  "general.architecture": { type: "string", value: "llama" },
  "test.uint8": { type: "uint8", value: 255 },
  "test.int8": { type: "int8", value: -128 },
  "test.uint16": { type: "uint16", value: 65_535 },
  "test.int16": { type: "int16", value: -32_768 },
  "test.uint32": { type: "uint32", value: 4_294_967_295 },
  "test.int32": { type: "int32", value: -2_147_483_648 },
  "test.float32": { type: "float32", value: Math.fround(1e-5) },
  "test.float64": { type: "float64", value: Math.PI },
  "test.boolean": { type: "boolean", value: true },
  "test.string": { type: "string", value: "Ġ žluťoučký 🐎\0" },
  "test.uint64": { type: "uint64", value: 2n ** 64n - 1n },
  "test.int64": { type: "int64", value: -(2n ** 63n) },
  "test.array": { type: "array", of: "string", value: ["", "b"] },
  "test.empty": { type: "array", of: "float32", value: [] },
  "test.flags": { type: "array", of: "boolean", value: [true, false] },
  "test.numbers": { type: "array", of: "int16", value: [-1, 300] },
  "test.big": { type: "array", of: "uint64", value: [1n, 2n ** 60n] }
}

const counting = (length: number, step = 1) => Float32Array.from({ length }, (_, index) => index * step)

const tensors: ReadonlyArray<GgufWriter.NamedTensor> = [
  { name: "odd", shape: [3], data: Float32Array.of(1, -2, 3.5) },
  { name: "matrix", shape: [4, 5], data: counting(20, 0.25), type: "F16" },
  { name: "cube", shape: [2, 3, 4], data: () => [counting(24).subarray(0, 7), counting(24).subarray(7)] }
]

/** node-llama-cpp reads some numbers as bigint and others not: only their values are compared. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  return typeof value === "bigint" ? Number(value) : value
}

const valuesOf = (file: GgufReader.GgufFile, name: string) =>
  Effect.promise(async () => Array.from(await Tensor.collect(Result.getOrThrow(GgufReader.tensor(file, name)))))

describe("a written file", () => {
  it.effect("has the metadata and the numbers that were given, at their alignment", () =>
    Effect.gen(function* () {
      const nested: Metadata.Value = {
        type: "array",
        of: "array",
        value: [{ type: "array", of: "uint8", value: [1, 2] }]
      }
      const metadata = { ...everyType, "test.nested": nested }
      const { bytes, path } = yield* GgufWriter.write(yield* temporaryFile("a.gguf"), {
        metadata,
        tensors,
        alignment: 64
      })
      const file = yield* GgufReader.read(path)
      assert.deepStrictEqual(file.metadata, { ...metadata, "general.alignment": { type: "uint32", value: 64 } })
      assert.deepStrictEqual(
        file.tensors.map(({ name, position, shape, type }) => [name, shape, type, position % 64]),
        [
          ["odd", [3], "F32", 0],
          ["matrix", [4, 5], "F16", 0],
          ["cube", [2, 3, 4], "F32", 0]
        ]
      )
      assert.strictEqual(bytes, fs.statSync(path).size)
      assert.deepStrictEqual(yield* valuesOf(file, "odd"), [1, -2, 3.5])
      assert.deepStrictEqual(yield* valuesOf(file, "matrix"), Array.from(counting(20, 0.25)))
      assert.deepStrictEqual(yield* valuesOf(file, "cube"), Array.from(counting(24)))
    })
  )

  it.effect("holds numbers of 8 bits in blocks of 32 with a scale, in whatever pieces they come", () =>
    Effect.gen(function* () {
      const data = Float32Array.from({ length: 96 }, (_, at) => (at < 64 ? Math.sin(at) * (at < 32 ? 1 : 100) : 0))
      const written = (pieces: ReadonlyArray<Float32Array>) =>
        Effect.gen(function* () {
          const tensor = { name: "one", shape: [3, 32], data: () => pieces, type: "Q8_0" as const }
          const { path } = yield* GgufWriter.write(yield* temporaryFile("a.gguf"), { metadata: {}, tensors: [tensor] })
          const [{ position, type }] = (yield* GgufReader.read(path)).tensors as [GgufReader.TensorInfo]
          assert.strictEqual(type, "Q8_0")
          const { data: read } = Result.getOrThrow(GgufReader.tensor(yield* GgufReader.read(path), "one"))
          const numbers = yield* Effect.promise(() => Tensor.collect({ shape: [3, 32], data: read }))
          return { bytes: fs.readFileSync(path).subarray(position, position + 3 * 34), numbers }
        })
      const { bytes, numbers } = yield* written([data])
      assert.deepStrictEqual((yield* written([data.slice(0, 5), data.slice(5, 70), data.slice(70)])).bytes, bytes)
      for (const [at, value] of data.entries()) {
        const block = bytes.subarray(34 * Math.floor(at / 32))
        const [scale] = Float16.decode(Uint16Array.of(block.readUInt16LE(0)))
        assert.closeTo(block.readInt8(2 + (at % 32)) * scale!, value, 0.51 * scale! + Math.abs(value) / 1000)
        assert.strictEqual(numbers[at], block.readInt8(2 + (at % 32)) * scale!)
      }
    })
  )

  it.effect("is read alike by node-llama-cpp", () =>
    Effect.gen(function* () {
      const { path } = yield* GgufWriter.write(yield* temporaryFile("a.gguf"), { metadata: everyType, tensors })
      const ours = yield* GgufReader.read(path)
      const theirs = yield* Effect.promise(() => readGgufFileInfo(path))
      const { test } = theirs.metadata as unknown as { readonly test: Record<string, unknown> }
      for (const [key, { value }] of Object.entries(everyType).slice(1)) {
        assert.deepStrictEqual(plain(test[key.slice("test.".length)]), plain(value), key)
      }
      assert.deepStrictEqual(
        theirs.fullTensorInfo?.map(({ dimensions, fileOffset, name }) => [
          name,
          dimensions.map(Number),
          Number(fileOffset)
        ]),
        ours.tensors.map(({ name, position, shape }) => [name, shape.toReversed(), position])
      )
    })
  )

  it.effect("is read alike by Hugging Face's reader", () =>
    Effect.gen(function* () {
      const { path } = yield* GgufWriter.write(yield* temporaryFile("a.gguf"), { metadata: everyType, tensors })
      const ours = yield* GgufReader.read(path)
      const theirs = yield* Effect.promise(() => gguf(path, { allowLocalFile: true }))
      const metadata = theirs.metadata as Record<string, unknown>
      for (const [key, { value }] of Object.entries(everyType)) assert.deepStrictEqual(metadata[key], value, key)
      assert.deepStrictEqual(
        theirs.tensorInfos.map(({ name, offset, shape }) => [
          name,
          shape.map(Number),
          Number(offset) + Number(theirs.tensorDataOffset)
        ]),
        ours.tensors.map(({ name, position, shape }) => [name, shape.toReversed(), position])
      )
    })
  )

  it.effect("of a model names its architecture to every reader", () =>
    Effect.gen(function* () {
      const model = TinyModel.random({ architecture: "qwen2", seed: 1, keyValueHeads: 2 })
      const { path } = yield* Model.write(model, yield* temporaryFile("a.gguf"), { type: "F16" })
      const { metadata, totalTensorCount } = yield* Effect.promise(() => readGgufFileInfo(path))
      assert.strictEqual(metadata.general.architecture, "qwen2")
      assert.strictEqual(metadata.qwen2?.attention?.head_count_kv, 2)
      assert.strictEqual(totalTensorCount, Object.keys(model.tensors).length)
      const theirs = yield* Effect.promise(() => gguf(path, { allowLocalFile: true }))
      assert.strictEqual(theirs.tensorInfos.length, Object.keys(model.tensors).length)
    })
  )
})

describe("what makes no file", () => {
  const refusal = (contents: Partial<GgufWriter.Contents>) =>
    Effect.gen(function* () {
      const file = yield* temporaryFile("a.gguf")
      fs.writeFileSync(file, "what was there before")
      const error = yield* Effect.flip(GgufWriter.write(file, { metadata: {}, tensors: [], ...contents }))
      assert.strictEqual(fs.readFileSync(file, "utf8"), "what was there before")
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), ["a.gguf"])
      assert.strictEqual(error.path, file)
      return error.message
    })

  const one = (tensor: Partial<GgufWriter.NamedTensor>) => ({
    tensors: [{ name: "one", shape: [2, 2], data: new Float32Array(4), ...tensor }]
  })

  async function* failing() {
    yield new Float32Array(2)
    throw new Error("the source broke")
  }

  it.effect.each([
    ["numbers that are too few", one({ data: () => [new Float32Array(3)] }), /"one".*\[2,2\] holds 4 numbers, but 3/],
    [
      "numbers that are too many",
      one({ data: () => [new Float32Array(3), new Float32Array(2)] }),
      /more were supplied/
    ],
    ["an array of another length", one({ data: new Float32Array(5) }), /holds 4 numbers, but 5 were given/],
    ["a source that fails", one({ data: failing }), /the source broke/],
    ["a dimension of 0", one({ shape: [0, 4] }), /\[0,4\] is not a valid shape/],
    ["five dimensions", one({ shape: [1, 1, 1, 2, 2] }), /one to 4/],
    ["a number too large for F16", one({ type: "F16", data: Float32Array.of(0, 1, 70_000, 1) }), /70000 is too large/],
    ["rows that make no blocks", one({ type: "Q8_0" }), /rows of 2 numbers cannot be divided into blocks of 32/],
    ["no number in a block", one({ shape: [1, 32], type: "Q8_0", data: new Float32Array(32).fill(NaN) }), /NaN cannot/],
    [
      "a block that is too short",
      one({ shape: [1, 32], type: "Q8_0", data: () => [new Float32Array(31)] }),
      /32 numbers, but 31/
    ],
    ["two tensors of one name", { tensors: [...one({}).tensors, ...one({}).tensors] }, /Two tensors have this name/],
    ["an alignment of 12", { alignment: 12 }, /12 is not a power of two/],
    ["an alignment of 24", { alignment: 24 }, /24 is not a power of two/],
    ["a name that llama.cpp cannot read", one({ name: "n".repeat(64) }), /names of up to 63 bytes/],
    ["a number out of range", { metadata: { a: { type: "uint8", value: 256 } } }, /"a": 256 .* from 0 to 255/],
    ["a fraction", { metadata: { a: { type: "int32", value: 0.5 } } }, /0\.5 is not a whole number/],
    ["a big number out of range", { metadata: { a: { type: "uint64", value: -1n } } }, /-1 is not a whole number/]
  ] as ReadonlyArray<readonly [string, Partial<GgufWriter.Contents>, RegExp]>)(
    "is refused, and leaves what was there: %s",
    ([, contents, words]) =>
      Effect.gen(function* () {
        assert.match(yield* refusal(contents), words)
      })
  )

  it.effect("has no folder to be in", () =>
    Effect.gen(function* () {
      const file = `${yield* temporaryFile("missing")}/a.gguf`
      const error = yield* Effect.flip(GgufWriter.write(file, { metadata: {}, tensors: [] }))
      assert.strictEqual(error.reason._tag, "Missing")
    })
  )

  it.effect("was interrupted", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile("a.gguf")
      const reached = Promise.withResolvers<void>()
      async function* endless() {
        yield new Float32Array(1)
        reached.resolve()
        await new Promise(() => {})
      }
      const writing = GgufWriter.write(file, { metadata: {}, tensors: [{ name: "one", shape: [2], data: endless }] })
      const fiber = yield* Effect.forkChild(writing)
      yield* Effect.promise(() => reached.promise)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), [])
    })
  )
})
