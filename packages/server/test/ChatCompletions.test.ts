import { Baselines } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import { tool } from "@divisi/core/promise"
import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, team, usage, worker } from "./teams.ts"

const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
} as const

const ask = (content: string) => ({ model: "divisi", messages: [{ role: "user" as const, content }] })

const all = async <A>(stream: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const parts: Array<A> = []
  for await (const part of stream) parts.push(part)
  return parts
}

const thrown = async (promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error
  )
  assert.instanceOf(error, OpenAI.APIError)
  return error as InstanceType<typeof OpenAI.APIError>
}

describe("an answer", () => {
  it("has what the work cost, and the share of the orchestration", () =>
    serving(
      team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))),
      async ({ client }) => {
        const { choices, id, object, usage } = await client.chat.completions.create(ask("How much?"))
        assert.match(id, /^chatcmpl-/)
        assert.strictEqual(object, "chat.completion")
        assert.strictEqual(choices[0]?.message.content, "three")
        assert.strictEqual(choices[0]?.finish_reason, "stop")
        assert.deepInclude(usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 })
        assert.deepStrictEqual(usage?.prompt_tokens_details as object, {
          cached_tokens: 0,
          orchestration_input_tokens: 14,
          orchestration_input_cached_tokens: 0
        })
        assert.deepStrictEqual(usage?.completion_tokens_details as object, {
          reasoning_tokens: 0,
          orchestration_output_tokens: 6
        })
        assert.closeTo((usage as unknown as { cost_usd: number }).cost_usd, 0.111, 1e-9)
      }
    ))

  it("comes in pieces, with usage at the end where it is asked for", () =>
    serving(alone(worker("a", said("Hello", ", ", "world"))), async ({ client }) => {
      const stream = await client.chat.completions.create({
        ...ask("Greet"),
        stream: true,
        stream_options: { include_usage: true }
      })
      const chunks = await all(stream)
      assert.strictEqual(chunks[0]?.choices[0]?.delta.role, "assistant")
      assert.strictEqual(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "Hello, world")
      assert.strictEqual(chunks.at(-2)?.choices[0]?.finish_reason, "stop")
      assert.deepStrictEqual(chunks.at(-1)?.choices, [])
      assert.strictEqual(chunks.at(-1)?.usage?.total_tokens, 10)
      assert.isTrue(chunks.slice(0, -1).every(({ usage }) => usage === null))
    }))

  it("is accompanied by the plan and the finished steps", () =>
    serving(
      team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))),
      async ({ client }) => {
        const stream = await client.chat.completions.create({ ...ask("How much?"), stream: true })
        const deltas = (await all(stream)).map(({ choices }) => choices[0]?.delta ?? {})
        const notes = deltas.map((delta) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join("")
        assert.strictEqual(
          notes,
          "Plan of 3 steps: 1. a, 2. b, 3. c answers\nStep 1 of 3: a has answered\nStep 2 of 3: b has answered\n"
        )
      }
    ))

  it.each(["titles", "full"] as const)("is accompanied by what checks have found: %s", async (notes) => {
    const checked = (worker: number, onFailure: "revise" | "continue", access: "all" | []) => ({
      worker,
      subtask: "",
      access,
      check: { by: "number", onFailure }
    })
    const policy: Policy.Policy = {
      name: "checking",
      checks: { number: (answer) => /^\d+$/.test(answer) || "It is no number." },
      propose: () => Effect.succeed({ workflow: { steps: [checked(0, "revise", []), checked(1, "continue", "all")] } }),
      revise: ({ round }) =>
        Effect.succeed(
          round === 1
            ? { type: "re-plan", workflow: { steps: [checked(1, "continue", []), checked(0, "revise", "all")] } }
            : { type: "stop", answer: { round: 1, step: 0 } }
        )
    }
    const pool = WorkerPool.makeUnsafe([worker("a", said("one"), said("two")), worker("b", said("2"))])
    const colon = notes === "full" ? ": It is no number." : ""
    await serving({ pool, policy, notes }, async ({ client }) => {
      const { choices } = await client.chat.completions.create(ask("How much?"))
      const message = choices[0]!.message as { readonly content: string; readonly reasoning_content?: string }
      assert.strictEqual(message.content, "2")
      const lines = message.reasoning_content!.split("\n").filter((line) => /check|is final/.test(line))
      assert.deepStrictEqual(lines, [
        `Step 1 of 2: a failed the check number${colon}`,
        "Step 1 of 2: b passed the check number",
        `Step 2 of 2: a failed the check number${colon}`,
        "The answer of step 1 is final"
      ])
    })
  })

  it("says that a check could not run, and not that the worker failed it", async () => {
    const policy: Policy.Policy = {
      name: "checking",
      checks: {
        number: () => {
          throw new Error("no shell")
        }
      },
      propose: () =>
        Effect.succeed({
          workflow: {
            steps: [
              { worker: 0, subtask: "", access: [], check: { by: "number", onFailure: "continue" } },
              { worker: 1, subtask: "", access: "all" }
            ]
          }
        })
    }
    const pool = WorkerPool.makeUnsafe([worker("a", said("one")), worker("b", said("2"))])
    await serving({ pool, policy, notes: "titles" }, async ({ client }) => {
      const { choices } = await client.chat.completions.create(ask("How much?"))
      const { reasoning_content } = choices[0]!.message as { readonly reasoning_content?: string }
      assert.include(reasoning_content, "Step 1 of 2: a was not checked by number")
    })
  })

  it.each(["titles", "full"] as const)("is accompanied by the progress of tools: %s", async (notes) => {
    const counting = tool({
      name: "count",
      input: { type: "object" },
      execute: (_, { progress }) => progress({ progress: 1, total: 3, message: "one of three" })
    })
    const pool = WorkerPool.makeUnsafe([worker("a", asks(["count", {}]), said("3"))])
    const settings = { tools: [counting] }
    await serving({ pool, policy: Baselines.single(0), notes, settings }, async ({ client }) => {
      const { choices } = await client.chat.completions.create(ask("How many?"))
      const { content, reasoning_content = "" } = choices[0]!.message as {
        readonly content: string
        readonly reasoning_content?: string
      }
      const note = notes === "full" ? "Step 1 of 1: the tool count: one of three" : ""
      assert.deepStrictEqual([content, reasoning_content.trim()], ["3", note])
    })
  })

  it("ends before a stop sequence, also where that comes in pieces", () =>
    serving(alone(worker("a", said("one EN", "D two"))), async ({ client }) => {
      const { choices } = await client.chat.completions.create({ ...ask("Count"), stop: ["END"] })
      assert.strictEqual(choices[0]?.message.content, "one ")
      assert.strictEqual(choices[0]?.finish_reason, "stop")
    }))

  it("has the shape that is asked for, and is asked for again where it has not", () => {
    const a = worker("a", said("five"), said('{"count":5}'))
    return serving(alone(a), async ({ client }) => {
      const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] }
      const { choices } = await client.chat.completions.create({
        ...ask("Count"),
        response_format: { type: "json_schema", json_schema: { name: "count", schema } }
      })
      assert.strictEqual(choices[0]?.message.content, '{"count":5}')
      assert.strictEqual(a.calls.length, 2)
    })
  })

  it("passes pictures and settings on to the worker", () => {
    const a = worker("a", said("A cat"))
    return serving(alone(a), async ({ client }) => {
      await client.chat.completions.create({
        model: "worker/a",
        max_tokens: 50,
        temperature: 0.5,
        messages: [
          { role: "developer", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image_url", image_url: { url: "data:image/png;base64,iVA=" } }
            ]
          }
        ]
      })
      const request = a.calls[0]
      assert.strictEqual(request?.maxOutputTokens, 50)
      assert.strictEqual(request?.temperature, 0.5)
      assert.deepStrictEqual(request?.messages[0], { role: "developer", content: "Be brief." })
      assert.deepStrictEqual(request?.messages.at(-1)?.content, [
        { type: "text", text: "What is this?" },
        { type: "image", mediaType: "image/png", data: "iVA=" }
      ])
    })
  })
})

