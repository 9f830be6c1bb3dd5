import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Workflow from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"
import { digestOf } from "./oldReadings.ts"
import { programOf, programRules } from "./programs.ts"

const rules = { ...programRules, how: true, mayAnswer: true }

const messageOf = (text: string, options: Partial<WorkflowText.Options> = {}): string =>
  Result.match(WorkflowText.read(text, { ...rules, mode: "strict", ...options }), {
    onSuccess: ({ answer, workflow }) => JSON.stringify(answer ?? workflow),
    onFailure: ({ message }) => message
  })

/** A plan of four steps, with these clauses. */
const withHow = (...how: ReadonlyArray<string>): string =>
  `model_id = [0, 1, 2, 0]\nsubtasks = ["List.", "Review.", "Check.", "Sum up."]\nchecks = ["tests", "", "", ""]\nhow = [${[0, 1, 2, 3].map((at) => JSON.stringify(how[at] ?? "")).join(", ")}]\naccess_list = [[], [], [1], [1, 2]]`

const readStrictly = (text: string) => Result.getOrThrow(WorkflowText.read(text, { ...rules, mode: "strict" })).workflow

describe("the list how", () => {
  it("is read as the fields of steps", () => {
    const text = withHow(
      "list 16; effort high; at most 800 tokens",
      "each 0; gives finding; tools search, fetch",
      "each 1; at most 30000 ms; temperature 0.2; no tools",
      "if 0 failed; think 2000 tokens"
    )
    expect(readStrictly(text).steps.map(({ access: _, check: __, subtask: ___, worker: ____, ...how }) => how)).toEqual(
      [
        { gives: { list: 16 }, settings: { reasoning: { type: "effort", effort: "high" }, maxOutputTokens: 800 } },
        { each: 0, gives: { shape: "finding" }, tools: ["search", "fetch"] },
        { each: 1, settings: { timeoutMillis: 30_000, temperature: 0.2 }, tools: false },
        { when: { failed: 0 }, settings: { reasoning: { type: "budget", tokens: 2000 } } }
      ]
    )
    expect(readStrictly(withHow("", "", "", "after 2 +300 ms; effort off")).steps[3]).toMatchObject({
      enough: { answers: 2, graceMillis: 300 },
      settings: { reasoning: { type: "off" } }
    })
  })

  it("is the inverse of writing, whatever the program", () => {
    const used = new Set<string>()
    for (let seed = 0; seed < 1000; seed++) {
      const workflow = programOf(seed)
      expect(Result.getOrThrow(Workflow.check(workflow, rules))).toEqual(workflow)
      for (const how of [undefined, true, false]) {
        const text = WorkflowText.write(workflow, { how })
        for (const mode of ["strict", "thought-then-strict", "tolerant"] as const) {
          const reading = Result.getOrThrow(WorkflowText.read(text, { ...rules, mode }))
          expect(reading.workflow, text).toEqual(workflow)
          expect(reading.notes).toEqual([])
        }
      }
      const prose = `So [ this " is how: [it] goes.\n${WorkflowText.write(workflow)}`
      expect(Result.getOrThrow(WorkflowText.read(prose, rules)).workflow, prose).toEqual(workflow)
      for (const step of workflow.steps) for (const field of Object.keys(step)) used.add(field)
    }
    expect([...used].sort()).toEqual(
      ["access", "check", "each", "enough", "gives", "settings", "subtask", "tools", "when", "worker"].sort()
    )
  })

  it.each<[string, string, string]>([
    ["a misspelt clause", withHow("list 3", "eahc 0"), 'Line 4, column 19: expected "each S", found "eahc 0".'],
    [
      "the second clause",
      withHow("list 3; effrt low"),
      'expected "effort minimal|low|medium|high|off", found "effrt low".'
    ],
    ["another spelling", withHow("list of 3"), 'Line 4, column 9: expected "list 3", found "list of 3".'],
    ["a clause twice", withHow("list 3", "each 0; each 0"), "expected each kind of clause at most once"],
    ["a list and a shape", withHow("list 3; gives finding"), "expected each kind of clause at most once"],
    ["an empty clause", withHow("list 3;"), 'expected "list N" or "gives NAME"'],
    [
      "another value",
      withHow("").replace('how = [""', "how = [3"),
      "Line 4, column 8: expected the clauses of the step in quotes"
    ],
    [
      "too few",
      withHow("").replace('how = ["", ', "how = ["),
      "expected 4 entries in how, one for each step, found 3."
    ],
    ["an impossible step", withHow("", "each 0"), "Line 4, column 12: Step 1: each: step 0 gives no list"],
    [
      "an unknown shape",
      withHow("gives findng"),
      'Line 4, column 8: Step 0: gives: shape "findng" does not exist; did you mean "finding"?'
    ],
    ["an unknown tool", withHow("tools serch"), 'Step 0: tools: tool "serch" does not exist; did you mean "search"?'],
    [
      "too many repetitions",
      withHow("").replace('"tests"', '"tests: again 17"'),
      "Line 3, column 11: Step 0: check: times is a whole number from 1 to 16"
    ],
    ["another list", withHow("").replace("how", "hwo"), 'expected model_id, subtasks, how or access_list, found "hwo".']
  ])("refuses %s with its position", (_, text, message) => {
    expect(messageOf(text)).toContain(message)
  })

  it("bounds the text of a step before it is read", () => {
    const long = withHow(`tools ${"a, ".repeat(2_000_000)}a`)
    expect(messageOf(long)).toContain("expected at most 16384 characters")
    expect(messageOf(long, { mode: "tolerant" })).toContain("expected at most 16384 characters")
    expect(messageOf(withHow(";".repeat(16_000)), { mode: "tolerant" })).toContain('"worker":0')
    expect(messageOf(withHow("list 99999999999"))).toContain('expected "list N"')
    expect(messageOf(withHow(`temperature ${"1".repeat(400)}`))).toContain('expected "temperature X"')
  })

  it("reads checks in time linear in their text", () => {
    for (const how of [true, false]) {
      // A quadratic reader takes minutes for these.
      for (const check of [`a${" ".repeat(400_000)}b`, `${": ".repeat(200_000)}next`, `a:${" again".repeat(60_000)}`]) {
        const text = withHow("").replace('how = ["", "", "", ""]\n', "").replace('"tests"', JSON.stringify(check))
        expect(messageOf(text, { how })).toMatch(/does not exist/u)
      }
    }
  })

  it("is read tolerantly with notes, and never ignored", () => {
    const tolerant = (text: string) => WorkflowText.read(text, rules)
    const { notes, workflow } = Result.getOrThrow(tolerant(withHow("List of at most 3 ", "for each item of step 0;")))
    expect(workflow.steps[1]!.each).toBe(0)
    expect(notes).toEqual([
      'Read "List of at most 3" as "list 3".',
      'Read "for each item of step 0" as "each 0".',
      "Ignored an empty clause in how."
    ])
    expect(messageOf(`Thus:\n${withHow("lost 3 here")}`, { mode: "tolerant" })).toMatch(/^Line 5, column 9: expected/u)
    const json = '{"model_id": [0, 1], "subtasks": ["a", "b"], "how": ["list 2", "each 0"], "access_list": [[], []]}'
    expect(Result.getOrThrow(tolerant(json)).workflow.steps[1]!.each).toBe(0)
  })
})

