/** Converts a worker's request to the body of a Messages API call. */
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

/** Which part of a prompt is cached by the vendor, and for how long. */
export interface PromptCache {
  readonly prefix: "system" | "conversation" | "none"
  readonly keepFor: "5m" | "1h"
}

/** The model and settings for which a request is converted. */
export interface Target extends Model {
  /** Output limit for requests without one; the API requires a limit. */
  readonly maxTokens: number
  readonly promptCache: PromptCache
  /** Fields added to every body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The body of a call. */
export type Body = MessageCreateParamsStreaming & Settings

type Markable = Exclude<ContentBlockParam, ThinkingBlockParam | RedactedThinkingBlockParam> | Tool

/** Whether a block can have a cache marker; thinking cannot. */
const isMarkable = (block: ContentBlockParam): block is Exclude<Markable, Tool> =>
  block.type !== "thinking" && block.type !== "redacted_thinking"

const mark = (block: Markable | undefined, { keepFor }: PromptCache) => {
  if (block === undefined) return
  block.cache_control = keepFor === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: keepFor }
}

/**
 * Returns the prompt with cache markers. The cache stores everything up to a marked block: tools first, then the system
 * text, which many calls share. Later calls may share all of a conversation except its last block.
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
 * Returns the reasoning setting of a request. A thinking model cannot be forced to call a tool. If a call is forced and
 * the model can turn thinking off, the tool choice is treated as a demand and reasoning as a preference.
 */
const reasoningOf = ({ reasoning, toolChoice }: WorkerRequest, target: Target): WorkerRequest["reasoning"] => {
  const isForced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none"
  if (!isForced || !target.omitUnsupported || target.capabilities.off === "none") return reasoning
  if (reasoning === undefined || reasoning.type === "off") return reasoning
  target.onNotice?.(`reasoning: ${target.model} accepts a forced tool call only without reasoning; it was left out`)
  return undefined
}

const bodyOf = (given: WorkerRequest, target: Target): Body => {
  const request = { ...given, reasoning: reasoningOf(given, target) }
  const maxTokens = request.maxOutputTokens ?? target.maxTokens
  const settings = settingsOf(target, request, maxTokens)
  if ((request.tools ?? []).length > 0) checkChoice(target, request.toolChoice, settings)
  // The SDK's types do not permit undefined parameters.
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

/** Returns the body for a streamed call, or the reason why the model does not support the request. */
export const toBody = (request: WorkerRequest, target: Target): Result.Result<Body, WorkerErrorReason> => {
  try {
    return Result.succeed(bodyOf(request, target))
  } catch (error) {
    if (error instanceof VendorError.Failure) return Result.fail(error.reason)
    throw error
  }
}
