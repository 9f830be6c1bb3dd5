/** Tools and shapes: models of random weights write what they must, since a grammar lets them write nothing else. */
import { Baselines, Tool } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Message } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as JsonGrammar from "../src/internal/jsonGrammar.ts"
import * as ToolText from "../src/internal/toolText.ts"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { tiny } from "./model.ts"

const source = await tiny({ contextLength: 4096 }, "tools.gguf")

const load = LlamaCppModel.load({ source, gpu: "none", contextTokens: 4096, sequences: 8 })

const hi: Message = { role: "user", content: "Hi" }

const generate = (model: LlamaCppModel.LlamaCppModel, request: Partial<WorkerRequest>) =>
  Stream.runCollect(WorkerStream.generate(LlamaCppModel.worker(model), { messages: [hi], ...request }))

const textOf = (parts: ReadonlyArray<WorkerPart>) =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")

const reasonOf = (parts: ReadonlyArray<WorkerPart>) => {
  const last = parts.at(-1)
  return last?.type === "finish" ? last.reason : undefined
}

const city: Tool.JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    size: { enum: ["small", 'a "big" one', 3, null] },
    people: { type: ["integer", "null"] },
    rivers: { type: "array", items: { $ref: "#/$defs/river" }, minItems: 1, maxItems: 2 },
    mayor: { anyOf: [{ type: "null" }, { type: "boolean" }] }
  },
  required: ["name", "rivers"],
  $defs: { river: { type: "object", properties: { km: { type: "number" } }, required: ["km"] } }
}

const schemas: Readonly<Record<string, Tool.JsonSchema>> = {
  "of an object, with lists, choices and references": city,
  "whose properties are all optional": {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "boolean" }, c: { const: "x" } },
    additionalProperties: false
  },
  "of several parts": {
    allOf: [
      { properties: { a: { type: "integer" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "null" } }, required: ["b"] }
    ]
  },
  "of a bounded list": {
    type: "array",
    items: { type: "integer" },
    minItems: 2,
    maxItems: 3
  },
  "of a tuple": { type: "array", prefixItems: [{ type: "boolean" }, { type: "integer" }], minItems: 2 },
  "of a map": { type: "object", additionalProperties: { type: "boolean" } },
  "that refers to itself": {
    $ref: "#/$defs/tree",
    $defs: {
      tree: {
        type: "object",
        properties: { leaf: { type: "boolean" }, left: { $ref: "#/$defs/tree" } },
        required: ["leaf"],
        additionalProperties: false
      }
    }
  }
}

const weather: Tool.ToolDefinition = {
  name: "weather",
  description: "Weather of a city",
  input: {
    type: "object",
    properties: { days: { type: "integer" }, unit: { enum: ["celsius", "kelvin"] } },
    required: ["days", "unit"]
  }
}

const clock: Tool.ToolDefinition = {
  name: "clock",
  input: { type: "object", properties: {}, additionalProperties: false }
}

describe("the shape of a local model's answer", () => {
  for (const [name, schema] of Object.entries(schemas)) {
    it.effect(`is JSON of a schema ${name}`, () =>
      Effect.gen(function* () {
        const model = yield* load
        const validate = new Ajv2020({ strict: false }).compile(schema)
        const output = { type: "json-schema", name: "answer", schema } as const
        const answers = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, seed) => seed),
          (seed) => generate(model, { output, seed, temperature: 1, maxOutputTokens: 2000 }),
          { concurrency: "unbounded" }
        )
        const whole = answers.filter((parts) => reasonOf(parts) === "stop").map(textOf)
        assert.isAtLeast(whole.length, 3)
        for (const text of whole) assert.isTrue(validate(JSON.parse(text)), text)
        assert.isAbove(new Set(whole).size, 1)
      })
    )
  }

  it.effect("has strings of the length that the schema says, where that is not too long to be held", () =>
    Effect.gen(function* () {
      const model = yield* load
      const ruleOf = (schema: Tool.JsonSchema) => {
        const rules = JsonGrammar.make()
        return rules.grammar(rules.add({ type: "string", ...schema })).split("\n")[1]
      }
      assert.include(ruleOf({ minLength: 2, maxLength: 4 }), "character{2,4}")
      assert.include(ruleOf({ minLength: 2 }), "character{2,}")
      assert.strictEqual(ruleOf({ maxLength: 100_000 }), "r0 ::= (string)")
      const schema = { type: "string", minLength: 2, maxLength: 4 }
      const parts = yield* generate(model, { output: { type: "json-schema", name: "short", schema } })
      assert.strictEqual(reasonOf(parts), "stop")
      const said: unknown = JSON.parse(textOf(parts))
      // Bytes that are not a character count as one for the grammar, and up to four marks in the text.
      assert.isAtMost(typeof said === "string" ? [...said].length : Number.NaN, 16)
    })
  )

  it.effect("is any JSON where no schema is asked for, and says where it broke off", () =>
    Effect.gen(function* () {
      const model = yield* load
      for (let seed = 0; seed < 4; seed++) {
        const request = { output: { type: "json" }, seed, temperature: 1 } as const
        const parts = yield* generate(model, { ...request, maxOutputTokens: 2000 })
        if (reasonOf(parts) === "stop") JSON.parse(textOf(parts))
        assert.strictEqual(reasonOf(yield* generate(model, { ...request, maxOutputTokens: 1 })), "length")
      }
    })
  )

  it.effect("is refused where its schema can hold nothing", () =>
    Effect.gen(function* () {
      const model = yield* load
      const schema = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }
      const output = { type: "json-schema", name: "loop", schema } as const
      const { reason } = yield* Effect.flip(generate(model, { output }))
      assert.strictEqual(reason._tag, "InvalidRequest")
    })
  )
})

