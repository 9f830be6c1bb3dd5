import {
  type ConductOptions,
  conduct,
  policy,
  type RunEvent,
  single,
  type Tool,
  tool,
  worker
} from "@divisi/core/promise"
import { assert, describe, expect, it } from "@effect/vitest"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Schema from "effect/Schema"
import * as valibot from "valibot"
import { z } from "zod"
import type { ToolMessage } from "../src/task/Message.ts"
import type { WorkerRequest } from "../src/task/Worker.ts"

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

const weather = (execute?: (input: { city: string }) => unknown): Tool =>
  tool({ name: "weather", description: "Weather of a city", input: city, execute })

type Turn = Parameters<typeof worker>[0]["answer"] extends (...args: infer _) => infer A ? A : never

/** A worker that gives the turns of a script, one for each result of tools that it has seen. */
const scripted = (id: string, turns: ReadonlyArray<Turn>, more: object = {}) => {
  const asked: Array<WorkerRequest> = []
  const made = worker({
    id,
    capabilities: { tools: true, images: true, jsonSchema: true },
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
    answer: (request) => {
      asked.push(request)
      const seen = request.messages.filter(({ role }) => role === "assistant").length
      return turns[Math.min(seen, turns.length - 1)]!
    },
    ...more
  })
  return { asked, worker: made }
}

const ask = (name: string, given: unknown = { city: "Ulm" }): Turn => ({ toolCalls: [{ name, arguments: given }] })

const resultsIn = ({ messages }: WorkerRequest): ReadonlyArray<ToolMessage> =>
  messages.filter((message): message is ToolMessage => message.role === "tool")

const run = (options: Omit<ConductOptions, "question"> & { readonly question?: ConductOptions["question"] }) => {
  const events: Array<RunEvent> = []
  return conduct({
    question: "Weather in Ulm?",
    policy: single(0),
    ...options,
    onEvent: (event) => events.push(event)
  }).then((result) => ({ ...result, transcript: result.transcript, events }))
}

describe("an answer that ran out of tokens", () => {
  const cut = { name: "weather", arguments: '{"city":"Bo' }
  const ranOut = (...toolCalls: ReadonlyArray<object>) => ({ toolCalls, finishReason: "length" }) as Turn

  it("has its complete calls made, and not the one that was cut", async () => {
    const inputs: Array<unknown> = []
    const { asked, worker } = scripted("a", [
      ranOut({ name: "weather", arguments: { city: "Ulm" } }, cut),
      "It is sunny."
    ])
    const { answer } = await run({ pool: [worker], tools: [weather((input) => `sunny ${inputs.push(input)}`)] })
    assert.strictEqual(answer, "It is sunny.")
    assert.deepStrictEqual(inputs, [{ city: "Ulm" }])
    assert.strictEqual(resultsIn(asked[1]!).length, 1)
  })

  it("fails if it has only a call that was cut", async () => {
    const { worker } = scripted("a", [ranOut(cut)])
    const { ending, events } = await run({ pool: [worker], tools: [weather(() => "sunny")], retry: { maxAttempts: 1 } })
    assert.strictEqual(ending, "failed")
    assert.include(JSON.stringify(events), "it ran out of tokens during a tool call")
  })
})

