/**
 * A row of the corpus: what a server or a client in the field was seen to send, as bytes, and what must come out.
 *
 * A row is written in our own words and bytes after a public report; no code or wording is copied.
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

/** One answer of HTTP. */
export interface Reply {
  /** 200 when absent. */
  readonly status?: number | undefined
  /** `text/event-stream` when absent. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The bytes; several texts are sent as a packet each. */
  readonly body: string | ReadonlyArray<string>
}

/** A call of a tool. Its arguments are compared as JSON; an id is compared only where it is named. */
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
  /** Figures of its usage that must be these. */
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
  /** Words that the failure's message must have. */
  readonly says?: ReadonlyArray<string> | undefined
  /** How long the failure says to wait. */
  readonly retryAfterMillis?: number | undefined
}

interface Common {
  /** Unique, e.g. `chat/ending/error`. */
  readonly id: string
  readonly protocol: Protocol
  readonly class: Class
  readonly source: Source
  /** Why the row exists: what goes wrong for a reader that does not know it. */
  readonly why: string
}

/** Settings of a worker that a row needs: a worker of the same kind without them need not pass. */
export interface Needs {
  /** Takes reasoning between tags out of the text. */
  readonly thinkTags?: boolean | undefined
  /** Takes `[DONE]` for the end of an answer that says no reason. */
  readonly endsWithDone?: boolean | undefined
}

/** A vendor's answer, and the outcome that a worker must produce from it. */
export interface ResponseRow extends Common {
  readonly direction: "response"
  /** One for each request in turn; the last answers all that follow. */
  readonly replies: readonly [Reply, ...Array<Reply>]
  /** The worker's request, besides a question in words. */
  readonly request?: Partial<WorkerRequest> | undefined
  readonly needs?: Needs | undefined
  readonly expected: Outcome
  /** How many requests the worker must make; one when absent. */
  readonly requests?: number | undefined
  /** Fields that the body of the last request must not have. */
  readonly without?: ReadonlyArray<string> | undefined
  /** Fields of the body of the last request that must be these. */
  readonly sends?: Readonly<Record<string, unknown>> | undefined
}

/** A client's request, and the outcome that a server must produce from it. */
export interface RequestRow extends Common {
  readonly direction: "request"
  readonly request: {
    /** POST when absent. */
    readonly method?: string | undefined
    readonly path: string
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body: string | Uint8Array
  }
  readonly expected: {
    readonly status: number
    /** Words that an error must have. */
    readonly says?: ReadonlyArray<string> | undefined
    /** The text that the last turn of a user must have where a worker is asked. */
    readonly asked?: string | undefined
    /** The names of the tools that a worker must be offered. */
    readonly tools?: ReadonlyArray<string> | undefined
  }
}

/** A row. */
export type Row = ResponseRow | RequestRow

/** The tools that are offered where a row's answer calls some. */
export const tools: ReadonlyArray<Tool.ToolDefinition> = ["weather", "clock"].map((name) => ({
  name,
  input: { type: "object", properties: { city: { type: "string" } } }
}))

/** Server-sent events with these data, and `[DONE]` at their end. */
export const events = (...data: ReadonlyArray<unknown>): string => `${bare(...data)}data: [DONE]\n\n`

/** Server-sent events with these data alone. */
export const bare = (...data: ReadonlyArray<unknown>): string =>
  data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("")

/** Server-sent events, each with its `type` as its name. */
export const named = (...data: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }>): string =>
  data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")
