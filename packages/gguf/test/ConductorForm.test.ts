import { Prompt } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as ConductorForm from "../src/ConductorForm.ts"

const form: ConductorForm.ConductorForm = {
  prompt: { template: { ...Prompt.emptyTemplate, question: "{question}" }, examples: [], descriptions: true },
  maxTokens: 96,
  workers: ["abacus", "almanac"]
}

describe("the form of a Conductor", () => {
  it("is read as it was written, with the defaults of the day", () => {
    assert.deepStrictEqual(ConductorForm.decode(ConductorForm.encode(form)), Result.succeed(form))
    const plain = Result.getOrThrow(ConductorForm.decode(ConductorForm.encode({ ...form, prompt: {} })))
    assert.deepStrictEqual(plain.prompt.examples, Prompt.outOfDistributionExamples)
    // A model trained without checks does not see them.
    const { answer, checks: _, evidence: __, how, ...template } = Prompt.defaultTemplate
    assert.deepStrictEqual<unknown>(plain.prompt.template, template)
    // One that may write programs, or answer itself, does.
    const options = { how: true, mayAnswer: true, examples: [] }
    const more = Result.getOrThrow(ConductorForm.decode(ConductorForm.encode({ ...form, prompt: options })))
    assert.deepStrictEqual<unknown>(more.prompt.template, { ...template, how, answer })
    assert.deepStrictEqual([more.prompt.how, more.prompt.mayAnswer], [true, true])
  })

  const written = JSON.parse(ConductorForm.encode(form))
  const damaged: ReadonlyArray<readonly [string, unknown]> = [
    ["its version is 2", { ...written, version: 2 }],
    ["maxTokens is not a number", { ...written, maxTokens: -1 }],
    ["workers is not a list", { ...written, workers: "abacus" }],
    ["it has no prompt", { ...written, prompt: null }],
    ["prompt.template is missing", { ...written, prompt: { ...written.prompt, template: { question: 7 } } }],
    ["prompt.template is missing", { ...written, prompt: { ...written.prompt, template: { rules: [7] } } }],
    ["prompt.examples is not a list", { ...written, prompt: { ...written.prompt, examples: [{ topic: "x" }] } }],
    ["the prompt has an unknown setting", { ...written, prompt: { ...written.prompt, access: "none" } }],
    ["it is not an object", []]
  ]
  for (const [message, value] of damaged) {
    it(`is refused with a sentence: ${message}`, () => {
      const read = ConductorForm.decode(JSON.stringify(value))
      assert.include(Result.isFailure(read) ? read.failure.message : "", message)
    })
  }

  it("rejects a text that is not JSON", () => {
    assert.isTrue(Result.isFailure(ConductorForm.decode("{")))
  })
})
