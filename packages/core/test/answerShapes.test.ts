import { type ConductOptions, conduct, policy, single, tool, worker } from "@divisi/core/promise"
import { assert, describe, expect, it } from "@effect/vitest"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Schema from "effect/Schema"
import * as valibot from "valibot"
import { z } from "zod"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import { type Message, text } from "../src/task/Message.ts"
import type { Capabilities, WorkerRequest } from "../src/task/Worker.ts"

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
const city = { type: "json-schema", name: "city", schema } as const

/** Gives its answers in turn. */
const saying = (answers: ReadonlyArray<string>, capabilities: Capabilities = { jsonSchema: true }) => {
  const asked: Array<WorkerRequest> = []
  const made = worker({
    id: "a",
    capabilities,
    answer: (request) => {
      asked.push(request)
      return answers[Math.min(asked.length, answers.length) - 1]!
    }
  })
  return { asked, worker: made }
}

const ask = (pool: ConductOptions["pool"], output: ConductOptions["output"], more: Partial<ConductOptions> = {}) =>
  conduct({ question: "A city", pool, policy: single(0), output, ...more })

describe("an answer of a shape", () => {
  it("is asked for by schema, and its value comes with it", async () => {
    const shapes = [
      schema,
      Schema.Struct({ name: Schema.String }),
      Schema.toStandardSchemaV1(Schema.Struct({ name: Schema.String })),
      z.object({ name: z.string() }),
      type({ name: "string" }),
      toStandardJsonSchema(valibot.object({ name: valibot.string() }))
    ]
    for (const shape of shapes) {
      const { asked, worker } = saying(['{"name":"Ulm"}'])
      const { answer, value } = await ask([worker], { ...city, schema: shape })
      assert.deepStrictEqual([answer, value], ['{"name":"Ulm"}', { name: "Ulm" }])
      const sent = asked[0]!.output
      assert.strictEqual(sent?.type, "json-schema")
      if (sent?.type === "json-schema") {
        assert.deepInclude(sent.schema, { type: "object", required: ["name"] })
        assert.notProperty(sent.schema, "$schema")
      }
    }
  })

  it("is asked for in words where a worker holds no answer to JSON of any form, or none with tools", async () => {
    const look = tool({ name: "look", input: { type: "object" }, execute: () => "Ulm" })
    const rows: ReadonlyArray<readonly [Capabilities, ConductOptions["output"], Partial<ConductOptions>, boolean]> = [
      [{ jsonSchema: true }, { type: "json" }, {}, true],
      [{ jsonSchema: true, json: false }, { type: "json" }, {}, false],
      [{ jsonSchema: true, json: false }, city, {}, true],
      [{ jsonSchema: false, json: true }, { type: "json" }, {}, true],
      [{ jsonSchema: true, tools: true }, city, { tools: [look] }, true],
      [{ jsonSchema: true, tools: true, shapesWithTools: false }, city, { tools: [look] }, false],
      [{ jsonSchema: true, tools: true, shapesWithTools: false }, city, { tools: [look], toolChoice: "none" }, true],
      [{ jsonSchema: true, shapesWithTools: false }, city, {}, true]
    ]
    for (const [capabilities, output, more, isHeld] of rows) {
      const { asked, worker } = saying(['{"name":"Ulm"}'], capabilities)
      const { value } = await ask([worker], output, more)
      assert.deepStrictEqual(value, { name: "Ulm" })
      assert.strictEqual(asked[0]!.output !== undefined, isHeld, JSON.stringify([capabilities, output]))
      assert.strictEqual(/Answer with JSON/.test(text(asked[0]!.messages.at(-1)!.content)), !isHeld)
    }
  })

  it("of a library that gives no JSON Schema names what does", async () => {
    const { asked, worker } = saying(["{}"])
    const { detail } = await ask([worker], { ...city, schema: valibot.object({ name: valibot.string() }) })
    expect(detail).toMatch(/toStandardJsonSchema/)
    assert.strictEqual(asked.length, 0)
  })

  it("is what a refinement of zod lets through", async () => {
    const capital = z.object({ name: z.string().refine((name) => /^[A-Z]/.test(name), "begins with a capital") })
    const { asked, worker } = saying(['{"name":"ulm"}', '{"name":"Ulm"}'])
    const { spend, value } = await ask([worker], { ...city, schema: capital })
    assert.deepStrictEqual([value, spend.calls], [{ name: "Ulm" }, 2])
    expect(text(asked[1]!.messages.at(-1)!.content)).toMatch(/begins with a capital/)
  })

  it("is decoded, where its schema decodes", async () => {
    const { worker } = saying(['{"at":"3"}'])
    const { value } = await ask([worker], { ...city, schema: Schema.Struct({ at: Schema.FiniteFromString }) })
    assert.deepStrictEqual(value, { at: 3 })
  })

  it("may be in a block of code: the answer is the JSON alone", async () => {
    const { worker } = saying(['```json\n{"name":"Ulm"}\n```'])
    assert.strictEqual((await ask([worker], city)).answer, '{"name":"Ulm"}')
  })

  it("is requested again with the problem, and every call is reported and paid", async () => {
    const { asked, worker } = saying(["Ulm!", '{"town":"Ulm"}', '{"name":"Ulm"}'])
    const { spend, transcript, value } = await ask([worker], city)
    assert.deepStrictEqual([value, spend.calls, asked.length], [{ name: "Ulm" }, 3, 3])
    expect(text(asked[1]!.messages.at(-1))).toMatch(/not JSON/)
    expect(text(asked[2]!.messages.at(-1))).toMatch(/Missing key[\s\S]*name/)
    assert.deepStrictEqual(
      transcript.rounds[0]!.steps[0]!.turns!.map(({ error, text }) => [text, error !== undefined]),
      [
        ["Ulm!", true],
        ['{"town":"Ulm"}', true]
      ]
    )
  })

  it("fails the step if its shape stays wrong, and reports the payment", async () => {
    const { asked, worker } = saying(["Ulm!"])
    const { detail, ending, spend } = await ask([worker], city)
    assert.deepStrictEqual([ending, spend.calls, asked.length], ["failed", 3, 3])
    expect(detail).toMatch(/does not match the output schema: it is not JSON/)
  })

  it("is asked for in words where the worker knows no schemas", async () => {
    const { asked, worker } = saying(['{"name":"Ulm"}'], {})
    const { value } = await ask([worker], city)
    assert.deepStrictEqual([value, asked[0]!.output], [{ name: "Ulm" }, undefined])
    expect(text(asked[0]!.messages.at(-1))).toMatch(/JSON of this schema.*"required":\["name"\]/s)
  })

  it("is JSON of any kind where that is all that was asked", async () => {
    const { worker } = saying(["[1, 2]"])
    assert.deepStrictEqual((await ask([worker], { type: "json" })).value, [1, 2])
  })

  it("may have patterns in its schema, which the worker receives", async () => {
    const { asked, worker } = saying(['{"name":"Ulm"}'])
    const schema = { type: "object", properties: { name: { type: "string", pattern: "^[A-Z]" } }, required: ["name"] }
    assert.deepStrictEqual((await ask([worker], { ...city, schema })).value, { name: "Ulm" })
    assert.include(JSON.stringify(asked[0]?.output), "^[A-Z]")
  })

  it("is asked of the last step alone", async () => {
    const { asked, worker } = saying(["some advice", '{"name":"Ulm"}'])
    const twoSteps = policy("two", () => ({
      steps: [
        { worker: 0, subtask: "Advise.", access: [] },
        { worker: 0, subtask: "", access: "all" }
      ]
    }))
    const { value } = await ask([worker], city, { policy: twoSteps })
    assert.deepStrictEqual(value, { name: "Ulm" })
    assert.deepStrictEqual(
      asked.map(({ output }) => output !== undefined),
      [false, true]
    )
  })

  it("of a schema that cannot be ends the run before anything is paid", async () => {
    const { asked, worker } = saying(["{}"])
    const { detail, ending } = await ask([worker], { ...city, schema: "string" as never })
    assert.deepStrictEqual([ending, asked.length], ["failed", 0])
    expect(detail).toMatch(/schema of the output "city" cannot be used/)
  })
})

