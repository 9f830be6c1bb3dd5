import { WorkerStream } from "@divisi/core/streams"
import * as Usage from "@divisi/core/Usage"
import type { Worker, WorkerError, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { type Dialect, OpenAiChat, OpenAiResponses, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { openai, openaiChat, openaiCompatible, presets, priceOf, prices } from "../src/index.ts"

const messages: WorkerRequest["messages"] = [
  { role: "system", content: "Be terse." },
  { role: "user", content: "Hi" }
]

describe("options", () => {
  it("that are misspelt are reported when the worker is created", () => {
    assert.throws(
      () => openai("gpt-5", { apikey: "k" } as never),
      'openai: option "apikey" does not exist. Did you mean "apiKey"?'
    )
    assert.throws(() => openaiChat("gpt-5", { limits: { contextToken: 1 } } as never), '"limits.contextTokens"?')
  })

  it.each([
    ["maxTokens", "maxOutputTokens"],
    ["max_completion_tokens", "maxOutputTokens"],
    ["system", "instructions"],
    ["timeout", "timeoutMillis"],
    ["stop", "stopSequences"],
    ["reasoning_effort", "reasoning"],
    ["defaultHeaders", "headers"],
    ["maxRetries", "retry: { maxAttempts } of the run"],
    ["tools", "tools of the run"],
    ["model", "the first argument"]
  ])("%s of other libraries is refused with ours", (name, ours) => {
    assert.throws(() => openai("gpt-5", { [name]: "x" } as never), `option "${name}" does not exist. Use "${ours}".`)
  })
})

const run = (worker: Worker, request: Partial<WorkerRequest> = {}): Promise<ReadonlyArray<WorkerPart>> =>
  Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, { messages, ...request })))

const failure = (worker: Worker, request: Partial<WorkerRequest> = {}): Promise<WorkerError> =>
  Effect.runPromise(Effect.flip(Stream.runDrain(WorkerStream.generate(worker, { messages, ...request }))))

/** Returns the body that a worker sends for a request. */
const sent = async (
  dialect: Dialect.Dialect,
  make: (baseURL: string) => Worker,
  request: Partial<WorkerRequest> = {}
): Promise<{ readonly body: Record<string, unknown>; readonly headers: Readonly<Record<string, string>> }> => {
  await using server = await WireServer.start(dialect, [Script.answer("ok")])
  await run(make(`${server.url}/v1`), request)
  const { body, headers } = server.exchanges[0]!
  return { body: body as Record<string, unknown>, headers }
}

const withEnvironment = async <A>(values: Readonly<Record<string, string | undefined>>, body: () => Promise<A>) => {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
  const set = (name: string, value: string | undefined) => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  for (const [name, value] of Object.entries(values)) set(name, value)
  try {
    return await body()
  } finally {
    for (const [name, value] of before) set(name, value)
  }
}

