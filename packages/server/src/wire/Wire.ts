/**
 * The seam between wires and runs. A wire (Chat Completions, Responses, Messages) reads a request into one plain value,
 * and writes the parts of a run as its response. Neither side knows the other: a run does not know on which wire its
 * answer leaves, and a wire does not know what a Conductor is.
 *
 * All of a wire is pure. The reader throws an `ApiError` where a request cannot be read, and ignores what it does not
 * know. The writer is a fold: it takes one part after another, and gives the text that goes out for it.
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
import type { JsonObject } from "./Json.ts"

// -------------------------------------------------------------------------------------------------------------------
// In
// -------------------------------------------------------------------------------------------------------------------

/** The client's settings for its answer. The server's defaults apply to absent ones. */
export interface Settings {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  /** The answer ends before the first of these that it would contain. */
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
}

/** A stored run to continue from one of its steps, as a new run: `Cut` of `@divisi/core`. */
export interface Fork {
  readonly runId: string
  readonly at: Transcript.Place
  readonly answer?: string | undefined
  readonly change: { readonly worker?: string; readonly subtask?: string }
  readonly plan?: string | undefined
}

/** A stored run to continue, and the caller's input for calls that it waits for, by their ids. */
export interface Resume {
  readonly runId: string
  readonly results: Readonly<Record<string, Tool.Given>>
}