describe("a picture for a local model", () => {
  it.effect("is refused, by itself and before a run has made a call", () =>
    Effect.gen(function* () {
      const model = yield* load
      const worker = LlamaCppModel.worker(model)
      assert.deepEqual(worker.capabilities, { tools: true, jsonSchema: true })
      const content = [
        { type: "text", text: "What is this?" },
        { type: "image", url: "https://example.com/cat.png" }
      ] as const
      const { reason } = yield* Effect.flip(generate(model, { messages: [{ role: "user", content }] }))
      assert.deepInclude(reason, { _tag: "InvalidRequest" })
      const run = yield* Conductor.make({
        policy: Baselines.single(worker.id),
        pool: WorkerPool.makeUnsafe([worker])
      }).run({ messages: [{ role: "user", content }] })
      assert.deepInclude(run, { ending: "failed" })
      assert.strictEqual(run.spend.calls, 0)
    })
  )
})

describe("the calls of a local model", () => {
  it.effect("are made where they must be, with arguments of their schema and ids of their own", () =>
    Effect.gen(function* () {
      const model = yield* load
      const validate = new Ajv2020({ strict: false }).compile(weather.input)
      const requests = Array.from(
        { length: 12 },
        (_, seed): Partial<WorkerRequest> => ({
          tools: [weather, clock],
          toolChoice: seed % 2 === 0 ? "required" : { name: "weather" },
          parallelToolCalls: seed % 3 === 0,
          seed,
          temperature: 1,
          maxOutputTokens: 2000
        })
      )
      const answers = yield* Effect.forEach(requests, (request) => generate(model, request), {
        concurrency: "unbounded"
      })
      const ids: Array<string> = []
      for (const [index, parts] of answers.entries()) {
        const { parallelToolCalls, toolChoice } = requests[index]!
        const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
        assert.strictEqual(reasonOf(parts), "tool-calls")
        assert.strictEqual(textOf(parts), "")
        assert.isAtLeast(calls.length, 1)
        if (parallelToolCalls === false) assert.lengthOf(calls, 1)
        for (const { arguments: text, name } of calls) {
          assert.include(toolChoice === "required" ? ["weather", "clock"] : ["weather"], name)
          if (name === "weather") assert.isTrue(validate(JSON.parse(text)), text)
          else assert.deepEqual(JSON.parse(text), {})
        }
        assert.strictEqual(new Set(calls.map(({ id }) => id)).size, calls.length)
        ids.push(...calls.map(({ id }) => id))
      }
      assert.isAbove(ids.length, answers.length)
    })
  )

  it.effect("may be made instead of an answer in a shape", () =>
    Effect.gen(function* () {
      const model = yield* load
      const output = { type: "json-schema", name: "short", schema: { type: "boolean" } } as const
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, seed) => seed),
        (seed) => generate(model, { tools: [clock], output, seed, temperature: 1 }),
        { concurrency: "unbounded" }
      )
      assert.includeMembers(answers.map(reasonOf), ["stop", "tool-calls"])
      for (const parts of answers) if (reasonOf(parts) === "stop") assert.isBoolean(JSON.parse(textOf(parts)))
    })
  )

  it.effect("are not made if forbidden, and are hidden from the model", () =>
    Effect.gen(function* () {
      const model = yield* load
      const request = { tools: [weather], seed: 3, maxOutputTokens: 20 } as const
      const parts = yield* generate(model, { ...request, toolChoice: "none" })
      assert.strictEqual(textOf(parts), textOf(yield* generate(model, { seed: 3, maxOutputTokens: 20 })))
      assert.isAbove(inputOf(yield* generate(model, request)), inputOf(parts) + 100)
    })
  )

  it.effect("are run in a run, and their results come back to the model", () =>
    Effect.gen(function* () {
      const model = yield* load
      const asked: Array<unknown> = []
      const tool = Tool.make({
        name: "weather",
        input: weather.input,
        execute: (input) => Effect.sync(() => void asked.push(input)).pipe(Effect.as("sunny"))
      })
      const pool = WorkerPool.makeUnsafe([LlamaCppModel.worker(model, { id: "local" })])
      const results: Array<string> = []
      const settings = { seed: 1, maxToolRounds: 1, worker: { maxOutputTokens: 400 } }
      const conductor = Conductor.make({ policy: Baselines.single("local"), pool, tools: [tool], ...settings })
      const { spend } = yield* conductor.run("Weather in Ulm?", {
        toolChoice: "required",
        listener: (event) => {
          if (event.type === "tool-finished") results.push(String(event.content))
        }
      })
      assert.strictEqual(spend.calls, 2)
      assert.isAtLeast(asked.length, 1)
      const validate = new Ajv2020({ strict: false }).compile(weather.input)
      for (const input of asked) assert.isTrue(validate(input), JSON.stringify(input))
      assert.deepEqual(
        results,
        asked.map(() => "sunny")
      )
    })
  )

  const inputOf = (parts: ReadonlyArray<WorkerPart>) => {
    const last = parts.at(-1)
    return last?.type === "finish" ? last.usage.inputTokens : 0
  }
})

