import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HeadRuns from "../src/head/HeadRuns.ts"

describe("a head in the gym", () => {
  it.effect("is learned, evolved and measured on the same questions as the others, the same way each time", () =>
    Effect.gen(function* () {
      const options = {
        seed: 5,
        graded: 40,
        tasks: 30,
        validation: 10,
        test: 12,
        generations: 2,
        population: 4,
        runs: 3,
        scorePerUsd: 0
      }
      const { evolved, measured, training } = yield* HeadRuns.measure(options)
      assert.strictEqual(training.questions, 40)
      assert.strictEqual(evolved.runs, 2 * 4 * 3)
      const names = measured.map(({ policy }) => policy)
      assert.deepStrictEqual(names, ["best single worker", "router", "head, fitted", "head, evolved", "lexical"])
      const asked = measured.map(({ runs }) => runs.map(({ task }) => task))
      for (const tasks of asked) assert.deepStrictEqual(tasks, asked[0])
      const [single, , head] = measured
      assert.isTrue(single!.runs.every(({ calls }) => calls === 1))
      assert.isTrue(head!.runs.every(({ calls }) => calls >= 1 && calls <= 5))
      const again = yield* HeadRuns.measure(options)
      const plain = (all: typeof measured) => all.map(({ runs }) => runs.map(({ millis: _, ...run }) => run))
      assert.deepStrictEqual(plain(again.measured), plain(measured))
    })
  )
})
