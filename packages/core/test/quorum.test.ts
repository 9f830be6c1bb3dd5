import { describe, expect, it } from "vitest"
import type { Workflow } from "../src/index.ts"
import { conduct, memoryJournal, policy, type RunEvent, resume, spendByWorker, worker } from "../src/promise.ts"

type Steps = Workflow.WorkflowInput["steps"]

const step = (subtask: string, access: ReadonlyArray<number> | "all", fields: Partial<Steps[number]> = {}) => ({
  worker: 0,
  subtask,
  access,
  ...fields
})

const planned = (steps: Steps) => policy("planned", () => ({ steps }))

/** A worker whose answers to some subtasks arrive when the test opens them. */
const gated = (...subtasks: ReadonlyArray<string>) => {
  const opened = new Map(subtasks.map((subtask) => [subtask, Promise.withResolvers<void>()]))
  const calls: Array<{ readonly asked: string; readonly seen: ReadonlyArray<string> }> = []
  const pool = [
    worker({
      id: "a",
      pricing: { inputPerMillion: 1, outputPerMillion: 2 },
      answer: async ({ messages }) => {
        const texts = messages.map(({ content }) => String(content))
        const asked = texts.findLast((text) => text.startsWith("Question:"))!.replace("Question:\nq\n\nSubtask:\n", "")
        calls.push({
          asked,
          seen: messages.filter(({ role }) => role === "assistant").map((one) => String(one.content))
        })
        await opened.get(asked)?.promise
        return asked.startsWith("L") ? '["x", "y", "z"]' : `<${asked}>`
      }
    })
  ]
  return { calls, pool, open: (subtask: string) => opened.get(subtask)!.resolve() }
}

const panel: Steps = [
  step("one", []),
  step("two", []),
  step("slow", []),
  step("judge", "all", { enough: { answers: 2 } })
]

describe("a step that waits for enough answers", () => {
  it("starts without the rest, which is stopped, charged and called late", async () => {
    const { calls, pool } = gated("slow")
    const events: Array<RunEvent> = []
    const { answer, spend, transcript } = await conduct({
      question: "q",
      pool,
      policy: planned(panel),
      onEvent: (event) => void events.push(event)
    })
    expect(answer).toBe("<judge>")
    expect(calls.at(-1)!.seen).toEqual(["<one>", "<two>", "This step was not run, so it has no answer."])
    expect(spend.calls).toBe(4)
    expect(spendByWorker(transcript).a).toEqual(spend)
    expect(transcript.rounds[0]!.steps[2]).toMatchObject({ state: "skipped", detail: "late" })
    expect(transcript.rounds[0]!.steps[3]!.without).toEqual(["2"])
    const order = events.map(({ type }) => type)
    expect(order.indexOf("step-skipped")).toBeLessThan(order.lastIndexOf("step-started"))
    expect(order).toContain("call-interrupted")
  })

  it("asks nothing again of a late step when it is resumed, and charges for it as before", async () => {
    const { calls, pool } = gated("slow")
    const options = { pool, policy: planned(panel) }
    const { answer, spend, transcript } = await conduct({ question: "q", ...options })
    const again = await resume({ ...options, transcript, results: {} })
    expect(calls).toHaveLength(4)
    expect(again).toMatchObject({ answer, spend })
    expect(again.transcript.rounds[0]!.steps[2]).toMatchObject({ state: "skipped", detail: "late" })
  })

  it("does not stop a step that another one waits for, and does not show it either", async () => {
    const { calls, open, pool } = gated("slow")
    const steps = [...panel, step("last", [2, 3])]
    const run = conduct({
      question: "q",
      pool,
      policy: planned(steps),
      onEvent: (event) => {
        if (event.type === "step-started" && event.step === 3) open("slow")
      }
    })
    const { transcript } = await run
    expect(calls.find(({ asked }) => asked === "judge")!.seen[2]).toContain("not run")
    expect(calls.at(-1)!.seen).toEqual(["<slow>", "<judge>"])
    const journal = memoryJournal()
    const again = await resume({ pool, policy: planned(steps), transcript, results: {}, journal })
    expect(again.answer).toBe("<last>")
    expect(calls).toHaveLength(5)
  })

  it("waits for the grace period, but not if everything has arrived before", async () => {
    const { calls, open, pool } = gated("slow")
    const steps = panel.with(3, step("judge", "all", { enough: { answers: 2, graceMillis: 2 ** 31 - 1 } }))
    await conduct({
      question: "q",
      pool,
      policy: planned(steps),
      onEvent: (event) => {
        if (event.type === "step-finished" && event.step === 1) open("slow")
      }
    })
    expect(calls.at(-1)!.seen).toEqual(["<one>", "<two>", "<slow>"])
  })

  it("counts the items of a map", async () => {
    const { calls, pool } = gated("do y")
    const steps = [
      step("List", [], { gives: { list: 3 } }),
      step("do {item}", [], { each: 0 }),
      step("sum", [1], { enough: { answers: 2 } })
    ]
    const { transcript } = await conduct({ question: "q", pool, policy: planned(steps) })
    expect(JSON.parse(calls.at(-1)!.seen[0]!)).toEqual([
      { item: "x", answer: "<do x>" },
      { item: "y", failed: "it had no answer when this step started" },
      { item: "z", answer: "<do z>" }
    ])
    expect(transcript.rounds[0]!.steps[2]!.without).toEqual(["1[1]"])
  })

  it("calls a step late, not failed, if its list or all of its items were late", async () => {
    const { calls, pool } = gated("L", "slow x", "slow y", "slow z")
    const ofList = [
      step("L", [], { gives: { list: 3 } }),
      step("{item}", [], { each: 0 }),
      step("quick", []),
      step("judge", [1, 2], { enough: { answers: 1 } })
    ]
    const ofItems = [
      step("List", [], { gives: { list: 3 } }),
      step("slow {item}", [], { each: 0 }),
      step("quick {item}", [], { each: 0 }),
      step("judge {item}", [1, 2], { each: 0, enough: { answers: 1 } }),
      step("sum", [3])
    ]
    for (const steps of [ofList, ofItems]) {
      const options = { pool, policy: planned(steps) }
      const { answer, transcript } = await conduct({ question: "q", ...options })
      const before = calls.length
      const again = await resume({ ...options, transcript, results: {} })
      expect(calls).toHaveLength(before)
      for (const result of [transcript, again.transcript])
        expect(result.rounds[0]!.steps[1]).toMatchObject({ state: "skipped", detail: "late" })
      expect(again.answer).toBe(answer)
    }
  })

  it("reports the items that are not known yet as left out, and never starts those that nothing needs", async () => {
    const { calls, open, pool } = gated("L of y", "judge")
    const nested: Steps = [
      step("L", [], { gives: { list: 3 } }),
      step("L of {item}", [], { each: 0, gives: { list: 3 } }),
      step("Do {item}", [], { each: 1 }),
      step("judge", [2], { enough: { answers: 3 } }),
      step("Join.", [1, 3])
    ]
    const events: Array<RunEvent> = []
    const running = conduct({
      question: "q",
      pool,
      policy: planned(nested),
      onEvent: (event) => {
        events.push(event)
        // The list of y arrives after the judge was asked.
        if (event.type === "step-started" && event.step === 3) setImmediate(() => open("L of y"))
        if (event.type === "step-finished" && event.step === 1 && event.item === "1") setImmediate(() => open("judge"))
      }
    })
    const { answer, spend, transcript } = await running
    const started = events.find((event) => event.type === "step-started" && event.step === 3)
    expect(started).toMatchObject({ without: expect.arrayContaining(["2[1.*]"]) })
    expect(answer).toBe("<Join.>")
    const ofY = transcript.rounds[0]!.steps[2]!.items!.filter(({ item }) => item!.startsWith("1."))
    expect(ofY.map(({ detail, state }) => [state, detail])).toEqual(
      Array.from({ length: 3 }, () => ["skipped", "late"])
    )
    expect(spend.calls).toBe(calls.length)
    expect(JSON.parse(calls.find(({ asked }) => asked === "judge")!.seen[0]!)).toHaveLength(6)
  })

  it("keeps its decision in the journal: a run that was stopped after it continues by it", async () => {
    const { calls, pool } = gated("slow")
    const journal = memoryJournal()
    const controller = new AbortController()
    const options = { pool, policy: planned([...panel, step("last", [3])]), journal, runId: "r" }
    const first = await conduct({
      question: "q",
      ...options,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "step-finished" && event.step === 3) controller.abort()
      }
    })
    expect(first.ending).toBe("interrupted")
    const before = calls.length
    const rest = await resume(options)
    expect(rest).toMatchObject({ ending: "answered", answer: "<last>" })
    expect(calls.slice(before).map(({ asked }) => asked)).toEqual(["last"])
    expect(spendByWorker(rest.transcript).a!.calls).toBe(rest.spend.calls)
  })
})

