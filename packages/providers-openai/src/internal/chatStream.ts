/** Turns the chunks of Chat Completions into parts. */

import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import * as Json from "@divisi/provider-kit/VendorJson"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import type { Dialect } from "./chatRequest.ts"
import { reasonOfObject } from "./errors.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  readonly finish: string | undefined
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

/** Folds one chunk. */
const next = (state: State, event: unknown, dialect: Dialect): Step<State> => {
  const chunk = Json.object(event, "an event")
  if (chunk.error) return { state, parts: nothing, failure: reasonOfObject(chunk.error) }
  const choice = Json.object(Json.array(chunk.choices ?? undefined, "choices")[0], "a choice")
  const delta = Json.object(choice.delta, "delta")
  const parts = partsOf(delta, dialect.reasoningField)
  const reported = dialect.usage === "none" ? undefined : chunk.usage
  const finish = Json.said(choice.finish_reason, "finish_reason")
  const isRefused = Boolean(delta.refusal)
  if (!reported && finish === "" && !isRefused) return { state, parts }
  return {
    state: {
      isRefused: state.isRefused || isRefused,
      finish: finish === "" ? state.finish : finish,
      usage: reported ?? state.usage
    },
    parts
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  // Together and others: the model's end-of-sequence token.
  eos: "stop",
  length: "length",
  content_filter: "refusal"
}

const finishReason = ({ finish, isRefused }: State): FinishReason | undefined => {
  if (finish === undefined) return undefined
  return isRefused ? "refusal" : (Json.meaning(reasons, finish) ?? "other")
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
  initial: { isRefused: false, finish: undefined, usage: undefined },
  next: (state, event) => next(state, event, dialect),
  finishReason,
  usage: usageOf
})
