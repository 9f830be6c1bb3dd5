import { type Workflow, WorkflowText } from "@divisi/core"
import type { HowFormat } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { describe, expect, it, vi } from "vitest"
import * as Grammar from "../src/Grammar.ts"
import * as WorkflowGrammar from "../src/WorkflowGrammar.ts"
import { deriver, randomOf } from "./derive.ts"

vi.setConfig({ testTimeout: 120_000 })

const names: HowFormat = {
  checks: ["tests", "a judge's"],
  shapes: ["finding", "a-b_2"],
  tools: ["search", "fetch", "list"],
  maxItems: 1000
}

const base = { poolSize: 3, allowEmpty: false, reasoning: false, mayAnswer: true } as const

const settings: ReadonlyArray<WorkflowGrammar.Options> = [1, 2, 3, 5, 8].flatMap((maxSteps) =>
  [names, {}, { maxItems: 4, checks: ["tests"] }].flatMap((how) =>
    (["binary", "fine-grained"] as const).map((access) => ({ ...base, how, access, maxSteps }))
  )
)

const read = (text: string, { how, maxSteps, poolSize }: WorkflowGrammar.Options) =>
  WorkflowText.read(text, { poolSize, maxSteps, ...how, how: true, mayAnswer: true, mode: "strict" })

const follow = (grammar: Grammar.Grammar, text: string): number => {
  let state = grammar.start
  for (const character of text) state = grammar.next(state, character.codePointAt(0)!)
  return state
}

