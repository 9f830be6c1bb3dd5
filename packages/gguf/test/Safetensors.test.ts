/** safetensors: numbers of every readable kind, and files that are not whole. */

import fs from "node:fs"
import { Safetensors, Tensor } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Raw, raw, safetensors, temporaryFile } from "./files.ts"

const halves = (dtype: string, values: ReadonlyArray<number>): Raw => ({
  dtype,
  shape: [values.length],
  bytes: new Uint8Array(Uint16Array.from(values).buffer)
})

const tensors = {
  single: raw([2, 2], Float32Array.of(1, -2.5, 1e30, 0)),
  half: halves("F16", [0x3c00, 0xc100, 0x0001, 0x7bff]),
  brain: halves("BF16", [0x3f80, 0xc020, 0x7f7f]),
  empty: raw([0, 3], new Float32Array(0))
}

const read = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const file = yield* temporaryFile("a.safetensors")
    fs.writeFileSync(file, bytes)
    return yield* Safetensors.read(file)
  })

describe("a safetensors file", () => {
  it.effect("gives the numbers of F32, F16 and BF16", () =>
    Effect.gen(function* () {
      const file = yield* read(safetensors(tensors))
      const values = (name: string) =>
        Effect.promise(async () => Array.from(await Tensor.collect(Result.getOrThrow(Safetensors.tensor(file, name)))))
      assert.deepStrictEqual(file.metadata, { format: "pt" })
      assert.deepStrictEqual(yield* values("single"), [1, -2.5, Math.fround(1e30), 0])
      assert.deepStrictEqual(yield* values("half"), [1, -2.5, 2 ** -24, 65504])
      assert.deepStrictEqual(yield* values("brain"), [1, -2.5, Math.fround(3.3895313892515355e38)])
      assert.deepStrictEqual(yield* values("empty"), [])
      for (const name of ["absent", "constructor", "__proto__"]) {
        assert.isTrue(Result.isFailure(Safetensors.tensor(file, name)))
      }
    })
  )

  it.effect("may have unused tensors of any type", () =>
    Effect.gen(function* () {
      const path = yield* temporaryFile("a.safetensors")
      const positions = { dtype: "I64", shape: [2], bytes: new Uint8Array(16) }
      fs.writeFileSync(path, safetensors({ ...tensors, positions }))
      assert.match((yield* Effect.flip(Safetensors.read(path))).message, /"positions".*stored as I64/)
      const file = yield* Safetensors.read(path, { except: ["positions"] })
      assert.sameMembers(Object.keys(file.tensors), Object.keys(tensors))
    })
  )

  type Header = Readonly<Record<keyof typeof tensors, object>>
  const whole = safetensors(tensors)
  const header = (change: (header: Header) => unknown) =>
    safetensors(tensors, (one) => change(one as unknown as Header))

  it.effect.each([
    ["is empty", Buffer.alloc(0), "Corrupt", /only 0 bytes/],
    ["ends in its header", whole.subarray(0, 40), "Truncated", /declares/],
    ["ends in its numbers", whole.subarray(0, whole.length - 1), "Truncated", /declares/],
    ["goes on behind its numbers", Buffer.concat([whole, Buffer.alloc(3)]), "Corrupt", /3 bytes follow/],
    ["is something else", Buffer.from("PK\x03\x04".repeat(20)), "Corrupt", /more than the format allows/],
    [
      "has a header that is no JSON",
      Buffer.concat([whole.subarray(0, 8), Buffer.alloc(whole.length, 65)]),
      "Corrupt",
      /not a? ?JSON/
    ],
    ["has a header that is a list", header(() => []), "Corrupt", /not a JSON object/],
    [
      "has a tensor of another size",
      header((one) => ({ ...one, single: { ...one.single, shape: [3, 2] } })),
      "Corrupt",
      /16 bytes; its shape \[3,2\] needs 24/
    ],
    [
      "has a tensor that overlaps",
      header((one) => ({ ...one, half: { ...one.half, data_offsets: [8, 16] } })),
      "Corrupt",
      /begins at byte 8, not 16/
    ],
    ["has a tensor without a shape", header((one) => ({ ...one, half: { dtype: "F16" } })), "Corrupt", /"half" lacks/],
    [
      "has a tensor of a kind that is not read",
      header((one) => ({ ...one, half: { ...one.half, dtype: "I16" } })),
      "InvalidTensor",
      /stored as I16/
    ],
    ...["constructor", "__proto__", "toString"].map(
      (dtype) =>
        [
          `has a tensor of the kind ${dtype}`,
          header((one) => ({ ...one, half: { ...one.half, dtype } })),
          "InvalidTensor",
          /F32, F16 and BF16 are supported/
        ] as const
    ),
    [
      "has metadata that are no texts",
      header((one) => ({ ...one, __metadata__: { format: 1 } })),
      "Corrupt",
      /values that are not strings/
    ],
    [
      "has a header of a million tensors",
      header((one) => ({ ...one, ...Object.fromEntries(Array.from({ length: 1e6 }, (_, at) => [at, one.empty])) })),
      "Corrupt",
      /16777216 are read/
    ]
  ] as const)("%s", ([, bytes, tag, words]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(bytes))
      assert.strictEqual(error.reason._tag, tag)
      assert.match(error.message, words)
    })
  )
})
