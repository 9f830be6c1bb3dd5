/**
 * Converts a worker's request to call options for an AI SDK model, as a pure function. Fails for a setting that cannot
 * be sent.
 */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions
} from "@ai-sdk/provider"
import type { Tool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import * as Result from "effect/Result"
import { promptOf, type Target } from "./prompt.ts"

/** The worker's defaults for requests. */
export interface Defaults {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
  readonly providerOptions?: SharedV4ProviderOptions | undefined
  readonly reasoningOptions?: ((reasoning: Reasoning) => SharedV4ProviderOptions | undefined) | undefined
  readonly parallelOptions?: ((parallelToolCalls: boolean) => SharedV4ProviderOptions | undefined) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Merges the provider options of each vendor. */
const merged = (left: SharedV4ProviderOptions | undefined, right: SharedV4ProviderOptions | undefined) => {
  if (left === undefined || right === undefined) return left ?? right
  const vendors = Object.keys({ ...left, ...right })
  return Object.fromEntries(vendors.map((vendor) => [vendor, { ...left[vendor], ...right[vendor] }]))
}

/**
 * Called with a notice about a preference that is mapped or omitted; undefined if unsupported preferences are rejected.
 */
type Omit = ((notice: string) => void) | undefined

type Sent = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">

const reasoningOf = (
  version: "v3" | "v4",
  { providerOptions, reasoningOptions }: Defaults,
  reasoning: Reasoning | undefined,
  omit: Omit
): Result.Result<Sent, WorkerErrorReason> => {
  const own = reasoning === undefined ? undefined : reasoningOptions?.(reasoning)
  const all = merged(providerOptions, own)
  // The SDK's types do not permit undefined options, here and below.
  const sent: Sent = defined({ providerOptions: all })
  if (reasoning === undefined || own !== undefined) return Result.succeed(sent)
  if (version === "v4" && reasoning.type === "effort") return Result.succeed({ ...sent, reasoning: reasoning.effort })
  if (version === "v4" && reasoning.type === "off") return Result.succeed({ ...sent, reasoning: "none" })
  if (omit !== undefined) {
    const effort =
      version === "v4" &&
      reasoning.type === "budget" &&
      Dialects.Reasoning.effortOf(reasoning.tokens, Dialects.Reasoning.efforts)
    omit(
      `reasoning ${reasoning.type}: the AI SDK does not have this setting; it was ${effort ? `replaced by "${effort}"` : "left out"}`
    )
    return Result.succeed(effort ? { ...sent, reasoning: effort } : sent)
  }
  const name = { budget: "budget in tokens", effort: "effort", off: '"off"' }[reasoning.type]
  const detail =
    `reasoning: version ${version.slice(1)} of the AI SDK's specification has no reasoning ${name}; ` +
    'define with "reasoningOptions" how this vendor writes it'
  return Result.fail({ _tag: "InvalidRequest", detail })
}

const toolOf = ({ description, input, name, strict }: Tool.ToolDefinition): LanguageModelV4FunctionTool =>
  defined({ type: "function", name, description, inputSchema: input, strict })

const choiceOf = (choice: WorkerRequest["toolChoice"]): LanguageModelV4ToolChoice | undefined => {
  if (choice === undefined) return undefined
  return typeof choice === "object" ? { type: "tool", toolName: choice.name } : { type: choice }
}

const formatOf = (output: Tool.OutputFormat | undefined): LanguageModelV4CallOptions["responseFormat"] => {
  if (output === undefined || output.type === "text") return undefined
  if (output.type === "json") return { type: "json" }
  const { description, name, schema } = output
  return defined({ type: "json", name, description, schema })
}

/** The AI SDK's specification has no setting for parallel calls. */
const parallelOf = (
  { parallelOptions }: Defaults,
  { parallelToolCalls, tools = [] }: WorkerRequest,
  omit: Omit
): Result.Result<SharedV4ProviderOptions | undefined, WorkerErrorReason> => {
  if (parallelToolCalls === undefined || tools.length === 0) return Result.succeed(undefined)
  const own = parallelOptions?.(parallelToolCalls)
  // Models can call several tools in parallel unless this is turned off.
  if (own !== undefined || parallelToolCalls) return Result.succeed(own)
  if (omit !== undefined) {
    omit("parallelToolCalls off: the AI SDK does not have this setting; it was left out")
    return Result.succeed(undefined)
  }
  const detail =
    "parallelToolCalls: the AI SDK's specification does not have this setting; " +
    'define with "parallelOptions" how this vendor writes it'
  return Result.fail({ _tag: "InvalidRequest", detail })
}

const noUrl: WorkerErrorReason = { _tag: "InvalidRequest", detail: "the URL of an image or a file is not valid" }

/**
 * Returns the call options for a request: its settings, then the worker's defaults. Options set by neither are not
 * sent.
 */
export const callOptions = (
  target: Target,
  defaults: Defaults,
  request: WorkerRequest,
  omit: Omit
): Result.Result<LanguageModelV4CallOptions, WorkerErrorReason> =>
  Result.gen(function* () {
    const parallel = yield* parallelOf(defaults, request, omit)
    const reasoning = yield* reasoningOf(target.version, defaults, request.reasoning ?? defaults.reasoning, omit)
    const { messages, output, seed, stopSequences, toolChoice, tools = [] } = request
    const prompt = yield* Result.try({ try: () => promptOf(messages, target), catch: () => noUrl })
    return defined({
      prompt,
      ...reasoning,
      providerOptions: merged(reasoning.providerOptions, parallel),
      maxOutputTokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
      temperature: request.temperature ?? defaults.temperature,
      seed,
      stopSequences: stopSequences?.slice(),
      tools: tools.length === 0 ? undefined : tools.map(toolOf),
      toolChoice: tools.length === 0 ? undefined : choiceOf(toolChoice),
      responseFormat: formatOf(output),
      headers: defaults.headers && { ...defaults.headers }
    })
  })
