/** Turns the chunks of Chat Completions into parts. */

import type { Usage } from "@divisi/core/Usage"
import type { FinishReason, WorkerPart } from "@divisi/core/Worker"
import type { Protocol, Step } from "@divisi/provider-kit/VendorStream"
import type { ChatCompletionChunk } from "openai/resources/chat/completions"
import type { Dialect } from "./chatRequest.ts"
import { count } from "./usage.ts"

/** The state of an answer so far. */
interface State {
  readonly isRefused: boolean
  readonly finish: string | undefined
  readonly usage: ReportedUsage | undefined
}

/** The usage of a chunk; DeepSeek counts cached tokens in a field of its own. */
type ReportedUsage = NonNullable<ChatCompletionChunk["usage"]> & {
  readonly prompt_cache_hit_tokens?: number | undefined
}

type Delta = Partial<Record<"content" | "refusal" | "reasoning_content" | "reasoning", string | null>>

const nothing: ReadonlyArray<WorkerPart> = []

const partsOf = (delta: Delta | undefined, field: Dialect["reasoningField"]): ReadonlyArray<WorkerPart> => {
  const reasoning = field === undefined ? undefined : delta?.[field]
  const text = delta?.content || delta?.refusal
  if (!reasoning) return text ? [{ type: "text", text }] : nothing
  return text
    ? [
        { type: "reasoning", text: reasoning },
        { type: "text", text }
      ]
    : [{ type: "reasoning", text: reasoning }]
}

/** Folds one chunk. */
const next = (state: State, chunk: ChatCompletionChunk, { reasoningField, usage }: Dialect): Step<State> => {
  const choice = chunk?.choices?.[0]
  const parts = choice === undefined ? nothing : partsOf(choice.delta as Delta, reasoningField)
  const reported = usage === "none" ? undefined : chunk?.usage
  const finish = choice?.finish_reason ?? undefined
  const isRefused = Boolean(choice?.delta?.refusal)
  if (!reported && finish === undefined && !isRefused) return { state, parts }
  return {
    state: {
      isRefused: state.isRefused || isRefused,
      finish: finish ?? state.finish,
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
  content_filter: "content-filter"
}

const finishReason = ({ finish, isRefused }: State): FinishReason | undefined => {
  if (finish === undefined) return undefined
  return isRefused ? "content-filter" : (reasons[finish] ?? "other")
}

const usageOf = ({ usage }: State): Usage | undefined =>
  usage && {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    ...count("cachedInputTokens", usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens),
    ...count("cacheWriteTokens", usage.prompt_tokens_details?.cache_write_tokens),
    ...count("reasoningTokens", usage.completion_tokens_details?.reasoning_tokens)
  }

/** How a server of this dialect streams. */
export const protocol = (dialect: Dialect): Protocol<ChatCompletionChunk, State> => ({
  initial: { isRefused: false, finish: undefined, usage: undefined },
  next: (state, chunk) => next(state, chunk, dialect),
  finishReason,
  usage: usageOf
})
