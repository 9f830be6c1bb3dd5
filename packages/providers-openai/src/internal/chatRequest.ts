/** A request as a body of Chat Completions, in a server's dialect. */

import { defined } from "@divisi/core/Fields"
import { plain } from "@divisi/core/Message"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions"
import type { Capabilities } from "../capabilities.ts"
import type { WorkerOptions } from "../options.ts"
import { check, type Defaults, merge } from "./settings.ts"

/** The ways in which servers differ. */
export interface Dialect {
  /**
   * How usage is reported: in a last chunk when the request asks for it (`stream-options`), without asking (`final`),
   * or not at all (`none`): then it is estimated.
   */
  readonly usage: "stream-options" | "final" | "none"
  /** The field of a delta that holds reasoning; none when absent. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | undefined
  /** The role of system text. */
  readonly systemRole: "system" | "developer"
  /** The field of the output limit. */
  readonly outputLimit: "max_tokens" | "max_completion_tokens"
  /** How reasoning is set; settings without a field here are rejected. */
  readonly reasoningFields?: ReasoningFields | undefined
}

/** How a server's reasoning is set: by `reasoning_effort`, by OpenRouter's `reasoning`, or by a switch. */
export interface ReasoningFields {
  readonly effort?: "reasoning_effort" | "reasoning" | undefined
  readonly budget?: "reasoning" | undefined
  readonly off?: "reasoning_effort" | "reasoning" | "enable_thinking" | "thinking" | undefined
}

type Fields = Readonly<Record<string, unknown>>

const switches: Readonly<Record<NonNullable<ReasoningFields["off"]>, Fields>> = {
  reasoning_effort: { reasoning_effort: "none" },
  reasoning: { reasoning: { enabled: false } },
  enable_thinking: { chat_template_kwargs: { enable_thinking: false } },
  thinking: { thinking: { type: "disabled" } }
}

/** The reasoning settings that this server does not have. */
const missingOf = ({ budget, effort, off }: ReasoningFields) => {
  const why = "the server has no such parameter"
  return {
    budget: budget === undefined ? `${why}; give an effort, not a number of tokens` : undefined,
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

/** The body for the server, or the setting that it does not have. */
export const toBody = (
  model: string,
  request: WorkerRequest,
  options: WorkerOptions & Dialect & { readonly store?: boolean | undefined },
  capabilities: Capabilities
): Result.Result<ChatCompletionCreateParamsStreaming, WorkerErrorReason> => {
  const fields = options.reasoningFields ?? {}
  const target = { model, capabilities, missing: missingOf(fields), omitUnsupported: options.unsupported === "omit" }
  return Result.map(
    check(target, merge(options, request)),
    (settings) =>
      defined({
        model,
        messages: request.messages.map(plain).map(({ content, role }) => ({
          role: role === "system" ? options.systemRole : role,
          content
        })),
        stream: true,
        stream_options: options.usage === "stream-options" ? { include_usage: true } : undefined,
        store: options.store,
        [options.outputLimit]: settings.maxOutputTokens,
        temperature: settings.temperature,
        seed: settings.seed,
        stop: settings.stopSequences?.slice(),
        ...reasoningOf(settings, fields),
        ...options.body
      }) as ChatCompletionCreateParamsStreaming
  )
}