describe("tools", () => {
  it("are called by the last step, and its run resumes with their results", () => {
    const [a, b] = [worker("a", said("one")), worker("b", said("two"))]
    const c = worker("c", asks(["weather", { city: "Rome" }], ["weather", { city: "Oslo" }]), said("Rome is warmer."))
    return serving(team(a, b, c), async ({ client }) => {
      const request = { ...ask("Which is warmer?"), tools: [weather] }
      const first = await client.chat.completions.create(request)
      const asked = first.choices[0]!.message
      assert.strictEqual(first.choices[0]?.finish_reason, "tool_calls")
      assert.isNull(asked.content)
      const calls = asked.tool_calls ?? []
      assert.deepStrictEqual(
        calls.map((call) => call.type === "function" && call.function.arguments),
        ['{"city":"Rome"}', '{"city":"Oslo"}']
      )
      assert.isTrue(calls.every(({ id }) => /^[A-Za-z0-9_]{1,40}$/.test(id)))
      const results = calls.map(({ id }, at) => ({
        role: "tool" as const,
        tool_call_id: id,
        content: ["20 degrees", "5 degrees"][at]!
      }))
      const second = await client.chat.completions.create({
        ...request,
        messages: [...request.messages, asked, ...results]
      })
      assert.strictEqual(second.choices[0]?.message.content, "Rome is warmer.")
      assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [1, 1, 2])
      assert.strictEqual(second.usage?.total_tokens, 10, "only what the second segment has used")
      assert.deepStrictEqual(
        c.calls[1]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content),
        ["20 degrees", "5 degrees"]
      )
    })
  })

  it("arrive whole in a stream, after the text before them", () =>
    serving(
      alone(
        worker("a", {
          parts: [
            { type: "text", text: "Let me look." },
            { type: "tool-call", id: "x", name: "weather", arguments: '{"city":"Rome"}' },
            { type: "finish", reason: "tool-calls", usage }
          ]
        })
      ),
      async ({ client }) => {
        const stream = client.chat.completions.stream({ ...ask("Weather?"), tools: [weather] })
        const { message } = (await stream.finalChatCompletion()).choices[0]!
        assert.strictEqual(message.content, "Let me look.")
        const [call] = message.tool_calls ?? []
        assert.deepInclude(call?.type === "function" && call.function, {
          name: "weather",
          arguments: '{"city":"Rome"}'
        })
      }
    ))

  it("can be answered twice: nothing is asked or paid again", () => {
    const a = worker("a", asks(["weather", { city: "Rome" }]), said("Warm."))
    return serving(alone(a), async ({ client }) => {
      const request = { ...ask("Weather?"), tools: [weather] }
      const asked = (await client.chat.completions.create(request)).choices[0]!.message
      const messages = [
        ...request.messages,
        asked,
        { role: "tool" as const, tool_call_id: asked.tool_calls![0]!.id, content: "20" }
      ]
      const answers = [
        await client.chat.completions.create({ ...request, messages }),
        await client.chat.completions.create({ ...request, messages, user: "again" })
      ]
      assert.deepStrictEqual(
        answers.map(({ choices }) => choices[0]?.message.content),
        ["Warm.", "Warm."]
      )
      assert.strictEqual(a.calls.length, 2)
    })
  })

  it("without a result are answered with a note that the result is missing", () => {
    const a = worker("a", asks(["weather", { city: "Rome" }]), said("It stays unknown."))
    return serving(alone(a), async ({ client }) => {
      const request = { ...ask("Weather?"), tools: [weather] }
      const asked = (await client.chat.completions.create(request)).choices[0]!.message
      const { choices } = await client.chat.completions.create({
        ...request,
        messages: [...request.messages, asked, { role: "user", content: "Never mind." }]
      })
      assert.strictEqual(choices[0]?.message.content, "It stays unknown.")
      assert.deepStrictEqual(
        a.calls[1]?.messages.map(({ role }) => role),
        ["user", "assistant", "tool", "user"]
      )
    })
  })

  it("of an unknown run are answered from the conversation", () => {
    const a = worker("a", said("Warm."))
    return serving(alone(a), async ({ client }) => {
      const id = "call_0000000000000000000000_000000"
      const call = { id, type: "function" as const, function: { name: "weather", arguments: "{}" } }
      const { choices } = await client.chat.completions.create({
        ...ask(""),
        tools: [weather],
        messages: [
          { role: "user", content: "Weather?" },
          { role: "assistant", tool_calls: [call] },
          { role: "tool", tool_call_id: id, content: "20" }
        ]
      })
      assert.strictEqual(choices[0]?.message.content, "Warm.")
      assert.strictEqual(a.calls[0]?.messages.length, 3)
    })
  })
})

