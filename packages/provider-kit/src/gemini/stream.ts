/** Answers of `generateContent`, piece by piece, as parts of a worker's answer: a pure fold. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "../VendorJson.ts"
import type { Protocol, Step } from "../VendorStream.ts"
import { reasonOf } from "./errors.ts"

/** The state of an answer so far. */
export interface State {
  readonly hasBegun: boolean
  /** Present once the vendor has said why the answer ends. */
  readonly reason?: FinishReason | undefined
  /** What the vendor has reported last, as it came. */
  readonly usage?: unknown
}

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

const none: ReadonlyArray<never> = []

const partsOf = (candidate: Json.Fields): ReadonlyArray<WorkerPart> => {
  const parts: Array<WorkerPart> = []
  for (const part of Json.array(Json.object(candidate.content, "content").parts, "parts")) {
    const fields = Json.object(part, "a part")
    const text = Json.said(fields.text, "a part's text")
    if (text !== "") parts.push({ type: fields.thought === true ? "reasoning" : "text", text })
  }
  return parts
}

const finishOf = ({ finishReason: reason }: Json.Fields): FinishReason | undefined =>
  Json.said(reason, "finishReason") === "" ? undefined : (Json.meaning(reasons, reason) ?? "other")

const blocked = ({ blockReason, blockReasonMessage }: Json.Fields): WorkerErrorReason | undefined =>
  blockReason === undefined
    ? undefined
    : {
        _tag: "ContentFiltered",
        detail: `the prompt was blocked: ${Json.text(blockReasonMessage) ?? Json.text(blockReason) ?? "no reason given"}`
      }

/** Folds one piece. Unknown parts and fields are ignored. */
const next = (state: State, event: unknown): Step<State> => {
  const chunk = Json.object(event, "an event")
  if (chunk.error !== undefined) return { state, parts: none, failure: reasonOf({ body: chunk.error }) }
  const candidate = Json.object(Json.array(chunk.candidates, "candidates")[0], "a candidate")
  const after = {
    hasBegun: true,
    usage: chunk.usageMetadata ?? state.usage,
    reason: finishOf(candidate) ?? state.reason
  }
  const parts = partsOf(candidate)
  return { state: after, parts, failure: blocked(Json.fields(chunk.promptFeedback)) }
}

const incomplete = ({ hasBegun }: State): WorkerErrorReason =>
  hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer did" }
    : { _tag: "Malformed", detail: "what came is no answer of generateContent" }

/** How `generateContent` streams. */
export const protocol: Protocol<unknown, State> = {
  initial: { hasBegun: false },
  next,
  finishReason: ({ reason }) => reason,
  usage: usageOf,
  incomplete
}
