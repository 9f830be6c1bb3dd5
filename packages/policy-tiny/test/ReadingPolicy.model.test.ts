import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymWorker } from "@divisi/gym"
import * as GymPool from "@divisi/gym/GymPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChoiceHead from "../src/ChoiceHead.ts"
import * as ReadingPolicy from "../src/ReadingPolicy.ts"

const worker = (id: string, description: string) =>
  GymWorker.make({
    id,
    description,
    pricing: { inputPerMillion: 0.25, outputPerMillion: 1 },
    skills: { calendar: {}, units: {}, arithmetic: {} }
  })

/** Returns the workers that answer a question, in the order of the steps. */
const asked = Effect.fnUntraced(function* (question: string, descriptions: Readonly<Record<string, string>>) {
  const pool = WorkerPool.makeUnsafe(Object.entries(descriptions).map(([id, text]) => worker(id, text)))
  const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
  const { rounds } = yield* Conductor.make({ policy, pool, seed: 0 }).run(question)
  return rounds[0]!.workflow.steps.map(({ worker }) => pool.workers[worker]!.id)
})

const days = "How many days are there from 3 May 2027 to 19 June 2027?"

describe("the reader that ships", () => {
  it.live("calls a worker that is good at it and not a weak one, at any position", () =>
    Effect.gen(function* () {
      const strong = "Good at dates and weekdays."
      const weak = "Weak at dates and weekdays, good at spelling."
      assert.deepStrictEqual(yield* asked(days, { strong, weak }), ["strong"])
      assert.deepStrictEqual(yield* asked(days, { weak, strong }), ["strong"])
    })
  )

  it.live("answers questions that build on earlier results, as people type them", () =>
    Effect.gen(function* () {
      const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
      const conductor = Conductor.make({ policy, pool: GymPool.make({ latencyMillis: 0 }), seed: 0 })
      const questions = {
        "How many days are in 2 weeks? Multiply the result by 37.": "518",
        "Convert 3 days to minutes, then add 50 to it.": "4370",
        "How many minutes are there in 3 days? How many days are in 2 weeks? Add up both results.": "4334",
        "How many minutes are there in 3 days? And what is 37 * 41? What is the sum of both answers?": "5837",
        "What day of the week was 20 July 1969? How many letters does it have?": "6"
      }
      for (const [question, answer] of Object.entries(questions)) {
        assert.strictEqual((yield* conductor.run(question)).answer, answer, question)
      }
    })
  )

  it.live("does not ask who says no more than what it is weak at, though it costs a fiftieth", () =>
    Effect.gen(function* () {
      const strong = { ...worker("strong", "Good at dates."), pricing: { inputPerMillion: 5, outputPerMillion: 20 } }
      const weak = { ...worker("weak", "Not good at dates."), pricing: { inputPerMillion: 0.1, outputPerMillion: 0.4 } }
      const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
      for (const workers of [
        [strong, weak],
        [weak, strong]
      ]) {
        const pool = WorkerPool.makeUnsafe(workers)
        const { rounds } = yield* Conductor.make({ policy, pool, seed: 0 }).run(days)
        assert.strictEqual(pool.workers[rounds[0]!.workflow.steps[0]!.worker]!.id, "strong")
      }
    })
  )

  it.live("for an unknown kind, calls a worker that mentions nothing else, in the question's words", () =>
    Effect.gen(function* () {
      const descriptions = {
        dates: "Good at dates and weekdays.",
        store: "Looks up what the warehouse has in stock of articles.",
        sums: "Exact with sums and products.",
        law: "Contracts, tenancy and employment law."
      }
      const pool = WorkerPool.makeUnsafe(
        Object.entries(descriptions).map(([id, description]) => ({ ...ScriptedWorker.echo(id), description }))
      )
      const policy = ReadingPolicy.make(yield* ReadingPolicy.load())
      const found = yield* Effect.forEach(
        ["How many copper kettles are in stock?", "Is this clause of my employment contract valid?", days],
        (question) => Conductor.make({ policy, pool, seed: 0 }).run(question)
      )
      assert.deepStrictEqual(
        found.map(({ rounds }) => rounds[0]!.workflow.steps.map(({ worker }) => pool.workers[worker]!.id)),
        [["store"], ["law"], ["dates"]]
      )
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

  it.live("reads which earlier parts a part needs", () =>
    Effect.gen(function* () {
      const { head, readers } = yield* ReadingPolicy.load()
      const situations = ReadingPolicy.read(readers)
      const needsOf = (question: string) =>
        situations(question, { workers: [{ description: "A generalist." }] }).map(({ needs }) =>
          needs.flatMap((own, earlier) => (ChoiceHead.greatest(ChoiceHead.needOdds(head, own)) === 1 ? [earlier] : []))
        )
      const wanted: ReadonlyArray<readonly [question: string, needs: ReadonlyArray<ReadonlyArray<number>>]> = [
        // Naming one's own answer is not a reference.
        [
          "Convert 599.3 days to minutes. Call the answer M. What is the median of 9, 4 and 7? Call the answer N. What is M + N × 97?",
          [[], [], [0, 1]]
        ],
        // Neither is a part's mention of its own code or numbers.
        [
          "1. How many days are there from 2025-09-08 to 18 October 2025?\n2. What is the output of this JavaScript program?\n```js\nlet result = 4\nconsole.log(result)\n```\n3. Given the values 58, 98, 66, what is their range?\n4. What is the answer to part 1 × the answer to part 2 + 72?\nGive only the last answer.",
          [[], [], [], [0, 1]]
        ],
        [
          "How many minutes are there in 7 hours and 4 minutes? Add that number to the list 187, 214, 90. What is the median of the new list? Multiply that number by 28 and add 54.",
          [[], [0], [1]]
        ],
        ["What is 3 × 4? Which date is 12 days after the result?", [[], [0]]],
        ["What is 3 × 4? What is the sum of 12 and 7?", [[], []]]
      ]
      assert.deepStrictEqual(
        wanted.map(([question]) => needsOf(question)),
        wanted.map(([, needs]) => needs)
      )
    })
  )

  it.live("asks a cheaper worker where prices weigh more", () =>
    Effect.gen(function* () {
      const priced = (id: string, output: number, description: string) => ({
        ...worker(id, description),
        pricing: { inputPerMillion: 0, outputPerMillion: output }
      })
      const pool = WorkerPool.makeUnsafe([
        priced("dear", 40, "Exact with dates and weekdays."),
        priced("cheap", 0.4, "Fairly good at dates, careless now and then.")
      ])
      const model = yield* ReadingPolicy.load()
      const first = Effect.fnUntraced(function* (priceWeight?: number) {
        const policy = ReadingPolicy.make(model, { priceWeight })
        const { rounds } = yield* Conductor.make({ policy, pool, seed: 0 }).run(days)
        return pool.workers[rounds[0]!.workflow.steps[0]!.worker]!.id
      })
      assert.strictEqual(yield* first(0.01), "dear")
      assert.strictEqual(yield* first(0.5), "cheap")
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
