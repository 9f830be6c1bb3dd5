/** The thread of the computer algebra, whose patience of ten seconds this waits for. */

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Algebra from "../src/math/Algebra.ts"

describe("computer algebra", () => {
  it.effect("ends a proof that takes too long, and proves the next", () =>
    Effect.gen(function* () {
      const algebra = Algebra.make({ timeoutMillis: 10_000 })
      assert.strictEqual(yield* algebra.prove("9^{9^{9^9}}+1!", "5"), "exhausted")
      assert.strictEqual(yield* algebra.prove("\\frac13", "\\int_0^1 x^2 dx"), "equal")
      assert.strictEqual(yield* algebra.prove("\\frac14", "\\int_0^1 x^2 dx"), "not-proven")
      assert.strictEqual(yield* algebra.prove("\\frac{", "\\sum"), "not-proven")
      yield* algebra.close
    })
  )
})
