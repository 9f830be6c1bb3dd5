/**
 * The interface between wires and runs. A wire (Chat Completions, Responses, Messages) parses requests into a common
 * format and serializes the parts of a run as its response. The two sides are independent: runs are not aware of wires,
 * and wires are not aware of the Conductor.
 *
 * Wires are pure. The parser throws an `ApiError` if a request is invalid, and ignores unknown fields. The writer is a
 * fold that returns the output for each part.
 */

import type { StepFailure, Tool, Transcript } from "@divisi/core"
import type { Message, ToolCall } from "@divisi/core/Message"
import { addUsage, type Usage } from "@divisi/core/Usage"
import type { Reasoning } from "@divisi/core/Worker"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type { Options as SegmentOptions } from "../segment/SegmentParts.ts"
import type { TokenRecord } from "../segment/TokenRecords.ts"
import * as TokenRecords from "../segment/TokenRecords.ts"
import type { ApiError } from "./ApiError.ts"
import type { Choice, Headers } from "./Choice.ts"
import type { FieldNames } from "./FieldNames.ts"
import type { JsonObject } from "./Json.ts"
import type { Steps } from "./Steps.ts"

// -------------------------------------------------------------------------------------------------------------------
// In
// -------------------------------------------------------------------------------------------------------------------

/** The client's settings for its answer. Omitted settings use the server's defaults. */
export interface Settings {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  /** The answer is truncated before the first occurrence of any of these. */
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
}

/** A fork: continues a stored run from one of its steps as a new run. See `Cut` in `@divisi/core`. */
export interface Fork {
  readonly runId: string
  readonly at: Transcript.Place
  readonly answer?: string | undefined
  readonly change: { readonly worker?: string; readonly subtask?: string }
  readonly plan?: string | undefined
}

/** A stored run to continue, with the caller's results for its pending calls, keyed by call id. */
export interface Resume {
  readonly runId: string
  readonly results: Readonly<Record<string, Tool.Given>>
}

