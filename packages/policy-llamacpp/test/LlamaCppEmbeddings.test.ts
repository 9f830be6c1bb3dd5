import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LlamaCppEmbeddings from "../src/LlamaCppEmbeddings.ts"
import { tiny } from "./model.ts"

const source = await tiny()

describe("LlamaCppEmbeddings", () => {
  it.effect("gives a text the same point whatever is asked with it, and cuts one that is too long", () =>
    Effect.gen(function* () {
      const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", contextTokens: 64, threads: 1 })
      const [first, other, again] = yield* Effect.promise(() => embed(["a violin", "a viola", "a violin"]))
      assert.deepStrictEqual(again, first)
      assert.notDeepEqual(other, first)
      assert.strictEqual(other!.length, first!.length)
      const long = "and ".repeat(500)
      const [alone, cut, empty] = yield* Effect.promise(() => embed(["a violin", long, ""]))
      assert.deepStrictEqual(alone, first)
      assert.strictEqual(cut!.length, first!.length)
      assert.isTrue(empty!.every(Number.isFinite))
    }).pipe(Effect.scoped)
  )

  it.effect("cuts a text to what fits into a context that is full to its last place", () =>
    Effect.gen(function* () {
      const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", contextTokens: 256, threads: 1 })
      const [long] = yield* Effect.promise(() => embed(["and so on ".repeat(500)]))
      assert.isTrue(long!.every(Number.isFinite))
    }).pipe(Effect.scoped)
  )

  it.effect("gives the hidden state of the token before the last, where that is asked for", () =>
    Effect.gen(function* () {
      const options = { source, gpu: "none", contextTokens: 64, threads: 1 } as const
      const last = yield* LlamaCppEmbeddings.load(options)
      const before = yield* LlamaCppEmbeddings.load({ ...options, token: "penultimate" })
      // Each of these letters is a token: what follows a token does not change its state.
      const [[short, long], [ofLong, ofOne]] = yield* Effect.promise(() =>
        Promise.all([last(["ab", "abc"]), before(["abc", "a"])])
      )
      assert.deepStrictEqual(ofLong, short)
      assert.notDeepEqual(ofLong, long)
      assert.strictEqual(ofOne!.length, short!.length)
    }).pipe(Effect.scoped)
  )

  it.effect("says what is wrong with a file, and stops where it is asked to", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(LlamaCppEmbeddings.load({ source: `${source}.not`, gpu: "none" }))
      assert.strictEqual(error._tag, "LlamaCppError")
      const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", contextTokens: 64, threads: 1 })
      const stopped = yield* Effect.promise(() => embed(["a"], AbortSignal.abort(new Error("enough"))).catch(String))
      assert.strictEqual(stopped, "Error: enough")
    }).pipe(Effect.scoped)
  )
})
