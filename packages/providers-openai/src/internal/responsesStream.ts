/** Turns the events of the Responses API into parts. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import { reasonOfObject } from "./errors.ts"
import * as Calls from "./responsesCalls.ts"
import * as Echo from "./responsesEcho.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  readonly calls: Calls.Calls
  /** Reasoning, and the places of calls beside it. */
  readonly places: ReadonlyArray<Echo.Place>
  /** The last event's response, once it has come. */
  readonly last: Json.Fields | undefined
}

/** Says by what the answer can be asked for again, where the vendor goes on with it in the background. */
const created = (state: State, event: Json.Fields, isBackground: boolean): Step<State> => {
  const id = isBackground ? Json.text(lastOf(event).id) : undefined
  return id === undefined ? silent(state) : { state, parts: [{ type: "handle", handle: id }] }
}

const nothing: ReadonlyArray<WorkerPart> = []

const silent = (state: State): Step<State> => ({ state, parts: nothing })

const said = (state: State, type: "text" | "reasoning", delta: unknown): Step<State> => {
  const text = Json.said(delta, "delta")
  return text === "" ? silent(state) : { state, parts: [{ type, text }] }
}

const lastOf = (event: Json.Fields): Json.Fields => Json.object(event.response ?? null, "response")

/** Takes an output item that has ended. */
const ended = (state: State, { item: value, output_index: index }: Json.Fields): Step<State> => {
  const item = Json.object(value, "an item")
  const place = Echo.placeOf(item)
  const places = place === undefined ? state.places : Echo.withPlace(state.places, place)
  if (!Calls.isCall(item)) return silent(places === state.places ? state : { ...state, places })
  const { calls, parts } = Calls.end(state.calls, index, item)
  return { state: { ...state, calls, places }, parts }
}

/** Takes what is said of a call of a tool. */
const called = (state: State, type: string, event: Json.Fields): Step<State> => {
  const { delta, output_index: index } = event
  if (type === "response.output_item.done") return ended(state, event)
  if (type === "response.output_item.added") {
    const item = Json.object(event.item, "an item")
    return silent(Calls.isCall(item) ? { ...state, calls: Calls.begin(state.calls, index, item) } : state)
  }
  const { calls, parts } = Calls.extend(state.calls, index, delta)
  return { state: { ...state, calls }, parts }
}

/** A whole answer has whole calls. */
const completed = (state: State, fields: Json.Fields): Step<State> => {
  const last = lastOf(fields)
  if (last.status !== "incomplete" && Calls.hasOpen(state.calls)) throw unreadable("a call of a tool has no end")
  return silent({ ...state, last })
}

/** Folds one event. Unknown events are ignored. */
const next = (state: State, event: unknown, isBackground: boolean): Step<State> => {
  const fields = Json.object(event, "an event")
  const type = Json.said(fields.type, "type")
  switch (type) {
    case "response.output_text.delta":
      return said(state, "text", fields.delta)
    case "response.refusal.delta":
      return said(state.isRefused ? state : { ...state, isRefused: true }, "text", fields.delta)
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return said(state, "reasoning", fields.delta)
    case "response.created":
      return created(state, fields, isBackground)
    case "response.completed":
    case "response.incomplete":
      return completed(state, fields)
    case "response.output_item.added":
    case "response.output_item.done":
    case "response.function_call_arguments.delta":
      return called(state, type, fields)
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

const finishReason = ({ calls, isRefused, last }: State): FinishReason | undefined => {
  if (last === undefined) return undefined
  if (last.status === "incomplete") return Json.meaning(reasons, Json.fields(last.incomplete_details).reason) ?? "other"
  if (isRefused) return "refusal"
  return calls.length > 0 ? "tool-calls" : "stop"
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

/** How a model streams through the Responses API. */
export const protocol = (model: string, isBackground: boolean): Protocol<unknown, State> => ({
  initial: { isRefused: false, calls: [], places: [], last: undefined },
  next: (state, event) => next(state, event, isBackground),
  finishReason,
  usage: usageOf,
  model: ({ last }) => Json.text(last?.model),
  echo: ({ places }) => Echo.echoOf(model, places)
})
