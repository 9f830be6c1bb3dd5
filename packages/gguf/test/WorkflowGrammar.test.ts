import { WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"
import { assert, describe, it, vi } from "vitest"
import * as WorkflowGrammar from "../src/WorkflowGrammar.ts"
import { deriver, randomOf } from "./derive.ts"

// Thousands of completions are derived, for every grammar that there is.
vi.setConfig({ testTimeout: 120_000 })

/** Every pool and step limit, in both access forms, with and without the empty workflow. */
const settings = Array.from({ length: 12 }, (_, pool) =>
  Array.from({ length: 8 }, (_, steps) =>
    (["binary", "fine-grained"] as const).flatMap((access) =>
      [false, true].map((allowEmpty) => ({ poolSize: pool + 1, maxSteps: steps + 1, access, allowEmpty }))
    )
  )
).flat(2)

const strictly = (text: string, options: WorkflowGrammar.Options) =>
  Result.getOrThrow(WorkflowText.read(text, { ...options, how: false, mode: "strict" })).workflow

describe("WorkflowGrammar", () => {
  it("lets nothing through that does not read strictly as a valid workflow", () => {
    const random = randomOf(1)
    const lengths = new Set<number>()
    for (const options of settings) {
      const derive = deriver(WorkflowGrammar.make({ ...options, reasoning: false }))
      for (let count = 0; count < 26; count++) lengths.add(strictly(derive(random), options).steps.length)
    }
    assert.deepStrictEqual([...lengths].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it("leaves reasoning free, and the lists behind it the ones that are read, strictly or not", () => {
    const random = randomOf(2)
    for (const options of settings) {
      const derive = deriver(WorkflowGrammar.make(options))
      for (let count = 0; count < 10; count++) {
        const completion = derive(random)
        const span = WorkflowGrammar.span(completion)!
        assert.strictEqual(span?.end, completion.length, completion)
        const workflow = strictly(completion.slice(span.start), options)
        const reading = Result.getOrThrow(WorkflowText.read(completion, { ...options, how: false }))
        assert.deepStrictEqual(reading.workflow, workflow, completion)
      }
    }
  })

  it("lets every valid workflow through", () => {
    const derive = deriver(WorkflowGrammar.make({ poolSize: 2, maxSteps: 3, access: "fine-grained", allowEmpty: true }))
    const random = randomOf(3)
    const shapes = new Set<string>()
    // Workers times access lists: none, all, and every other choice of earlier steps.
    const all = 1 + 2 + 4 * 3 + 8 * 3 * 5
    for (let count = 0; shapes.size < all && count < 60_000; count++) {
      const completion = derive(random)
      const { end, start } = WorkflowGrammar.span(completion)!
      const { steps } = strictly(completion.slice(start, end), {
        poolSize: 2,
        maxSteps: 3,
        access: "binary",
        allowEmpty: true
      })
      shapes.add(JSON.stringify(steps.map(({ access, worker }) => [worker, access])))
    }
    assert.strictEqual(shapes.size, all)
  })

  it("ends a completion wherever it breaks off", () => {
    const random = randomOf(4)
    for (const options of settings.filter((_, index) => index % 5 === 0)) {
      const derive = deriver(WorkflowGrammar.make(options))
      for (let count = 0; count < 3; count++) {
        const completion = derive(random)
        const letters = [...completion]
        for (let length = 0; length <= letters.length; length++) {
          const cut = letters.slice(0, length).join("")
          const whole = cut + WorkflowGrammar.ending(cut)
          const span = WorkflowGrammar.span(whole)
          assert.strictEqual(span?.end, whole.length, JSON.stringify(whole))
          strictly(whole.slice(span?.start), options)
        }
      }
    }
  })

  it("finds the lists as soon as the third has closed, valid or not", () => {
    const text =
      'First I thought of model_id = [1].\n  model_id = [7, 7]\nsubtasks = ["a]", "b"]\naccess_list = ["all", []]'
    assert.deepStrictEqual(WorkflowGrammar.span(text), { start: text.indexOf("model_id = [7"), end: text.length })
    for (let length = 0; length < text.length; length++) {
      assert.isUndefined(WorkflowGrammar.span(text.slice(0, length)), text.slice(0, length))
    }
    assert.strictEqual(WorkflowGrammar.span(`${text}]\nmodel_id`.slice(0, text.length + 1))?.end, text.length)
  })
})
