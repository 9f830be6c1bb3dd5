/** The values that a tool may return: each is read by its type, or refused by the name of its type. */
import { Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { conduct, single, type Tool, tool, worker } from "../src/promise.ts"

const unhandled: Array<unknown> = []
const note = (error: unknown) => void unhandled.push(error)

beforeAll(() => void process.on("unhandledRejection", note))
afterAll(() => void process.off("unhandledRejection", note))

/** Returns the text that the worker was shown. */
const shown = async (execute: () => unknown, about: object = {}, make: (options: object) => Tool = tool as never) => {
  let result: unknown
  const asker = worker({
    id: "asker",
    capabilities: { tools: true, images: true },
    answer: ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== "tool") return { toolCalls: [{ name: "t", arguments: {} }] }
      result = last.isError === true ? { failed: last.content } : last.content
      return "done"
    }
  })
  const tools = [make({ name: "t", input: {}, execute, ...about })]
  await conduct({ question: "?", pool: [asker], policy: single(0), tools })
  return result
}

class Point {
  readonly x = 1
  readonly y = 2
}

class Hidden {
  readonly #secret = 1
  peek = () => this.#secret
}

class Money {
  toJSON() {
    return { euros: 7 }
  }
}

const circular: Record<string, unknown> = { name: "a" }
circular.self = { circular }

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
const picture = [{ type: "image", data: png.toString("base64"), mediaType: "image/png" }]

const values: Readonly<Record<string, readonly [value: () => unknown, shown: unknown]>> = {
  undefined: [() => undefined, "(nothing)"],
  null: [() => null, "null"],
  "a number": [() => 7, "7"],
  "no number": [() => Number.NaN, "NaN"],
  "a bigint": [() => 12345678901234567890n, "12345678901234567890"],
  "an object": [() => ({ a: 1, b: undefined, c: 2n, d: Number.POSITIVE_INFINITY }), '{"a":1,"c":"2","d":"Infinity"}'],
  "an empty object": [() => ({}), "{}"],
  "a date": [() => new Date(0), "1970-01-01T00:00:00.000Z"],
  "no date": [() => new Date("x"), "Invalid Date"],
  "a URL": [() => new URL("https://example.com/a"), "https://example.com/a"],
  "an expression": [() => /a+/g, "/a+/g"],
  "a map": [() => new Map([["a", new Set([1, 2])]]), '{"a":[1,2]}'],
  "a map of objects": [() => new Map([[{ a: 1 }, 2]]), '[[{"a":1},2]]'],
  "a set": [() => new Set(["a"]), '["a"]'],
  headers: [() => new Headers({ a: "b" }), '{"a":"b"}'],
  parameters: [() => new URLSearchParams({ a: "b c" }), "a=b+c"],
  "numbers in an array": [() => new Float64Array([1, 0.5]), "[1,0.5]"],
  "an instance": [() => new Point(), '{"x":1,"y":2}'],
  "an instance with toJSON": [() => [new Money()], '[{"euros":7}]'],
  "an error in an object": [() => ({ why: new TypeError("bad") }), '{"why":{"error":"bad"}}'],
  "bytes of text": [() => Buffer.from("Grüße"), "Grüße"],
  "an ArrayBuffer": [() => new TextEncoder().encode("abc").buffer, "abc"],
  "bytes of a picture": [() => png, picture],
  "a blob": [() => new Blob(["a", "b"]), "ab"],
  "a blob of a picture": [() => new Blob([png]), picture],
  "a generator": [
    function* () {
      yield "a"
      yield "b"
    },
    "ab"
  ],
  "a generator of values": [
    function* () {
      yield 1
      yield { a: 2 }
    },
    '[1,{"a":2}]'
  ],
  "an async generator": [
    async function* () {
      yield "a"
      yield "b"
    },
    "ab"
  ],
  "a stream of Node": [() => Readable.from([Buffer.from("a"), Buffer.from("b")]), "ab"],
  "a stream": [() => new Blob(["stream"]).stream(), "stream"],
  "an empty stream": [() => Readable.from([]), "(nothing)"],
  "a response": [() => new Response("body"), "body"],
  "a response of JSON": [() => Response.json({ a: 1 }), '{"a":1}'],
  "an error": [() => new RangeError("too far"), { failed: "The tool failed: too far" }],
  "an error of another realm": [
    () => runInNewContext("new Error('far away')"),
    { failed: "The tool failed: far away" }
  ],
  "several errors": [
    () => new AggregateError([new Error("a"), "b"], "both"),
    { failed: "The tool failed: both\n- a\n- b" }
  ],
  "a failed response": [
    () => new Response("gone", { status: 410, statusText: "Gone" }),
    { failed: "The tool failed: HTTP 410 Gone: gone" }
  ]
}