describe("a tool with a handler", () => {
  it("is run within its step, and its worker continues with the result", async () => {
    const inputs: Array<unknown> = []
    const { asked, worker } = scripted("a", [ask("weather"), "It is sunny."])
    const tools = [
      weather((input) => {
        inputs.push(input)
        return "sunny"
      })
    ]
    const { answer, events, spend, transcript } = await run({ pool: [worker], tools })
    assert.strictEqual(answer, "It is sunny.")
    assert.deepStrictEqual(inputs, [{ city: "Ulm" }])
    assert.deepStrictEqual(
      asked.map(({ tools }) => tools?.map(({ name }) => name)),
      [["weather"], ["weather"]]
    )
    assert.deepStrictEqual(
      resultsIn(asked[1]!).map(({ callId, content, name }) => ({ callId, content, name })),
      [
        {
          callId: asked[1]!.messages.flatMap((message) =>
            message.role === "assistant" ? (message.toolCalls ?? []) : []
          )[0]!.id,
          content: "sunny",
          name: "weather"
        }
      ]
    )
    assert.deepStrictEqual([spend.calls, spend.costUsd], [2, 2])
    const told = events.map(({ type }) => type)
    assert.deepStrictEqual(
      told.filter((type) => /^(?:turn|tool|step)-/.test(type) && type !== "step-delta"),
      ["step-started", "turn-finished", "tool-started", "tool-finished", "step-finished"]
    )
    const [turn] = transcript.rounds[0]!.steps[0]!.turns!
    assert.strictEqual(turn!.tools[0]!.content, "sunny")
  })

  it("receives an error for a tool that fails, throws, hangs, or returns no JSON or too much, and the run continues", async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const bad = {
      throws: {
        execute: () => {
          throw new Error("out of order")
        },
        says: /failed: out of order/
      },
      rejects: { execute: async () => Promise.reject(new Error("no network")), says: /failed: no network/ },
      hangs: { execute: () => new Promise(() => {}), timeoutMillis: 10, says: /did not finish within 0\.01 s/ },
      circles: { execute: () => circle, says: /an object that contains itself/ },
      floods: {
        execute: () => "x".repeat(10_000_000),
        maxResultCharacters: 50,
        says: /^x{50}\n\[Cut: the result has 10000000/
      }
    }
    for (const [name, { says, ...how }] of Object.entries(bad)) {
      const { asked, worker } = scripted("a", [ask(name), "done"])
      const { answer, transcript } = await run({ pool: [worker], tools: [tool({ name, input: city, ...how })] })
      assert.strictEqual(answer, "done", name)
      expect(String(resultsIn(asked[1]!)[0]!.content), name).toMatch(says)
      assert.strictEqual(resultsIn(asked[1]!)[0]!.isError ?? false, name !== "floods", name)
      assert.strictEqual(transcript.rounds[0]!.steps[0]!.state, "answered")
    }
  })

  it("is not run with arguments that do not fit: the worker receives the reason", async () => {
    let calls = 0
    const schemas = {
      "an Effect schema": Schema.Struct({ city: Schema.String }),
      "JSON Schema": city,
      "a Standard Schema": Schema.toStandardSchemaV1(Schema.Struct({ city: Schema.String })),
      zod: z.object({ city: z.string("Missing key: city") }),
      arktype: type({ city: "string" }),
      valibot: toStandardJsonSchema(valibot.object({ city: valibot.string() }))
    }
    for (const [what, input] of Object.entries(schemas)) {
      const strict = tool({ name: "weather", input, execute: () => `sunny ${++calls}` })
      const turns = [
        ask("weather", { town: "Ulm" }),
        ask("weather", "{ no JSON"),
        ask("nothing"),
        ask("weather"),
        "done"
      ]
      const { asked, worker } = scripted("a", turns)
      const { answer } = await run({ pool: [worker], tools: [strict] })
      assert.strictEqual(answer, "done", what)
      const said = resultsIn(asked.at(-1)!).map(({ content }) => String(content))
      expect(said[0], what).toMatch(/(?:Missing|Invalid) key[\s\S]*city|city must be a string/)
      assert.deepInclude(asked[0]?.tools?.[0]?.input, { type: "object", required: ["city"] }, what)
      expect(said[1]).toMatch(/not JSON/)
      expect(said[2]).toMatch(/no tool "nothing"\. Tools: weather/)
      expect(said[3]).toMatch(/^sunny/)
    }
    assert.strictEqual(calls, Object.keys(schemas).length)
  })

  it("whose schema's library gives no JSON Schema ends the run before anything is paid, and names what does", async () => {
    const { asked, worker } = scripted("a", ["done"])
    const loose = tool({ name: "weather", input: valibot.object({ city: valibot.string() }), execute: () => "sunny" })
    const { detail, ending } = await run({ pool: [worker], tools: [loose] })
    assert.deepStrictEqual([ending, asked.length], ["failed", 0])
    expect(detail).toMatch(/"weather"[\s\S]*toStandardJsonSchema/)
  })

  it("that returns an unusable picture has failed, and its worker receives the reason", async () => {
    for (const part of [
      { type: "image", data: 5, mediaType: "image/png" },
      { type: "image" },
      { type: "file", url: "x" }
    ]) {
      const { asked, worker } = scripted("a", [ask("camera"), "done"])
      const camera = tool({ name: "camera", input: { type: "object" }, execute: () => [part] })
      const { answer } = await run({ pool: [worker], tools: [camera] })
      const [result] = resultsIn(asked[1]!)
      assert.deepStrictEqual([answer, result?.isError], ["done", true])
      expect(String(result?.content)).toMatch(/^The tool returned content that cannot be used: .*(?:picture|file)/)
    }
  })

  it("that is to be used has to be there, and a choice is one of four, before anything is paid", async () => {
    const weather = tool({ name: "weather", input: city, execute: () => "sunny" })
    const { asked, worker } = scripted("a", ["done"])
    const { detail, ending } = await run({ pool: [worker], tools: [weather], toolChoice: { name: "wether" } })
    assert.deepStrictEqual([ending, asked.length], ["failed", 0])
    expect(detail).toMatch(/the tool "wether", which does not exist\. Tools: weather\./)
    await expect(run({ pool: [worker], tools: [weather], toolChoice: "sometimes" as never })).rejects.toThrow(
      /"toolChoice" must be "auto", "none", "required" or the name of a tool/
    )
  })

  it("gives pictures as bytes", async () => {
    const { asked, worker } = scripted("a", [ask("camera"), "A cat."])
    const camera = tool({
      name: "camera",
      input: { type: "object" },
      execute: () => [{ type: "image", data: new Uint8Array([137, 80]), mediaType: "image/png" }]
    })
    await run({ pool: [worker], tools: [camera] })
    assert.deepStrictEqual(resultsIn(asked[1]!)[0]!.content, [{ type: "image", data: "iVA=", mediaType: "image/png" }])
  })

  it("gives no pictures to a worker that does not support them", async () => {
    const { asked, worker } = scripted("a", [ask("camera"), "A cat."], {
      capabilities: { tools: true, images: false, jsonSchema: true }
    })
    const camera = tool({
      name: "camera",
      input: { type: "object" },
      execute: () => [{ type: "image", data: new Uint8Array([137, 80]), mediaType: "image/png" }]
    })
    const { answer } = await run({ pool: [worker], tools: [camera], unsupported: "omit" })
    assert.strictEqual(answer, "A cat.")
    assert.notInclude(JSON.stringify(resultsIn(asked[1]!)), "iVA=")
  })

  it("runs concurrently with others of the same turn, whose results arrive in order", async () => {
    const running: Array<string> = []
    const slow = tool({
      name: "slow",
      input: { type: "object" },
      execute: async (_, { call }) => {
        running.push(`${call.id} begins`)
        await new Promise((resolve) => setTimeout(resolve, call.id === "one" ? 20 : 1))
        running.push(`${call.id} ends`)
        return call.id
      }
    })
    const turn: Turn = { toolCalls: ["one", "two"].map((id) => ({ id, name: "slow", arguments: {} })) }
    const { asked, worker } = scripted("a", [turn, "done"])
    await run({ pool: [worker], tools: [slow] })
    assert.deepStrictEqual(running, ["one begins", "two begins", "two ends", "one ends"])
    assert.deepStrictEqual(
      resultsIn(asked[1]!).map(({ callId, content }) => [callId, content]),
      [
        ["one", "one"],
        ["two", "two"]
      ]
    )
  })
})

