/** Turns the events of the Responses API into parts. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import { reasonOfObject } from "./errors.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  /** The last event's response, once it has come. */
  readonly last: Json.Fields | undefined
}

const nothing: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: nothing })

const said = (state: State, type: "text" | "reasoning", delta: unknown): Step<State> => {
  const text = Json.said(delta, "delta")
  return text === "" ? silent(state) : { state, parts: [{ type, text }] }
}

const lastOf = (event: Json.Fields): Json.Fields => Json.object(event.response ?? null, "response")

/** Folds one event. Unknown events are ignored. */
const next = (state: State, event: unknown): Step<State> => {
  const fields = Json.object(event, "an event")
  switch (Json.said(fields.type, "type")) {
    case "response.output_text.delta":
      return said(state, "text", fields.delta)
    case "response.refusal.delta":
      return said(state.isRefused ? state : { ...state, isRefused: true }, "text", fields.delta)
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return said(state, "reasoning", fields.delta)
    case "response.completed":
    case "response.incomplete":
      return silent({ ...state, last: lastOf(fields) })
    case "response.failed": {
      const last = lastOf(fields)
      return { state: { ...state, last }, parts: nothing, failure: reasonOfObject(last.error) }
    }
    case "error":
      return { state, parts: nothing, failure: reasonOfObject(fields.error ?? fields) }
    default:
      return fields.error ? { state, parts: nothing, failure: reasonOfObject(fields.error) } : silent(state)
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: "length",
  content_filter: "refusal"
}

const finishReason = ({ isRefused, last }: State): FinishReason | undefined => {
  if (last === undefined) return undefined
  if (last.status === "incomplete") return Json.meaning(reasons, Json.fields(last.incomplete_details).reason) ?? "other"
  return isRefused ? "refusal" : "stop"
}

/** OpenAI counts cached tokens in the input, and reasoning in the output, as we do. */
const usageOf = ({ last }: State): Usage | undefined => {
  const counts = Json.fields(last?.usage)
  const inputTokens = Json.number(counts.input_tokens)
  const outputTokens = Json.number(counts.output_tokens)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const input = Json.fields(counts.input_tokens_details)
  return defined({
    inputTokens,
    outputTokens,
    cachedInputTokens: Json.number(input.cached_tokens),
    cacheWriteTokens: Json.number(input.cache_write_tokens),
    reasoningTokens: Json.number(Json.fields(counts.output_tokens_details).reasoning_tokens)
  })
}

/** How the Responses API streams. */
export const protocol: Protocol<unknown, State> = {
  initial: { isRefused: false, last: undefined },
  next,
  finishReason,
  usage: usageOf
}
