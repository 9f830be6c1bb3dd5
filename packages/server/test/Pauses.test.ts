/** Requests are converted in steps: a list of thousands of tools, parts or calls does not occupy the event loop. */
import { assert, describe, it } from "vitest"
import { read } from "../src/chat/ChatReader.ts"

const many = <A>(count: number, one: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => one(at))

const pauses = (fields: object): number =>
  [...read({ model: "divisi", messages: [{ role: "user", content: "Greet" }], ...fields }, {})].length

describe("a request pauses", () => {
  it("between messages with many parts", () => {
    const message = { role: "user", content: many(2_000, () => ({ type: "text", text: "a" })) }
    assert.isAtLeast(pauses({ messages: many(19, () => message) }), 19)
  })

  it("between tools", () => {
    assert.isAtLeast(
      pauses({ tools: many(1_000, (at) => ({ type: "function", function: { name: `f${at}` } })) }),
      1_000
    )
  })

  it("while calls without a result are repaired", () => {
    const call = (at: number) => ({ id: `c${at}`, type: "function", function: { name: "f", arguments: "{}" } })
    const messages = many(10, (at) => ({
      role: "assistant",
      tool_calls: many(2_000, (index) => call(at * 2_000 + index))
    }))
    assert.isAtLeast(pauses({ messages }), 10 * 7)
  })
})