describe("the grammar of programs", () => {
  it("lets nothing through that does not read strictly", () => {
    const random = randomOf(1)
    const used = new Map<string, number>()
    for (const options of settings) {
      const derive = deriver(WorkflowGrammar.make(options))
      for (let count = 0; count < 200; count++) {
        const text = derive(random)
        const reading = read(text, options)
        expect(Result.isSuccess(reading) ? "" : `${reading.failure.message}\n${text}`).toBe("")
        if (Result.isFailure(reading)) continue
        const { answer, workflow } = reading.success
        if (answer !== undefined) used.set("answer", (used.get("answer") ?? 0) + 1)
        for (const step of workflow.steps) {
          for (const field of Object.keys(step)) used.set(field, (used.get(field) ?? 0) + 1)
          if (step.check?.onFailure === "again") used.set("again", (used.get("again") ?? 0) + 1)
        }
      }
    }
    const fields = [
      "access",
      "again",
      "answer",
      "check",
      "each",
      "enough",
      "gives",
      "settings",
      "subtask",
      "tools",
      "when"
    ]
    expect([...used.keys()].sort()).toEqual([...fields, "worker"])
    for (const field of fields) expect(used.get(field), field).toBeGreaterThan(20)
  })

  it("ends a completion wherever it breaks off", () => {
    const random = randomOf(2)
    for (const options of settings.filter(({ maxSteps }, index) => maxSteps < 8 && index % 4 === 0)) {
      const withThought = { ...options, reasoning: true }
      const derive = deriver(WorkflowGrammar.make(withThought))
      const grammar = Result.getOrThrow(Grammar.read(WorkflowGrammar.make(withThought)))
      for (let count = 0; count < 2; count++) {
        const letters = [...derive(random)]
        for (let length = 0; length <= letters.length; length += 1 + Math.floor(random() * 9)) {
          const cut = letters.slice(0, length).join("")
          const whole = cut + WorkflowGrammar.ending(cut, withThought)
          expect(grammar.isWhole(follow(grammar, whole)), JSON.stringify(whole)).toBe(true)
          const span = WorkflowGrammar.span(whole, 0, withThought)
          expect(span?.end, JSON.stringify(whole)).toBe(whole.length)
          expect(Result.isSuccess(read(whole.slice(span!.start), options)), whole).toBe(true)
        }
      }
    }
  })

  it("ends a thought as a plan, and an answer only if it has begun", () => {
    const options = { ...base, how: names, access: "binary", maxSteps: 2, reasoning: true } as const
    for (const one of [options, { ...options, how: undefined }]) {
      const lists = 'model_id = [0]\nsubtasks = [""]\naccess_list = [[]]'
      for (const cut of ["", "Hm.\n"]) expect(WorkflowGrammar.ending(cut, one)).toBe(lists)
      for (const cut of ["Hm", "answer", "answer ="]) expect(WorkflowGrammar.ending(cut, one)).toBe(`\n${lists}`)
      expect(WorkflowGrammar.ending('Hm.\nanswer = "Par', one)).toBe('"')
      expect(WorkflowGrammar.ending('answer = "Paris"', one)).toBe("")
    }
  })

  /** A random program within the bounds of the grammar. */
  const programOf = (random: () => number, maxSteps: number): Workflow.Workflow => {
    const below = (count: number) => Math.floor(random() * count)
    const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)]!
    const chance = (share: number) => random() < share
    const count = 1 + below(maxSteps)
    const hasHow = chance(0.8)
    const axes: Array<number> = []
    const lists: Array<boolean> = []
    const steps: Array<Workflow.Step> = []
    for (let step = 0; step < count; step++) {
      const isLast = step === count - 1
      const sources = axes.flatMap((own, at) => {
        const depth = own + (lists[at] ? 1 : 0)
        return at < 3 && depth > 0 && depth < 3 ? [{ at, depth }] : []
      })
      const source = hasHow && sources.length > 0 && chance(0.6) ? pick(sources) : undefined
      const depth = source?.depth ?? 0
      const before = steps[step - 1]
      const isRepair =
        hasHow &&
        step <= 3 &&
        before?.check !== undefined &&
        (source === undefined ? axes[step - 1] === 0 && !lists[step - 1] : source.at === step - 1) &&
        chance(0.5)
      const hasQuorum = hasHow && isLast && step > 1 && !isRepair && chance(0.5)
      const hasList = hasHow && !isLast && step < 3 && depth < 2 && chance(0.5)
      const hasShape = hasHow && !hasList && chance(0.3)
      axes.push(depth)
      lists.push(hasList)
      const check = chance(0.4)
        ? {
            by: pick(names.checks!),
            onFailure: pick(["next", "continue", "again", ...(hasHow ? [] : (["revise"] as const))] as const)
          }
        : undefined
      const settings = {
        ...(chance(0.3) && {
          reasoning: pick([{ type: "off" }, { type: "budget", tokens: 1 + below(99999) }] as const)
        }),
        ...(chance(0.3) && { maxOutputTokens: 1 + below(99999) }),
        ...(chance(0.3) && { timeoutMillis: 1 + below(9999999) }),
        ...(chance(0.3) && { temperature: pick([0, 0.1, 0.25, 1, 1.05, 2]) })
      }
      const access = Array.from({ length: step }, (_, index) => index).filter(() => chance(0.5))
      steps.push({
        worker: below(3),
        subtask: pick(["", "Do {item}.", 'A "quoted" \\ one\n\tof two lines, é 😀']),
        access: hasQuorum ? "all" : chance(0.3) && step > 0 ? "all" : access,
        ...(check && {
          check: check.onFailure === "again" && chance(0.5) ? { ...check, times: 1 + below(16) } : check
        }),
        ...(hasList && { gives: { list: 1 + below(18) } }),
        ...(hasShape && { gives: { shape: pick(names.shapes!) } }),
        ...(source && { each: source.at }),
        ...(isRepair && { when: { failed: step - 1 } }),
        ...(hasQuorum && { enough: { answers: 1 + below(step), ...(chance(0.5) && { graceMillis: below(999999) }) } }),
        ...(hasHow && Object.keys(settings).length > 0 && { settings }),
        ...(hasHow && chance(0.3) && { tools: pick([true, false, ["fetch"], ["list", "search"]] as const) })
      })
    }
    return { steps }
  }

  it("lets through what is written", () => {
    const random = randomOf(3)
    const options = { ...base, how: names, access: "fine-grained", maxSteps: 5 } as const
    const grammar = Result.getOrThrow(Grammar.read(WorkflowGrammar.make(options)))
    for (let count = 0; count < 3000; count++) {
      const text = WorkflowText.write(programOf(random, 5), { how: true }).trimEnd()
      const reading = read(text, options)
      expect(Result.isSuccess(reading) ? "" : `${reading.failure.message}\n${text}`).toBe("")
      expect(grammar.isWhole(follow(grammar, text)), text).toBe(true)
    }
    expect(grammar.isWhole(follow(grammar, WorkflowText.writeAnswer('"Paris"').trimEnd()))).toBe(true)
  })

  it("is that of the paper without its rules, and bounded with them", () => {
    const plain = { poolSize: 3, maxSteps: 5, access: "binary", allowEmpty: true } as const
    expect(WorkflowGrammar.make({ ...plain, mayAnswer: false })).toBe(WorkflowGrammar.make(plain))
    expect(WorkflowGrammar.make(plain)).not.toMatch(/how|answer|checks/u)
    const size = (maxSteps: number) => WorkflowGrammar.make({ ...plain, maxSteps, how: names }).length
    expect(size(5)).toBeLessThan(160_000)
    expect(size(8)).toBeLessThan(240_000)
  })
})
