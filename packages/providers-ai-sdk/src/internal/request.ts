/** Turns a worker's request into call options of an AI SDK model. Pure: a setting that cannot be sent is a failure. */

import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { defined } from "@divisi/core/Fields"
import { type Message, plain } from "@divisi/core/Message"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"

/** What the worker adds to each request. */
export interface Defaults {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
  readonly providerOptions?: SharedV4ProviderOptions | undefined
  readonly reasoningOptions?: ((reasoning: Reasoning) => SharedV4ProviderOptions | undefined) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** One turn, as the AI SDK writes it. */
export const message = (said: Message): LanguageModelV4Message => {
  const { content, role } = plain(said)
  return role === "system" ? { role, content } : { role, content: [{ type: "text", text: content }] }
}

/** Merges the options of each vendor. */
const merged = (left: SharedV4ProviderOptions | undefined, right: SharedV4ProviderOptions | undefined) => {
  if (left === undefined || right === undefined) return left ?? right
  const vendors = Object.keys({ ...left, ...right })
  return Object.fromEntries(vendors.map((vendor) => [vendor, { ...left[vendor], ...right[vendor] }]))
}

type Sent = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">

const reasoningOf = (
  version: "v3" | "v4",
  { providerOptions, reasoningOptions }: Defaults,
  reasoning: Reasoning | undefined
): Result.Result<Sent, WorkerErrorReason> => {
  const own = reasoning === undefined ? undefined : reasoningOptions?.(reasoning)
  const all = merged(providerOptions, own)
  // The SDK's types allow no undefined options, here and below.
  const sent: Sent = defined({ providerOptions: all })
  if (reasoning === undefined || own !== undefined) return Result.succeed(sent)
  if (version === "v4" && reasoning.type === "effort") return Result.succeed({ ...sent, reasoning: reasoning.effort })
  if (version === "v4" && reasoning.type === "off") return Result.succeed({ ...sent, reasoning: "none" })
  const name = { budget: "budget in tokens", effort: "effort", off: '"off"' }[reasoning.type]
  const detail =
    `reasoning: version ${version.slice(1)} of the AI SDK's specification has no reasoning ${name}; ` +
    'say with "reasoningOptions" how this vendor writes it'
  return Result.fail({ _tag: "InvalidRequest", detail })
}

/** The call options of a request: its settings, then the worker's defaults; what neither sets is not sent. */
export const callOptions = (
  version: "v3" | "v4",
  defaults: Defaults,
  request: WorkerRequest
): Result.Result<LanguageModelV4CallOptions, WorkerErrorReason> => {
  const maxOutputTokens = request.maxOutputTokens ?? defaults.maxOutputTokens
  const temperature = request.temperature ?? defaults.temperature
  const { seed, stopSequences } = request
  const prompt = request.messages.map(message)
  return Result.map(reasoningOf(version, defaults, request.reasoning ?? defaults.reasoning), (reasoning) =>
    defined({
      prompt,
      ...reasoning,
      maxOutputTokens,
      temperature,
      seed,
      stopSequences: stopSequences?.slice(),
      headers: defaults.headers && { ...defaults.headers }
    })
  )
}