describe("rounds of tools", () => {
  it("end at their limit, after which a worker may ask for none", async () => {
    const { asked, worker } = scripted("a", [ask("weather"), ask("weather"), ask("weather"), "done"])
    const { answer } = await run({ pool: [worker], tools: [weather(() => "sunny")], maxToolRounds: 3 })
    assert.strictEqual(answer, "done")
    assert.deepStrictEqual(
      asked.map(({ toolChoice }) => toolChoice),
      [undefined, undefined, undefined, "none"]
    )
  })

  it("fail the step of a worker that asks on and on", async () => {
    const { asked, worker } = scripted("a", [ask("weather")])
    const { detail, ending, spend } = await run({ pool: [worker], tools: [weather(() => "sunny")], maxToolRounds: 2 })
    assert.strictEqual(ending, "failed")
    expect(detail).toMatch(/requested tools after 2 rounds/)
    assert.strictEqual(spend.calls, asked.length)
  })

  it("stay within the budget, call by call", async () => {
    const { asked, worker } = scripted("a", [ask("weather")])
    const { ending, spend } = await run({ pool: [worker], tools: [weather(() => "sunny")], budget: { calls: 3 } })
    assert.deepStrictEqual([ending, spend.calls, asked.length], ["budget", 3, 3])
  })

  it("require what is required but once", async () => {
    const { asked, worker } = scripted("a", [ask("weather"), "done"])
    await run({ pool: [worker], tools: [weather(() => "sunny")], toolChoice: { name: "weather" } })
    assert.deepStrictEqual(
      asked.map(({ toolChoice }) => toolChoice),
      [{ name: "weather" }, undefined]
    )
  })

  it("continue with the worker that takes the step over, which sees the results of the tools", async () => {
    const first = scripted("a", [ask("weather"), ""], {})
    const second = scripted("b", ["from b", "sunny, says b"])
    let calls = 0
    const { answer, transcript } = await run({
      pool: [first.worker, second.worker],
      tools: [weather(() => `sunny ${++calls}`)],
      reassign: "next",
      retry: { maxAttempts: 1 }
    })
    assert.strictEqual(answer, "sunny, says b")
    assert.strictEqual(calls, 1)
    assert.strictEqual(resultsIn(second.asked[0]!)[0]!.content, "sunny 1")
    assert.strictEqual(transcript.rounds[0]!.steps[0]!.worker, "b")
  })
})