describe("openai", () => {
  it("sends exactly this to the Responses API", async () => {
    const { body } = await sent(
      OpenAiResponses.dialect,
      (baseURL) =>
        openai("gpt-5.4", { baseURL, apiKey: "sk-1", reasoningSummary: "auto", body: { service_tier: "flex" } }),
      { maxOutputTokens: 100, reasoning: { type: "effort", effort: "low" } }
    )
    assert.deepStrictEqual(body, {
      model: "gpt-5.4",
      input: [
        { role: "developer", content: "Be terse." },
        { role: "user", content: "Hi" }
      ],
      stream: true,
      store: false,
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: "auto" },
      service_tier: "flex"
    })
  })

  it("says nothing of reasoning to a model that never reasons", async () => {
    const { body } = await sent(
      OpenAiResponses.dialect,
      (baseURL) => openai("gpt-4.1", { baseURL, apiKey: "sk-1", reasoningSummary: "auto" }),
      { reasoning: { type: "off" } }
    )
    assert.notProperty(body, "reasoning")
  })

  it("names the setting that a model does not take, and what it takes", async () => {
    const messageOf = async (worker: Worker, request: Partial<WorkerRequest>) =>
      (await failure(worker, request)).message
    const effort = { reasoning: { type: "effort", effort: "minimal" } } as const
    assert.match(
      await messageOf(openai("gpt-5", { apiKey: "k" }), { temperature: 0 }),
      /temperature: gpt-5 accepts only/
    )
    assert.match(await messageOf(openai("gpt-5.1", { apiKey: "k" }), effort), /"minimal".*low, medium, high/)
    assert.match(await messageOf(openai("gpt-4o-mini", { apiKey: "k" }), effort), /gpt-4o-mini does not reason/)
    const both = { temperature: 0.5, reasoning: { type: "effort", effort: "low" } } as const
    assert.match(await messageOf(openai("gpt-5.2", { apiKey: "k" }), both), /temperature.*only if reasoning is off/)
    const many = { stopSequences: ["a", "b", "c", "d", "e"] }
    assert.match(await messageOf(openaiChat("gpt-4.1", { apiKey: "k" }), many), /stopSequences.*at most 4/)
  })

  it("maps or leaves out preferences that the API or the model does not have if omit is set", async () => {
    const { body } = await sent(
      OpenAiResponses.dialect,
      (baseURL) => openai("gpt-5.2", { baseURL, apiKey: "sk-1", unsupported: "omit", maxOutputTokens: 100 }),
      { seed: 7, reasoning: { type: "budget", tokens: 1024 }, temperature: 0.5 }
    )
    // With reasoning, the model takes no temperature.
    assert.doesNotHaveAnyKeys(body, ["seed", "temperature"])
    assert.deepInclude(body, { reasoning: { effort: "low" }, max_output_tokens: 100 })
    const effort = { reasoning: { type: "effort", effort: "minimal" } } as const
    const { body: fixed } = await sent(
      OpenAiResponses.dialect,
      (baseURL) => openai("gpt-5.2-pro", { baseURL, apiKey: "sk-1", unsupported: "omit" }),
      { ...effort, temperature: 0.5 }
    )
    assert.doesNotHaveAnyKeys(fixed, ["temperature"])
    assert.deepInclude(fixed, { reasoning: { effort: "medium" } })
  })

  it("believes the caller who knows a model better", async () => {
    const { body } = await sent(
      OpenAiResponses.dialect,
      (baseURL) => openai("gpt-5", { baseURL, apiKey: "sk-1", capabilities: { temperature: "always" } }),
      { temperature: 0.3 }
    )
    assert.strictEqual(body.temperature, 0.3)
  })

  it("ends a refusal of the model as filtered, with its words as the text", async () => {
    const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    const body =
      event("response.refusal.delta", { delta: "I can't " }) +
      event("response.refusal.delta", { delta: "help." }) +
      event("response.completed", { response: { status: "completed", usage: null } })
    await using server = await WireServer.start(OpenAiResponses.dialect, [
      { type: "raw", status: 200, contentType: "text/event-stream", body }
    ])
    const parts = await run(openai("gpt-5", { baseURL: server.url, apiKey: "k" }))
    assert.deepStrictEqual(parts, [
      { type: "text", text: "I can't " },
      { type: "text", text: "help." },
      { type: "finish", reason: "refusal", usage: { inputTokens: 3, outputTokens: 4, estimated: true } }
    ])
  })

  it("fails as an error event says, in the middle of an answer", async () => {
    const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    const reasons = []
    for (const code of ["rate_limit_exceeded", "insufficient_quota", "server_error", "something_new"]) {
      const body =
        event("response.output_text.delta", { delta: "ha" }) + event("error", { code, message: "no", param: null })
      await using server = await WireServer.start(OpenAiResponses.dialect, [
        { type: "raw", status: 200, contentType: "text/event-stream", body }
      ])
      reasons.push((await failure(openai("gpt-5", { baseURL: server.url, apiKey: "k" }))).reason._tag)
    }
    assert.deepStrictEqual(reasons, ["RateLimited", "Quota", "Overloaded", "Overloaded"])
  })

  it("pauses the vendor while there is no reader, which does not count as silence", async () => {
    const deltas = Array.from({ length: 2000 }, (_, index) => `${index} `)
    await using server = await WireServer.start(OpenAiResponses.dialect, [Script.answer(deltas, { noise: false })])
    const worker = openai("gpt-5", { baseURL: server.url, apiKey: "k", timeoutMillis: 3_000 })
    let batches = 0
    let text = ""
    await Effect.runPromise(
      Stream.runForEachArray(WorkerStream.generate(worker, { messages }), (parts) => {
        for (const part of parts) if (part.type === "text") text += part.text
        // A slow reader: its first step takes longer than a silence may.
        return batches++ === 0 ? Effect.sleep(5_000) : Effect.void
      })
    )
    assert.strictEqual(text, deltas.join(""))
    assert.isAtLeast(batches, 2000 / 256)
  })

  it("takes its key as a text, redacted, or from a variable", async () => {
    await withEnvironment({ OPENAI_API_KEY: "sk-default", OTHER_KEY: "sk-other" }, async () => {
      for (const [apiKey, expected] of [
        ["sk-1", "sk-1"],
        [Redacted.make("sk-2"), "sk-2"],
        [{ env: "OTHER_KEY" }, "sk-other"],
        [undefined, "sk-default"]
      ] as const) {
        const { headers } = await sent(OpenAiResponses.dialect, (baseURL) => openai("gpt-5", { baseURL, apiKey }))
        assert.strictEqual(headers.authorization, `Bearer ${expected}`)
      }
    })
  })

  it("names the variable of a key that is missing, without a request", async () => {
    await withEnvironment({ OPENAI_API_KEY: undefined }, async () => {
      const error = await failure(openai("gpt-5", { baseURL: "http://nowhere.invalid" }))
      assert.strictEqual(error.reason._tag, "Authentication")
      assert.include(error.message, "OPENAI_API_KEY is not set")
      assert.throws(() => openai("gpt-5", { apiKey: "" }), /"apiKey" must be a non-empty string/)
      const empty = openai("gpt-5", { apiKey: Redacted.make("") })
      assert.include((await failure(empty)).message, "the API key is empty")
    })
  })
})

