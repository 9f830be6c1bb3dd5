import { describe, expect, it } from "vitest"
import type { RunEvent } from "../src/events/RunEvent.ts"
import { conduct, memoryCache, memoryJournal, policy, tool, worker } from "../src/promise.ts"
import type { WorkerRequest } from "../src/task/Worker.ts"
import type { Step } from "../src/workflow/Workflow.ts"

const step = (fields: Partial<Step> = {}): Step => ({ worker: 0, subtask: "", access: [], ...fields })

/** A run of one plan over one worker: its result, the requests and the events. */
const running = (
  steps: ReadonlyArray<Step>,
  options: Partial<Parameters<typeof conduct>[0]> & {
    readonly of?: Partial<Parameters<typeof worker>[0]>
    readonly answers?: ReadonlyArray<string>
  } = {}
) => {
  const { answers = ["42"], of, ...rest } = options
  const requests: Array<WorkerRequest> = []
  const events: Array<RunEvent> = []
  const only = worker({
    id: "only",
    ...of,
    answer: (request) => {
      requests.push(request)
      return answers[Math.min(requests.length, answers.length) - 1]!
    }
  })
  const run = () =>
    conduct({
      question: "?",
      pool: [only],
      policy: policy("mine", () => ({ steps })),
      ...rest,
      onEvent: (event) => {
        events.push(event)
      }
    })
  const notices = () => events.flatMap((event) => (event.type === "step-notice" ? [event.notice] : []))
  return { run, requests, events, notices }
}

describe("the settings of a step", () => {
  const settings = { reasoning: { type: "effort", effort: "high" }, maxOutputTokens: 9, temperature: 0.3 } as const

  it("take precedence over those of the run, for its calls alone", async () => {
    const { requests, run } = running([step({ settings }), step({ access: "all" })], {
      worker: { maxOutputTokens: 100, temperature: 1, reasoning: { type: "off" } }
    })
    expect((await run()).answer).toBe("42")
    expect(requests[0]).toMatchObject({ ...settings, preferences: "omit" })
    expect(requests[1]).toMatchObject({ maxOutputTokens: 100, temperature: 1, reasoning: { type: "off" } })
    expect(requests[1]!.preferences).toBeUndefined()
  })

  it("of a part leave the run's for the rest", async () => {
    const { requests, run } = running([step({ settings: { temperature: 0 } })], { worker: { maxOutputTokens: 100 } })
    await run()
    expect(requests[0]).toMatchObject({ maxOutputTokens: 100, temperature: 0 })
  })

  it("are bounded by what their worker can do, with notices", async () => {
    const { notices, requests, run } = running([step({ settings: { ...settings, maxOutputTokens: 900 } })], {
      of: { takesReasoning: false, takesTemperature: false, limits: { maxOutputTokens: 200 } }
    })
    await run()
    expect(requests[0]!.maxOutputTokens).toBe(200)
    expect(requests[0]!.reasoning).toBeUndefined()
    expect(requests[0]!.temperature).toBeUndefined()
    expect(notices()).toEqual([
      "It does not support reasoning settings, so the step's setting was left out.",
      "It does not support a temperature, so the step's setting was left out.",
      "It writes at most 200 tokens, so the step's limit of 900 was lowered."
    ])
  })

  it("are bounded by the budget of the run", async () => {
    const { requests, run } = running([step({ settings: { maxOutputTokens: 50_000 } })], { budget: { tokens: 1000 } })
    expect((await run()).ending).toBe("budget")
    expect(requests.length).toBe(0)
  })

  it("end a call after their time limit", async () => {
    const slow = worker({
      id: "slow",
      answer: (_, { signal }) => new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject()))
    })
    const { detail, ending } = await conduct({
      question: "?",
      pool: [slow],
      retry: { maxAttempts: 1 },
      policy: policy("mine", () => ({ steps: [step({ settings: { timeoutMillis: 5 } })] }))
    })
    expect(ending).toBe("failed")
    expect(detail).toContain("did not answer in time")
  })

  it("are part of the identity of a call: of a cached answer, and of one in a journal", async () => {
    const cache = memoryCache({ maxEntries: 10 })
    const made = async (effort: "low" | "high", more: object): Promise<number> => {
      const { requests, run } = running(
        [step({ settings: { temperature: 0, reasoning: { type: "effort", effort } } })],
        more
      )
      await run()
      return requests.length
    }
    expect([await made("low", { cache }), await made("low", { cache }), await made("high", { cache })]).toEqual([
      1, 0, 1
    ])
    const journal = memoryJournal()
    const of = { journal, runId: "run" }
    expect(await made("low", of)).toBe(1)
    expect(await made("low", of)).toBe(0)
  })

  it("are those of all steps of a nested run", async () => {
    const { requests, run } = running([step({ worker: 1, settings: { maxOutputTokens: 7 } })], {
      self: { maxDepth: 1 },
      policy: policy("mine", ({ self }) => ({
        steps: [self ? step({ worker: 1, settings: { maxOutputTokens: 7 } }) : step()]
      }))
    })
    await run()
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([7])
  })
})

