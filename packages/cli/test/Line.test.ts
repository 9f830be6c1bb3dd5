import { assert, describe, it } from "@effect/vitest"
import * as Format from "../src/view/Format.ts"
import * as Line from "../src/view/Line.ts"

describe("clean", () => {
  it("takes the power over the terminal from text that comes from a model", () => {
    assert.strictEqual(Line.clean("a\u001b[2Jb\u001b]0;title\u0007c\u0008d\u009b31me"), "abcde")
    assert.strictEqual(Line.clean("left \u202eright\u202c"), "left right")
  })

  it("keeps line breaks of every kind, and makes tabs spaces", () => {
    assert.strictEqual(Line.clean("a\r\nb\rc\n\td"), "a\nb\nc\n  d")
  })
})

describe("wrap", () => {
  it("breaks between words, and words that are too long", () => {
    assert.deepStrictEqual(Line.wrap("one two three", 8), ["one two", "three"])
    assert.deepStrictEqual(Line.wrap("abcdefghij", 4), ["abcd", "efgh", "ij"])
  })

  it("counts wide characters as two columns", () => {
    for (const line of Line.wrap("日本語日本語日本語", 5)) assert.isAtMost(Line.widthOf(line), 5)
  })

  it("keeps the indentation and the empty lines of a text", () => {
    assert.deepStrictEqual(Line.wrap("if x:\n  y\n\nz", 20), ["if x:", "  y", "", "z"])
  })

  it("survives a width of nothing", () => {
    assert.deepStrictEqual(Line.wrap("ab", 0), ["a", "b"])
  })
})

describe("fit", () => {
  it("never exceeds the width, whatever the spans", () => {
    const line = [Line.span("日本"), Line.span("abc"), Line.span(""), Line.span("👩‍👩‍👧‍👦 family")]
    for (let width = 0; width < 20; width++) {
      assert.isAtMost(Line.widthOf(Line.toText(Line.fit(line, width))), width)
    }
    assert.deepStrictEqual(Line.toText(Line.fit(line, 30)), Line.toText(line))
  })

  it("shows that something is missing, also when the cut falls between spans", () => {
    assert.strictEqual(Line.toText(Line.fit([Line.span("abc"), Line.span("def")], 3)), "ab…")
    assert.strictEqual(Line.toText(Line.fit([Line.span("abc"), Line.span("def")], 5)), "abcd…")
    assert.strictEqual(Line.toText(Line.fit([Line.span("abc"), Line.span("")], 3)), "abc")
  })
})

describe("Format", () => {
  it("writes durations", () => {
    assert.deepStrictEqual([0, 12.4, 999.6, 1_234, 59_949, 59_960, 125_400].map(Format.duration), [
      "0 ms",
      "12 ms",
      "1.0 s",
      "1.2 s",
      "59.9 s",
      "1 min 00 s",
      "2 min 05 s"
    ])
  })

  it("writes costs so that small ones are told apart", () => {
    assert.deepStrictEqual(
      [0, 0.0000123, 0.00036, 0.05, 0.1, 0.123, 1, 1234.5].map((usd) => Format.cost(usd)),
      ["$0", "$0.000012", "$0.00036", "$0.05", "$0.10", "$0.12", "$1.00", "$1234.50"]
    )
  })

  it("writes counts with their noun", () => {
    assert.deepStrictEqual([Format.count(1, "call"), Format.count(1204, "token")], ["1 call", "1,204 tokens"])
    for (const value of [0, 7, 999, 1000, 12_345, 999_999, 1_234_567, -1, -999, -1000, Number.MAX_SAFE_INTEGER]) {
      assert.strictEqual(Format.integer(value), value.toLocaleString("en-US"))
    }
  })
})