describe("a base URL with a token in its query", () => {
  const echoing = (path: string): Script.Script => ({
    type: "raw",
    status: 404,
    contentType: "application/json",
    body: JSON.stringify({ error: { message: `no such path: ${path}` } })
  })

  const makes: Readonly<Record<string, (baseURL: string) => Worker>> = {
    openai: (baseURL) => openai("gpt-5", { baseURL, apiKey: "sk-1" }),
    openaiChat: (baseURL) => openaiChat("gpt-5", { baseURL, apiKey: "sk-1" }),
    openaiCompatible: (baseURL) => openaiCompatible({ ...presets.vllm, model: "m", baseURL })
  }

  for (const [name, make] of Object.entries(makes)) {
    it(`is called with it by ${name}, and shows it nowhere`, async () => {
      await using server = await WireServer.start(OpenAiChat.dialect, ({ path }) => echoing(path))
      const worker = make(`${server.url}/v1?token=hunter2-token`)
      const error = await failure(worker)
      assert.match(server.exchanges[0]?.path ?? "", /^\/v1\/(?:responses|chat\/completions)\?token=hunter2-token$/)
      assert.include(error.message, "no such path: /v1/")
      assert.notInclude(JSON.stringify([error, error.message, worker]), "hunter2")
    })
  }

  it("is read from the environment in the same way", async () => {
    await using server = await WireServer.start(OpenAiResponses.dialect, ({ path }) => echoing(path))
    await withEnvironment({ OPENAI_BASE_URL: `${server.url}/v1?token=hunter2-token` }, async () => {
      const worker = openai("gpt-5", { apiKey: "sk-1" })
      assert.notInclude(JSON.stringify([await failure(worker), worker]), "hunter2")
      assert.lengthOf(server.exchanges, 1)
    })
    await withEnvironment({ OPENAI_BASE_URL: "http://me:hunter2@127.0.0.1/v1" }, async () => {
      assert.throws(() => openai("gpt-5", { apiKey: "sk-1" }), /OPENAI_BASE_URL.*contains a user name or password/)
    })
  })
})

