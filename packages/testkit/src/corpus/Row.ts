/**
 * A row of the corpus: bytes that a real server or client was observed to send, and the expected outcome.
 *
 * A row is written in our own words and bytes, based on a public report. No code or wording is copied.
 */
import type { Tool } from "@divisi/core"
import type { FinishReason, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"

/** The vendor protocols. */
export type Protocol = "chat" | "responses" | "messages" | "generate-content"

/** The subject of a row: the classes of the table in `docs/reference/providers.md`. */
export type Class =
  | "preference"
  | "ending"
  | "folding"
  | "usage"
  | "null-and-lists"
  | "error"
  | "overflow"
  | "encoding"
  | "tools"
  | "path"
  | "thinking"

/** The source of an observation. */
export interface Source {
  /** `owner/name` on GitHub, or the address of a vendor's page. */
  readonly repository: string
  /** The thread's number; absent for a page. */
  readonly number?: number | undefined
  /** The subject in our words. */
  readonly subject: string
}

/** An HTTP response. */
export interface Reply {
  /** The status. Default: 200. */
  readonly status?: number | undefined
  /** The content type. Default: `text/event-stream`. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The body. Several strings are sent as one packet each. */
  readonly body: string | ReadonlyArray<string>
}

/** A tool call. Its arguments are compared as JSON; an id is compared only if it is given. */
export interface Call {
  readonly name: string
  readonly arguments: unknown
  readonly id?: string | undefined
}

/** The expected outcome of an answer. Absent fields are not compared. */
export interface Outcome {
  readonly text?: string | undefined
  readonly reasoning?: string | undefined
  readonly calls?: ReadonlyArray<Call> | undefined
  readonly finish?: FinishReason | undefined
  /** The expected usage figures. */
  readonly usage?:
    | {
        readonly inputTokens?: number
        readonly outputTokens?: number
        readonly cachedInputTokens?: number
        readonly reasoningTokens?: number
      }
    | undefined
  /** The accepted kinds of failure; absent for a call that must succeed. */
  readonly failure?: ReadonlyArray<WorkerErrorReason["_tag"]> | undefined
  /** Words that the failure's message must contain. */
  readonly says?: ReadonlyArray<string> | undefined
  /** The expected retry delay of the failure. */
  readonly retryAfterMillis?: number | undefined
}

interface Common {
  /** Unique, e.g. `chat/ending/error`. */
  readonly id: string
  readonly protocol: Protocol
  readonly class: Class
  readonly source: Source
  /** Why the row exists: the problem of a client that does not handle it. */
  readonly why: string
}

/** The worker settings that a row needs. A worker without them need not pass. */
export interface Needs {
  /** Removes reasoning between tags from the text. */
  readonly thinkTags?: boolean | undefined
  /** Accepts `[DONE]` as the end of an answer without a finish reason. */
  readonly endsWithDone?: boolean | undefined
}

/** A vendor's answer, and the outcome that a worker must produce from it. */
export interface ResponseRow extends Common {
  readonly direction: "response"
  /** The replies, one per request in order. The last one is repeated. */
  readonly replies: readonly [Reply, ...Array<Reply>]
  /** The worker's request, in addition to a question. */
  readonly request?: Partial<WorkerRequest> | undefined
  readonly needs?: Needs | undefined
  readonly expected: Outcome
  /** The expected number of requests. Default: 1. */
  readonly requests?: number | undefined
  /** Fields that the body of the last request must not contain. */
  readonly without?: ReadonlyArray<string> | undefined
  /** The expected fields in the body of the last request. */
  readonly sends?: Readonly<Record<string, unknown>> | undefined
}

/** A client's request, and the outcome that a server must produce from it. */
export interface RequestRow extends Common {
  readonly direction: "request"
  readonly request: {
    /** The method. Default: POST. */
    readonly method?: string | undefined
    readonly path: string
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body: string | Uint8Array
  }
  readonly expected: {
    readonly status: number
    /** Words that an error must contain. */
    readonly says?: ReadonlyArray<string> | undefined
    /** The expected text of the last user turn, if a worker is called. */
    readonly asked?: string | undefined
    /** The names of the tools that must be offered to a worker. */
    readonly tools?: ReadonlyArray<string> | undefined
  }
}

/** A row. */
export type Row = ResponseRow | RequestRow

/** The tools that are offered if a row's answer calls tools. */
export const tools: ReadonlyArray<Tool.ToolDefinition> = ["weather", "clock"].map((name) => ({
  name,
  input: { type: "object", properties: { city: { type: "string" } } }
}))

/** Returns server-sent events with the given data, followed by `[DONE]`. */
export const events = (...data: ReadonlyArray<unknown>): string => `${bare(...data)}data: [DONE]\n\n`

/** Returns server-sent events with the given data only. */
export const bare = (...data: ReadonlyArray<unknown>): string =>
  data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("")

/** Returns server-sent events whose names are their `type`s. */
export const named = (...data: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }>): string =>
  data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")
