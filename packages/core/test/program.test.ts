import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { Workflow } from "../src/index.ts"

const rules: Workflow.Rules = { poolSize: 3, maxSteps: 8, checks: ["tests"] }
const step = (fields: Partial<Workflow.Step> = {}): Workflow.Step => ({ worker: 0, subtask: "", access: [], ...fields })
const list = step({ gives: { list: 10 } })
const checked = step({ check: { by: "tests", onFailure: "continue" } })

const problem = (steps: ReadonlyArray<Workflow.Step>, own: Workflow.Rules = rules): string =>
  Result.match(Workflow.check({ steps }, own), { onSuccess: () => "", onFailure: ({ message }) => message })

describe("the fields of a step beyond the paper's lists", () => {
  it.each<[string, ReadonlyArray<Workflow.Step>, RegExp]>([
    ["a list without room", [step({ gives: { list: 0 } }), step()], /^Step 0: gives: /u],
    ["a list of the last step", [list], /^Step 0: gives: the last step/u],
    ["a list and a shape", [step({ gives: { list: 1, shape: "a" } as never }), step()], /^Step 0: gives: /u],
    ["items of a step without any", [step(), step({ each: 0 })], /^Step 1: each: step 0 gives no list/u],
    ["items of a later step", [step({ each: 1 }), list, step()], /^Step 0: each: 1 is not an earlier step/u],
    [
      "lists in lists in lists",
      [list, step({ each: 0, gives: { list: 2 } }), step({ each: 1, gives: { list: 2 } }), step({ each: 2 })],
      /^Step 3: each: lists can be nested only 2 deep/u
    ],
    [
      "a revision for one item",
      [list, step({ each: 0, check: { by: "tests", onFailure: "revise" } })],
      /^Step 1: check: a step with items/u
    ],
    ["a condition on a step without a check", [step(), step({ when: { failed: 0 } })], /^Step 1: when: /u],
    [
      "a condition on items that it does not have",
      [list, step({ each: 0, check: { by: "tests", onFailure: "continue" } }), step({ when: { failed: 1 } })],
      /^Step 2: when: step 1 runs for items/u
    ],
    ["a quorum of none", [step(), step({ access: [0], enough: { answers: 0 } })], /^Step 1: enough: /u],
    [
      "a quorum of more than it sees",
      [step(), step({ access: [0], enough: { answers: 2 } })],
      /^Step 1: enough: it sees 1 step, so it cannot wait for 2 answers/u
    ],
    [
      "a quorum with a condition",
      [checked, step({ access: [0], when: { failed: 0 }, enough: { answers: 1 } })],
      /^Step 1: enough: a step with a condition/u
    ],
    ["an endless grace", [step(), step({ access: [0], enough: { answers: 1, graceMillis: Infinity } })], /enough/u],
    ["a wrong setting", [step({ settings: { maxOutputTokens: 0 } })], /^Step 0: settings: .*maxOutputTokens/u],
    [
      "an unknown setting",
      [step({ settings: { temprature: 1 } as never })],
      /^The settings of step 0 has no "temprature"; did you mean "temperature"/u
    ],
    ["repetitions of another consequence", [step({ check: { by: "tests", onFailure: "next", times: 2 } })], /times/u],
    ["tools that are not names", [step({ tools: [1] as never })], /^Step 0: tools: /u]
  ])("refuses %s", (_, steps, message) => {
    expect(problem(steps)).toMatch(message)
  })

  it("bounds the items of all steps together", () => {
    const nested = [list, step({ each: 0, gives: { list: 10 } }), step({ each: 1 }), step()]
    expect(problem(nested, { ...rules, maxItems: 109 })).toMatch(/^Step 2: each: it can have 100 items/u)
    expect(problem(nested, { ...rules, maxItems: 110 })).not.toMatch(/maxItems/u)
  })
})