/** A request, whichever wire it came on. */
export interface Request {
  /** As it was asked for, with who is left out behind it. */
  readonly model: string
  /** The whole conversation. Results of tools name their tools. */
  readonly messages: NonEmptyReadonlyArray<Message>
  /** The run that it forks; `messages` are the question of that run. */
  readonly fork?: Fork | undefined
  /** The run that it resumes; `messages` are the question of that run. */
  readonly resume?: Resume | undefined
  readonly tools: ReadonlyArray<Tool.ToolDefinition>
  readonly toolChoice?: Tool.ToolChoice | undefined
  readonly parallelToolCalls?: boolean | undefined
  readonly output?: Tool.OutputFormat | undefined
  readonly settings: Settings
  readonly choice: Choice
  readonly isStreamed: boolean
  /** Whether notes are shown as commentary of the assistant, if the wire can distinguish it from the answer. */
  readonly isCommented?: boolean | undefined
  /** Whether each part names its worker, if the wire supports it. */
  readonly isTagged?: boolean | undefined
  /** The states of runs that the client's history holds, in its order. */
  readonly seals: ReadonlyArray<string>
  /** Whether the client carries the state of a suspended run and sends it back. */
  readonly carriesState: boolean
  /** Omitted parts of the request, in sentences for people. */
  readonly notices: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Out
// -------------------------------------------------------------------------------------------------------------------

/** Usage and cost of a segment of a run. */
export interface SegmentUsage {
  /**
   * Input and output of the step that answers. Clients derive the length of their conversation from it, and their token
   * limit applies to it; if several steps vote, it is the first.
   */
  readonly answer: Usage
  /** Usage of planning, and of steps whose answer is not the run's. */
  readonly orchestration: Usage
  /** USD, over the calls whose price is known. */
  readonly costUsd: number
  /** Calls whose price is unknown, and so are missing from `costUsd`. */
  readonly unpricedCalls: number
  readonly calls: number
}

/** A worker that failed a step permanently. Absent fields are as in `StepFailure` of `@divisi/core`. */
export type FailedStep = Pick<StepFailure.StepFailure, "round" | "step" | "by" | "worker" | "reason" | "reassignedTo">

/** Why a segment ended. `tool-calls`: it waits for the results of tools, which the next request brings. */
export type FinishReason = "stop" | "length" | "tool-calls" | "refusal" | "stop-sequence"

/** The worker of a part, if the client wants it. */
interface By {
  readonly by?: string | undefined
}

/** A piece of what a segment of a run has to say. The last part is `finish` or `error`, and there is one of them. */
export type Part =
  | ({ readonly type: "text"; readonly text: string } & By)
  /** Progress, in a line for people: the plan, or a step that has ended. */
  | ({ readonly type: "note"; readonly about: "plan" | "step"; readonly text: string } & By)
  /** Text instead of an answer. */
  | ({ readonly type: "refusal"; readonly text: string } & By)
  /** A tool for the client to run. Its id leads back to the run. */
  | ({ readonly type: "tool-call" } & ToolCall & By)
  /** The result of a tool that arrived while the response is open, in the form of its wire. */
  | { readonly type: "given"; readonly item: JsonObject }
  /** The sealed state of the run, which waits for the tools that follow: for the client to carry. */
  | { readonly type: "state"; readonly state: string }
  /** A period without output: something must be sent so that the client does not time out. */
  | { readonly type: "heartbeat" }
  | {
      readonly type: "finish"
      readonly reason: FinishReason
      /** The text that ended it, if the reason is `stop-sequence`. */
      readonly stopSequence?: string | undefined
      readonly usage: SegmentUsage
      /** The workers that have answered a step, in their order. */
      readonly workers: ReadonlyArray<string>
      /** The workers that failed a step or a plan permanently; absent if none did. No words of a provider. */
      readonly failedSteps?: ReadonlyArray<FailedStep> | undefined
      /** How long it took. */
      readonly durationMillis: number
      /** Parts of the request that workers do not support, in sentences for people. */
      readonly notices?: ReadonlyArray<string> | undefined
      /** The tokens of the policy's completions, if the request asks for them and its model has them. */
      readonly tokenRecords?: ReadonlyArray<TokenRecord> | undefined
    }
  /** There is no answer, or it breaks off here. Usage is still charged; absent if nothing was started. */
  | { readonly type: "error"; readonly error: ApiError; readonly usage?: SegmentUsage | undefined }

/** The metadata of a response besides its parts. */
export interface About {
  /** Letters and digits; a wire puts its own prefix before it. */
  readonly id: string
  /** The run that it is a segment of. */
  readonly runId: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly request: Request
  /** The body of the request as it came, for what a response repeats. */
  readonly body: JsonObject
  /** Present if servers share the response: then its parts are a fold of its run's journal. */
  readonly shared?: SharedTurn | undefined
}

/** The part of a turn that another server needs to follow it, or to take it over. */
export interface SharedTurn {
  /** The deduplication key of its request. */
  readonly key: string
  readonly fold: SegmentOptions
}

// -------------------------------------------------------------------------------------------------------------------
// Wires
// -------------------------------------------------------------------------------------------------------------------

/** The state of a writer, and the server-sent events for what it has taken, each whole; empty for none. */
export type Written<State> = readonly [state: State, events: string]

/** A wire. */
export interface Wire<State> {
  readonly name: string
  /** The field of a body that has the conversation. */
  readonly conversation: "messages" | "input"
  /** The fields of a body of which all that counts is in the request that is read: the conversation. */
  readonly said: ReadonlyArray<string>
  /** Reads a request. Throws an `ApiError`. */
  readonly read: (body: JsonObject, headers: Headers) => Request
  /** The beginning of a stream. */
  readonly begin: (about: About) => Written<State>
  /** Returns the output for a part. After the last part the stream is over. */
  readonly write: (state: State, part: Part) => Written<State>
  /** The body of a response that is not streamed. Its last part is `finish`. */
  readonly whole: (about: About, parts: ReadonlyArray<Part>) => JsonObject
  /** The body of an error. */
  readonly error: (error: ApiError) => JsonObject
}

/** A server-sent event. */
export const event = (data: JsonObject, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

/** The field `divisi` of a response: the run, the steps that failed, and what of the request was left out. */
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

/** All that a segment used. */
export const totalOf = ({ answer, orchestration }: SegmentUsage): Usage => addUsage(answer, orchestration)

/** The text among parts. */
export const textOf = (parts: ReadonlyArray<Part>): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

/** The tool calls among parts. */
export const toolCallsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<ToolCall> =>
  parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
