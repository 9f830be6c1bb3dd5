import { WorkflowText } from "@divisi/core"
import { text } from "@divisi/core/Message"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymWorker } from "@divisi/gym"
import * as GymPool from "@divisi/gym/GymPool"
import type { ExampleSource } from "@divisi/trainer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { heldOutPools } from "../src/gym/HeldOutPools.ts"
import * as Plan from "../src/gym/Plan.ts"
import * as WarmStart from "../src/gym/WarmStart.ts"

const pool = GymPool.make({ latencyMillis: 0 })

const options: WarmStart.Options = {
  pool,
  pools: { type: "random", min: 2, max: 16, heldOut: heldOutPools },
  plans: 3,
  recursive: 0.5,
  composites: 0.5
}

const someExamples = Effect.forEach(Array.from({ length: 60 }), (_, index) =>
  WarmStart.examples("examples", options).example(7, index)
)

const workersOf = ({ messages }: ExampleSource.Example) => text(messages[0]).split("\n").length

describe("plans of the tiny Conductor", () => {
  it("are workflows as Python reads them", () => {
    const steps: ReadonlyArray<Plan.PlannedStep> = [
      { kind: "units", part: 1, isCheck: false, worker: 7, access: [] },
      { kind: "logic", part: 2, isCheck: false, worker: 15, access: "all" },
      { kind: "logic", part: 2, isCheck: true, worker: 15, access: "all" }
    ]
    const text = Plan.write(pool, steps)
    assert.isTrue(text.startsWith("1 units: Converter=7\n2 Logic: Checks=15\n2 Checks: Checks=15\n"))
    const lists = text.slice(text.indexOf("model_id"))
    const read = Result.getOrThrow(WorkflowText.read(lists, { poolSize: 16, maxSteps: 5, mode: "strict" }))
    assert.deepStrictEqual(read.workflow, Plan.workflowOf(steps))
  })

  it("look up kinds and checks by words of a description, exactly as written there", () => {
    for (const word of [...Object.values(Plan.words).flat(), Plan.wordForChecks]) {
      assert.isTrue(
        pool.workers.some(({ description }) => new RegExp(`\\b${word}\\b`).test(description!)),
        word
      )
    }
  })

  it("name every worker of the gym by a word of its own", () => {
    const titles = pool.workers.map((_, worker) => Plan.titleOf(pool, worker))
    assert.strictEqual(new Set(titles).size, titles.length)
    assert.isTrue(titles.every((title) => /^[A-Z]/.test(title)))
  })
})

describe("what the tiny Conductor reads first", () => {
  it.effect("can all be read, by the rules that rollouts are held to", () =>
    Effect.map(someExamples, (examples) => {
      for (const example of examples) {
        for (const { text } of example.completions) {
          const rules = { poolSize: workersOf(example), maxSteps: 5, allowEmpty: true }
          assert.isTrue(Result.isSuccess(WorkflowText.read(text, rules)), text)
        }
      }
    })
  )

  it.effect("is the same for the same seed, and says nothing of who is good", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* someExamples, yield* someExamples)
      const asked = new Map<string, number>()
      for (const { completions } of yield* someExamples) {
        for (const { text } of completions) {
          for (const [, title] of text.matchAll(/: (\w+)=/g)) asked.set(title!, (asked.get(title!) ?? 0) + 1)
        }
      }
      assert.strictEqual(asked.size, WorkerPool.size(pool))
    })
  )

  it.effect("accepts answers and plans again, but accepts none that reports a missing answer", () =>
    Effect.map(someExamples, (examples) => {
      const found = { stands: 0, again: 0, declined: 0 }
      for (const { completions, messages } of examples) {
        const answer = /\nAnswer: (.*)$/s.exec(text(messages.at(-1)))?.[1]
        if (answer === undefined) continue
        for (const { text } of completions) {
          const stands = text.includes("model_id = []")
          if (GymWorker.isDecline(answer)) {
            assert.isFalse(stands, answer)
            found.declined++
          } else found[stands ? "stands" : "again"]++
        }
      }
      for (const count of Object.values(found)) assert.isAbove(count, 5)
    })
  )

  it.effect("checks only attempted parts, with a worker that checks", () =>
    Effect.map(someExamples, (examples) => {
      let checks = 0
      for (const { completions } of examples) {
        for (const { text } of completions) {
          const lines = [...text.matchAll(/^(\d) (\w+): (\w+)=\d+$/gm)]
          for (const [index, [, part, sought, title]] of lines.entries()) {
            if (sought !== Plan.wordForChecks) continue
            assert.strictEqual(title, "Checks")
            assert.strictEqual(lines[index - 1]?.[1], part)
            checks++
          }
        }
      }
      assert.isAbove(checks, 10)
    })
  )

  it.effect("gives weight to kinds and ordinals at their positions", () =>
    Effect.map(someExamples, (examples) => {
      for (const { completions } of examples) {
        for (const { spans = [], text } of completions) {
          for (const { end, start, weight } of spans) {
            const part = text.slice(start, end)
            if (weight === 4) assert.match(part, /^(?:\d+| [A-Za-z]+)$/)
            if (weight === 0) assert.match(part, /^ [A-Z]\w+$/)
          }
        }
      }
    })
  )
})

describe("exercises in finding", () => {
  const words = WarmStart.exercises("words", { ...options, pools: { type: "random", min: 3, max: 16, heldOut: [] } })
  const someExercises = Effect.forEach(Array.from({ length: 60 }), (_, index) => words.example(7, index))

  it.effect("name workers who are there, and one who is described by the word where there is one", () =>
    Effect.map(someExercises, (exercises) => {
      let fitting = 0
      for (const { completions, messages } of exercises) {
        const descriptions = text(messages[0])
          .split("\n")
          .map((line) => line.replace(/^\d+ /, ""))
        for (const [, word, title, ordinal] of completions[0]!.text.matchAll(/^\d (\w+): (\w+)=(\d+)$/gm)) {
          const description = descriptions[Number(ordinal)]!
          assert.isTrue(description.startsWith(title!), `${title} is not at ${ordinal}`)
          const fits = (text: string) => new RegExp(`\\b${word}\\b`).test(text)
          if (!descriptions.some(fits)) continue
          assert.isTrue(fits(description), `${word} is not in: ${description}`)
          fitting++
        }
      }
      assert.isAbove(fitting, 60)
    })
  )

  it.effect("end with the ordinals of their lines", () =>
    Effect.map(someExercises, (exercises) => {
      for (const { completions } of exercises) {
        const { text } = completions[0]!
        const ordinals = [...text.matchAll(/=(\d+)$/gm)].map(([, ordinal]) => ordinal)
        assert.isTrue(text.endsWith(`\nmodel_id = [${ordinals.join()}]`), text)
      }
    })
  )
})

describe("the gym recipe", () => {
  it("keeps thirty different pools aside", () => {
    const names = heldOutPools.map((ids) => [...ids].sort().join())
    assert.strictEqual(new Set(names).size, 30)
  })
})
