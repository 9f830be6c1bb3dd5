/** Parsing in steps gives what `JSON.parse` gives, for valid and for damaged text. */
import { VendorJson } from "@divisi/provider-kit"
import { assert, describe, it } from "vitest"
import * as JsonParser from "../src/http/JsonParser.ts"
import * as Steps from "../src/wire/Steps.ts"

const result = (parse: () => unknown): unknown => {
  try {
    return { value: parse() }
  } catch (error) {
    return error instanceof SyntaxError ? "invalid" : error
  }
}

const cut = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))

/** Parses a text in steps, which is given in pieces of `size` characters. */
const assertSame = (text: string, size = 2 ** 16) => {
  const stepped = result(() => Steps.all(JsonParser.parse(cut(text, size))))
  // Meaningless characters around the outermost value are ignored.
  const whole = result(() => JSON.parse(VendorJson.trimmed(text)))
  assert.deepStrictEqual(stepped, whole, text.slice(0, 200))
  // Key order and own `__proto__` keys.
  assert.strictEqual(JSON.stringify(stepped), JSON.stringify(whole), text.slice(0, 200))
}

/** A small generator of numbers, so that each run has the same texts. */
const numbers = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const atoms = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "-1.5e300",
  "1E+2",
  "123456789012345678901234567890",
  '""',
  '"a"',
  '"日本\\u65e5\\ud83d\\ude00"',
  '"\\"\\\\"',
  '"\\\\\\\\"',
  '"\\/\\b\\f\\n\\r\\t"',
  "[]",
  "{}",
  "[ ]",
  "{\n}"
]

const keys = ['"a"', '"b"', '"__proto__"', '"1"', '"\\u0061"', '"constructor"', '""']

const valueOf = (random: (below: number) => number, depth: number): string => {
  const kind = depth === 0 ? 0 : random(4)
  const some = <A>(one: () => A): ReadonlyArray<A> => Array.from({ length: random(5) }, one)
  const blank = ["", " ", "\n", "\t\r "][random(4)]!
  if (kind < 2) return `${blank}${atoms[random(atoms.length)]}${blank}`
  if (kind === 2) return `[${some(() => valueOf(random, depth - 1)).join()}]${blank}`
  return `{${some(() => `${blank}${keys[random(keys.length)]}${blank}:${valueOf(random, depth - 1)}`).join()}}`
}

describe("JsonParser", () => {
  it("parses the same values as JSON.parse", () => {
    const random = numbers(1)
    for (let at = 0; at < 2_000; at++) assertSame(valueOf(random, 6), 1 + random(20))
  })

  it("rejects the same texts as JSON.parse", () => {
    const random = numbers(2)
    const signs = '{}[],:"\\ \n0-.eEtfn1\u0000\u00a0'
    for (let at = 0; at < 5_000; at++) {
      const text = valueOf(random, 4)
      const from = random(text.length + 1)
      const sign = signs[random(signs.length)]!
      assertSame(text.slice(0, from) + sign + text.slice(from + random(2)), 1 + random(20))
      assertSame(text.slice(0, from))
    }
    for (const text of [
      "",
      " ",
      "\ufeff1",
      "\0\x7f{}\0\x1e",
      "[\0]",
      "\0",
      "nul",
      "truefalse",
      "01",
      "1.",
      ".5",
      "+1",
      "'a'",
      "[1,]",
      '{"a":1,}',
      "[1 2]"
    ])
      assertSame(text)
  })

  it("parses tokens wherever the text is cut, also within long whitespace", () => {
    const piece = 2 ** 15
    const blank = " ".repeat(3 * piece)
    for (let before = piece - 14; before <= piece + 2; before++) {
      assertSame(`[${" ".repeat(before)}true,-1.5e300, {"a" :"b\\n"} , [ ] ]`, piece)
      assertSame(`{"a":"${"a".repeat(before - 20)}","b" : false, "c":{ }, "d":12345}`, piece)
    }
    assertSame(`${blank}[${blank}1${blank},${blank}{${blank}"a"${blank}:${blank}2${blank}}${blank}]${blank}`, piece)
    assertSame(`${blank}1${blank}2`, piece)
  })

  it("parses long strings in pieces, wherever they are cut", () => {
    const piece = 2 ** 15
    for (const escape of ["\\n", "\\u65e5", "\\ud83d\\ude00", "\\\\", '\\"', "日", "😀"]) {
      for (let before = piece - 14; before <= piece + 2; before++) {
        assertSame(`["${"a".repeat(before)}${escape.repeat(5)}${"b".repeat(piece)}",1]`)
        assertSame(`{"${"a".repeat(before)}${escape}":"${"b".repeat(before)}\\"`)
      }
      assertSame(`"${escape.repeat(piece)}"`)
      assertSame(`"${escape.repeat(piece)}`)
    }
    assertSame(`"${"a".repeat(2 * piece)}\n"`)
    assertSame(`"${"a".repeat(2 * piece)}\\x"`)
    assertSame(`"${"a".repeat(2 * piece)}\\u12"`)
    assertSame(`"${"\\".repeat(2 * piece + 1)}"`)
  })

  it("pauses within many values and within a long string", () => {
    const pauses = (text: string) => [...JsonParser.parse(cut(text, 2 ** 16))].length
    assert.isAtLeast(pauses(`[${"1,".repeat(100_000)}1]`), 100)
    assert.isAtLeast(pauses(`{${Array.from({ length: 10_000 }, (_, at) => `"k${at}":{}`).join()}}`), 10)
    assert.isAtLeast(pauses(`"${"a".repeat(2 ** 20)}"`), 10)
    assert.isAtLeast(pauses(`"${'\\"'.repeat(2 ** 20)}"`), 20)
  })

  it("replaces texts", () => {
    const parsed = Steps.all(JsonParser.parse(['{"mark":["mark","marks"]}'], new Map([["mark", "long"]])))
    assert.deepStrictEqual(parsed, { mark: ["long", "marks"] })
  })
})
