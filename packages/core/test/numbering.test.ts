/** The numbers of calls: the work for each call does not grow with the number of calls. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import type { CallContext } from "../src/loop/call.ts"
import { numbering, type RecalledCalls } from "../src/loop/numbering.ts"
import * as promise from "../src/promise.ts"
import { FreeNumbers } from "../src/run/FreeNumbers.ts"

const many = 2_000

/** Counts the look-ups in maps and sets, also those that iterate over a set. */
const counted = async (work: () => unknown): Promise<number> => {
  const spies = [
    vi.spyOn(Map.prototype, "get"),
    vi.spyOn(Map.prototype, "has"),
    vi.spyOn(Set.prototype, "has"),
    vi.spyOn(Set.prototype, "values")
  ]
  await work()
  const count = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  for (const spy of spies) spy.mockRestore()
  return count
}

const worker = promise.worker({ id: "solver", answer: () => "Paris" })
const asked = (text: string) => ({ worker, request: { messages: [{ role: "user" as const, content: text }] } })
const place = { by: "policy", round: 0 } as const

afterEach(() => {
  vi.restoreAllMocks()
})

describe("FreeNumbers", () => {
  it("returns the lowest free number from a given one", () => {
    const numbers = new FreeNumbers()
    for (const used of [0, 1, 3, 5, 4]) numbers.use(used)
    assert.deepStrictEqual(
      [0, 1, 2, 3, 6].map((least) => numbers.from(least)),
      [2, 2, 2, 6, 6]
    )
    numbers.use(2)
    assert.strictEqual(numbers.from(0), 6)
  })

  it("takes no more look-ups for the last of many numbers than for the first", async () => {
    const numbers = new FreeNumbers()
    const inOrder = await counted(() => {
      for (let number = 0; number < many; number++) numbers.use(numbers.from(0))
    })
    assert.isBelow(inOrder, 6 * many)
    assert.strictEqual(numbers.from(0), many)
  })
})

describe("numbering", () => {
  /** The digests of requests, as reported by a run with concurrent calls. */
  const digestsOf = (texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const numbers = numbering({ recalled: undefined } as CallContext, place, () => 0)
      const digests: Array<string> = []
      yield* Effect.forEach(
        texts,
        (text) =>
          numbers.call(asked(text), ({ digest }) =>
            Effect.andThen(
              Effect.yieldNow,
              Effect.sync(() => digests.push(digest()!))
            )
          ),
        { concurrency: "unbounded", discard: true }
      )
      return digests
    })

  it.effect("finds each of many concurrent calls in a record of another order by one comparison", () =>
    Effect.gen(function* () {
      const texts = Array.from({ length: many }, (_, index) => `question ${index}`)
      const digests = yield* digestsOf(["first", ...texts])
      let comparisons = 0
      const record: RecalledCalls = {
        count: many,
        requests: new Map(digests.slice(1).map((digest, turn) => [turn, digest])),
        isSame: ({ turn }, request) => {
          comparisons += 1
          return record.requests.get(turn) === request
        }
      }
      const numbers = numbering({ recalled: () => record } as unknown as CallContext, place, () => 0)
      const turns: Array<number> = []
      for (const text of texts.toReversed()) {
        yield* numbers.call(asked(text), ({ turn }) => Effect.sync(() => turns.push(turn)))
      }
      assert.deepStrictEqual(turns, texts.map((_, index) => index).toReversed())
      assert.isAtMost(comparisons, 2 * many)
    })
  )

  it.effect("finds the answer of a concurrent call before it takes the number of a withdrawn one", () =>
    Effect.gen(function* () {
      const [, same] = yield* digestsOf(["first", "answered"])
      const requests = new Map([[1, same!]])
      const record: RecalledCalls = {
        count: 2,
        requests,
        isSame: ({ turn }, request, isNext) => (requests.has(turn) ? requests.get(turn) === request : isNext)
      }
      const numbers = numbering({ recalled: () => record } as unknown as CallContext, place, () => 0)
      const turns: Array<number> = []
      for (const text of ["answered", "new"])
        yield* numbers.call(asked(text), ({ turn }) => Effect.sync(() => turns.push(turn)))
      assert.deepStrictEqual(turns, [1, 0])
    })
  )
})

describe("a journal", () => {
  /** Asks questions at the same time, stops with all answers, and resumes in the opposite order. */
  const lookups = async (calls: number): Promise<number> => {
    const journal = promise.memoryJournal()
    const stop = new AbortController()
    const texts = Array.from({ length: calls }, (_, index) => `question ${index}`)
    let made = 0
    const model = promise.worker({
      id: "model",
      answer: ({ messages }) => {
        made += 1
        return `Answer to ${messages.at(-1)?.content}`
      }
    })
    let order = texts
    const asking = promise.policy("asks", async ({ complete }) => {
      const ask = (content: string) => complete({ model, messages: [{ role: "user", content }] })
      const said = await Promise.all(order.map(ask))
      if (order === texts) {
        stop.abort()
        await new Promise<never>(() => {})
      }
      return { answer: said.map(({ text }) => text).join() }
    })
    const options = { pool: [worker], policy: asking, journal }
    await promise.conduct({ ...options, question: "Which?", runId: "run", signal: stop.signal })
    order = texts.toReversed()
    return counted(async () => {
      const { answer } = await promise.resume({ ...options, runId: "run" })
      assert.strictEqual(answer, order.map((text) => `Answer to ${text}`).join())
      assert.strictEqual(made, calls)
    })
  }

  it("finds concurrent calls in another order with as much work for each of many as for each of few", async () => {
    const [few, more] = [await lookups(100), await lookups(800)]
    assert.isBelow(more / few, 12)
  })
})