describe("openaiChat", () => {
  it("sends exactly this to Chat Completions", async () => {
    const { body } = await sent(
      OpenAiChat.dialect,
      (baseURL) => openaiChat("gpt-4.1", { baseURL, apiKey: "sk-1", temperature: 0 }),
      { maxOutputTokens: 100, seed: 7, stopSequences: ["END"] }
    )
    assert.deepStrictEqual(body, {
      model: "gpt-4.1",
      messages: [
        { role: "developer", content: "Be terse." },
        { role: "user", content: "Hi" }
      ],
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 100,
      temperature: 0,
      seed: 7,
      stop: ["END"]
    })
  })
})

describe("openaiCompatible", () => {
  const bodyOf = async (preset: keyof typeof presets, request: Partial<WorkerRequest>) =>
    (
      await sent(
        OpenAiChat.dialect,
        (baseURL) => openaiCompatible({ ...presets[preset], apiKey: "k", model: "m", baseURL }),
        request
      )
    ).body

  it("asks each server in its own words", async () => {
    const off = { reasoning: { type: "off" } } as const
    assert.deepInclude(await bodyOf("vllm", off), { chat_template_kwargs: { enable_thinking: false } })
    assert.deepInclude(await bodyOf("deepSeek", off), { thinking: { type: "disabled" } })
    assert.deepInclude(await bodyOf("ollama", off), { reasoning_effort: "none" })
    assert.deepInclude(await bodyOf("openRouter", off), { reasoning: { enabled: false } })
    const openRouter = await bodyOf("openRouter", { maxOutputTokens: 9 })
    assert.notProperty(openRouter, "stream_options")
    assert.strictEqual(openRouter.max_tokens, 9)
    assert.deepStrictEqual((openRouter.messages as ReadonlyArray<unknown>)[0], { role: "system", content: "Be terse." })
  })

  it("omits settings without a parameter if allowed, but does not choose among values", async () => {
    const options = { ...presets.llamaServer, model: "m", unsupported: "omit" } as const
    const { body } = await sent(OpenAiChat.dialect, (baseURL) => openaiCompatible({ ...options, baseURL }), {
      reasoning: { type: "effort", effort: "low" },
      seed: 7
    })
    assert.doesNotHaveAnyKeys(body, ["reasoning", "reasoning_effort"])
    assert.strictEqual(body.seed, 7)
    const few = openaiCompatible({ ...options, capabilities: { maxStopSequences: 1 } })
    assert.match((await failure(few, { stopSequences: ["a", "b"] })).message, /stopSequences.*at most 1/)
  })

  it("sends no key and nothing of the account at OpenAI where none is given", async () => {
    const account = {
      OPENAI_API_KEY: "sk-secret",
      OPENAI_ORG_ID: "org-secret",
      OPENAI_PROJECT_ID: "proj-secret",
      OPENAI_CUSTOM_HEADERS: "x-proxy: secret"
    }
    await withEnvironment(account, async () => {
      const { headers } = await sent(OpenAiChat.dialect, (baseURL) =>
        openaiCompatible({ ...presets.llamaServer, model: "m", baseURL })
      )
      assert.notInclude(JSON.stringify(headers), "secret")
      assert.notProperty(headers, "authorization")
    })
  })

  it("reads the tokens that DeepSeek found in its cache", async () => {
    const chunk = (rest: object) => `data: ${JSON.stringify({ choices: [], ...rest })}\n\n`
    const body =
      chunk({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] }) +
      chunk({ usage: { prompt_tokens: 100, completion_tokens: 2, prompt_cache_hit_tokens: 64 } })
    await using server = await WireServer.start(OpenAiChat.dialect, [
      { type: "raw", status: 200, contentType: "text/event-stream", body }
    ])
    const worker = openaiCompatible({ ...presets.deepSeek, apiKey: "k", model: "deepseek-chat", baseURL: server.url })
    assert.deepStrictEqual((await run(worker)).at(-1), {
      type: "finish",
      reason: "stop",
      usage: { inputTokens: 100, outputTokens: 2, cachedInputTokens: 64 }
    })
  })

  it("knows llama-server's word for a context that is too long", async () => {
    const error = {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9001,
        n_ctx: 8192
      }
    }
    await using server = await WireServer.start(OpenAiChat.dialect, [
      { type: "raw", status: 400, contentType: "application/json", body: JSON.stringify(error) }
    ])
    const { reason } = await failure(openaiCompatible({ ...presets.llamaServer, model: "m", baseURL: server.url }))
    assert.strictEqual(reason._tag, "ContextTooLong")
  })

  it("has an unknown price unless it is set, even if a model is named like one of OpenAI's", () => {
    assert.isUndefined(openaiCompatible({ ...presets.vllm, model: "gpt-4o" }).pricing)
  })
})