/** A list that throws an error if any of its values is read. */
const unreadable = (length: number) =>
  Object.defineProperty(new Array(length), 0, {
    get: () => {
      throw new Error("read")
    }
  })

const refused: Readonly<Record<string, readonly [value: () => unknown, named: RegExp]>> = {
  "a function": [() => () => 1, /^The tool returned a function, which cannot be converted to text\.$/],
  "a symbol": [() => Symbol("a"), /a symbol/],
  "an object of functions": [() => ({ a: () => 1 }), /an object with only functions/],
  "an instance without fields": [() => new (class Empty {})(), /an Empty without fields/],
  "an instance that hides its fields": [() => new Hidden(), /a Hidden without fields/],
  "a weak map": [() => new WeakMap(), /a WeakMap/],
  "a promise in an object": [() => ({ a: { b: [Promise.resolve(1)] } }), /a promise \(await it\) at a\.b\[0\]/],
  "a promise that is rejected": [() => ({ a: Promise.reject(new Error("no")) }), /a promise \(await it\) at a/],
  "an Effect of an async function": [() => Effect.succeed(1), /an Effect \(yield it\), which/],
  "an Effect in an object": [() => ({ a: Effect.succeed(1) }), /an Effect \(yield it\) at a/],
  "a response in an object": [() => ({ a: new Response("x") }), /a Response \(read it\) at a/],
  "a stream in an object": [() => ({ a: Readable.from([]) }), /a stream \(Readable\) at a/],
  "bytes in an object": [() => ({ a: Buffer.from("a") }), /bytes \(\w+\) at a/],
  "bytes that are no text": [() => Buffer.from([0xff, 0xfe, 0]), /of 3 bytes that are not text/],
  "a circular object": [() => circular, /an object that contains itself at self\.circular/],
  "a deep object": [() => JSON.parse(`${"[".repeat(1_000)}${"]".repeat(1_000)}`), /more than 200 levels/],
  "a wide object": [() => [Array.from({ length: 300_000 }, () => 0)], /more than 200000 values/],
  "a list whose length alone is too large": [() => unreadable(300_000), /more than 200000 values/],
  "a large map": [() => new Map(Array.from({ length: 100_001 }, (_, at) => [at, at])), /a Map of more than 100000/],
  "an endless generator": [
    function* () {
      for (;;) yield 1
    },
    /a Generator of more than 100000 values/
  ],
  "a response that was read": [
    async () => {
      const response = new Response("x")
      await response.text()
      return response
    },
    /a Response whose body was already read/
  ],
  "a stream that fails": [
    async function* () {
      throw new Error("cut off")
    },
    /cut off/
  ],
  "a getter that throws": [
    () => ({
      get a(): never {
        throw new Error("no access")
      }
    }),
    /no access/
  ],
  "a proxy": [
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("no field")
          }
        }
      ),
    /cannot be (?:read|shown)|no field/
  ]
}

describe("the result of a tool", () => {
  for (const [name, [value, expected]] of Object.entries(values)) {
    it(`is read: ${name}`, async () => {
      assert.deepStrictEqual(await shown(value), expected)
    })
  }

  for (const [name, [value, named]] of Object.entries(refused)) {
    it(`is refused: ${name}`, async () => {
      const { failed } = (await shown(value)) as { readonly failed: string }
      assert.match(failed, named)
      assert.deepStrictEqual(unhandled, [])
    })
  }

  it("is read in the same way of a tool of Effect", async () => {
    const effectful = (options: object) => {
      const { execute, ...rest } = options as { readonly execute: () => unknown }
      return { ...rest, execute: () => Effect.sync(execute) } as unknown as Tool
    }
    for (const name of ["a map", "a blob", "an error", "an async generator"]) {
      const [value, expected] = values[name]!
      assert.deepStrictEqual(await shown(value, {}, effectful), expected, name)
    }
  })

  it("is cut where it is large, and stopped where it has no end", async () => {
    const large = (await shown(() => new Map([["a", "x".repeat(300_000)]]))) as string
    assert.match(large, /\[Cut: the result has 300008 characters, and 100000 are shown\.\]$/)
    let isOver = false
    const endless = async function* () {
      try {
        for (;;) yield "x".repeat(1_000_000)
      } finally {
        isOver = true
      }
    }
    assert.match((await shown(endless)) as string, /\[Cut: the result has 10000000 characters/)
    assert.isTrue(isOver)
  })
})
