/** Half-precision numbers: every one of them, and values in between. */
import { assert, describe, it } from "@effect/vitest"
import * as Float16 from "../../src/internal/float16.ts"

const encode = (values: ReadonlyArray<number>) => {
  const halves = new Uint16Array(values.length)
  const lost = Float16.encode(Float32Array.from(values), halves)
  return { halves: Array.from(halves), lost }
}

const finite = Array.from({ length: 0x7c00 }, (_, half) => half)
const values = Array.from(Float16.decode(Uint16Array.from(finite)))

describe("halves", () => {
  it("are what the standard says", () => {
    const known = { 1: 2 ** -24, 1023: 1023 * 2 ** -24, 1024: 2 ** -14, 15360: 1, 13653: 0.333251953125 }
    for (const [half, value] of Object.entries(known)) assert.strictEqual(values[Number(half)], value)
    assert.strictEqual(values.at(-1), 65504)
    const special = Array.from(Float16.decode(Uint16Array.of(0x7c00, 0xfc00, 0x7e00, 0x8000)))
    assert.deepStrictEqual(special, [Infinity, -Infinity, NaN, -0])
  })

  it("come back as they were, with either sign", () => {
    assert.deepStrictEqual(encode(values).halves, finite)
    assert.deepStrictEqual(
      encode(values.map((value) => -value)).halves,
      finite.map((half) => half | 0x8000)
    )
    assert.deepStrictEqual(encode([Infinity, -Infinity, NaN]), { halves: [0x7c00, 0xfc00, 0x7e00], lost: -1 })
  })

  it("are the nearest ones, the even one of two", () => {
    const middles = finite.slice(1).map((half) => (values[half]! + values[half - 1]!) / 2)
    assert.deepStrictEqual(
      encode(middles).halves,
      finite.slice(1).map((half) => half - (half % 2))
    )
    const above = middles.map((middle) => middle * (1 + 2 ** -22))
    assert.deepStrictEqual(encode(above).halves, finite.slice(1))
  })

  it("end at their largest and smallest numbers", () => {
    assert.strictEqual(encode([1, 65519.99]).lost, -1)
    assert.strictEqual(encode([1, 65520, 1e9]).lost, 1)
    assert.strictEqual(encode([Infinity, 1]).lost, -1)
  })
})