describe("prices", () => {
  it("are those of the model itself, or of the one that it is a snapshot of", () => {
    assert.strictEqual(openai("gpt-5-mini-2025-08-07", { apiKey: "k" }).pricing?.outputPerMillion, 2)
    assert.strictEqual(openaiChat("gpt-5", { apiKey: "k" }).pricing?.cachedInputPerMillion, 0.125)
  })

  it("are unknown, and not 0, for a model that is not listed", () => {
    assert.isUndefined(priceOf("gpt-5-turbo-max"))
    assert.isUndefined(openai("gpt-17", { apiKey: "k" }).pricing)
  })

  it("are higher for long prompts", () => {
    const { pricing } = openai("gpt-6.1-sol", { apiKey: "k" })
    assert.strictEqual(Usage.cost(pricing, { inputTokens: 272_000, outputTokens: 100_000 }), 1.544)
    assert.strictEqual(
      Usage.cost(pricing, { inputTokens: 272_001, cachedInputTokens: 272_000, outputTokens: 100_000 }),
      (4 + 272_000 * 0.2 + 100_000 * 15) / 1_000_000
    )
    const batched = openai("gpt-5.4", { apiKey: "k", batch: true }).pricing
    assert.strictEqual(batched?.longPrompts?.outputPerMillion, 15 * 1.5 * 0.5)
  })

  it("name their page and their day, and take less for what is cached", () => {
    for (const { cachedInputPerMillion, date, inputPerMillion, source } of prices) {
      assert.match(source, /^https:\/\//)
      assert.match(date, /^\d{4}-\d{2}-\d{2}$/)
      if (cachedInputPerMillion !== undefined) assert.isBelow(cachedInputPerMillion, inputPerMillion)
    }
  })
})

describe("a failed call", () => {
  const refusing = [Script.refusal("authentication", { echo: "no entry" })]

  it("with a refused key names its variable or option and the host, never its value", async () => {
    await using server = await WireServer.start(OpenAiChat.dialect, [...refusing, ...refusing, ...refusing])
    const baseURL = `${server.url}/v1`
    const host = new URL(server.url).host
    const message = async (worker: Worker) => (await failure(worker)).message
    const fromVariable = await withEnvironment({ DIVISI_TEST_KEY: "sk-secret-secret" }, async () =>
      message(openaiCompatible({ baseURL, model: "m", apiKey: { env: "DIVISI_TEST_KEY" } }))
    )
    assert.include(fromVariable, `. Check that DIVISI_TEST_KEY is a valid key for ${host}.`)
    assert.notInclude(fromVariable, "sk-secret")
    const fromOption = await message(openaiChat("gpt-5", { baseURL, apiKey: "sk-secret-secret" }))
    assert.include(fromOption, `. Check that the option apiKey is a valid key for ${host}.`)
    assert.include(
      await message(openaiCompatible({ baseURL, model: "m" })),
      `No key was sent, and ${host} requires one`
    )
  })

  it("without a key says which variable to set", async () => {
    const { message } = await withEnvironment({ OPENAI_API_KEY: undefined }, () => failure(openai("gpt-5")))
    assert.include(message, "OPENAI_API_KEY is not set. Set it, or pass a key as apiKey.")
  })

  it.each([
    ["over undici", (baseURL: string) => openaiCompatible({ baseURL, model: "m" })],
    ["over fetch", (baseURL: string) => openaiCompatible({ baseURL, model: "m", fetch: globalThis.fetch })],
    ["through the SDK", (baseURL: string) => openai("gpt-5", { baseURL, apiKey: "k" })]
  ])("%s names a host that is not there, and says what to do", async (_, make) => {
    const { message } = await failure(make("http://nowhere.invalid/v1"))
    assert.include(message, "nowhere.invalid")
    assert.match(message, /Check that this machine is online, and the host name in the base URL\.$/)
  })
})
