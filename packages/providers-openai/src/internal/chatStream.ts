/** The chunks of Chat Completions as parts. */
import type { Message } from "@tutti/core/Task"
import type { FinishReason, Usage, WorkerErrorReason, WorkerPart } from "@tutti/core/Worker"
import * as Result from "effect/Result"
import type { ChatCompletionChunk } from "openai/resources/chat/completions"
import type { Dialect } from "./chatRequest.ts"
import { count, cut, estimate, type Protocol, type Step } from "./generate.ts"

/** What must be known at the end. */
interface State {
  readonly isRefused: boolean
  readonly finish: string | undefined
  readonly usage: ReportedUsage | undefined
}

/** The usage of a chunk; DeepSeek counts cached tokens in a field of its own. */
type ReportedUsage = NonNullable<ChatCompletionChunk["usage"]> & { readonly prompt_cache_hit_tokens?: number }

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

/** How one chunk goes on. */
const step = (state: State, chunk: ChatCompletionChunk, { reasoningField, usage }: Dialect): Step<State> => {
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

const usageOf = (usage: ReportedUsage | undefined, messages: ReadonlyArray<Message>, characters: number): Usage =>
  usage === undefined
    ? estimate(messages, characters)
    : {
        inputTokens: usage.prompt_tokens ?? 0,
        outputTokens: usage.completion_tokens ?? 0,
        ...count("cachedInputTokens", usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens),
        ...count("cacheWriteTokens", usage.prompt_tokens_details?.cache_write_tokens),
        ...count("reasoningTokens", usage.completion_tokens_details?.reasoning_tokens)
      }

const end = (
  state: State,
  characters: number,
  messages: ReadonlyArray<Message>
): Result.Result<WorkerPart, WorkerErrorReason> =>
  state.finish === undefined
    ? Result.fail(cut)
    : Result.succeed({
        type: "finish",
        reason: state.isRefused ? "content-filter" : (reasons[state.finish] ?? "other"),
        usage: usageOf(state.usage, messages, characters)
      })

/** How the answer to these messages is read. */
export const protocol = (messages: ReadonlyArray<Message>, dialect: Dialect): Protocol<State, ChatCompletionChunk> => ({
  start: { isRefused: false, finish: undefined, usage: undefined },
  step: (state, chunk) => step(state, chunk, dialect),
  end: (state, characters) => end(state, characters, messages)
})
