/** Turns the chunks of Chat Completions into parts. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import { type Calls, takeCalls, wholeCalls } from "./chatCalls.ts"
import { type Echo, takeEcho } from "./chatEcho.ts"
import type { Dialect } from "./chatRequest.ts"
import { reasonOfObject } from "./errors.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  readonly calls: Calls
  /** What the server wants back: its reasoning so far. */
  readonly echo: Echo | undefined
  readonly finish: string | undefined
  /** What answers, as the server names it. */
  readonly model: string | undefined
  /** The usage of a chunk, as it came. */
  readonly usage: unknown
}

const nothing: ReadonlyArray<WorkerPart> = []

const partsOf = (delta: Json.Fields, field: Dialect["reasoningField"]): ReadonlyArray<WorkerPart> => {
  const reasoning = field === undefined ? "" : Json.said(delta[field], field)
  const text = Json.said(delta.content, "content") || Json.said(delta.refusal, "refusal")
  if (reasoning === "") return text === "" ? nothing : [{ type: "text", text }]
  return text === ""
    ? [{ type: "reasoning", text: reasoning }]
    : [
        { type: "reasoning", text: reasoning },
        { type: "text", text }
      ]
}

/** An answer that ends in its middle, or that a filter has cut off, calls no tools. */
const hasWholeCalls = (finish: string): boolean => finish !== "length" && finish !== "content_filter"

/** What is known once the answer has ended. */
const ended = ({ calls }: State, finish: string): ReadonlyArray<WorkerPart> => {
  if (finish === "tool_calls" && calls.length === 0) throw unreadable("it asks for tools, and names none")
  return hasWholeCalls(finish) ? wholeCalls(calls) : nothing
}

/** Takes what is rare: the calls of tools, refusals, why an answer ends, what it used, and what the server wants back. */
const rest = (state: State, delta: Json.Fields, finish: string, usage: unknown, dialect: Dialect): Step<State> => {
  const { calls, parts } = takeCalls(state.calls, delta.tool_calls)
  if (calls !== state.calls && state.finish !== undefined) throw unreadable("it asks for a tool after its end")
  const next: State = {
    ...state,
    isRefused: state.isRefused || Boolean(delta.refusal),
    calls,
    echo: takeEcho(state.echo, delta, dialect.reasoningEcho),
    finish: finish === "" ? state.finish : finish,
    usage: usage ?? state.usage
  }
  const isEnd = finish !== "" && state.finish === undefined
  return { state: next, parts: isEnd ? [...parts, ...ended(next, finish)] : parts }
}

/** Each chunk names the model; the first that does is enough. */
const named = (state: State, { model }: Json.Fields): State =>
  state.model !== undefined || typeof model !== "string" || model === "" ? state : { ...state, model }

/** Folds one chunk. */
const next = (before: State, event: unknown, dialect: Dialect): Step<State> => {
  const chunk = Json.object(event, "an event")
  const state = named(before, chunk)
  if (chunk.error) return { state, parts: nothing, failure: reasonOfObject(chunk.error) }
  const choice = Json.object(Json.array(chunk.choices ?? undefined, "choices")[0], "a choice")
  const delta = Json.object(choice.delta, "delta")
  const parts = partsOf(delta, dialect.reasoningField)
  const usage = dialect.usage === "none" ? undefined : chunk.usage
  const finish = Json.said(choice.finish_reason, "finish_reason")
  const isPlain = !usage && finish === "" && !delta.refusal && !delta.tool_calls && !dialect.reasoningEcho
  if (isPlain) return { state, parts }
  const further = rest(state, delta, finish, usage || undefined, dialect)
  return parts.length === 0 ? further : { state: further.state, parts: [...parts, ...further.parts] }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  // Together and others: the model's end-of-sequence token.
  eos: "stop",
  length: "length",
  content_filter: "refusal"
}

/** With the choice of one tool, and on many servers always, an answer that calls a tool ends by itself. */
const finishReason = ({ calls, finish, isRefused }: State): FinishReason | undefined => {
  if (finish === undefined) return undefined
  if (isRefused) return "refusal"
  return calls.length > 0 && hasWholeCalls(finish) ? "tool-calls" : (Json.meaning(reasons, finish) ?? "other")
}

/** DeepSeek counts cached tokens in a field of its own. */
const usageOf = ({ usage }: State): Usage | undefined => {
  const counts = Json.fields(usage)
  const inputTokens = Json.number(counts.prompt_tokens)
  const outputTokens = Json.number(counts.completion_tokens)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const prompt = Json.fields(counts.prompt_tokens_details)
  return defined({
    inputTokens,
    outputTokens,
    cachedInputTokens: Json.number(prompt.cached_tokens ?? counts.prompt_cache_hit_tokens),
    cacheWriteTokens: Json.number(prompt.cache_write_tokens),
    reasoningTokens: Json.number(Json.fields(counts.completion_tokens_details).reasoning_tokens)
  })
}

/** How a server of this dialect streams. */
export const protocol = (dialect: Dialect): Protocol<unknown, State> => ({
  initial: { isRefused: false, calls: [], echo: undefined, finish: undefined, model: undefined, usage: undefined },
  next: (state, event) => next(state, event, dialect),
  finishReason,
  usage: usageOf,
  model: ({ model }) => model,
  echo: ({ calls, echo }) =>
    dialect.reasoningEcho === undefined || echo === undefined || calls.length === 0
      ? undefined
      : { [dialect.reasoningEcho]: echo }
})
