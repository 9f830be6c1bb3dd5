/** A team behind `useChat`: the AI SDK's own transport and reader of messages, over real HTTP. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { type ConductOptions, policy, single, tool, type Worker, worker } from "@divisi/core/promise"
import { questionOf, type TeamMessage, uiMessageResponse } from "@divisi/providers-ai-sdk"
import { DefaultChatTransport, readUIMessageStream } from "ai"
import { assert, describe, it } from "vitest"

const bodyOf = async (request: IncomingMessage) => {
  let text = ""
  for await (const piece of request) text += piece
  return JSON.parse(text) as { readonly messages: unknown }
}

/** Serves a route as Next and Hono do: a `Request` comes in, a `Response` goes out. */
const serving = async <A>(
  route: (messages: unknown, signal: AbortSignal) => Promise<Response>,
  use: (url: string) => Promise<A>
): Promise<A> => {
  const server = createServer(async (request, reply) => {
    const left = new AbortController()
    reply.on("close", () => left.abort())
    try {
      const response = await route((await bodyOf(request)).messages, left.signal)
      reply.writeHead(response.status, Object.fromEntries(response.headers))
      const body = Readable.fromWeb(response.body as never)
      body.on("error", () => reply.destroy())
      reply.on("close", () => body.destroy())
      body.pipe(reply)
    } catch (error) {
      reply.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const asked = (text: string): TeamMessage => ({ id: "m-1", role: "user", parts: [{ type: "text", text }] })

/** The states of the message that a page shows, by what a `useChat` does with a response. */
const shown = async (url: string, messages: Array<TeamMessage>, signal?: AbortSignal) => {
  const transport = new DefaultChatTransport<TeamMessage>({ api: url })
  const stream = await transport.sendMessages({
    trigger: "submit-message",
    chatId: "chat",
    messageId: undefined,
    messages,
    abortSignal: signal
  })
  const states: Array<TeamMessage> = []
  const errors: Array<unknown> = []
  for await (const message of readUIMessageStream<TeamMessage>({ stream, onError: (error) => errors.push(error) })) {
    states.push(structuredClone(message))
  }
  return { last: states.at(-1)!, states, errors }
}

const pool: ReadonlyArray<Worker> = [
  worker({ id: "writer", answer: () => "A long verse." }),
  worker({
    id: "editor",
    answer: async function* () {
      yield "The sea"
      yield ", in short."
    }
  })
]

const twoSteps = policy("write and edit", () => ({
  steps: [
    { worker: "writer", subtask: "Write a verse.", access: [] },
    { worker: "editor", subtask: "Shorten it.", access: [0] }
  ]
}))

const team = (options: Partial<ConductOptions>) => (messages: unknown, signal: AbortSignal) =>
  uiMessageResponse({ question: questionOf(messages), pool, policy: twoSteps, signal, ...options })

describe("a team behind useChat", () => {
  it("is shown with its plan, its steps as they run, and its answer", () =>
    serving(team({}), async (url) => {
      const { errors, last, states } = await shown(url, [asked("Write about the sea.")])
      assert.deepStrictEqual(errors, [])
      const parts = last.parts.map((part) => (part.type === "text" ? part.text : part.type))
      assert.deepStrictEqual(parts, ["step-start", "data-plan", "data-step", "data-step", "The sea, in short."])
      const plan = last.parts.find((part) => part.type === "data-plan")!
      assert.deepStrictEqual(plan.data, {
        round: 0,
        policy: "write and edit",
        steps: [
          { worker: "writer", subtask: "Write a verse.", sees: [] },
          { worker: "editor", subtask: "Shorten it.", sees: [0] }
        ]
      })
      const steps = states.map(({ parts }) =>
        parts.flatMap((part) => (part.type === "data-step" ? [`${part.data.worker} ${part.data.state}`] : [])).join()
      )
      assert.deepStrictEqual(
        [...new Set(steps)],
        ["", "writer running", "writer answered", "writer answered,editor running", "writer answered,editor answered"]
      )
      assert.deepInclude(last.metadata, { ending: "answered", calls: 2 })
      assert.strictEqual(last.id, last.metadata?.runId)
    }))

  it("continues a conversation", () => {
    const echo = worker({
      id: "echo",
      answer: ({ messages }) => messages.map(({ content, role }) => `${role}: ${content}`).join("\n")
    })
    return serving(team({ pool: [echo], policy: single(0) }), async (url) => {
      const first = await shown(url, [asked("My name is Ada.")])
      const again = await shown(url, [asked("My name is Ada."), first.last, asked("What is my name?")])
      const text = again.last.parts.find((part) => part.type === "text")!.text
      assert.strictEqual(text, "user: My name is Ada.\nassistant: user: My name is Ada.\nuser: What is my name?")
    })
  })

  it("shows the tools that it has run", () => {
    const weather = tool({ name: "weather", input: { type: "object" }, execute: () => "sunny" })
    const broken = tool({
      name: "broken",
      input: { type: "object" },
      execute: () => {
        throw new Error("no wind today")
      }
    })
    const forecaster = worker({
      id: "forecaster",
      capabilities: { tools: true },
      answer: ({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? "It is sunny."
          : { toolCalls: ["weather", "broken"].map((name) => ({ name, arguments: {} })) }
    })
    return serving(team({ pool: [forecaster], policy: single(0), tools: [weather, broken] }), async (url) => {
      const { errors, last } = await shown(url, [asked("Weather?")])
      assert.deepStrictEqual(errors, [])
      const tools = last.parts.flatMap((part) =>
        part.type === "dynamic-tool"
          ? [[part.toolName, part.state, part.state === "output-available" ? part.output : ""]]
          : []
      )
      assert.deepStrictEqual(tools, [
        ["weather", "output-available", "sunny"],
        ["broken", "output-error", ""]
      ])
      const text = last.parts.find((part) => part.type === "text")
      assert.strictEqual(text?.text, "It is sunny.")
    })
  })

  it("has an error where there is no answer, and none of its secrets", () => {
    const failing = worker({
      id: "failing",
      answer: () => {
        throw Object.assign(new Error("no credit"), { status: 402 })
      }
    })
    return serving(team({ pool: [failing], policy: single(0) }), async (url) => {
      const { errors, last } = await shown(url, [asked("Hello?")])
      assert.strictEqual(errors.length, 1)
      assert.match(String(errors[0]), /failing/)
      assert.deepInclude(last.metadata, { ending: "failed" })
    })
  })

  it("stops the run where the page leaves", () => {
    let stopped = () => {}
    const isStopped = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const slow = worker({
      id: "slow",
      answer: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            stopped()
            reject(signal.reason)
          })
        })
    })
    return serving(team({ pool: [slow], policy: single(0), signal: undefined }), async (url) => {
      const leaving = new AbortController()
      const transport = new DefaultChatTransport<TeamMessage>({ api: url })
      const stream = await transport.sendMessages({
        trigger: "submit-message",
        chatId: "chat",
        messageId: undefined,
        messages: [asked("Wait.")],
        abortSignal: leaving.signal
      })
      await stream.getReader().read()
      leaving.abort()
      await isStopped
    })
  })

  it("rejects a mistake in the options instead of sending a stream", async () => {
    const problem = await uiMessageResponse({ question: questionOf([]), pool, policy: single(0) }).catch(String)
    assert.match(String(problem), /"question" must be/)
  })
})

describe("the question of a chat", () => {
  it("has texts, pictures and files, and no plans, tools or messages of other roles", () => {
    const messages = [
      { role: "system", parts: [{ type: "text", text: "Be short." }] },
      {
        role: "user",
        parts: [
          { type: "text", text: "What is it?" },
          { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" },
          { type: "file", mediaType: "application/pdf", url: "https://example.org/a.pdf", filename: "a.pdf" },
          { type: "file", mediaType: "image/png", url: "http://169.254.169.254/latest" },
          { type: "file", mediaType: "image/png", url: "file:///etc/passwd" }
        ]
      },
      {
        role: "assistant",
        parts: [
          { type: "data-step", data: {} },
          { type: "reasoning", text: "hm" },
          { type: "text", text: "A cat." }
        ]
      },
      { role: "tool", parts: [{ type: "text", text: "no" }] },
      null,
      { role: "user", parts: "no list" }
    ]
    assert.deepStrictEqual(questionOf(messages), {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
            { type: "file", mediaType: "application/pdf", url: "https://example.org/a.pdf", name: "a.pdf" }
          ]
        },
        { role: "assistant", content: "A cat." }
      ]
    } as never)
    assert.deepStrictEqual<unknown>(questionOf("no messages"), { messages: [] })
  })
})
