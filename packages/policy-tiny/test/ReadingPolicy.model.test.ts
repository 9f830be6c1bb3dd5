import * as Conductor from "@divisi/core/Conductor"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as GymWorker from "@divisi/gym/GymWorker"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ReadingPolicy from "../src/ReadingPolicy.ts"

const worker = (id: string, description: string) =>
  GymWorker.make({
    id,
    description,
    pricing: { inputPerMillion: 0.25, outputPerMillion: 1 },
    skills: { calendar: {}, units: {}, arithmetic: {} }
  })

/** Who answers a question, in the order of the steps. */
const asked = Effect.fnUntraced(function* (question: string, descriptions: Readonly<Record<string, string>>) {
  const pool = WorkerPool.makeUnsafe(Object.entries(descriptions).map(([id, text]) => worker(id, text)))
  const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
  const { rounds } = yield* Conductor.make({ policy, pool, seed: 0 }).run(question)
  return rounds[0]!.workflow.steps.map(({ worker }) => pool.workers[worker]!.id)
})

const days = "How many days are there from 3 May 2027 to 19 June 2027?"

describe("the reader that ships", () => {
  it.live("asks who is good at it and not who is weak at it, wherever they stand", () =>
    Effect.gen(function* () {
      const strong = "Good at dates and weekdays."
      const weak = "Weak at dates and weekdays, good at spelling."
      assert.deepStrictEqual(yield* asked(days, { strong, weak }), ["strong"])
      assert.deepStrictEqual(yield* asked(days, { weak, strong }), ["strong"])
    })
  )

  it.live("knows what words mean that no training had, where they are used like others", () =>
    Effect.gen(function* () {
      const able = "Adroit, even ingenious with dates and weekdays."
      const unable = "Woefully hapless with dates and weekdays."
      assert.deepStrictEqual(yield* asked(days, { able, unable }), ["able"])
      assert.deepStrictEqual(yield* asked(days, { unable, able }), ["able"])
    })
  )

  it.live("goes by the record where the description says nothing", () =>
    Effect.gen(function* () {
      const found = yield* asked(days, {
        first: "A helpful assistant.\nRecord: dates 0/4 low, letters 3/3 high.",
        second: "A helpful assistant.\nRecord: dates 4/4 high, letters 0/3 low."
      })
      assert.deepStrictEqual(found, ["second"])
    })
  )

  it.live("parts that do not need each other are asked at once", () =>
    Effect.gen(function* () {
      const question =
        "1. How many days are there from 3 May 2027 to 19 June 2027?\n2. How many hours are there in 3 days?\n3. Add the answer to part 1 to the answer to part 2 and multiply the sum by 26. What do you get?\nGive only the last answer."
      const found = yield* asked(question, {
        calendar: "Expert in dates and the calendar.",
        units: "Expert in unit conversion.",
        sums: "Expert in arithmetic and sums."
      })
      assert.deepStrictEqual(found, ["calendar", "units", "sums"])
    })
  )
})
