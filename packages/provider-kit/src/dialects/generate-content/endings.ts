/**
 * Finish reasons of `generateContent`, in addition to the shared table. Source:
 * https://ai.google.dev/api/generate-content#FinishReason, read in November 2026.
 *
 * Filtered answers count as refusals, because the same request would be filtered again. If Google could not parse the
 * model's output or gives no reason (`OTHER`), the call fails, because a retry usually succeeds.
 */
import type { FinishReason, WorkerErrorReason } from "@divisi/core/Worker"
import * as Json from "../../VendorJson.ts"
import { type Ending, ending, isOpen, wordIn } from "../endings.ts"
import * as Errors from "../errors.ts"

/** Finish reasons that are failures, with their meaning. */
const failures: Readonly<Record<string, WorkerErrorReason>> = {
  MALFORMED_FUNCTION_CALL: { _tag: "Malformed", detail: "the model returned an invalid function call" },
  UNEXPECTED_TOOL_CALL: { _tag: "Malformed", detail: "the model called a function that was not offered" },
  TOO_MANY_TOOL_CALLS: { _tag: "Malformed", detail: "the model called too many functions in a row" },
  MALFORMED_RESPONSE: { _tag: "Malformed", detail: "the model returned an invalid response" },
  MISSING_THOUGHT_SIGNATURE: { _tag: "InvalidRequest", detail: "the conversation lacks a thought signature" }
}

/** Matches the enumeration values for an unspecified reason. */
const unspecified = /_UNSPECIFIED$/

const failureOf = (word: string): Ending => {
  const failure = Json.meaning(failures, word.toUpperCase())
  if (failure === undefined) return ending(word, "finishReason")
  return { type: "failed", failure: { ...failure, detail: `${failure.detail} (${word})` } }
}

/** The numeric values of Google's enumeration, which some proxies send instead of the names. */
const numbered = ["", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"]

/**
 * Returns the finish reason or the failure of a candidate; `undefined` if it has not finished.
 *
 * @internal
 */
export const endingOf = ({ finishMessage, finishReason }: Json.Fields): Ending | undefined => {
  const word =
    typeof finishReason === "number"
      ? (numbered[finishReason] ?? String(finishReason))
      : wordIn(finishReason, "finishReason")
  if (isOpen(word) || unspecified.test(word)) return undefined
  const end = failureOf(word)
  const said = Json.text(finishMessage)
  if (end.type === "ended" || said === undefined) return end
  return { type: "failed", failure: { ...end.failure, detail: `${end.failure.detail}: ${said}` } }
}

/** Returns the failure for a blocked prompt; `undefined` if the prompt was not blocked. */
export const blockedOf = (promptFeedback: unknown): WorkerErrorReason | undefined => {
  const { blockReason, blockReasonMessage } = Json.fields(promptFeedback)
  if (!Errors.hasInformation(blockReason) || unspecified.test(String(blockReason))) return undefined
  const said = Json.text(blockReasonMessage) ?? Json.text(blockReason) ?? "no reason given"
  return { _tag: "ContentFiltered", detail: `the prompt was blocked: ${said}` }
}

/**
 * Returns the finish reason. An answer with tool calls finishes with `tool-calls`, regardless of the vendor's reason.
 */
export const reasonWith = (reason: FinishReason | undefined, calls: number): FinishReason | undefined =>
  reason === "stop" && calls > 0 ? "tool-calls" : reason