describe("a request that fails", () => {
  it("has the status and the form that OpenAI's clients know", () =>
    serving(alone(worker("a", { fail: { _tag: "ContextTooLong" } })), async ({ client }) => {
      const error = await thrown(client.chat.completions.create({ ...ask("Hm"), stream: true }))
      assert.strictEqual(error.status, 400)
      assert.strictEqual(error.code, "context_length_exceeded")
      assert.strictEqual(error.type, "invalid_request_error")
    }))

  it("names the field that cannot be read", () =>
    serving(alone(worker("a", said("?"))), async ({ client }) => {
      const unheld = await thrown(client.chat.completions.create({ ...ask("Hm"), logprobs: true }))
      assert.deepInclude({ ...unheld }, { status: 400, param: "logprobs" })
      const unknown = await thrown(client.chat.completions.create({ ...ask("Hm"), model: "gpt-9" }))
      assert.deepInclude({ ...unknown }, { status: 404, code: "model_not_found" })
    }))

  it("looks cut where its stream breaks off", () =>
    serving(
      {
        ...alone(
          worker("a", {
            parts: [{ type: "text", text: "It is " }],
            thenFail: { _tag: "InvalidRequest", detail: "cut" }
          })
        ),
        settings: { reassign: "never" }
      },
      async ({ url }) => {
        const response = await fetch(`${url}/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ ...ask("Hm"), stream: true })
        })
        const text = await response.text()
        assert.strictEqual(response.status, 200)
        assert.notInclude(text, "[DONE]")
        assert.include(text, '"finish_reason":"error"')
        assert.include(text, '"error":{"message"')
      }
    ))

  it("lists the possible workers if none is eligible", () =>
    serving(alone(worker("a", said("?")), worker("b", said("!"))), async ({ client }) => {
      const error = await thrown(
        client.chat.completions.create({ ...ask("Hm"), model: "divisi:-a" }, { headers: { "x-divisi-only": "a" } })
      )
      assert.strictEqual(error.status, 400)
      assert.include(error.message, 'a is excluded; b is not in "only"')
      const strange = await thrown(client.chat.completions.create(ask("Hm"), { headers: { "x-divisi-only": "who" } }))
      assert.include(strange.message, 'who is in "only", but does not exist')
      const named = await thrown(
        client.chat.completions.create({ ...ask("Hm"), model: "worker/a" }, { headers: { "x-divisi-only": "b" } })
      )
      assert.include(named.message, 'No eligible worker: a is not in "only".')
    }))
})

describe("who works", () => {
  it("is chosen by a header, the body, the metadata and the name of the model", () => {
    const workers = ["a", "b", "c", "d", "e"].map((id) => worker(id, said(id)))
    return serving(alone(...workers), async ({ client }) => {
      const answer = await client.chat.completions.create(
        {
          ...ask("Who?"),
          model: "divisi:-a",
          metadata: { divisi_exclude: "b" },
          ...{ divisi: { exclude: ["c"] } }
        },
        { headers: { "x-divisi-exclude": "d" } }
      )
      assert.strictEqual(answer.choices[0]?.message.content, "e")
    })
  })

  it("is one worker by its name, or one that is chosen without a plan", () => {
    const options = team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three")))
    return serving(options, async ({ client }) => {
      const of = async (model: string) =>
        (await client.chat.completions.create({ ...ask("Who?"), model })).choices[0]?.message.content
      assert.strictEqual(await of("worker/b"), "two")
      assert.strictEqual(await of("divisi-fast"), "one")
      const { data } = await client.models.list()
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        ["divisi", "divisi-fast", "worker/a", "worker/b", "worker/c"]
      )
      assert.strictEqual((await client.models.retrieve("worker/a")).id, "worker/a")
    })
  })
})

describe("a client that reconnects", () => {
  const slow: ScriptedWorker.Reply = {
    delayMillis: 30,
    parts: [
      { type: "text", text: "Hel" },
      { type: "text", text: "lo" },
      { type: "finish", reason: "stop", usage }
    ]
  }

  it("attaches to what it has begun, and gets it from the first piece", () => {
    const a = worker("a", slow, said("other"))
    return serving(alone(a), async ({ client }) => {
      const request = { ...ask("Greet"), stream: true as const }
      const first = await client.chat.completions.create(request)
      for await (const { choices } of first) if (choices[0]?.delta.content === "Hel") break
      const again = await all(await client.chat.completions.create(request))
      assert.strictEqual(again.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), "Hello")
      assert.strictEqual(a.calls.length, 1)
    })
  })

  it("with the same question on purpose gets an answer of its own", () => {
    const a = worker("a", slow, slow)
    return serving(alone(a), async ({ client }) => {
      await Promise.all([client.chat.completions.create(ask("Greet")), client.chat.completions.create(ask("Greet"))])
      assert.strictEqual(a.calls.length, 2)
    })
  })

  it("that never comes back stops its run", () => {
    const a = worker("a", { hang: true })
    return serving({ ...alone(a), graceMillis: 0 }, async ({ client, running }) => {
      const left = new AbortController()
      const asking = client.chat.completions.create(ask("Greet"), { signal: left.signal })
      while (a.running() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      left.abort()
      await asking.catch(() => {})
      while (running() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      assert.strictEqual(a.running(), 0)
    })
  })
})
