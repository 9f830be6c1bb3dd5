/** Answers of `generateContent`, piece by piece, as parts of a worker's answer: a pure fold. */

import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import { derive } from "@divisi/core/Seed"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../VendorError.ts"
import * as Json from "../VendorJson.ts"
import type { Protocol, Step } from "../VendorStream.ts"
import * as Echo from "./echo.ts"
import { reasonOf } from "./errors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state of an answer so far. */
export interface State {
  readonly hasBegun: boolean
  /** Present once the vendor has said why the answer ends. */
  readonly reason?: FinishReason | undefined
  /** What the vendor has reported last, as it came. */
  readonly usage?: unknown
  /** What answers, as the vendor names it. */
  readonly model?: string | undefined
  /** How many functions it calls. */
  readonly calls: number
  readonly signatures: Echo.Signatures
}

/** The request that is answered. */
export interface Asked {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
}

const initial: State = { hasBegun: false, calls: 0, signatures: { calls: new Map() } }

const none: ReadonlyArray<never> = []

// -------------------------------------------------------------------------------------------------------------------
// Usage
// -------------------------------------------------------------------------------------------------------------------

/**
 * What the answer has used so far; `undefined` until the vendor reports it. Google counts thoughts, and prompts of
 * tools, beside the others.
 */
const usageOf = ({ usage }: State): Usage | undefined => {
  const counts = Json.fields(usage)
  const prompt = Json.number(counts.promptTokenCount)
  if (prompt === undefined) return undefined
  const thoughts = Json.number(counts.thoughtsTokenCount)
  return defined({
    inputTokens: prompt + (Json.number(counts.toolUsePromptTokenCount) ?? 0),
    outputTokens: (Json.number(counts.candidatesTokenCount) ?? 0) + (thoughts ?? 0),
    cachedInputTokens: Json.number(counts.cachedContentTokenCount),
    reasoningTokens: thoughts
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/**
 * An id for a call that comes without one, as from models before Gemini 3: the same for the same answer to the same
 * messages, and a different one for any other.
 */
const idOf = (responseId: unknown, messages: ReadonlyArray<Message>, calls: number): string =>
  `call-${derive(calls, String(responseId), JSON.stringify(messages)).toString(36)}`

/** Google gives a call whole. */
const callOf = (value: unknown, makeId: () => string): WorkerPart & { readonly type: "tool-call" } => {
  const call = Json.object(value, "a function call")
  const name = Json.said(call.name, "a function's name")
  if (name === "") throw unreadable("a function has no name")
  return {
    type: "tool-call",
    id: Json.said(call.id, "a call's id") || makeId(),
    name,
    arguments: JSON.stringify(Json.object(call.args, "arguments"))
  }
}

interface Read extends Pick<State, "calls" | "signatures"> {
  readonly parts: ReadonlyArray<WorkerPart>
}

const read = (state: State, chunk: Json.Fields, candidate: Json.Fields, messages: ReadonlyArray<Message>): Read => {
  const parts: Array<WorkerPart> = []
  let { calls, signatures } = state
  for (const part of Json.array(Json.object(candidate.content, "content").parts, "parts")) {
    const { functionCall, text, thought, thoughtSignature } = Json.object(part, "a part")
    const signature = Json.text(thoughtSignature)
    if (functionCall !== undefined) {
      const call = callOf(functionCall, () => idOf(chunk.responseId, messages, calls))
      parts.push(call)
      calls++
      if (signature !== undefined)
        signatures = { ...signatures, calls: new Map(signatures.calls).set(call.id, signature) }
      continue
    }
    if (signature !== undefined && thought !== true) signatures = { ...signatures, text: signature }
    const said = Json.said(text, "a part's text")
    if (said !== "") parts.push({ type: thought === true ? "reasoning" : "text", text: said })
  }
  return { parts, calls, signatures }
}

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "refusal",
  RECITATION: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
  IMAGE_PROHIBITED_CONTENT: "refusal",
  IMAGE_RECITATION: "refusal"
}

/** Endings that mean no answer: the model has written what Google cannot read. */
const failures: Readonly<Record<string, string>> = {
  MALFORMED_FUNCTION_CALL: "the model wrote a function call that cannot be read",
  UNEXPECTED_TOOL_CALL: "the model called a function that it was not given",
  MALFORMED_RESPONSE: "the model wrote an answer that cannot be read"
}

const finishOf = ({ finishReason: reason }: Json.Fields): FinishReason | undefined =>
  Json.said(reason, "finishReason") === "" ? undefined : (Json.meaning(reasons, reason) ?? "other")

const malformed = ({ finishMessage, finishReason }: Json.Fields): WorkerErrorReason | undefined => {
  const detail = Json.meaning(failures, finishReason)
  if (detail === undefined) return undefined
  const said = Json.text(finishMessage)
  return { _tag: "Malformed", detail: said === undefined ? detail : `${detail}: ${said}` }
}

const blocked = ({ blockReason, blockReasonMessage }: Json.Fields): WorkerErrorReason | undefined =>
  blockReason === undefined
    ? undefined
    : {
        _tag: "ContentFiltered",
        detail: `the prompt was blocked: ${Json.text(blockReasonMessage) ?? Json.text(blockReason) ?? "no reason given"}`
      }

const incomplete = ({ hasBegun }: State): WorkerErrorReason =>
  hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer did" }
    : { _tag: "Malformed", detail: "what came is no answer of generateContent" }

// -------------------------------------------------------------------------------------------------------------------
// The protocol
// -------------------------------------------------------------------------------------------------------------------

/** Folds one piece. Unknown parts and fields are ignored. */
const next = (state: State, event: unknown, messages: ReadonlyArray<Message>): Step<State> => {
  const chunk = Json.object(event, "an event")
  if (chunk.error !== undefined) return { state, parts: none, failure: reasonOf({ body: chunk.error }) }
  const candidate = Json.object(Json.array(chunk.candidates, "candidates")[0], "a candidate")
  const { calls, parts, signatures } = read(state, chunk, candidate, messages)
  const after = {
    hasBegun: true,
    usage: chunk.usageMetadata ?? state.usage,
    model: Json.text(chunk.modelVersion) ?? state.model,
    reason: finishOf(candidate) ?? state.reason,
    calls,
    signatures
  }
  return { state: after, parts, failure: malformed(candidate) ?? blocked(Json.fields(chunk.promptFeedback)) }
}

/** How `generateContent` streams an answer. */
export const protocolOf = ({ messages, model }: Asked): Protocol<unknown, State> => ({
  initial,
  next: (state, event) => next(state, event, messages),
  finishReason: ({ calls, reason }) => (reason === "stop" && calls > 0 ? "tool-calls" : reason),
  usage: usageOf,
  model: (state) => state.model,
  echo: ({ calls, signatures }) => (calls === 0 ? undefined : Echo.write(signatures, model)),
  incomplete
})
