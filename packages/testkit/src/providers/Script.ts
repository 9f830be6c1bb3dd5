/**
 * How a scripted server reacts to one request, independent of the vendor: it answers, refuses, or simulates a network
 * failure. A {@link Dialect} defines the vendor's format for answers and refusals. Faults are the same for all vendors.
 */
import type { ToolCall } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"

/** A chunk of text, sent at once. */
export interface Spoken {
  readonly type: "text" | "reasoning"
  readonly text: string
}

/** A chunk of a tool call. Consecutive chunks with the same id form one call. */
export interface CallPiece {
  readonly type: "tool-call"
  readonly id: string
  readonly name: string
  /** JSON text, or a chunk of it. Can be invalid JSON only for vendors that send arguments as text. */
  readonly arguments: string
}

/** A chunk of an answer. */
export type Delta = Spoken | CallPiece

/**
 * The finish reason: a normal end, a stop sequence, tool calls, the output limit, a refusal or content filter, or an
 * unknown reason.
 */
export type Ending = "stop" | "stop-sequence" | "tool-calls" | "length" | "refusal" | "unknown"

/** An answer, streamed or complete, depending on the request. */
export interface Answer {
  readonly type: "answer"
  readonly deltas: ReadonlyArray<Delta>
  readonly ending: Ending
  /** Usage. Not sent if omitted. */
  readonly usage?: Usage | undefined
  /** The model name in the response. Default: the requested one. */
  readonly model?: string | undefined
  /**
   * The vendor's signature for its reasoning or for a tool call, which must be sent back with this turn. Not sent if
   * omitted, or if the vendor has no signatures.
   */
  readonly signature?: string | undefined
  /** Whether unknown events and fields are mixed in. Default: `true`. */
  readonly noise?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Why a vendor refuses a request. `server-error` is a failure at the vendor; `unavailable` means overload. */
export type RefusalKind =
  | "rate-limited"
  | "overloaded"
  | "unavailable"
  | "server-error"
  | "timeout"
  | "authentication"
  | "permission"
  | "quota"
  | "invalid-request"
  | "unknown-model"
  | "context-too-long"
  | "content-filtered"

/** A refusal: an HTTP error in the vendor's format, or an error event in a stream that has started. */
export interface Refusal {
  readonly type: "refusal"
  readonly kind: RefusalKind
  /** Replaces the vendor's status. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A part of the request to repeat in the vendor's message. */
  readonly echo?: string | undefined
  /** Replaces the vendor's message. */
  readonly words?: string | undefined
  /** Deltas to send before the refusal, which is then part of the stream. */
  readonly after?: ReadonlyArray<Delta> | undefined
}

/** A fault. `after` is the number of deltas sent before it. */
export type Fault =
  /** Sends the answer byte by byte. */
  | { readonly type: "drip"; readonly answer: Answer }
  /**
   * Stops in the middle of the answer: with a normal end of the response (`end`), inside an event (`half-event`), or
   * with a connection reset (`reset`).
   */
  | {
      readonly type: "cut"
      readonly answer: Answer
      readonly after: number
      readonly how: "end" | "half-event" | "reset"
    }
  /** Sends an event that is not JSON. */
  | { readonly type: "malformed"; readonly answer: Answer; readonly after: number }
  /** Sends the given data. */
  | {
      readonly type: "raw"
      readonly status: number
      readonly contentType: string
      readonly body: string | Uint8Array
      readonly headers?: Readonly<Record<string, string>> | undefined
    }
  /** Resets the connection before sending any byte. */
  | { readonly type: "reset" }
  /** Repeats a chunk endlessly, after the start of an answer or after the headers of an error. */
  | {
      readonly type: "endless"
      readonly status?: number | undefined
      readonly answer?: Answer | undefined
      readonly piece: string
    }
  /** Accepts the request and then stops sending, immediately or in the middle of an answer. */
  | { readonly type: "hang"; readonly answer?: Answer | undefined; readonly after?: number | undefined }

/** A scripted server's reaction to one request. */
export type Script = Answer | Refusal | Fault

const defaultUsage: Usage = { inputTokens: 9, outputTokens: 5 }

/**
 * Creates an answer. Strings become text deltas. By default, the answer ends normally and reports 9 input and 5 output
 * tokens.
 *
 * **Example**
 *
 * ```ts
 * import { Script } from "@divisi/testkit/providers"
 *
 * Script.answer(["Hel", "lo"]).deltas // => [{ type: "text", text: "Hel" }, { type: "text", text: "lo" }]
 * ```
 */
export const answer = (
  deltas: string | ReadonlyArray<string | Delta>,
  settings: Partial<Omit<Answer, "type" | "deltas">> = {}
): Answer => ({
  type: "answer",
  deltas: (typeof deltas === "string" ? [deltas] : deltas).map((delta) =>
    typeof delta === "string" ? { type: "text", text: delta } : delta
  ),
  ending: "stop",
  usage: defaultUsage,
  ...settings
})

/** Creates a chunk of reasoning. */
export const reasoning = (text: string): Spoken => ({ type: "reasoning", text })

/** Creates a tool call, with complete arguments or in chunks. */
export const call = (id: string, name: string, ...pieces: ReadonlyArray<string>): ReadonlyArray<CallPiece> =>
  pieces.map((piece) => ({ type: "tool-call", id, name, arguments: piece }))

/** Creates a refusal. */
export const refusal = (kind: RefusalKind, settings: Omit<Refusal, "type" | "kind"> = {}): Refusal => ({
  type: "refusal",
  kind,
  ...settings
})

/** Returns a chunk of text, for dialects without tool calls. */
export const spoken = (delta: Delta): Spoken => {
  if (delta.type === "tool-call") throw new Error("This dialect does not write calls of tools.")
  return delta
}

/** Returns the complete text in an answer. */
export const text = (answer: Answer): string => joined(answer, "text")

/** Returns the complete reasoning in an answer. */
export const reasoningText = (answer: Answer): string => joined(answer, "reasoning")

const joined = ({ deltas }: Answer, type: Spoken["type"]) =>
  deltas.map((delta) => (delta.type === type ? delta.text : "")).join("")

/**
 * Returns the complete tool calls in an answer.
 *
 * @internal
 */
export const calls = ({ deltas }: Answer): ReadonlyArray<ToolCall> => {
  const calls = new Map<string, ToolCall>()
  for (const delta of deltas) {
    if (delta.type !== "tool-call") continue
    const { arguments: piece, id, name } = delta
    calls.set(id, { id, name, arguments: (calls.get(id)?.arguments ?? "") + piece })
  }
  return [...calls.values()]
}
