/**
 * Upstream model servers. Each implements Chat Completions in the style of a particular server, and a rule-based worker
 * generates the answers. No code is shared with the providers under test.
 */
import http from "node:http"
import type { AddressInfo } from "node:net"
import type { Message, ToolCall } from "@divisi/core/Message"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as RuleWorker from "./RuleWorker.ts"

/** The kinds of servers. */
export type Kind =
  /** Refuses each unknown field, as servers with strict request models do. */
  | "strict"
  /** Accepts every field, as llama-server does, and adds its own figures to the last chunk. */
  | "llama"
  /** Refuses what OpenAI's reasoning models refuse: `max_tokens`, and another temperature than 1. */
  | "openai"

/** A server, and what it has refused and answered. */
export interface Upstream {
  /** With the version. */
  readonly url: string
  readonly refused: ReadonlyArray<string>
  readonly answered: () => number
}

type Body = Readonly<Record<string, unknown>>

// -------------------------------------------------------------------------------------------------------------------
// What is refused
// -------------------------------------------------------------------------------------------------------------------

const known = new Set(["model", "messages", "stream", "tools", "tool_choice", "max_tokens", "stop"])

/** A refusal: the field, and the body of the error. */
type Refusal = readonly [field: string, body: object]

const refusals: { readonly [K in Kind]: (body: Body) => Refusal | undefined } = {
  strict: (body) => {
    const field = Object.keys(body).find((name) => !known.has(name))
    if (field === undefined) return undefined
    const problem = { type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted" }
    return [field, { detail: [{ ...problem, input: body[field] }] }]
  },
  llama: () => undefined,
  openai: (body) => {
    const refuse = (param: string, code: string, message: string): Refusal => [
      param,
      { error: { message, type: "invalid_request_error", param, code } }
    ]
    if ("max_tokens" in body) {
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
      return refuse("max_tokens", "unsupported_parameter", message)
    }
    return body.temperature === undefined || body.temperature === 1
      ? undefined
      : refuse("temperature", "unsupported_value", "Unsupported value: 'temperature' does not support this value.")
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Requests and answers
// -------------------------------------------------------------------------------------------------------------------

const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  const parts: ReadonlyArray<{ readonly text?: string }> = Array.isArray(content) ? content : []
  return parts.map(({ text = "" }) => text).join("\n")
}

const messagesOf = (body: Body): WorkerRequest["messages"] => {
  const names = new Map<string, string>()
  // biome-ignore lint/suspicious/noExplicitAny: it is JSON of another program, of which a test double reads what it needs.
  const messages = (body.messages as ReadonlyArray<any>).map((message): Message => {
    const content = textOf(message.content)
    if (message.role === "tool") {
      return { role: "tool", callId: message.tool_call_id, name: names.get(message.tool_call_id) ?? "tool", content }
    }
    const toolCalls: ReadonlyArray<ToolCall> = (message.tool_calls ?? []).map(
      (call: { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }) => ({
        id: call.id,
        ...call.function
      })
    )
    for (const { id, name } of toolCalls) names.set(id, name)
    return toolCalls.length === 0 ? { role: message.role, content } : { role: "assistant", content, toolCalls }
  })
  return messages as unknown as WorkerRequest["messages"]
}

const requestOf = (body: Body): WorkerRequest => {
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const { max_completion_tokens, max_tokens, tool_choice, tools = [] } = body as any
  const choice = typeof tool_choice === "object" && tool_choice !== null ? tool_choice.function : tool_choice
  return {
    messages: messagesOf(body),
    maxOutputTokens: max_tokens ?? max_completion_tokens,
    toolChoice: choice ?? undefined,
    tools: tools.map(
      ({ function: one }: { readonly function: { readonly name: string; readonly parameters: object } }) => ({
        ...one,
        input: one.parameters
      })
    )
  }
}

const worker = RuleWorker.make("upstream")

/** The chunks of an answer. */
const chunksOf = (kind: Kind, body: Body, parts: ReadonlyArray<WorkerPart>): ReadonlyArray<object> => {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: body.model }
  const choice = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }]
  })
  let calls = 0
  return parts.flatMap((part): ReadonlyArray<object> => {
    if (part.type === "text") return [choice({ content: part.text })]
    if (part.type === "tool-call") {
      const { arguments: given, id, name } = part
      const at = calls++
      return [
        choice({ tool_calls: [{ index: at, id: `${id}-${at}`, type: "function", function: { name, arguments: "" } }] }),
        choice({ tool_calls: [{ index: at, function: { arguments: given } }] })
      ]
    }
    if (part.type !== "finish") return []
    const reason = { "tool-calls": "tool_calls", length: "length" }[String(part.reason)] ?? "stop"
    const { inputTokens = 0, outputTokens = 0 } = part.usage ?? {}
    const usage = {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens
    }
    const last = choice({}, reason)
    if (kind === "llama") return [last, { ...head, choices: [], usage, timings: { predicted_n: outputTokens } }]
    return "stream_options" in body ? [last, { ...head, choices: [], usage }] : [last]
  })
}

const answer = async (kind: Kind, body: Body, response: http.ServerResponse) => {
  const stream = worker.generate(requestOf(body))
  const parts = await Effect.runPromise(Stream.runCollect(stream as Stream.Stream<WorkerPart>))
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunksOf(kind, body, parts)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end("data: [DONE]\n\n")
}

// -------------------------------------------------------------------------------------------------------------------
// Serving
// -------------------------------------------------------------------------------------------------------------------

/** Serves until the scope closes. */
export const make = (kind: Kind): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function* () {
    const refused: Array<string> = []
    let answered = 0
    const server = http.createServer(async (request, response) => {
      let text = ""
      for await (const piece of request.setEncoding("utf8")) text += piece
      if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
        response.writeHead(404, { "content-type": "application/json" }).end('{"detail":"Not Found"}')
        return
      }
      const body: Body = JSON.parse(text)
      const refusal = refusals[kind](body)
      if (refusal !== undefined) {
        refused.push(refusal[0])
        const status = kind === "strict" ? 422 : 400
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(refusal[1]))
        return
      }
      answered += 1
      await answer(kind, body, response)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          server.closeAllConnections()
          return new Promise<void>((resolve) => server.close(() => resolve()))
        })
    )
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/v1`, refused, answered: () => answered }
  })