describe("who may call tools", () => {
  const plan = {
    steps: [
      { worker: 0, subtask: "Look.", access: [] as ReadonlyArray<number>, tools: true },
      { worker: 1, subtask: "", access: "all" as const }
    ]
  }
  const planned = policy("plan", () => plan)
  const offered = async (toolAccess: ConductOptions["toolAccess"]) => {
    const workers = [scripted("a", ["looked"]), scripted("b", ["done"])]
    await run({
      pool: workers.map(({ worker }) => worker),
      policy: planned,
      tools: [weather(() => "sunny")],
      toolAccess
    })
    return workers.map(({ asked }) => asked[0]!.tools !== undefined)
  }

  it("is the last step by default, or every step, those that the policy names, or none", async () => {
    assert.deepStrictEqual(await offered(undefined), [false, true])
    assert.deepStrictEqual(await offered("every-step"), [true, true])
    assert.deepStrictEqual(await offered("policy"), [true, false])
    assert.deepStrictEqual(await offered("none"), [false, false])
  })
})

describe("a policy's view of tools", () => {
  const told = async (toolAccess: ConductOptions["toolAccess"]) => {
    const seen: Array<unknown> = []
    const { worker } = scripted("a", ["done"])
    const watching = policy("watching", (context) => {
      seen.push(context.tools)
      assert.notInclude(JSON.stringify(context), "Weather of a city")
      return { steps: [{ worker: 0, subtask: "", access: [] }] }
    })
    await run({ pool: [worker], policy: watching, tools: [weather(() => "sunny")], toolAccess })
    return seen
  }

  it("is their names, and no more", async () => {
    assert.deepStrictEqual(await told("last-step"), [["weather"]])
  })

  it("is nothing of tools that no step may call", async () => {
    assert.deepStrictEqual(await told("none"), [[]])
  })
})