describe("the tools of a step", () => {
  const tools = ["search", "fetch"].map((name) =>
    tool({ name, description: name, input: { type: "object" }, execute: () => name })
  )
  const of = { capabilities: { tools: true } }
  const offered = (requests: ReadonlyArray<WorkerRequest>) => requests.map((one) => one.tools?.map(({ name }) => name))

  it.each(["policy", "every-step"] as const)("are those that it names, with toolAccess %s", async (toolAccess) => {
    const steps = [step({ tools: ["fetch"] }), step({ tools: true, access: "all" })]
    const { requests, run } = running(steps, { of, tools, toolAccess })
    expect((await run()).answer).toBe("42")
    expect(offered(requests)).toEqual([["fetch"], ["search", "fetch"]])
  })

  it("are the only ones that it can call", async () => {
    const called: Array<string> = []
    const model = worker({
      id: "model",
      capabilities: { tools: true },
      answer: ({ messages }) => {
        const last = messages.at(-1)!
        if (last.role === "tool") return `${last.content}`
        called.push("search")
        return { text: "", toolCalls: [{ id: "1", name: "search", arguments: "{}" }], finishReason: "tool-calls" }
      }
    })
    const { answer } = await conduct({
      question: "?",
      pool: [model],
      tools,
      policy: policy("mine", () => ({ steps: [step({ tools: ["fetch"] })] }))
    })
    expect(called.length).toBe(1)
    expect(answer).not.toBe("search")
    expect(answer).toContain("fetch")
  })

  it("are refused if the run does not have them", async () => {
    const { run } = running([step({ tools: ["serch"] })], { of, tools, toolAccess: "policy" })
    expect((await run()).detail).toContain('tool "serch" does not exist; did you mean "search"?')
  })
})

describe("the shape that a step gives", () => {
  const shapes = {
    finding: {
      type: "object",
      properties: { file: { type: "string" } },
      required: ["file"],
      additionalProperties: false
    }
  } as const

  it("holds its answer to it, which is asked for again", async () => {
    const { requests, run } = running([step({ gives: { shape: "finding" } }), step({ access: "all" })], {
      shapes,
      answers: ["none", '{ "file": "a.ts" }', "done"],
      of: { capabilities: { jsonSchema: true } }
    })
    expect((await run()).answer).toBe("done")
    expect(requests.map(({ output }) => output?.type === "json-schema" && output.name)).toEqual([
      "finding",
      "finding",
      false
    ])
    expect(JSON.stringify(requests[2]!.messages)).toContain('{ \\"file\\": \\"a.ts\\" }')
  })

  it("fails the step after two corrections", async () => {
    const { requests, run } = running([step({ gives: { shape: "finding" } })], { shapes, answers: ["none"] })
    expect((await run()).detail).toContain("its answer does not match the output schema")
    expect(requests.length).toBe(3)
  })

  it("is refused if the run does not have it, with the nearest name", async () => {
    const { run } = running([step({ gives: { shape: "findng" } })], { shapes })
    expect((await run()).detail).toContain('shape "findng" does not exist; did you mean "finding"?')
  })

  it("must have a name that vendors take", async () => {
    const { run } = running([step()], { shapes: { "a finding": {} } })
    await expect(run()).rejects.toThrow(/"shapes" must be an object of shapes/u)
  })
})

