/** Converts a request to a Chat Completions body, in a server's dialect. */

import type { Tool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import type { Dialects } from "@divisi/provider-kit"
import * as Result from "effect/Result"
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions"
import type { Capabilities } from "../capabilities.ts"
import type { WorkerOptions } from "../options.ts"
import { checkAbilities } from "./abilities.ts"
import { messagesOf } from "./chatMessages.ts"
import { check, type Defaults, merge } from "./settings.ts"

/** The settings in which servers differ. */
export interface Dialect {
  /**
   * How usage is reported: in the last chunk on request (`stream-options`), always (`final`), or never (`none`), in
   * which case it is estimated.
   */
  readonly usage: "stream-options" | "final" | "none"
  /**
   * The delta field that contains the reasoning, for servers that send several. Default: the first one that is not
   * empty.
   */
  readonly reasoningField?: "reasoning_content" | "reasoning" | undefined
  /**
   * Whether reasoning between `<think>` and `</think>` is extracted from the text, for servers that do not do so.
   * Default: `false`.
   */
  readonly thinkTags?: boolean | undefined
  /** Whether the server ends answers with `[DONE]` and no `finish_reason`. Default: `false`. */
  readonly endsWithDone?: boolean | undefined
  /**
   * The field in which the server expects the reasoning of an assistant turn with tool calls to be sent back: as text
   * (DeepSeek), or as the details that it sent (OpenRouter). Default: reasoning is not sent back.
   */
  readonly reasoningEcho?: "reasoning_content" | "reasoning_details" | undefined
  /** The role of system messages. */
  readonly systemRole: "system" | "developer"
  /** The name of the field for the output limit. */
  readonly outputLimit: "max_tokens" | "max_completion_tokens"
  /** The fields for reasoning settings. Settings without a field here are rejected. */
  readonly reasoningFields?: ReasoningFields | undefined
}

/**
 * The field for each reasoning setting: `reasoning_effort`, OpenRouter's `reasoning`, or a field that turns reasoning
 * off (`enable_thinking`, `thinking`).
 */
export interface ReasoningFields {
  readonly effort?: "reasoning_effort" | "reasoning" | undefined
  readonly budget?: "reasoning" | undefined
  readonly off?: "reasoning_effort" | "reasoning" | "enable_thinking" | "thinking" | undefined
}

/** Returns the options for reading the server's answers. */
export const readingOf = (
  { endsWithDone, reasoningEcho, reasoningField, thinkTags, usage }: Dialect,
  model: string
): Parameters<typeof Dialects.Chat.protocol>[0] => ({
  model,
  readsUsage: usage !== "none",
  reasoningField,
  reasoningEcho,
  thinkTags,
  endsWithDone
})

type Fields = Readonly<Record<string, unknown>>

/** Reasoning fields assumed for an unknown server, which may reject them. */
const assumedFields: ReasoningFields = { effort: "reasoning_effort", off: "reasoning_effort" }

const switches: Readonly<Record<NonNullable<ReasoningFields["off"]>, Fields>> = {
  reasoning_effort: { reasoning_effort: "none" },
  reasoning: { reasoning: { enabled: false } },
  enable_thinking: { chat_template_kwargs: { enable_thinking: false } },
  thinking: { thinking: { type: "disabled" } }
}

/** Returns the reasoning settings that the server does not support. */
const missingOf = ({ budget, effort, off }: ReasoningFields) => {
  const why = "the server does not have this parameter"
  return {
    budget: budget === undefined ? `${why}; set an effort, not a number of tokens` : undefined,
    effort: effort === undefined ? why : undefined,
    off: off === undefined ? why : undefined
  }
}

const reasoningOf = ({ reasoning }: Defaults, { effort, off }: ReasoningFields): Fields => {
  switch (reasoning?.type) {
    case undefined:
      return {}
    case "off":
      return off === undefined ? {} : switches[off]
    case "budget":
      return { reasoning: { max_tokens: reasoning.tokens } }
    case "effort":
      return effort === "reasoning"
        ? { reasoning: { effort: reasoning.effort } }
        : { reasoning_effort: reasoning.effort }
  }
}

const toolOf = ({ description, input, name, strict }: Tool.ToolDefinition): Fields => ({
  type: "function",
  function: defined({ name, description, parameters: input, strict })
})

const choiceOf = (choice: Tool.ToolChoice | undefined): unknown =>
  typeof choice === "object" ? { type: "function", function: { name: choice.name } } : choice

/** Returns the tool fields. Without tools, there is no tool choice. */
const toolsOf = ({ parallelToolCalls, toolChoice, tools = [] }: WorkerRequest): Fields =>
  tools.length === 0
    ? {}
    : { tools: tools.map(toolOf), tool_choice: choiceOf(toolChoice), parallel_tool_calls: parallelToolCalls }

const formatOf = (output: Tool.OutputFormat | undefined): unknown => {
  if (output?.type === "json") return { type: "json_object" }
  if (output?.type !== "json-schema") return undefined
  const { description, name, schema, strict = true } = output
  return { type: "json_schema", json_schema: defined({ name, description, schema, strict }) }
}

const takesNoUrl = "Chat Completions requires the bytes of a file"

/** Returns the body for the server, or the unsupported setting. */
export const toBody = (
  model: string,
  request: WorkerRequest,
  options: WorkerOptions & Dialect & { readonly store?: boolean | undefined },
  capabilities: Capabilities,
  omit?: (notice: string) => void
): Result.Result<ChatCompletionCreateParamsStreaming, WorkerErrorReason> => {
  const fields = options.reasoningFields ?? (omit === undefined ? {} : assumedFields)
  const target = { model, capabilities, missing: missingOf(fields), omit }
  const able = checkAbilities(model, request, capabilities, { fileUrl: takesNoUrl })
  if (Result.isFailure(able)) return Result.fail(able.failure)
  return Result.map(
    check(target, merge(options, request)),
    (settings) =>
      defined({
        model,
        messages: messagesOf(request.messages, options, model),
        stream: true,
        stream_options: options.usage === "stream-options" ? { include_usage: true } : undefined,
        store: options.store,
        [options.outputLimit]: settings.maxOutputTokens,
        temperature: settings.temperature,
        seed: settings.seed,
        stop: settings.stopSequences?.slice(),
        ...toolsOf(request),
        response_format: formatOf(request.output),
        ...reasoningOf(settings, fields),
        ...options.body
      }) as ChatCompletionCreateParamsStreaming
  )
}
