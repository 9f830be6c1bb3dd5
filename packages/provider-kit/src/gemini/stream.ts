/** Answers of `generateContent`, piece by piece, as parts of a worker's answer: a pure fold. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import type { Protocol, Step } from "../VendorStream.ts"
import { type ErrorBody, reasonOf } from "./errors.ts"

/** Tokens so far. Google counts thoughts, and prompts of tools, beside the others. */
interface UsageMetadata {
  readonly promptTokenCount?: number | undefined
  readonly cachedContentTokenCount?: number | undefined
  readonly candidatesTokenCount?: number | undefined
  readonly thoughtsTokenCount?: number | undefined
  readonly toolUsePromptTokenCount?: number | undefined
}

interface Candidate {
  readonly content?:
    | {
        readonly parts?:
          | ReadonlyArray<{ readonly text?: string | undefined; readonly thought?: boolean | undefined }>
          | undefined
      }
    | undefined
  readonly finishReason?: string | undefined
}

/** A piece of an answer, as far as it is read. */
export interface Chunk {
  readonly candidates?: ReadonlyArray<Candidate> | undefined
  readonly promptFeedback?:
    | { readonly blockReason?: string | undefined; readonly blockReasonMessage?: string | undefined }
    | undefined
  readonly usageMetadata?: UsageMetadata | undefined
  readonly error?: ErrorBody | undefined
}

/** The state of an answer so far. */
export interface State {
  readonly hasBegun: boolean
  /** Present once the vendor has said why the answer ends. */
  readonly reason?: FinishReason | undefined
  readonly usage?: UsageMetadata | undefined
}

/** What the answer has used so far; `undefined` until the vendor reports it. */
const usageOf = ({ usage }: State): Usage | undefined => {
  if (usage?.promptTokenCount === undefined) return undefined
  const { cachedContentTokenCount: cached, thoughtsTokenCount: thoughts } = usage
  return defined({
    inputTokens: usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0),
    outputTokens: (usage.candidatesTokenCount ?? 0) + (thoughts ?? 0),
    cachedInputTokens: cached,
    reasoningTokens: thoughts
  })
}

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter"
}

const none: ReadonlyArray<never> = []

const partsOf = (candidate: Candidate | undefined): ReadonlyArray<WorkerPart> => {
  const parts: Array<WorkerPart> = []
  for (const { text, thought } of candidate?.content?.parts ?? none) {
    if (text !== undefined && text !== "") parts.push({ type: thought === true ? "reasoning" : "text", text })
  }
  return parts
}

const blocked = ({ blockReason, blockReasonMessage }: NonNullable<Chunk["promptFeedback"]>): WorkerErrorReason => ({
  _tag: "ContentFiltered",
  detail: `the prompt was blocked: ${blockReasonMessage ?? blockReason}`
})

/** Updates what a piece reports, and leaves the rest. */
const read = (
  state: State,
  { usageMetadata: usage = state.usage }: Chunk,
  reason: FinishReason | undefined
): State => ({
  hasBegun: true,
  usage,
  reason
})

/** Folds one piece. Unknown parts and fields are ignored. */
const next = (state: State, chunk: Chunk): Step<State> => {
  if (chunk.error !== undefined) return { state, parts: none, failure: reasonOf({ body: chunk.error }) }
  const candidate = chunk.candidates?.[0]
  const finish = candidate?.finishReason
  const after = read(state, chunk, finish === undefined ? state.reason : (reasons[finish] ?? "other"))
  const parts = partsOf(candidate)
  const feedback = chunk.promptFeedback
  return feedback?.blockReason === undefined
    ? { state: after, parts }
    : { state: after, parts, failure: blocked(feedback) }
}

const incomplete = ({ hasBegun }: State): WorkerErrorReason =>
  hasBegun
    ? { _tag: "Network", detail: "the stream ended before the answer did" }
    : { _tag: "Malformed", detail: "what came is no answer of generateContent" }

/** How `generateContent` streams. */
export const protocol: Protocol<Chunk, State> = {
  initial: { hasBegun: false },
  next,
  finishReason: ({ reason }) => reason,
  usage: usageOf,
  incomplete
}
