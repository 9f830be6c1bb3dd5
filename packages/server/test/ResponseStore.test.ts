import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Archive from "../src/responses/Archive.ts"
import * as ResponseStore from "../src/responses/ResponseStore.ts"

/** A small response that is over. */
const ended = (id: string) => {
  const about = { id, body: { input: "Hi" }, request: {} }
  const text = JSON.stringify({ version: 1, owner: "me", input: [], about, parts: [{ type: "text", text: "Ho" }] })
  return Archive.decode(text)!.segment
}

const kibi = 2 ** 10

describe("the responses that a server keeps in memory", () => {
  it("are limited by their total size, the latest ones retained; active ones stay", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const store = yield* ResponseStore.make({ maxCharacters: 100 * kibi })
          const keep = (id: string, isOver: boolean) =>
            store.keep({ ...ended(id), isOver: () => isOver }, { input: "Hi" }, "me", 20)
          yield* keep("running", false)
          for (let at = 0; at < 1_000; at += 1) yield* keep(`${at}`, true)
          const all = Array.from({ length: 1_000 }, (_, at) => at)
          const kept = yield* Effect.filter(all, (at) => store.has(`resp_${at}`, "me"))
          assert.isTrue(yield* store.has("resp_running", "me"))
          assert.strictEqual(kept.at(-1), 999)
          assert.deepStrictEqual(
            kept,
            kept.map((_, at) => 1_000 - kept.length + at)
          )
          // A response takes about four kibibytes of a heap, however little it says.
          assert.isAtMost(kept.length, 26)
          assert.isAtLeast(kept.length, 20)
        })
      )
    ))
})
