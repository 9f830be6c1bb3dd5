/** Helpers for the Chat Completions rows. */
import type { Outcome, ResponseRow, Source } from "./Row.ts"

export const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
  ...more
})

/** Returns a chunk whose choice has additional fields. */
export const choice = (fields: object) => ({ id: "c1", object: "chat.completion.chunk", model: "m", choices: [fields] })

export const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

export const used = { inputTokens: 11, outputTokens: 7 }

/** Returns a chunk with part of a tool call. */
export const piece = (fields: { index?: unknown; id?: unknown; name?: unknown; args?: unknown; type?: string }) => ({
  ...("index" in fields ? { index: fields.index } : {}),
  ...("id" in fields ? { id: fields.id } : {}),
  type: "function",
  function: {
    ...("name" in fields ? { name: fields.name } : {}),
    ...("args" in fields ? { arguments: fields.args } : {})
  }
})

export const calls = (...pieces: ReadonlyArray<object>) => chunk({ tool_calls: pieces })

export const ulm = { name: "weather", arguments: { city: "Ulm" } }
export const bonn = { name: "weather", arguments: { city: "Bonn" } }

export const from = (repository: string, number: number, subject: string): Source => ({ repository, number, subject })

type Fields = Omit<ResponseRow, "protocol" | "direction" | "class" | "id" | "replies" | "expected" | "source" | "why">

export const row = (
  id: string,
  source: Source,
  why: string,
  replies: ResponseRow["replies"][0] | string | ResponseRow["replies"],
  expected: Outcome,
  more: Fields = {}
): ResponseRow => ({
  id: `chat/${id}`,
  protocol: "chat",
  direction: "response",
  class: id.slice(0, id.indexOf("/")) as ResponseRow["class"],
  source,
  why,
  replies:
    typeof replies === "string"
      ? [{ body: replies }]
      : Array.isArray(replies)
        ? (replies as never)
        : [replies as never],
  expected,
  ...more
})

/** Returns an HTTP error response. */
export const refused = (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => ({
  status,
  contentType: "application/json",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers
})

export const sunny = { text: "Sunny.", finish: "stop" } as const

/** Finish reason of an answer with tool calls. */
export const called = { finish: "tool-calls" } as const

export const json = (body: unknown) => ({ contentType: "application/json", body: JSON.stringify(body) })