describe("pictures and files", () => {
  const picture: Message["content"] = [
    { type: "text", text: "What is this?" },
    { type: "image", data: "iVA=", mediaType: "image/png" }
  ]
  const look = (pool: ConductOptions["pool"], more: Partial<ConductOptions> = {}) =>
    conduct({ question: picture, pool, policy: single(0), ...more })

  it("reach a worker that sees them, next to its subtask", async () => {
    const { asked, worker } = saying(["A cat."], { images: true })
    const subtask = policy("subtask", () => ({ steps: [{ worker: 0, subtask: "Name it.", access: [] }] }))
    await look([worker], { policy: subtask })
    assert.deepStrictEqual(asked[0]!.messages, [
      {
        role: "user",
        content: [{ type: "text", text: "Question:" }, ...picture, { type: "text", text: "Subtask:\nName it." }]
      }
    ])
  })

  it("are bytes, base64 or a URL", async () => {
    const { asked, worker } = saying(["A cat."], { images: true, files: true })
    await look([worker], {
      question: [
        { type: "image", data: new Uint8Array([137, 80]), mediaType: "image/png" },
        { type: "file", url: "https://example.com/a.pdf", mediaType: "application/pdf" }
      ]
    })
    assert.deepStrictEqual(asked[0]!.messages[0]!.content, [
      { type: "image", data: "iVA=", mediaType: "image/png" },
      { type: "file", url: "https://example.com/a.pdf", mediaType: "application/pdf" }
    ])
  })

  it("end a run before anything is paid if no worker of the pool takes them", async () => {
    const { asked, worker } = saying(["A cat."], {})
    const { detail, ending } = await look([worker])
    assert.deepStrictEqual([ending, asked.length], ["failed", 0])
    expect(detail).toMatch(/^No worker in the pool supports pictures\. .*capabilities: \{ images: true \}/)
  })

  it("end a run before anything is paid where they cannot be sent", async () => {
    const { asked, worker } = saying(["A cat."], { images: true, files: true })
    const detailOf = async (part: object) => (await look([worker], { question: [part] as never })).detail
    const mediaType = "image/png"
    expect(await detailOf({ type: "image", data: "iVA=", mediaType: "audio/mp3" })).toMatch(
      /audio\/mp3 is not an image type/
    )
    expect(await detailOf({ type: "image", url: "nonsense" })).toMatch(/the url of a picture must be a URL/)
    expect(await detailOf({ type: "image", data: "not base64!", mediaType })).toMatch(/is not valid base64/)
    expect(await detailOf({ type: "image", data: "data:image/png;base64,iVA=", mediaType })).toMatch(
      /is not valid base64/
    )
    expect(await detailOf({ type: "image", data: new Uint8Array(), mediaType })).toMatch(/is empty/)
    expect(await detailOf({ type: "file", data: "iVA=" })).toMatch(/needs a mediaType/)
    expect(await detailOf({ type: "audio", data: "iVA=" })).toMatch(/the type of a part must be text, image or file/)
    assert.strictEqual(asked.length, 0)
  })

  it("fail the step of a worker that takes none, or find another", async () => {
    const blind = saying(["?"], {})
    const seeing = { ...saying(["A cat."], { images: true }).worker, id: "b" }
    const failed = await look([blind.worker, seeing])
    assert.strictEqual(failed.ending, "failed")
    expect(failed.detail).toMatch(/it does not support pictures/)
    const found = await look([blind.worker, seeing], { reassign: "next" })
    assert.deepStrictEqual([found.answer, blind.asked.length, found.spend.calls], ["A cat.", 0, 1])
  })

  it("are left out with a notice where that was asked for", async () => {
    const { asked, worker } = saying(["I see nothing."], {})
    const { transcript } = await look([worker], { unsupported: "omit" })
    expect(text(asked[0]!.messages[0])).toMatch(/A picture that you cannot see is left out here/)
    assert.deepStrictEqual(transcript.rounds[0]!.steps[0]!.notices, [
      "It does not support pictures, so they were left out."
    ])
  })

  it("count in the worst case of a budget", async () => {
    const { worker } = saying(["A cat."], { images: true })
    const { ending } = await look([worker], { budget: { tokens: 2_000 }, worker: { maxOutputTokens: 100 } })
    assert.strictEqual(ending, "budget")
    const enough = await look([worker], { budget: { tokens: 10_000 }, worker: { maxOutputTokens: 100 } })
    assert.strictEqual(enough.ending, "answered")
  })
})

