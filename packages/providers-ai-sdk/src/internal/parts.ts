/** Turns the parts of a model's stream into those of a worker's answer: one step of a fold, without side effects. */

import {
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4Warning,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import { defined } from "@divisi/core/Fields"
import type { Message, ToolCall } from "@divisi/core/Message"
import { estimateUsage, type Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import * as Result from "effect/Result"
import * as Echo from "./echo.ts"

/** How far a stream has been read. */
export interface State {
  /** Everything written so far, to estimate usage that nobody reports. */
  readonly written: string
  readonly isFinished: boolean
  /** The calls that come in pieces, as much as has come of them; none of tools that the vendor runs itself. */
  readonly calling: Readonly<Record<string, ToolCall>>
  /** Whole calls. They are given once the answer is complete: some models call what was cut off. */
  readonly calls: ReadonlyArray<ToolCall>
  readonly blocks: Echo.Blocks
}

/** What is known about the call whose stream is read. */
export interface Reading {
  /** Whose turns the model can read again. */
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly ignoresUnsupported: boolean
}

/** The state before the first part. */
export const start: State = { written: "", isFinished: false, calling: {}, calls: [], blocks: [] }

/** The end of a stream, as an event. */
export const end = { type: "end" } as const

const noParts: ReadonlyArray<WorkerPart> = []

type Next = Result.Result<readonly [State, ReadonlyArray<WorkerPart>], unknown>

/** Takes one part; fails with what the model, or this reading of it, reports as an error. */
export const next = (state: State, part: LanguageModelV4StreamPart | typeof end, reading: Reading): Next => {
  switch (part.type) {
    case "stream-start":
      return warned(state, part.warnings, reading)
    case "text-start":
    case "text-end":
    case "text-delta":
      return written(state, "text", part)
    case "reasoning-start":
    case "reasoning-end":
    case "reasoning-delta":
      return written(state, "reasoning", part)
    case "tool-input-start":
      return Result.succeed([part.providerExecuted === true ? state : begun(state, part), noParts])
    case "tool-input-delta":
      return piece(state, part)
    case "tool-call":
      return part.providerExecuted === true ? Result.succeed([state, noParts]) : called(state, part)
    case "error":
      return isUnknownEvent(part.error) ? Result.succeed([state, noParts]) : Result.fail(part.error)
    case "finish":
      return finished(state, part, reading)
    case "end":
      return state.isFinished ? Result.succeed([state, noParts]) : cut("Its stream ended before its answer did.")
    default:
      return Result.succeed([state, noParts])
  }
}

/**
 * Providers that check their vendor's events report an event of an unknown kind as an error, and read on. Only a known
 * event that they cannot read is a real error.
 */
const isUnknownEvent = (error: unknown): boolean => {
  if (!TypeValidationError.isInstance(error)) return false
  const issues = Json.items(Json.fields(error.cause).issues)
  return issues.length > 0 && issues.every((issue) => Json.fields(issue).note === "No matching discriminator")
}

type Kind = "text" | "reasoning"

type Piece = Extract<LanguageModelV4StreamPart, { type: `${Kind}-${"start" | "delta" | "end"}` }>

const written = (state: State, type: Kind, part: Piece): Next => {
  const { id, providerMetadata } = part
  const text = "delta" in part ? part.delta : ""
  // Not every model checks what its vendor sends.
  if (typeof text !== "string") return cut(`Its ${type} is no text.`)
  const blocks = Echo.extend(state.blocks, type, id, text, providerMetadata)
  if (text === "") return Result.succeed([{ ...state, blocks }, noParts])
  return Result.succeed([{ ...state, blocks, written: state.written + text }, [{ type, text }]])
}

type Part<Type> = Extract<LanguageModelV4StreamPart, { type: Type }>

const begun = (state: State, { id, toolName }: Part<"tool-input-start">): State => ({
  ...state,
  calling: { ...state.calling, [id]: { id, name: toolName, arguments: "" } }
})

const callOf = ({ calling }: State, id: string): ToolCall | undefined =>
  Object.hasOwn(calling, id) ? calling[id] : undefined

const piece = (state: State, { delta, id }: Part<"tool-input-delta">): Next => {
  const call = callOf(state, id)
  if (typeof delta !== "string") return cut("A piece of its call of a tool is no text.")
  if (call === undefined || delta === "") return Result.succeed([state, noParts])
  const calling = { ...state.calling, [id]: { ...call, arguments: call.arguments + delta } }
  return Result.succeed([{ ...state, calling }, [{ type: "tool-call-delta", ...call, arguments: delta }]])
}

/** What came in pieces is what the model wrote. */
const called = (state: State, part: Part<"tool-call">): Next => {
  const { input, providerMetadata, toolCallId: id, toolName: name } = part
  if ([id, name].some((word) => typeof word !== "string" || word === "") || typeof input !== "string") {
    return cut("Its call of a tool is not as it must be.")
  }
  const text = callOf(state, id)?.arguments || input
  const blocks = Echo.extend(state.blocks, "tool-call", id, "", providerMetadata)
  const calls = [...state.calls, { id, name, arguments: text === "" ? "{}" : text }]
  return Result.succeed([{ ...state, blocks, calls, written: `${state.written}${name}${text}` }, noParts])
}

const cut = (message: string): Next => Result.fail(new InvalidResponseDataError({ data: undefined, message }))

const warned = (state: State, warnings: ReadonlyArray<SharedV4Warning>, { ignoresUnsupported }: Reading): Next => {
  const refused = warnings.find((warning) => warning.type === "unsupported")
  if (refused === undefined || ignoresUnsupported) return Result.succeed([state, noParts])
  const { details, feature: functionality } = refused
  const message = `The model does not support ${functionality}${details === undefined ? "" : `: ${details}`}`
  return Result.fail(new UnsupportedFunctionalityError({ functionality, message }))
}

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>

const finished = (state: State, { finishReason, usage }: Finish, { messages, model }: Reading): Next => {
  const { raw, unified } = Json.fields(finishReason)
  // Providers report this at the end of a stream whose vendor never said that the answer was complete.
  const isCut = unified === "error" || unified === "interrupted" || (unified === "other" && raw === undefined)
  if (isCut) return cut("Its stream ended before its answer did.")
  const calls = state.calls.map((call): WorkerPart => ({ type: "tool-call", ...call }))
  const reason = Json.meaning(reasons, unified) ?? "other"
  if (reason === "tool-calls" && calls.length === 0) return cut("It waits for tools, and has called none.")
  const finish: WorkerPart = defined({
    type: "finish",
    // Some vendors say of an answer that calls tools that it is over.
    reason: reason === "stop" && calls.length > 0 ? "tool-calls" : reason,
    usage: usageOf(usage, state.written !== "") ?? estimateUsage(messages, state.written),
    echo: Echo.echoOf(state.blocks, model)
  })
  return Result.succeed([{ ...state, isFinished: true }, [...calls, finish]])
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refusal",
  "tool-calls": "tool-calls"
}

/** `undefined` if the vendor did not report it. Some providers then report 0, which no prompt or text can use. */
const usageOf = (usage: LanguageModelV4Usage, hasWritten: boolean): Usage | undefined => {
  const input = Json.fields(Json.fields(usage).inputTokens)
  const output = Json.fields(Json.fields(usage).outputTokens)
  const inputTokens = Json.number(input.total)
  const outputTokens = Json.number(output.total)
  if (!inputTokens || outputTokens === undefined) return undefined
  if (hasWritten && outputTokens === 0) return undefined
  return defined({
    inputTokens,
    outputTokens,
    cachedInputTokens: Json.number(input.cacheRead),
    cacheWriteTokens: Json.number(input.cacheWrite),
    reasoningTokens: Json.number(output.reasoning)
  })
}
