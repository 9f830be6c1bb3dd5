import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { makeRandom } from "../scripts/workflowTextCorpus.ts"
import { Workflow } from "../src/index.ts"
import type * as Policy from "../src/policy/Policy.ts"
import { conduct, policy, worker } from "../src/promise.ts"

type Path = ReadonlyArray<string | number>

const rules: Workflow.Rules = { poolSize: 1, maxSteps: 5, checks: ["tests"], earlier: [1], shapes: ["finding"] }

/** A valid plan with every field of every object. */
const plan: Workflow.Workflow = {
  answer: "majority",
  steps: [
    {
      worker: 0,
      subtask: "",
      access: [],
      check: { by: "tests", onFailure: "again", times: 2 },
      gives: { list: 3 },
      settings: {
        reasoning: { type: "effort", effort: "low" },
        maxOutputTokens: 9,
        temperature: 0,
        timeoutMillis: 9
      },
      tools: true
    },
    { worker: 0, subtask: "", access: [], each: 0, when: { failed: 0 }, earlier: [{ round: 0, step: 0 }] },
    {
      worker: 0,
      subtask: "",
      access: [0],
      enough: { answers: 1, graceMillis: 3 },
      gives: { shape: "finding" },
      settings: { reasoning: { type: "budget", tokens: 3 } }
    }
  ]
}

/** Every object of a value, by its path. */
const objectsOf = (value: unknown, path: Path = []): ReadonlyArray<Path> => {
  if (typeof value !== "object" || value === null) return []
  const inner = Object.entries(value).flatMap(([key, part]) =>
    objectsOf(part, [...path, Array.isArray(value) ? Number(key) : key])
  )
  return Array.isArray(value) ? inner : [path, ...inner]
}

const objectAt = (value: unknown, path: Path): Record<string, unknown> =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], value) as Record<string, unknown>

type Random = ReturnType<typeof makeRandom>

/** The key with one letter left out, doubled, swapped, or in another case. */
const misspelt = (random: Random, key: string): string => {
  const at = 1 + random.below(Math.max(1, key.length - 2))
  return random.pick([
    key.slice(0, at) + key.slice(at + 1),
    key.slice(0, at) + key[at] + key.slice(at),
    key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2),
    key.slice(0, at) + key[at]!.toUpperCase() + key.slice(at + 1)
  ])
}

const isPart = (path: Path): boolean => path.length > 0

