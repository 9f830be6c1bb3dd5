/** Mistakes that a provider could make, each planted in a good one: the contract of providers finds every one of them. */

import { WorkerStream } from "@divisi/core/streams"
import type { Usage } from "@divisi/core/Usage"
import {
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import { OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { openaiCompatible, presets } from "../src/index.ts"

type Body = Record<string, unknown>

interface Fault {
  /** Changes what is sent. */
  readonly body?: (body: Body) => Body
  readonly url?: (url: string, key: string) => string
  readonly fetch?: typeof globalThis.fetch
  /** Changes what is asked. */
  readonly request?: (request: WorkerRequest) => WorkerRequest
  /** Changes what is given. */
  readonly part?: (part: WorkerPart) => ReadonlyArray<WorkerPart>
  readonly error?: (error: WorkerError) => WorkerError
  /** Changes the worker's properties. */
  readonly worker?: (worker: Worker) => Worker
  /** Whether defaults of the worker win over what a request sets. */
  readonly defaultsWin?: boolean
}

const without =
  (...names: ReadonlyArray<string>) =>
  (body: Body): Body =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

const withMessages =
  (change: (messages: ReadonlyArray<Body>) => ReadonlyArray<Body>) =>
  (body: Body): Body => ({ ...body, messages: change(body.messages as ReadonlyArray<Body>) })

const atFinish =
  (change: (part: Extract<WorkerPart, { type: "finish" }>) => WorkerPart) =>
  (part: WorkerPart): ReadonlyArray<WorkerPart> => [part.type === "finish" ? change(part) : part]

const texts =
  (change: (text: string) => string) =>
  (part: WorkerPart): ReadonlyArray<WorkerPart> => [part.type === "text" ? { ...part, text: change(part.text) } : part]

const forTools =
  (change: (tool: Body) => Body) =>
  (body: Body): Body =>
    body.tools === undefined ? body : { ...body, tools: (body.tools as Array<Body>).map(change) }

const inFunction =
  (change: (called: Body) => Body) =>
  (tool: Body): Body => ({ ...tool, function: change(tool.function as Body) })

const used = (change: (usage: Usage) => Usage) => atFinish(({ usage, ...rest }) => ({ ...rest, usage: change(usage) }))

const reasons = (change: (reason: WorkerErrorReason) => WorkerErrorReason) => ({
  error: ({ reason, usage, worker }: WorkerError) => new WorkerError({ worker, usage, reason: change(reason) })
})

/** The messages of the call before. */
let earlier: ReadonlyArray<Body> = []

const faults: Readonly<Record<string, Fault>> = {
  "temperature dropped": { body: without("temperature") },
  "output limit dropped": { body: without("max_tokens") },
  "seed dropped": { body: without("seed") },
  "stop sequences dropped": { body: without("stop") },
  "effort dropped": { body: without("reasoning") },
  "tools dropped": { body: without("tools") },
  "tool choice ignored": { body: without("tool_choice") },
  "parallel calls ignored": { body: without("parallel_tool_calls") },
  "shape of the answer dropped": { body: without("response_format") },
  "system text dropped": { body: withMessages((all) => all.filter(({ role }) => role !== "system")) },
  "history dropped": { body: withMessages((all) => all.slice(-1)) },
  "pictures dropped": {
    body: withMessages((all) =>
      all.map((message) =>
        Array.isArray(message.content)
          ? { ...message, content: message.content.filter(({ type }: Body) => type !== "image_url") }
          : message
      )
    )
  },
  "results of tools dropped": { body: withMessages((all) => all.filter(({ role }) => role !== "tool")) },
  "question trimmed": {
    body: withMessages((all) =>
      all.map((message) =>
        typeof message.content === "string" ? { ...message, content: message.content.trim() } : message
      )
    )
  },
  "key in the query as well": { url: (url, key) => `${url}?key=${key}` },
  "redirect followed with the key": { fetch: (input, init) => fetch(input, { ...init, redirect: "follow" }) },
  "usage swapped": {
    part: atFinish(({ usage, ...rest }) => ({
      ...rest,
      usage: { ...usage, inputTokens: usage.outputTokens, outputTokens: usage.inputTokens }
    }))
  },
  "cached tokens dropped": {
    part: atFinish(({ usage: { cachedInputTokens: _, ...usage }, ...rest }) => ({ ...rest, usage }))
  },
  "every ending is a stop": { part: atFinish((part) => ({ ...part, reason: "stop" })) },
  "text normalised": { part: texts((text) => text.normalize("NFC")) },
  "line ends changed": { part: texts((text) => text.replaceAll("\r\n", "\n")) },
  "a default that wins over the request": { defaultsWin: true },
  "model ignored": { body: (body) => ({ ...body, model: "another/model" }) },
  "id ignored": { worker: (worker) => ({ ...worker, id: "openrouter:a" }) },
  "price dropped": { worker: ({ pricing: _, ...worker }) => worker },
  "limits dropped": { worker: ({ limits: _, ...worker }) => worker },
  "description dropped": { worker: ({ description: _, ...worker }) => worker },
  "text trimmed": { part: texts((text) => text.trim()) },
  "reasoning given as text": {
    part: (part) => [part.type === "reasoning" ? { type: "text", text: part.text } : part]
  },
  "calls of tools dropped": { part: (part) => (part.type === "tool-call" ? [] : [part]) },
  "words of an error lost": {
    error: ({ reason, worker }) => new WorkerError({ worker, reason: { ...reason, detail: "it failed" } })
  },
  "retry-after ignored": {
    error: ({ reason, worker }) =>
      new WorkerError({ worker, reason: { _tag: reason._tag, ...(reason.detail ? { detail: reason.detail } : {}) } })
  },
  "every error is one of the network": {
    error: ({ worker }) => new WorkerError({ worker, reason: { _tag: "Network" } })
  },
  "error of another worker": { error: ({ reason }) => new WorkerError({ worker: "other", reason }) },
  "a seed of zero dropped": { body: (body) => (body.seed === 0 ? without("seed")(body) : body) },
  "only the first stop sequence": {
    body: (body) => (body.stop ? { ...body, stop: (body.stop as Array<string>).slice(0, 1) } : body)
  },
  "a stop sequence trimmed": {
    body: (body) => (body.stop ? { ...body, stop: (body.stop as Array<string>).map((one) => one.trim()) } : body)
  },
  "a limit of its own": { body: (body) => ({ max_tokens: 1024, ...body }) },
  "messages of an earlier call sent again": {
    body: withMessages((all) => {
      const sent = [...earlier, ...all]
      earlier = all
      return sent
    })
  },
  "a retry of its own": {
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      return response.status >= 500 ? fetch(input, init) : response
    }
  },
  "the signal dropped": { fetch: (input, init) => fetch(input, { ...init, signal: null }) },
  "ids of calls numbered": { part: (part) => [part.type === "tool-call" ? { ...part, id: "call_0" } : part] },
  "arguments formatted anew": {
    part: (part) => {
      if (part.type !== "tool-call") return [part]
      try {
        return [{ ...part, arguments: JSON.stringify(JSON.parse(part.arguments), null, 1) }]
      } catch {
        return [part]
      }
    }
  },
  "two endings": { part: (part) => (part.type === "finish" ? [part, part] : [part]) },
  "text behind the ending": { part: (part) => (part.type === "finish" ? [part, { type: "text", text: "!" }] : [part]) },
  "reasoning counted twice": {
    part: used((usage) => ({ ...usage, outputTokens: usage.outputTokens + (usage.reasoningTokens ?? 0) }))
  },
  "cached input subtracted": {
    part: used((usage) => ({ ...usage, inputTokens: usage.inputTokens - (usage.cachedInputTokens ?? 0) }))
  },
  "descriptions of tools dropped": { body: forTools(inFunction(({ description: _, ...rest }) => rest)) },
  "additionalProperties added": {
    body: forTools(
      inFunction((called) => ({
        ...called,
        parameters: { ...(called.parameters as Body), additionalProperties: false }
      }))
    )
  },
  "names of tools in small letters": {
    body: forTools(inFunction((called) => ({ ...called, name: String(called.name).toLowerCase() })))
  },
  "a named choice sent as required": {
    body: (body) => (typeof body.tool_choice === "object" ? { ...body, tool_choice: "required" } : body)
  },
  "none of the tools sent as auto": {
    body: (body) => (body.tool_choice === "none" ? { ...body, tool_choice: "auto" } : body)
  },
  "text moved before pictures": {
    body: withMessages((all) =>
      all.map((message) =>
        Array.isArray(message.content)
          ? {
              ...message,
              content: [
                ...message.content.filter((p: Body) => p.type === "text"),
                ...message.content.filter((p: Body) => p.type !== "text")
              ]
            }
          : message
      )
    )
  },
  "delays in seconds": reasons((reason) =>
    "retryAfterMillis" in reason ? { ...reason, retryAfterMillis: Number(reason.retryAfterMillis) / 1000 } : reason
  ),
  "size of the context dropped": reasons((reason) =>
    reason._tag === "ContextTooLong" ? { _tag: reason._tag, detail: reason.detail ?? "" } : reason
  ),
  "name of the answering model dropped": { part: atFinish(({ model: _, ...part }) => part as never) },
  "data to send back dropped": { part: atFinish(({ echo: _, ...part }) => part as never) },
  "deltas of calls dropped": { part: (part) => (part.type === "tool-call-delta" ? [] : [part]) },
  "spaces between words lost in empty pieces": {
    part: (part) => (part.type === "text" && part.text.trim() === "" ? [] : [part])
  },
  "results of tools sorted": {
    body: withMessages((all) => {
      const tools = all.filter(({ role }) => role === "tool").reverse()
      return all.map((message) => (message.role === "tool" ? tools.shift()! : message))
    })
  },
  "failed results sent as good ones": {
    request: (request) => ({
      ...request,
      messages: request.messages.map((message) => (message.role === "tool" ? { ...message, isError: false } : message))
    })
  },
  "the request changed": {
    request: (request) => {
      ;(request.messages as Array<unknown>).push({ role: "user", content: "Be brief." })
      return request
    }
  },
  "name of the schema replaced": {
    body: (body) => {
      const format = body.response_format as { json_schema?: Body } | undefined
      return format?.json_schema === undefined
        ? body
        : { ...body, response_format: { ...format, json_schema: { ...format.json_schema, name: "response" } } }
    }
  },
  "a file's name dropped": {
    body: withMessages((all) =>
      all.map((message) =>
        Array.isArray(message.content)
          ? {
              ...message,
              content: message.content.map((p: Body) =>
                p.type === "file" ? { ...p, file: { ...(p.file as Body), filename: "file" } } : p
              )
            }
          : message
      )
    )
  },
  "the limit raised by one": {
    body: (body) => (body.max_tokens ? { ...body, max_tokens: Number(body.max_tokens) + 1 } : body)
  },
  "an effort lowered": { body: (body) => (body.reasoning ? { ...body, reasoning: { effort: "low" } } : body) }
}

const given = (worker: Worker, { error, part, request: ask = (request) => request }: Fault): Worker => ({
  ...worker,
  generate: (request) => {
    const parts = WorkerStream.generate(worker, ask(request)).pipe(
      Stream.mapError((failure) => error?.(failure) ?? failure)
    )
    return part === undefined ? parts : Stream.mapArray(parts, (all) => all.flatMap(part) as never)
  }
})

const options = (fault: Fault): ProviderContract.Options => ({
  name: "faulty",
  dialect: OpenAiChat.compatible({
    name: "openrouter",
    usage: "final",
    reasoningField: "reasoning",
    hasReasoningDetails: true
  }),
  takesAbout: true,
  make: ({ about, baseURL, defaults, ...connection }) => {
    const send: typeof globalThis.fetch = (input, init) => {
      const body = fault.body === undefined ? init?.body : JSON.stringify(fault.body(JSON.parse(String(init?.body))))
      const url = fault.url?.(String(input), connection.apiKey) ?? input
      return (fault.fetch ?? fetch)(url, { ...init, ...(body === undefined ? {} : { body }) })
    }
    const worker = openaiCompatible({
      ...presets.openRouter,
      model: "some/model",
      baseURL: `${baseURL}/v1`,
      capabilities: { images: true, files: true },
      ...about,
      ...defaults,
      ...connection,
      fetch: send
    })
    return given(
      fault.worker?.(worker) ?? worker,
      fault.defaultsWin === true ? { request: (request) => ({ ...request, ...defaults }) } : fault
    )
  },
  settings: { fileUrl: { type: "rejected", reason: "Chat Completions requires the bytes of a file" } }
})

/** The cases that are quick: what a vendor's misbehaviour may do is not asked, except for redirects. */
const cases = ProviderContract.cases.filter(({ id }) => !id.startsWith("vendor/") || id.startsWith("vendor/redirect"))

/** The first case that a fault does not pass. */
const found = async (fault: Fault): Promise<string | undefined> => {
  for (const one of cases) {
    const passed = await ProviderContract.check(one, options(fault)).then(
      () => true,
      () => false
    )
    if (!passed) return one.id
  }
  return undefined
}

describe("the contract of providers", () => {
  it("passes a provider without a fault", async () => {
    assert.isUndefined(await found({}))
  })

  for (const [name, fault] of Object.entries(faults)) {
    it(`finds: ${name}`, async () => {
      assert.isDefined(await found(fault), name)
    })
  }
})
