/**
 * A row of the corpus: bytes that a real server or client was observed to send, and the expected outcome.
 *
 * Rows are written from scratch, based on a public report. No code or wording is copied.
 */
import type { Tool } from "@divisi/core"
import type { FinishReason, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"

/** The vendor protocols. */
export type Protocol = "chat" | "responses" | "messages" | "generate-content"

/** The subject of a row. Corresponds to a class in the table in `docs/reference/providers.md`. */
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
  /** `owner/name` on GitHub, or the URL of a vendor's page. */
  readonly repository: string
  /** Number of the issue or pull request. Not set for a page. */
  readonly number?: number | undefined
  /** The subject of the report, in our own words. */
  readonly subject: string
}

/** An HTTP response. */
export interface Reply {
  /** The status. Default: 200. */
  readonly status?: number | undefined
  /** The content type. Default: `text/event-stream`. */
  readonly contentType?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The body. If it is a list, each element is sent as a separate packet. */
  readonly body: string | Uint8Array | ReadonlyArray<string | Uint8Array>
}

/** An expected tool call. Arguments are compared as JSON. The id is compared only if it is set. */
export interface Call {
  readonly name: string
  readonly arguments: unknown
  readonly id?: string | undefined
}

/** The expected outcome of an answer. Omitted fields are not compared. */
export interface Outcome {
  readonly text?: string | undefined
  readonly reasoning?: string | undefined
  readonly calls?: ReadonlyArray<Call> | undefined
  readonly finish?: FinishReason | undefined
  /** Strings that one of the notices must contain. */
  readonly notices?: ReadonlyArray<string> | undefined
  /** The expected usage figures. */
  readonly usage?:
    | {
        readonly inputTokens?: number
        readonly outputTokens?: number
        readonly cachedInputTokens?: number
        readonly reasoningTokens?: number
      }
    | undefined
  /** The accepted kinds of failure. Omitted if the call must succeed. */
  readonly failure?: ReadonlyArray<WorkerErrorReason["_tag"]> | undefined
  /** Strings that the failure's message must contain. */
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
  /** The reason for the row: what goes wrong in a client that does not handle this case. */
  readonly why: string
}

/** Worker settings that a row requires. Workers without them are not tested with the row. */
export interface Needs {
  /** Removes reasoning between tags from the text. */
  readonly thinkTags?: boolean | undefined
  /** Accepts `[DONE]` as the end of an answer without a finish reason. */
  readonly endsWithDone?: boolean | undefined
}

/** A vendor's answer, and the outcome that a worker must produce from it. */
export interface ResponseRow extends Common {
  readonly direction: "response"
  /** Replies, one per request. The last one is repeated. */
  readonly replies: readonly [Reply, ...Array<Reply>]
  /** Additional fields for the worker's request. By default, it contains only a question. */
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
    /** Not set for GET and HEAD. */
    readonly body?: string | Uint8Array | undefined
  }
  /** The text that the worker answers. Default: any. */
  readonly answer?: string | undefined
  readonly expected: {
    readonly status: number
    /** Strings that the body of the response must contain. */
    readonly says?: ReadonlyArray<string> | undefined
    /** Whether the server answers without a worker. Default: `false` for status 200, `true` for others. */
    readonly isLocal?: boolean | undefined
    /** Strings that the request to the worker, as JSON, must contain. */
    readonly sees?: ReadonlyArray<string> | undefined
    /** Expected text of the last user turn, if a worker is called. */
    readonly asked?: string | undefined
    /** Names of the tools that must be offered to the worker. */
    readonly tools?: ReadonlyArray<string> | undefined
  }
}

/** A row. */
export type Row = ResponseRow | RequestRow

/** The tools that are offered if a row's answer contains tool calls. */
export const tools: ReadonlyArray<Tool.ToolDefinition> = ["weather", "clock"].map((name) => ({
  name,
  input: { type: "object", properties: { city: { type: "string" } } }
}))

/** Returns server-sent events with the given data, followed by `[DONE]`. */
export const events = (...data: ReadonlyArray<unknown>): string => `${bare(...data)}data: [DONE]\n\n`

/** Returns server-sent events with the given data only. */
export const bare = (...data: ReadonlyArray<unknown>): string =>
  data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("")

/** Returns server-sent events that are named by the `type` of their data. */
export const named = (...data: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }>): string =>
  data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")