describe("the schemas of tools", () => {
  it("count in the worst case of a budget", async () => {
    const large = tool({ name: "large", description: "x".repeat(20_000), input: city, execute: () => "" })
    for (const [tools, expected] of [
      [[weather(() => "")], "answered"],
      [[large], "budget"]
    ] as const) {
      const { worker } = scripted("a", ["done"])
      const { ending } = await run({
        pool: [worker],
        tools,
        budget: { tokens: 5_000 },
        worker: { maxOutputTokens: 100 }
      })
      assert.strictEqual(ending, expected)
    }
  })
})

describe("approval", () => {
  const careful = (needsApproval: boolean | ((input: { city: string }) => boolean)) =>
    tool({ name: "weather", input: Schema.Struct({ city: Schema.String }), needsApproval, execute: () => "sunny" })

  it("is requested before a tool runs, and the worker is notified of a denial", async () => {
    for (const isAllowed of [true, false]) {
      const { asked, worker } = scripted("a", [ask("weather"), "done"])
      const approved: Array<string> = []
      await run({
        pool: [worker],
        tools: [careful(true)],
        approve: async ({ call }) => {
          approved.push(call.arguments)
          return isAllowed
        }
      })
      assert.deepStrictEqual(approved, ['{"city":"Ulm"}'])
      expect(String(resultsIn(asked[1]!)[0]!.content)).toMatch(isAllowed ? /sunny/ : /rejected this call/)
    }
  })

  it("is requested if the tool's own function requires it or throws", async () => {
    for (const [needs, isAsked] of [
      [({ city }: { city: string }) => city === "Ulm", true],
      [() => false, false],
      [
        () => {
          throw new Error()
        },
        true
      ]
    ] as const) {
      const { worker } = scripted("a", [ask("weather"), "done"])
      let count = 0
      await run({
        pool: [worker],
        tools: [careful(needs)],
        approve: () => {
          count += 1
          return true
        }
      })
      assert.strictEqual(count, isAsked ? 1 : 0)
    }
  })

  it("suspends the run if there is no approver", async () => {
    const { asked, worker } = scripted("a", [ask("weather"), "done"])
    const result = await run({ pool: [worker], tools: [careful(true)] })
    assert.strictEqual(result.ending, "suspended")
    assert.strictEqual(result.waitingFor[0]!.for, "approval")
    if (result.ending !== "suspended") return
    const [call] = result.waitingFor
    const declined = await result.resume({ [call!.id]: { approved: false, reason: "too cold" } })
    assert.strictEqual(declined.answer, "done")
    expect(String(resultsIn(asked[1]!)[0]!.content)).toMatch(/rejected this call: too cold/)
    const allowed = await result.resume({ [call!.id]: { approved: true } })
    assert.strictEqual(allowed.answer, "done")
    assert.strictEqual(resultsIn(asked[2]!)[0]!.content, "sunny")
    assert.strictEqual(allowed.spend.calls, 2)
  })
})

describe("tools that cannot be", () => {
  it("end the run before anything is paid", async () => {
    const { asked, worker } = scripted("a", ["done"])
    const wrong: ReadonlyArray<readonly [Tool[], RegExp]> = [
      [[weather(), weather()], /another tool has the same name/],
      [
        [{ name: "a b", input: city }],
        /The name of the tool "a b" cannot be used: use only letters, digits, _ and -, at most 64 characters/
      ],
      [[{ name: "odd", input: 3 as never }], /The schema of the tool "odd" cannot be used: it is not a JSON Schema/]
    ]
    for (const [tools, says] of wrong) {
      const { detail, ending } = await run({ pool: [worker], tools })
      assert.strictEqual(ending, "failed")
      expect(detail).toMatch(says)
    }
    assert.strictEqual(asked.length, 0)
  })

  it("are asked for by a worker that was offered none: its answer is malformed", async () => {
    const { worker } = scripted("a", [ask("weather")])
    const { detail, ending } = await run({ pool: [worker], retry: { maxAttempts: 1 } })
    assert.strictEqual(ending, "failed")
    expect(detail).toMatch(/called the tool "weather", but no tools were offered/)
  })
})
