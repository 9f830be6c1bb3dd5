import { describe, expect, it } from "@effect/vitest"
import * as Sealed from "../src/Sealed.ts"

const value = {
  text: "a\u2028b \ud800",
  numbers: [1e21, -0, 0.1, 2 ** 53],
  nested: { "2": 1, "1": {} },
  none: undefined
}
const plain = JSON.parse(JSON.stringify(value))

describe("a sealed text", () => {
  it("is read as written, on one line, indented, or reformatted", () => {
    for (const text of [Sealed.stringify(value), Sealed.stringify(value, 2)]) {
      expect(Sealed.parse(text)).toEqual(plain)
      expect(Sealed.parse(JSON.stringify(JSON.parse(text), null, "\t"))).toEqual(plain)
    }
    expect(Sealed.parse(Sealed.stringify({}))).toEqual({})
  })

  it("gives no other value, whichever of its bits is turned", () => {
    const bytes = Buffer.from(Sealed.stringify(value))
    let refused = 0
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Buffer.from(bytes)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      try {
        expect(Sealed.parse(damaged.toString())).toEqual(plain)
      } catch (error) {
        expect(error).toBeInstanceOf(Sealed.DamageError)
        refused += 1
      }
    }
    expect(refused).toBeGreaterThan(bytes.length * 7)
  })

  it("may lack its checksum only if that is allowed", () => {
    expect(() => Sealed.parse('{"a":1}')).toThrow("it has no checksum")
    expect(Sealed.parse('{"a":1}', { isOptional: true })).toEqual({ a: 1 })
    expect(() => Sealed.parse('{"a":1,"sha256":"x"}', { isOptional: true })).toThrow("its checksum does not match")
    for (const text of ["", "[]", "1", "null"]) expect(() => Sealed.parse(text)).toThrow(Sealed.DamageError)
  })
})