/** A parsed request, independent of its wire. */
export interface Request {
  /** The requested model, including worker exclusions after its name. */
  readonly model: string
  /** The complete conversation. Tool results include the tool name. */
  readonly messages: NonEmptyReadonlyArray<Message>
  /** The run to fork. If set, `messages` contains the question of that run. */
  readonly fork?: Fork | undefined
  /** The run to resume. If set, `messages` contains the question of that run. */
  readonly resume?: Resume | undefined
  readonly tools: ReadonlyArray<Tool.ToolDefinition>
  readonly toolChoice?: Tool.ToolChoice | undefined
  readonly parallelToolCalls?: boolean | undefined
  readonly output?: Tool.OutputFormat | undefined
  readonly settings: Settings
  readonly choice: Choice
  readonly isStreamed: boolean
  /**
   * Whether progress notes are sent as assistant commentary, if the wire can distinguish commentary from the answer.
   */
  readonly isCommented?: boolean | undefined
  /** Whether each part includes its worker, if the wire supports it. */
  readonly isTagged?: boolean | undefined
  /** The sealed run states in the client's history, in order. */
  readonly seals: ReadonlyArray<string>
  /** Whether the client carries the state of a suspended run and sends it back. */
  readonly carriesState: boolean
  /** Human-readable descriptions of the parts of the request that were dropped. */
  readonly notices: ReadonlyArray<string>
  /** The client's names for settings in messages. */
  readonly fieldNames?: FieldNames | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Out
// -------------------------------------------------------------------------------------------------------------------

/** Usage and cost of one segment. */
export interface SegmentUsage {
  /**
   * Usage of the step that produced the answer. Clients derive the length of their conversation from it, and their
   * token limit applies to it. If several steps vote, the first one counts.
   */
  readonly answer: Usage
  /** Usage of planning, and of steps that did not produce the answer. */
  readonly orchestration: Usage
  /** Cost in USD of the calls with a known price. */
  readonly costUsd: number
  /** Number of calls with an unknown price, which are not included in `costUsd`. */
  readonly unpricedCalls: number
  readonly calls: number
}

/**
 * A step whose worker failed permanently. Omitted fields have the same meaning as in `StepFailure` from `@divisi/core`.
 */
export type FailedStep = Pick<StepFailure.StepFailure, "round" | "step" | "by" | "worker" | "reason" | "reassignedTo">

/** Why a segment ended. With `tool-calls`, the run waits for tool results in the next request. */
export type FinishReason = "stop" | "length" | "tool-calls" | "refusal" | "stop-sequence"

/** The worker that produced a part, set if the client requested it. */
interface By {
  readonly by?: string | undefined
}

/** Problems that the last part of a segment reports, with or without an answer. */
interface Reported {
  /** Steps or plans whose worker failed permanently; omitted if every worker succeeded. Includes no provider messages. */
  readonly failedSteps?: ReadonlyArray<FailedStep> | undefined
  /** Human-readable descriptions of reassigned steps, and of settings that workers do not support. */
  readonly notices?: ReadonlyArray<string> | undefined
}

/** A unit of output from a segment. The last part is the only one with type `finish` or `error`. */
export type Part =
  | ({ readonly type: "text"; readonly text: string } & By)
  /** A line of human-readable progress: the plan, or a completed step. */
  | ({ readonly type: "note"; readonly about: "plan" | "step"; readonly text: string } & By)
  /** Refusal text in place of an answer. */
  | ({ readonly type: "refusal"; readonly text: string } & By)
  /** A tool call for the client to execute. Its id contains the run id. */
  | ({ readonly type: "tool-call" } & ToolCall & By)
  /** A tool result that arrived while the response was open, in the wire's format. */
  | { readonly type: "given"; readonly item: JsonObject }
  /** The sealed state of the run, for the client to carry. Precedes the tool calls that the run waits for. */
  | { readonly type: "state"; readonly state: string }
  /** Emitted after a period without output, so that the client does not time out. */
  | { readonly type: "heartbeat" }
  | ({
      readonly type: "finish"
      readonly reason: FinishReason
      /** The stop sequence that ended the text, if the reason is `stop-sequence`. */
      readonly stopSequence?: string | undefined
      readonly usage: SegmentUsage
      /** The workers that completed a step, in step order. */
      readonly workers: ReadonlyArray<string>
      /** Duration of the segment, in milliseconds. */
      readonly durationMillis: number
      /** Tokens of the policy's completions, if the client requested them and the model returned them. */
      readonly tokenRecords?: ReadonlyArray<TokenRecord> | undefined
    } & Reported)
  /**
   * The run failed without an answer, or the answer ends here. Usage is still charged; it is omitted if nothing was
   * started.
   */
  | ({ readonly type: "error"; readonly error: ApiError; readonly usage?: SegmentUsage | undefined } & Reported)

/** The last part of a segment. */
type LastPart = Extract<Part, { readonly type: "finish" | "error" }>

/** Returns the last part of a segment, if the segment has ended. */
export const lastOf = (parts: ReadonlyArray<Part> = []): LastPart | undefined => {
  const last = parts.at(-1)
  return last?.type === "finish" || last?.type === "error" ? last : undefined
}

/** Metadata for a response. */
export interface About {
  /** Response id, consisting of letters and digits. Each wire adds its own prefix. */
  readonly id: string
  /** Id of the run that the segment belongs to. */
  readonly runId: string
  /** Creation time, in seconds since 1970. */
  readonly createdAt: number
  readonly request: Request
  /** The original request body, for the fields that a response repeats. */
  readonly body: JsonObject
  /** Set if the response is shared between servers. Its parts are then derived from the run's journal. */
  readonly shared?: SharedTurn | undefined
}

/** The data that another server needs to follow a turn or to take it over. */
export interface SharedTurn {
  /** Deduplication key of the request. */
  readonly key: string
  readonly fold: SegmentOptions
}

// -------------------------------------------------------------------------------------------------------------------
// Wires
// -------------------------------------------------------------------------------------------------------------------

/** The writer's state, and the complete server-sent events to output; empty if the part has no output. */
export type Written<State> = readonly [state: State, events: string]

/** One API format: a parser for requests and a writer for responses. */
export interface Wire<State> {
  readonly name: string
  /** The body field that contains the conversation. */
  readonly conversation: "messages" | "input"
  /** Body fields that are fully represented in the parsed request. */
  readonly said: ReadonlyArray<string>
  /** Parses a request in steps. Throws an `ApiError` if it is invalid. */
  readonly read: (body: JsonObject, headers: Headers) => Steps<Request>
  /** Starts a stream. */
  readonly begin: (about: About) => Written<State>
  /** Returns the output for a part. The stream ends with the last part. */
  readonly write: (state: State, part: Part) => Written<State>
  /** Builds the body of a non-streaming response. The last part is `finish`. */
  readonly whole: (about: About, parts: ReadonlyArray<Part>) => JsonObject
  /** Builds the body for an error. */
  readonly error: (error: ApiError) => JsonObject
}

/** Formats a server-sent event. */
export const event = (data: JsonObject, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

/**
 * Returns the `divisi` field of a response: the run, the failed steps, and the parts of the request that were dropped.
 */
export const runOf = (
  { request, runId }: About,
  { failedSteps, notices = [], tokenRecords, usage, workers }: Extract<Part, { readonly type: "finish" }>
): JsonObject => {
  const all = [...request.notices, ...notices]
  return {
    run: runId,
    workers,
    calls: usage.calls,
    ...(failedSteps !== undefined && { failed_steps: failedSteps.map(failedStepOf) }),
    ...(tokenRecords !== undefined && {
      completions: tokenRecords.map((record) => ({
        round: record.round,
        attempt: record.attempt,
        ...TokenRecords.fieldsOf(record)
      }))
    }),
    ...(all.length === 0 ? {} : { notices: all })
  }
}

const failedStepOf = ({ reassignedTo, ...step }: FailedStep): JsonObject => ({
  ...step,
  ...(reassignedTo !== undefined && { reassigned_to: reassignedTo })
})

/** Returns the total usage of a segment. */
export const totalOf = ({ answer, orchestration }: SegmentUsage): Usage => addUsage(answer, orchestration)

/** Returns the concatenated text of the parts. */
export const textOf = (parts: ReadonlyArray<Part>): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

/** Returns the tool calls among the parts. */
export const toolCallsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<ToolCall> =>
  parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
