/** Requests are converted in steps: a list of thousands of tools, parts or calls does not occupy the event loop. */
import type { RunEvent } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { read } from "../src/chat/ChatReader.ts"
import * as Steps from "../src/wire/Steps.ts"
import * as Tools from "../src/wire/Tools.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

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

describe("steps that take long", () => {
  it("are run in turns of the event loop, between which other work is done", async () => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const spin = (until = performance.now() + 2): void => {
      while (performance.now() < until);
    }
    function* steps(): Steps.Steps<number> {
      for (let step = 0; step < 20; step++) {
        spin()
        yield
      }
      return turns
    }
    assert.isAtLeast(await Effect.runPromise(Steps.paced(steps)), 19)
    isOver = true
  })
})

describe("work that would take one long turn is not done", () => {
  it("the tools of a request are not parsed again for its response", () => {
    const tools = many(1_000, (at) => ({ type: "function", function: { name: `f${at}` } }))
    const body = { model: "divisi", messages: [{ role: "user", content: "Greet" }], tools }
    const request = Steps.all(read(body, {}))
    const again = {
      ...body,
      tools: [
        {
          get type(): string {
            throw new Error("It is parsed again.")
          }
        }
      ]
    }
    assert.lengthOf(Tools.ofResponse({ body: again, request }), 1_000)
  })

  it("the messages of a large request are not hashed: the id of its task comes from its bytes", async () => {
    const ids: Array<string> = []
    const listener = (event: RunEvent.RunEvent) => {
      if (event.type === "run-started") ids.push(event.task.id)
    }
    await serving({ ...alone(worker("a", said("1"), said("2"), said("3"), said("4"))), listener }, async ({ url }) => {
      for (const [length, spaces] of [
        [10, 0],
        [10, 1],
        [100_000, 0],
        [100_000, 1]
      ] as const) {
        const messages = [{ role: "user", content: "a".repeat(length) }]
        const body = `${JSON.stringify({ model: "divisi", messages })}${" ".repeat(spaces)}`
        assert.strictEqual((await fetch(`${url}/chat/completions`, { method: "POST", body })).status, 200)
      }
    })
    const [small, smallAgain, large, largeAgain] = ids
    assert.strictEqual(small, smallAgain)
    assert.match(large!, /^task-[A-Za-z0-9]{22}$/)
    assert.notStrictEqual(large, largeAgain)
  })
})