describe("instructions of a worker", () => {
  it("come first, make two roles of one model, and count in budgets", async () => {
    const seen: Array<ReadonlyArray<Message>> = []
    const model = worker({ id: "model", answer: ({ messages }) => `seen ${seen.push(messages)}` })
    const critic = { ...model, id: "critic", instructions: "You are strict." }
    await conduct({ question: { question: "Why?", system: "Be brief." }, pool: [model, critic], policy: single(1) })
    assert.deepStrictEqual(
      seen[0]!.map(({ content, role }) => [role, content]),
      [
        ["system", "You are strict."],
        ["system", "Be brief."],
        ["user", "Why?"]
      ]
    )
    const long = { ...model, id: "long", instructions: "x".repeat(5_000) }
    const { ending } = await conduct({
      question: "Why?",
      pool: [long],
      policy: single(0),
      budget: { tokens: 6_000 },
      worker: { maxOutputTokens: 1_500 }
    })
    assert.strictEqual(ending, "budget")
  })
})

describe("stored answers", () => {
  it("are those of one role and one shape alone", async () => {
    let calls = 0
    const cache = ResponseCache.makeMemory({ maxEntries: 10 })
    const ask = (instructions: string, question: ConductOptions["question"], output?: ConductOptions["output"]) => {
      const model = worker({
        id: "model",
        instructions,
        capabilities: { images: true },
        answer: () => `{"call":${++calls}}`
      })
      return conduct({ question, pool: [model], policy: single(0), cache, output }).then(({ answer }) => answer)
    }
    const picture = (data: string) => [{ type: "image", data, mediaType: "image/png" }] as const
    const first = await ask("You write.", "Why?")
    assert.strictEqual(await ask("You write.", "Why?"), first)
    const others = [
      await ask("You shorten.", "Why?"),
      await ask("You write.", "Why?", { type: "json" }),
      await ask("You write.", picture("AAAA")),
      await ask("You write.", picture("BBBB"))
    ]
    assert.strictEqual(new Set([first, ...others]).size, 5)
  })
})

describe("a conversation with tools", () => {
  it("is shown to a worker that knows of none as text", async () => {
    const { asked, worker } = saying(["done"], {})
    await conduct({
      question: {
        messages: [
          { role: "user", content: "Weather?" },
          { role: "assistant", content: "", toolCalls: [{ id: "1", name: "weather", arguments: '{"city":"Ulm"}' }] },
          { role: "tool", callId: "1", name: "weather", content: "sunny" },
          { role: "user", content: "And now?" }
        ]
      },
      pool: [worker],
      policy: single(0)
    })
    assert.deepStrictEqual(asked[0]!.messages, [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: '[It asked for the tool weather: {"city":"Ulm"}]' },
      { role: "user", content: "The tool weather gave:\nsunny" },
      { role: "user", content: "And now?" }
    ])
  })
})
