/** Numbers of 4 bits, as llama.cpp stores them. */

import fs from "node:fs"
import * as GgufReader from "@divisi/gguf/GgufReader"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as GgufWriter from "../../src/GgufWriter.ts"
import * as FourBits from "../../src/internal/fourBits.ts"
import * as Tensor from "../../src/Tensor.ts"
import { temporaryFile } from "../files.ts"

/** Two blocks: value `i` of each has the number `(3 i + 5) mod 16`, with the scales 0.5 and 2 and the minima -1 and 3. */
const numberOf = (index: number) => (3 * index + 5) % 16
const halves = [
  [0x3800, 0xbc00],
  [0x4000, 0x4200]
]
const blocks = Uint8Array.from(
  halves.flatMap((pair) => [
    ...pair.flatMap((half) => [half & 255, half >>> 8]),
    ...Array.from({ length: 16 }, (_, index) => numberOf(index) | (numberOf(index + 16) << 4))
  ])
)
const values = Array.from({ length: 64 }, (_, at) => (at < 32 ? 0.5 * numberOf(at) - 1 : 2 * numberOf(at - 32) + 3))

describe("numbers of 4 bits", () => {
  it("have a scale and a minimum in each block", () => {
    assert.deepStrictEqual(Array.from(FourBits.decode(blocks)), values)
  })

  it.effect("are read from a file", () =>
    Effect.gen(function* () {
      // This package does not write Q4_1, so the bytes and the type of another tensor are replaced.
      const zeros = { name: "one", shape: [2, 32], data: new Float32Array(64), type: "F16" as const }
      const { path } = yield* GgufWriter.write(yield* temporaryFile("a.gguf"), { metadata: {}, tensors: [zeros] })
      const [{ position }] = (yield* GgufReader.read(path)).tensors as [GgufReader.TensorInfo]
      const bytes = fs.readFileSync(path)
      bytes.writeUInt32LE(3, bytes.indexOf("one") + "one".length + 4 + 2 * 8)
      bytes.set(blocks, position)
      fs.writeFileSync(path, bytes)
      const file = yield* GgufReader.read(path)
      assert.strictEqual(file.tensors[0]!.type, "Q4_1")
      const tensor = Result.getOrThrow(GgufReader.tensor(file, "one"))
      assert.deepStrictEqual(Array.from(yield* Effect.promise(() => Tensor.collect(tensor))), values)
    })
  )
})