describe("an answer instead of lists", () => {
  const read = (text: string, mode: WorkflowText.Mode) => Result.getOrThrow(WorkflowText.read(text, { ...rules, mode }))

  it("is read in every mode", () => {
    const answer = 'Two "lines"\nof text; model_id = [0].'
    const text = WorkflowText.writeAnswer(answer)
    for (const mode of ["strict", "thought-then-strict", "tolerant"] as const) {
      expect(read(text, mode)).toEqual({
        workflow: { steps: [] },
        answer,
        notes: [],
        span: { start: 0, end: text.length - 1 }
      })
    }
    expect(read(`I know this.\n${text}`, "thought-then-strict").answer).toBe(answer)
    expect(read("I know.\n\n```\n**Answer**: 'Paris'\n```", "tolerant")).toMatchObject({
      answer: "Paris",
      notes: ['Read "**Answer**:" as "answer =".', "Ignored the text around the answer."]
    })
  })

  it.each<[string, string]>([
    ['answer = "Paris."\nmodel_id = [0]', "Line 2, column 1: expected nothing after the answer"],
    ['answer = ""', "Line 1, column 10: expected an answer, found an empty string."],
    ["answer = 42", "Line 1, column 10: expected the answer in quotes"],
    ['answer = "Paris', "Line 1"]
  ])("refuses %j strictly", (text, message) => {
    expect(messageOf(text)).toContain(message)
  })

  it("leaves a plan after it as the plan", () => {
    const text = `answer = "A draft."\n${withHow("list 2", "each 0")}`
    for (const mode of ["thought-then-strict", "tolerant"] as const)
      expect(read(text, mode).workflow.steps.length).toBe(4)
  })
})

describe("the paper's form without the rules", () => {
  it("is read as before programs, to every byte of its readings and refusals", () => {
    // Recorded with the reader before programs, which had the digest d5e8acd1…, and again when messages were reworded:
    // those about escape sequences, then three others. With the old wording, the digest is still the same.
    const recorded = "875413d3c6dec807c6c76256118fd8a1b2beb77ef5e76341d9aa4d013c3da619"
    expect(digestOf({ how: false, mayAnswer: false, shapes: ["finding"], tools: ["search"] })).toBe(recorded)
  }, 60_000)

  it("refuses programs where they begin", () => {
    expect(messageOf(withHow(""), { how: false })).toBe(
      'Line 4, column 1: expected model_id, subtasks or access_list, found "how".'
    )
    expect(messageOf('answer = "Paris."', { how: false, mayAnswer: false })).toBe(
      'Line 1, column 1: expected model_id, subtasks or access_list, found "answer".'
    )
  })
})
