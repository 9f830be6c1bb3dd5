/** A worker's request as a body of the Messages API. */
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  RedactedThinkingBlockParam,
  ThinkingBlockParam,
  Tool
} from "@anthropic-ai/sdk/resources/messages"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import { VendorError } from "@divisi/provider-kit"
import * as Result from "effect/Result"
import { systemOf, turnsOf } from "./conversation.ts"
import { checkChoice, type Model, type Settings, settingsOf } from "./settings.ts"
import { toolsOf } from "./tools.ts"

/** Which part of a prompt the vendor should cache, and for how long. */
export interface PromptCache {
  readonly prefix: "system" | "conversation" | "none"
  readonly keepFor: "5m" | "1h"
}

/** The model and settings that a request is converted for. */
export interface Target extends Model {
  /** The output limit of requests that set none; the API requires one. */
  readonly maxTokens: number
  readonly promptCache: PromptCache
  /** Added to every body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The body of a call. */
export type Body = MessageCreateParamsStreaming & Settings

type Markable = Exclude<ContentBlockParam, ThinkingBlockParam | RedactedThinkingBlockParam> | Tool

/** Thinking cannot be marked. */
const isMarkable = (block: ContentBlockParam): block is Exclude<Markable, Tool> =>
  block.type !== "thinking" && block.type !== "redacted_thinking"

const mark = (block: Markable | undefined, { keepFor }: PromptCache) => {
  if (block === undefined) return
  block.cache_control = keepFor === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: keepFor }
}

/**
 * The cache stores everything up to a marked block: first the tools, then the system text, which many calls share. A
 * later call may share all but the last block of a conversation: the last one is the worker's own.
 */
const promptOf = (request: WorkerRequest, target: Target) => {
  const { model, promptCache } = target
  const { tool_choice, tools } = toolsOf(request, target)
  const system = systemOf(request.messages)
  const messages = turnsOf(request.messages, model)
  if (promptCache.prefix !== "none") mark(system.at(-1) ?? tools?.at(-1), promptCache)
  if (promptCache.prefix === "conversation") {
    const before = messages.flatMap(({ content }) => content).slice(0, -1)
    mark(before.findLast(isMarkable), promptCache)
  }
  return { messages, system: system.length === 0 ? undefined : system, tools, tool_choice }
}

/**
 * The reasoning of a request. A model that thinks cannot be made to call a tool: if it is made to, and does not always
 * think, the tool is a demand and the reasoning a preference.
 */
const reasoningOf = ({ reasoning, toolChoice }: WorkerRequest, target: Target): WorkerRequest["reasoning"] => {
  const isForced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none"
  if (!isForced || !target.omitUnsupported || target.capabilities.off === "none") return reasoning
  if (reasoning === undefined || reasoning.type === "off") return reasoning
  target.onNotice?.(`reasoning: ${target.model} accepts a forced tool call only without reasoning: left out`)
  return undefined
}

const bodyOf = (given: WorkerRequest, target: Target): Body => {
  const request = { ...given, reasoning: reasoningOf(given, target) }
  const maxTokens = request.maxOutputTokens ?? target.maxTokens
  const settings = settingsOf(target, request, maxTokens)
  if ((request.tools ?? []).length > 0) checkChoice(target, request.toolChoice, settings)
  // The SDK's types have no parameter that is undefined.
  return defined({
    model: target.model,
    max_tokens: maxTokens,
    ...promptOf(request, target),
    ...settings,
    stop_sequences: request.stopSequences?.length ? request.stopSequences.slice() : undefined,
    ...target.body,
    stream: true
  })
}

/** The body of a streamed call, or why the model cannot take this request. */
export const toBody = (request: WorkerRequest, target: Target): Result.Result<Body, WorkerErrorReason> => {
  try {
    return Result.succeed(bodyOf(request, target))
  } catch (error) {
    if (error instanceof VendorError.Failure) return Result.fail(error.reason)
    throw error
  }
}