describe("unknown keys", () => {
  it("has a valid plan to begin with", () => {
    expect(Result.isSuccess(Workflow.check(plan, rules))).toBe(true)
  })

  it("are refused by name with the nearest known key, in every object of a plan", () => {
    const random = makeRandom(1)
    let tried = 0
    for (const path of objectsOf(plan)) {
      for (const key of Object.keys(objectAt(plan, path))) {
        for (let time = 0; time < 20; time++) {
          const wrong = structuredClone(plan)
          const object = objectAt(wrong, path)
          const written = misspelt(random, key)
          if (Object.hasOwn(object, written) || key.length < 3) continue
          object[written] = object[key]
          if (random.chance(0.5)) delete object[key]
          const checked = Workflow.check(wrong, rules)
          const reason = Result.isFailure(checked) ? checked.failure.reason : undefined
          expect(reason, `${path.join(".")} ${written}`).toMatchObject({
            _tag: "UnknownKey",
            key: written,
            hint: `did you mean "${key}"?`
          })
          tried++
        }
      }
    }
    expect(tried).toBeGreaterThan(300)
  })

  it("are refused if no known key is near, and absent if they are undefined", () => {
    for (const path of objectsOf(plan).filter(isPart)) {
      const wrong = structuredClone(plan)
      objectAt(wrong, path).zzzzzz = 1
      const checked = Workflow.check(wrong, rules)
      expect(Result.isFailure(checked) && checked.failure.message).toMatch(/ has no "zzzzzz"; its keys are /u)
      objectAt(wrong, path).zzzzzz = undefined
      expect(Result.isSuccess(Workflow.check(wrong, rules))).toBe(true)
    }
  })

  const ending = async (given: unknown): Promise<string> => {
    const pool = [worker({ id: "only", answer: () => "42" })]
    const { detail, ending } = await conduct({
      question: "?",
      pool,
      policy: policy("mine", () => given as Workflow.WorkflowInput)
    })
    return `${ending}: ${detail}`
  }

  it("end a run of the promise API before anything is paid", async () => {
    const step = { worker: 0, subtask: "", access: [] }
    expect(await ending({ steps: [{ ...step, acces: [] }] })).toMatch(
      /^failed: .*step 0 has no "acces"; did you mean "access"\?/u
    )
    expect(await ending({ steps: [{ ...step, settings: { maxOutputToken: 9 } }] })).toMatch(
      /the settings of step 0 has no "maxOutputToken"; did you mean "maxOutputTokens"\?/u
    )
    expect(await ending({ steps: [{ ...step, prompt: "" }] })).toMatch(/"prompt"; did you mean "subtask"\?/u)
    expect(await ending({ step: [step] })).toMatch(/the workflow has no "step"; did you mean "steps"\?/u)
    expect(await ending({ steps: [step], isLst: true })).toMatch(
      /its proposal has no "isLst"; did you mean "isLast"\?/u
    )
    expect(await ending({ steps: [step], answr: "majority" })).toMatch(/no "answr"; did you mean "answer"\?/u)
    expect(await ending({ steps: [{ ...step, gives: { shape: "a" } }] })).toMatch(/the run has no shapes\.$/u)
    expect(await ending({ steps: [{ ...step, settings: { reasoning: "high" } }] })).toMatch(
      /"settings.reasoning" must be an object with "type": "effort", "budget" or "off", not "high"/u
    )
    expect(await ending({ steps: [step], answer: "majority", isLast: true, notes: ["by habit"] })).toMatch(/^answered/u)
    expect(await ending({ steps: [step] })).toMatch(/^answered/u)
  })

  const proposing = async (proposal: object): Promise<string> => {
    const mine: Policy.Policy = { name: "mine", propose: () => Effect.succeed(proposal as Policy.Proposal) }
    const { detail, ending } = await conduct({
      question: "?",
      pool: [worker({ id: "only", answer: () => "42" })],
      policy: mine
    })
    return `${ending}: ${detail}`
  }

  it("of a proposal are refused", async () => {
    const random = makeRandom(2)
    const proposal = {
      workflow: { steps: [{ worker: 0, subtask: "", access: [] }] },
      policy: "other",
      notes: [],
      probability: 1
    }
    expect(await proposing(proposal)).toMatch(/^answered/u)
    for (const key of Object.keys(proposal).filter((name) => name !== "workflow")) {
      const written = misspelt(random, key)
      const message = `its proposal has no "${written}"; did you mean "${key}"?`
      expect(await proposing({ ...proposal, [written]: [] })).toContain(message)
    }
    expect(await proposing({ ...proposal, type: "re-plan" })).toContain('its proposal has no "type"')
  })

  it.each([
    [{ type: "go-on", note: [] }, 'no "note"; did you mean "notes"?'],
    [{ type: "stop", answer: { round: 0, step: 0 }, anser: 1 }, 'no "anser"; did you mean "answer"?'],
    [{ type: "re-plan", workflow: { steps: [] }, probabilty: 1 }, 'no "probabilty"; did you mean "probability"?']
  ])("of the revision %j are refused", async (revision, message) => {
    const events: Array<string> = []
    const revising = policy(
      "mine",
      () => ({
        steps: [
          { worker: 0, subtask: "", access: [], check: { by: "tests", onFailure: "revise" } },
          { worker: 0, subtask: "", access: "all" }
        ]
      }),
      { checks: { tests: () => false }, revise: () => revision as never }
    )
    await conduct({
      question: "?",
      pool: [worker({ id: "only", answer: () => "42" })],
      policy: revising,
      onEvent: (event) => {
        events.push(JSON.stringify(event))
      }
    })
    expect(events.join("\n")).toContain(JSON.stringify(message).slice(1, -1))
  })
})