describe("a step with a condition", () => {
  const checks = { good: (text: string) => text.includes("two") || "it is not two" }
  const repaired = (draft: string): Steps => [
    step(draft, [], { check: { by: "good", onFailure: "continue" } }),
    step("repair", [0], { when: { failed: 0 } }),
    step("sum", [0, 1])
  ]

  it("runs if the check failed, and both answers are seen", async () => {
    const { calls, pool } = gated()
    const { transcript } = await conduct({ question: "q", pool, checks, policy: planned(repaired("one")) })
    expect(calls.map(({ asked }) => asked)).toEqual(["one", "repair", "sum"])
    expect(calls.at(-1)!.seen).toEqual(["<one>", "<repair>"])
    expect(transcript.rounds[0]!.steps[1]!.state).toBe("answered")
  })

  it("has the checked answer if the check passed, which is seen once and paid once", async () => {
    const { calls, pool } = gated()
    const { answer, spend, transcript } = await conduct({
      question: "q",
      pool,
      checks,
      policy: planned(repaired("two"))
    })
    expect(calls.map(({ asked }) => asked)).toEqual(["two", "sum"])
    expect(calls.at(-1)!.seen).toEqual(["<two>"])
    expect(transcript.rounds[0]!.steps[1]).toMatchObject({ state: "skipped", detail: "condition" })
    expect([answer, spend.calls]).toEqual(["<sum>", 2])
  })

  it("is the answer of the run if it is the last step", async () => {
    const { pool } = gated()
    const { answer } = await conduct({ question: "q", pool, checks, policy: planned(repaired("two").slice(0, 2)) })
    expect(answer).toBe("<two>")
  })

  it("decides for each item", async () => {
    const { calls, pool } = gated()
    const steps = [
      step("List", [], { gives: { list: 3 } }),
      step("do {item}", [], { each: 0, check: { by: "y", onFailure: "continue" } }),
      step("repair {item}", [1], { each: 1, when: { failed: 1 } }),
      step("sum", [2])
    ]
    const onlyY = { y: (text: string) => text.includes("y") || "no" }
    await conduct({ question: "q", pool, checks: onlyY, policy: planned(steps) })
    expect(calls.map(({ asked }) => asked).filter((asked) => asked.startsWith("repair"))).toEqual([
      "repair x",
      "repair z"
    ])
    expect(JSON.parse(calls.at(-1)!.seen[0]!).map(({ answer }: { answer: string }) => answer)).toEqual([
      "<repair x>",
      "<do y>",
      "<repair z>"
    ])
  })
})
