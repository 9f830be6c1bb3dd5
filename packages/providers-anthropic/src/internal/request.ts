/** A worker's request as a body of the Messages API. */

import type { MessageCreateParamsStreaming, MessageParam, TextBlockParam } from "@anthropic-ai/sdk/resources/messages"
import { defined } from "@divisi/core/Fields"
import { type Message, plain } from "@divisi/core/Message"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Which part of a prompt the vendor should cache, and for how long. */
export interface PromptCache {
  readonly prefix: "system" | "conversation" | "none"
  readonly keepFor: "5m" | "1h"
}

/** The model and settings that a request is converted for. */
export interface Target {
  readonly model: string
  readonly capabilities: Capabilities
  /** The output limit of requests that set none; the API requires one. */
  readonly maxTokens: number
  readonly promptCache: PromptCache
  /** Leaves out settings that the model does not have, instead of refusing them. */
  readonly omitUnsupported: boolean
  /** Added to every body. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The body of a call. The SDK's types leave out the temperature, which the models that take one still have. */
export type Body = MessageCreateParamsStreaming & { readonly temperature?: number | undefined }

type Settings = Partial<Pick<Body, "temperature" | "thinking" | "output_config">>

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const block = (text: string): TextBlockParam => ({ type: "text", text })

/** The vendor refuses empty texts and joins turns of one role, so these become blocks of one turn. */
const turnsOf = (messages: ReadonlyArray<Message>): Array<MessageParam & { content: Array<TextBlockParam> }> => {
  const turns: Array<MessageParam & { content: Array<TextBlockParam> }> = []
  for (const { content, role } of messages.map(plain)) {
    if (role === "system" || content === "") continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(block(content))
    else turns.push({ role, content: [block(content)] })
  }
  return turns
}

const systemOf = (messages: ReadonlyArray<Message>): Array<TextBlockParam> => {
  const texts = messages.map(plain).filter(({ content, role }) => role === "system" && content !== "")
  return texts.length === 0 ? [] : [block(texts.map(({ content }) => content).join("\n\n"))]
}

const mark = (block: TextBlockParam | undefined, { keepFor }: PromptCache) => {
  if (block === undefined) return
  block.cache_control = keepFor === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: keepFor }
}

/**
 * The cache stores everything up to a marked block. Many calls share the system text. A later call may share all but
 * the last turn of a conversation: the last one is the worker's own.
 */
const conversationOf = (messages: ReadonlyArray<Message>, cache: PromptCache) => {
  const system = systemOf(messages)
  const turns = turnsOf(messages)
  if (cache.prefix !== "none") mark(system.at(-1), cache)
  if (cache.prefix === "conversation") {
    const before = turns.flatMap(({ content }) => content).at(-2)
    mark(before, cache)
  }
  return { messages: turns, system: system.length === 0 ? undefined : system }
}

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

const refused = (detail: string): Result.Result<never, WorkerErrorReason> =>
  Result.fail({ _tag: "InvalidRequest", detail })

const unsupported = (target: Target, detail: string): Result.Result<Settings, WorkerErrorReason> =>
  target.omitUnsupported ? Result.succeed({}) : refused(detail)

const effortOf = (target: Target, effort: Extract<Reasoning, { type: "effort" }>["effort"]) => {
  const { capabilities, model } = target
  if (!capabilities.effort) {
    return unsupported(target, `reasoning effort: ${model} takes a budget in tokens instead`)
  }
  if (effort === "minimal") {
    return unsupported(target, `reasoning effort "minimal": ${model} takes the efforts low, medium, high`)
  }
  return Result.succeed({
    output_config: { effort },
    ...(capabilities.thinking === "budget" ? {} : { thinking: { type: "adaptive", display: "summarized" } as const })
  })
}

const budgetOf = (target: Target, tokens: number, maxTokens: number) => {
  const { capabilities, model } = target
  if (capabilities.thinking === "adaptive") {
    return unsupported(target, `reasoning budget: ${model} takes an effort, not a number of tokens`)
  }
  if (tokens < 1024) return refused(`reasoning budget: ${tokens} tokens are less than Anthropic's least, 1024`)
  if (tokens >= maxTokens) {
    return refused(`reasoning budget: ${tokens} tokens do not fit into maxOutputTokens, which is ${maxTokens}`)
  }
  return Result.succeed({ thinking: { type: "enabled", budget_tokens: tokens } as const })
}

const offOf = (target: Target) => {
  const { off } = target.capabilities
  return off === "none"
    ? unsupported(target, `reasoning off: ${target.model} always reasons`)
    : Result.succeed({ thinking: { type: off } })
}

const reasoningOf = (target: Target, reasoning: Reasoning | undefined, maxTokens: number) => {
  if (reasoning === undefined) return Result.succeed({})
  if (reasoning.type === "effort") return effortOf(target, reasoning.effort)
  return reasoning.type === "budget" ? budgetOf(target, reasoning.tokens, maxTokens) : offOf(target)
}

/** 1 is every model's default, so it is not sent; thinking allows no other temperature. */
const temperatureOf = (target: Target, temperature: number | undefined, thinks: boolean) => {
  if (temperature === undefined || temperature === 1) return Result.succeed({})
  if (!target.capabilities.temperature) {
    return unsupported(target, `temperature: ${target.model} takes only its default, 1`)
  }
  if (thinks) return unsupported(target, `temperature: ${target.model} takes one only where reasoning is off`)
  return Result.succeed({ temperature })
}

const settingsOf = (target: Target, request: WorkerRequest, maxTokens: number) =>
  Result.flatMap(
    reasoningOf(target, request.reasoning, maxTokens),
    (reasoning: Settings): Result.Result<Settings, WorkerErrorReason> => {
      const thinks = reasoning.thinking?.type === "adaptive" || reasoning.thinking?.type === "enabled"
      return Result.map(temperatureOf(target, request.temperature, thinks), (temperature) => ({
        ...reasoning,
        ...temperature
      }))
    }
  )

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** The body of a streamed call, or why the model cannot take this request. */
export const toBody = (request: WorkerRequest, target: Target): Result.Result<Body, WorkerErrorReason> => {
  if (request.seed !== undefined && !target.omitUnsupported) {
    return refused("seed: the Messages API has no such parameter")
  }
  const maxTokens = request.maxOutputTokens ?? target.maxTokens
  return Result.map(settingsOf(target, request, maxTokens), (settings) =>
    // The SDK's types have no parameter that is undefined.
    defined({
      model: target.model,
      max_tokens: maxTokens,
      ...conversationOf(request.messages, target.promptCache),
      ...settings,
      stop_sequences: request.stopSequences?.slice(),
      ...target.body,
      stream: true
    })
  )
}
