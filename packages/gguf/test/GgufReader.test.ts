/** Files that are not what they should be: each gives a typed error, none a half-read model. */

import { execFileSync } from "node:child_process"
import fs from "node:fs"
import { Model, TinyModel } from "@divisi/gguf"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import * as GgufWriter from "../src/GgufWriter.ts"
import { temporaryFile } from "./files.ts"

const small = { architecture: "llama", seed: 1, hiddenSize: 8, heads: 2, layers: 1, feedForwardSize: 8 } as const

const written = Effect.gen(function* () {
  const file = yield* temporaryFile("a.gguf")
  yield* Model.write(TinyModel.random(small), file)
  return { file, bytes: fs.readFileSync(file) }
})

const outcome = (file: string, bytes: Uint8Array) =>
  Effect.suspend(() => {
    fs.writeFileSync(file, bytes)
    return Effect.result(GgufReader.read(file))
  })

describe("a file that cannot be trusted", () => {
  it.effect("is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(GgufReader.read("/nowhere/model.gguf"))
      assert.strictEqual(error.message, "/nowhere/model.gguf: There is no such file.")
    })
  )

  it.effect("is a folder", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(GgufReader.read(import.meta.dirname))
      assert.strictEqual(error.reason._tag, "InputOutput")
    })
  )

  it.effect("is a pipe without a writer: reading does not wait for it", () =>
    Effect.gen(function* () {
      const pipe = yield* temporaryFile("pipe.gguf")
      execFileSync("mkfifo", [pipe])
      const error = yield* Effect.flip(GgufReader.read(pipe))
      assert.match(error.message, /it is a folder, a pipe or a device, not a file/)
    })
  )

  it.effect("was cut off, wherever", () =>
    Effect.gen(function* () {
      const { bytes, file } = yield* written
      for (let length = 0; length < bytes.length; length += length < 200 ? 1 : 97) {
        const result = yield* outcome(file, bytes.subarray(0, length))
        if (Result.isSuccess(result)) assert.isAbove(length, bytes.length - 32, "only padding may be missing")
        else assert.include(["Corrupt", "Truncated"], result.failure.reason._tag, `${length} bytes`)
      }
    })
  )

  it.effect("says how many bytes are missing", () =>
    Effect.gen(function* () {
      const { bytes, file } = yield* written
      const result = yield* outcome(file, bytes.subarray(0, bytes.length - 1000))
      assert.isTrue(Result.isFailure(result))
      const { reason } = Result.getOrThrow(Result.flip(result))
      assert.isTrue(reason._tag === "Truncated" && reason.needed - reason.found > 900)
    })
  )

  it.effect("gives more numbers than its bytes hold, each tensor the same ones", () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile("a.gguf")
      const tensor = (name: string) => ({ name, shape: [16], data: new Float32Array(16) })
      yield* GgufWriter.write(file, { metadata: {}, tensors: Array.from("abcdefgh", tensor) })
      const bytes = fs.readFileSync(file)
      // Name, dimensions, one length, type and offset of every tensor take 33 bytes.
      for (let index = 0; index < 8; index++) bytes.writeBigUInt64LE(0n, 24 + index * 33 + 25)
      const result = yield* outcome(file, bytes.subarray(0, 288 + 64))
      assert.isTrue(Result.isFailure(result) && /its tensors overlap/.test(result.failure.message))
    })
  )

  it.effect("has bytes that were changed: an error or a file, never a crash, never a long wait", () =>
    Effect.gen(function* () {
      const { bytes, file } = yield* written
      const generator = xoroshiro128plus(5)
      for (let round = 0; round < 300; round++) {
        const spoiled = Buffer.from(bytes)
        for (let change = 0; change < 3; change++) {
          const at = (generator.next() >>> 0) % (change === 0 ? 64 : 9000)
          spoiled[at] = generator.next() & 255
        }
        const result = yield* outcome(file, spoiled)
        if (Result.isFailure(result)) {
          assert.include(["Corrupt", "Truncated", "Unsupported"], result.failure.reason._tag)
        }
      }
    })
  )

  const preamble = (version: number, tensors: bigint, values: bigint, rest: ReadonlyArray<number> = []) => {
    const bytes = Buffer.alloc(24)
    bytes.write("GGUF")
    bytes.writeUInt32LE(version, 4)
    bytes.writeBigUInt64LE(tensors, 8)
    bytes.writeBigUInt64LE(values, 16)
    return Buffer.concat([bytes, Buffer.from(rest)])
  }
  const key = [1, 0, 0, 0, 0, 0, 0, 0, 97]

  it.effect.each([
    ["is something else", Buffer.from("PK\x03\x04 and more of it, as long as you like"), /does not begin with "GGUF"/],
    ["is of version 1", preamble(1, 0n, 0n), /version 1, not 2 or 3/],
    ["is of a big-endian machine", preamble(0x03000000, 0n, 0n), /big-endian/],
    ["promises more tensors than bytes", preamble(3, 2n ** 50n, 0n), /more than bytes/],
    [
      "promises an array longer than itself",
      preamble(3, 0n, 1n, [...key, 9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
      /elements, which is more than the file has bytes/
    ],
    [
      "promises more tensors than any model has",
      Buffer.concat([preamble(3, 2n ** 19n, 0n), Buffer.alloc(2 ** 20)]),
      /at most 262144/
    ],
    [
      "promises more values than any model has",
      Buffer.concat([preamble(3, 0n, 2n ** 17n), Buffer.alloc(2 ** 18)]),
      /at most 262144 and 65536/
    ],
    [
      "has an array longer than any vocabulary",
      Buffer.concat([
        preamble(3, 0n, 1n, [...key, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 64, 0, 0, 0, 0, 0]),
        Buffer.alloc(2 ** 23)
      ]),
      /more than 4194304 elements/
    ],
    [
      "has a tensor of too many dimensions",
      preamble(3, 1n, 0n, [...key, 255, 255, 255, 255]),
      /has 4294967295 dimensions/
    ],
    ["has values of no type", preamble(3, 0n, 1n, [...key, 13, 0, 0, 0]), /type 13/]
  ] as const)("%s", ([, bytes, words]) =>
    Effect.gen(function* () {
      const result = yield* outcome(yield* temporaryFile("a.gguf"), bytes)
      assert.match(Result.getOrThrow(Result.flip(result)).message, words)
    })
  )
})

describe("a tensor of a file", () => {
  it.effect("that is missing, or quantised, is not a tensor", () =>
    Effect.gen(function* () {
      const { file } = yield* written
      const read = yield* GgufReader.read(file)
      const absent = GgufReader.tensor(read, "blk.9.attn_q.weight")
      assert.match(Result.getOrThrow(Result.flip(absent)).message, /blk\.9.*no such tensor/)
      const quantised = { ...read, tensors: [{ name: "q", shape: [256], type: "Q4_K", position: 0 }] }
      assert.match(Result.getOrThrow(Result.flip(GgufReader.tensor(quantised, "q"))).message, /stored as Q4_K/)
    })
  )
})