describe("a conversation with tools, as text", () => {
  const calls = [
    { id: "a", name: "weather", arguments: '{"days":2}' },
    { id: "b", name: "clock", arguments: "" }
  ]
  const messages: ReadonlyArray<Message> = [
    { role: "system", content: "Be terse." },
    hi,
    { role: "assistant", content: "Let me look.", toolCalls: calls },
    { role: "tool", callId: "a", name: "weather", content: "sunny" },
    { role: "tool", callId: "b", name: "clock", content: "no clock", isError: true },
    { role: "assistant", content: "Sunny." }
  ]

  it("has calls and results between their tags, and those of one turn together", () => {
    assert.deepEqual(ToolText.plainConversation({ messages }), [
      { role: "system", content: "Be terse." },
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content:
          'Let me look.\n<tool_call>\n{"name": "weather", "arguments": {"days":2}}\n</tool_call>\n' +
          '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'
      },
      {
        role: "user",
        content: "<tool_response>\nsunny\n</tool_response>\n<tool_response>\nError: no clock\n</tool_response>"
      },
      { role: "assistant", content: "Sunny." }
    ])
  })

  it("describes tools and shapes in the rules, those of the request first", () => {
    const schema = { type: "object" }
    const output = { type: "json-schema", name: "city", schema } as const
    const [rules, ...others] = ToolText.plainConversation({ messages, tools: [weather], output })
    assert.match(rules?.content ?? "", /^Be terse\.\n\n# Tools[\s\S]*"name":"weather"[\s\S]*\{"type":"object"\}$/)
    assert.lengthOf(others, 4)
    assert.strictEqual(ToolText.plainConversation({ messages: [hi], tools: [weather] })[0]?.role, "system")
  })
})

describe("calls in a text", () => {
  const read = (text: string, size: number) => {
    const splitter = ToolText.callSplitter({ messages: [hi], tools: [weather] })
    const parts: Array<WorkerPart> = []
    for (let at = 0; at < text.length; at += size) parts.push(...splitter.push(text.slice(at, at + size)))
    parts.push(...splitter.rest())
    const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
    return { text: textOf(parts), calls: calls.map(({ arguments: args, name }) => [name, args]), splitter }
  }
  const call = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {"a": "</tool_call>"}}\n</tool_call>`

  it.each([1, 2, 7, 1000])("are found in pieces of %i characters, and what only looks like one is text", (size) => {
    const found = read(`1 < 2 <tool_box> a\n${call("x")}\n${call("y")}\n`, size)
    assert.strictEqual(found.text, "1 < 2 <tool_box> a\n")
    assert.deepEqual(found.calls, [
      ["x", '{"a":"</tool_call>"}'],
      ["y", '{"a":"</tool_call>"}']
    ])
    assert.isUndefined(found.splitter.unread())
    assert.strictEqual(read("1 < 2 <tool_", size).text, "1 < 2 <tool_")
  })

  it("that cannot be read, or have no end, are reported", () => {
    assert.strictEqual(read("<tool_call>{odd}</tool_call>", 5).splitter.unread(), "{odd}</tool_call>")
    assert.strictEqual(read('<tool_call>{"name"', 5).splitter.unread(), '{"name"')
  })

  it("are held to their grammar once the model has begun one", () => {
    const force = ToolText.forceOf({ messages: [hi], tools: [weather] }, false)!
    assert.isUndefined(force(""))
    assert.isUndefined(force("Let me look. <tool_"))
    assert.include(force("Let me look.\n<tool_call>\n"), "celsius")
  })

  it("and shapes wait for the end of the thinking that the template has begun", () => {
    const force = ToolText.forceOf({ messages: [hi], output: { type: "json" } }, true)!
    assert.isUndefined(force("Hm."))
    assert.isDefined(force("Hm.</think>"))
    assert.isUndefined(ToolText.forceOf({ messages: [hi] }, false))
  })
})
