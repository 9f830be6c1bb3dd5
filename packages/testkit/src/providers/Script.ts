/**
 * A scripted server's reaction to one request, in words that fit every vendor: it answers, refuses, or fails in one of
 * the ways in which networks fail. A {@link Dialect} defines how a vendor writes an answer or a refusal; a fault is the
 * same for all of them.
 */
import type { ToolCall } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"

/** A piece of text, as long as the vendor sends it at once. */
export interface Spoken {
  readonly type: "text" | "reasoning"
  readonly text: string
}

/** A piece of a call of a tool. Pieces in a row with one id are one call, its arguments in pieces. */
export interface CallPiece {
  readonly type: "tool-call"
  readonly id: string
  readonly name: string
  /** JSON text, or a piece of it; invalid JSON is possible only with vendors that write arguments as text. */
  readonly arguments: string
}

/** A piece of an answer. */
export type Delta = Spoken | CallPiece

/**
 * The reason for the end of an answer: by itself, at a stop sequence, to wait for the results of tools, at the limit,
 * by a refusal or a filter, or for an unknown reason.
 */
export type Ending = "stop" | "stop-sequence" | "tool-calls" | "length" | "refusal" | "unknown"

/** An answer, streamed or whole, as the request asks. */
export interface Answer {
  readonly type: "answer"
  readonly deltas: ReadonlyArray<Delta>
  readonly ending: Ending
  /** Not sent when absent. */
  readonly usage?: Usage | undefined
  /** The model that the vendor names as answering; the requested one if absent. */
  readonly model?: string | undefined
  /**
   * The vendor's signature of its reasoning or of a tool call, which it expects back with this turn. Not sent if
   * absent, or by vendors without signatures.
   */
  readonly signature?: string | undefined
  /** Whether unknown events and fields are mixed in; true by default. */
  readonly noise?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Why a vendor refuses. `server-error` is a bug of theirs, `unavailable` is too much to do. */
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

/** A refusal: an HTTP error in the vendor's own words, or an error event after the stream has begun. */
export interface Refusal {
  readonly type: "refusal"
  readonly kind: RefusalKind
  /** Instead of the vendor's status. */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Put into the vendor's message: what it repeats of the request. */
  readonly echo?: string | undefined
  /** Instead of the vendor's message. */
  readonly words?: string | undefined
  /** Sent inside a stream, after these deltas. */
  readonly after?: ReadonlyArray<Delta> | undefined
}

/** A way to break. `after` counts the deltas of the answer that are still sent. */
export type Fault =
  /** Sends the answer byte by byte. */
  | { readonly type: "drip"; readonly answer: Answer }
  /**
   * Stops in the middle: as if all were well (`end`), inside of an event (`half-event`), or by a reset of the
   * connection (`reset`).
   */
  | {
      readonly type: "cut"
      readonly answer: Answer
      readonly after: number
      readonly how: "end" | "half-event" | "reset"
    }
  /** Sends an event that is not JSON. */
  | { readonly type: "malformed"; readonly answer: Answer; readonly after: number }
  /** Sends whatever this is. */
  | {
      readonly type: "raw"
      readonly status: number
      readonly contentType: string
      readonly body: string | Uint8Array
      readonly headers?: Readonly<Record<string, string>> | undefined
    }
  /** Resets the connection before a byte is sent. */
  | { readonly type: "reset" }
  /** Sends a piece again and again after the beginning of an answer, or after the head of an error, without an end. */
  | {
      readonly type: "endless"
      readonly status?: number | undefined
      readonly answer?: Answer | undefined
      readonly piece: string
    }
  /** Takes the request and falls silent, at once or in the middle of an answer. */
  | { readonly type: "hang"; readonly answer?: Answer | undefined; readonly after?: number | undefined }

/** A scripted server's reaction to one request. */
export type Script = Answer | Refusal | Fault

const defaultUsage: Usage = { inputTokens: 9, outputTokens: 5 }

/**
 * An answer. Texts become text deltas; it ends by itself and used 9 input and 5 output tokens unless `settings` say
 * otherwise.
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

/** A piece of reasoning. */
export const reasoning = (text: string): Spoken => ({ type: "reasoning", text })

/** A call of a tool, its arguments whole or in pieces. */
export const call = (id: string, name: string, ...pieces: ReadonlyArray<string>): ReadonlyArray<CallPiece> =>
  pieces.map((piece) => ({ type: "tool-call", id, name, arguments: piece }))

/** A refusal. */
export const refusal = (kind: RefusalKind, settings: Omit<Refusal, "type" | "kind"> = {}): Refusal => ({
  type: "refusal",
  kind,
  ...settings
})

/** A piece of text, for dialects that write no calls of tools. */
export const spoken = (delta: Delta): Spoken => {
  if (delta.type === "tool-call") throw new Error("This dialect does not write calls of tools.")
  return delta
}

/** All text of an answer. */
export const text = (answer: Answer): string => joined(answer, "text")

/** All reasoning of an answer. */
export const reasoningText = (answer: Answer): string => joined(answer, "reasoning")

const joined = ({ deltas }: Answer, type: Spoken["type"]) =>
  deltas.map((delta) => (delta.type === type ? delta.text : "")).join("")

/** The calls of an answer, whole. */
export const calls = ({ deltas }: Answer): ReadonlyArray<ToolCall> => {
  const calls = new Map<string, ToolCall>()
  for (const delta of deltas) {
    if (delta.type !== "tool-call") continue
    const { arguments: piece, id, name } = delta
    calls.set(id, { id, name, arguments: (calls.get(id)?.arguments ?? "") + piece })
  }
  return [...calls.values()]
}