describe("a check whose failure asks the worker again", () => {
  const check = { by: "even", onFailure: "again" } as const
  const checks = { even: (answer: string) => Number(answer) % 2 === 0 || `${answer} is odd.` }

  it("shows the worker its answer and the objection, until it passes", async () => {
    const { events, requests, run } = running([step({ check })], { checks, answers: ["1", "3", "4", "6"] })
    const { answer, spend } = await run()
    expect([answer, spend.calls]).toEqual(["4", 3])
    expect(requests[1]!.messages.slice(-2)).toEqual([
      { role: "assistant", content: "1" },
      {
        role: "user",
        content: "Your answer did not pass its check: 1 is odd.\nAnswer again, with the whole corrected answer."
      }
    ])
    expect(requests[2]!.messages.length).toBe(requests[0]!.messages.length + 4)
    expect(events.flatMap((event) => (event.type === "step-checked" ? [event.passed] : []))).toEqual([
      false,
      false,
      true
    ])
  })

  it.each([
    [undefined, 4],
    [1, 2],
    [2, 3],
    [16, 17]
  ])("asks at most times = %s: %i calls", async (times, calls) => {
    const one = times === undefined ? check : { ...check, times }
    const { run } = running([step({ check: one })], { checks, answers: ["1"] })
    const result = await run()
    expect([result.ending, result.answer, result.spend.calls]).toEqual(["answered", "1", calls])
  })

  it("is bounded before it runs", async () => {
    const { requests, run } = running([step({ check: { ...check, times: 17 } })], { checks })
    expect((await run()).detail).toContain("times is a whole number from 1 to 16")
    expect(requests.length).toBe(0)
  })

  it("is resumed from a journal without another payment", async () => {
    const journal = memoryJournal()
    const first = running([step({ check }), step({ access: "all" })], {
      checks,
      journal,
      runId: "again",
      answers: ["1", "2"],
      budget: { calls: 2 }
    })
    expect((await first.run()).ending).toBe("budget")
    const second = running([step({ check }), step({ access: "all" })], {
      checks,
      journal,
      runId: "again",
      answers: ["done"],
      budget: { calls: 9 }
    })
    const { answer, spend } = await second.run()
    expect([answer, spend.calls, second.requests.length]).toEqual(["done", 3, 1])
  })

  it("costs at most the budget", async () => {
    const { run } = running([step({ check: { ...check, times: 9 } })], { checks, answers: ["1"], budget: { calls: 3 } })
    const { ending, spend } = await run()
    expect([ending, spend.calls]).toEqual(["budget", 3])
  })

  it("leaves the last answer, with its verdict, if a limit stops it", async () => {
    const budget = { calls: 2 }
    const answering = await running([step({ check })], { checks, answers: ["1", "3"], budget }).run()
    expect([answering.ending, answering.answer, answering.isPartial, answering.spend.calls]).toEqual([
      "budget",
      "3",
      true,
      2
    ])
    const steps = [step({ subtask: "Count.", check }), step({ access: [0] })]
    const { answer, partial } = await running(steps, { checks, answers: ["1", "3"], budget }).run()
    expect([answer, partial]).toEqual([undefined, { round: 0, step: 0, worker: "only", subtask: "Count.", text: "3" }])
  })

  it("shows the last answer to a step that the budget keeps, and lets it be repaired", async () => {
    const budget = { calls: 3, keep: "answer" } as const
    const answers = ["1", "3", "done"]
    const seen = running([step({ subtask: "Count.", check }), step({ access: [0] })], { checks, answers, budget })
    expect((await seen.run()).answer).toBe("done")
    expect(seen.requests[2]!.messages).toContainEqual({ role: "assistant", content: "3" })
    const repair = step({ access: [0], when: { failed: 0 } })
    const repaired = running([step({ subtask: "Count.", check }), repair], { checks, answers, budget })
    expect((await repaired.run()).answer).toBe("done")
  })

  it("shows the last answer of an item to its join", async () => {
    const items = [step({ gives: { list: 2 } }), step({ subtask: "{item}", each: 0, check }), step({ access: [1] })]
    const budget = { calls: 4, keep: "answer" } as const
    const answers = ['["x", "y"]', "1", "3", "done"]
    const { requests, run } = running(items, { checks, answers, budget, itemsAtOnce: 1 })
    expect((await run()).answer).toBe("done")
    expect(JSON.stringify(requests.at(-1)!.messages)).toContain(String.raw`{\"item\":\"x\",\"answer\":\"3\"}`)
  })

  it("leaves the last answer if the run is cancelled while it asks again", async () => {
    const cancelled = new AbortController()
    let calls = 0
    const pool = [
      worker({
        id: "only",
        answer: () => {
          calls += 1
          if (calls === 1) return "1"
          cancelled.abort()
          return new Promise<string>(() => {})
        }
      })
    ]
    const { ending, answer } = await conduct({
      question: "?",
      pool,
      checks,
      policy: policy("mine", () => ({ steps: [step({ check })] })),
      signal: cancelled.signal
    })
    expect([ending, answer, calls]).toEqual(["interrupted", "1", 2])
  })

  it("leaves the answer of the worker before if a limit stops the next one", async () => {
    const pool = [worker({ id: "one", answer: () => "1" }), worker({ id: "other", answer: () => "2" })]
    const { run } = running([step({ check: { by: "even", onFailure: "next" } })], {
      pool,
      checks,
      budget: { calls: 1 }
    })
    const { answer, ending, isPartial } = await run()
    expect([ending, answer, isPartial]).toEqual(["budget", "1", true])
  })
})
