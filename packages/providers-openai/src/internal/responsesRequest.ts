/** Converts a request to the body of a Responses API call. */

import type { Tool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses"
import type { Capabilities } from "../capabilities.ts"
import type { OpenAiOptions } from "../options.ts"
import { checkAbilities } from "./abilities.ts"
import { inputOf } from "./responsesInput.ts"
import { check, type Defaults, merge } from "./settings.ts"

/** Settings for which the Responses API has no parameter, regardless of the model. */
export const lacking: Partial<Capabilities> = { seed: false, maxStopSequences: 0 }

const missing = { budget: "OpenAI accepts an effort, not a number of tokens" }

const reasoningOf = (
  { reasoning }: Defaults,
  { efforts }: Capabilities,
  summary: "auto" | "concise" | "detailed" | undefined
) => {
  const effort = reasoning?.type === "effort" ? reasoning.effort : reasoning?.type === "off" ? "none" : undefined
  const fields = defined({ effort, summary: efforts.length > 0 ? summary : undefined })
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** In this API, `null` selects the default for `strict`. */
const toolOf = ({ description, input, name, strict }: Tool.ToolDefinition) =>
  defined({ type: "function", name, description, parameters: input, strict: strict ?? null })

const choiceOf = (choice: Tool.ToolChoice | undefined) =>
  typeof choice === "object" ? { type: "function", name: choice.name } : choice

/** Requests encrypted reasoning if answers are not stored, so that it can be sent back with tool results. */
const includedOf = ({ store = false }: OpenAiOptions, { encryptedReasoning }: Capabilities) =>
  encryptedReasoning && !store ? ["reasoning.encrypted_content"] : undefined

/** Returns the tool fields. Without tools, there is neither a tool choice nor reasoning to send back. */
const toolsOf = (
  { parallelToolCalls, toolChoice, tools = [] }: WorkerRequest,
  options: OpenAiOptions,
  capabilities: Capabilities
) =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(toolOf),
        tool_choice: choiceOf(toolChoice),
        parallel_tool_calls: parallelToolCalls,
        include: includedOf(options, capabilities)
      }

const formatOf = (output: Tool.OutputFormat | undefined) => {
  if (output?.type === "json") return { format: { type: "json_object" } }
  if (output?.type !== "json-schema") return undefined
  const { description, name, schema, strict = true } = output
  return { format: defined({ type: "json_schema", name, description, schema, strict }) }
}

/** Returns the body for the API, or the unsupported setting. */
export const toBody = (
  model: string,
  request: WorkerRequest,
  options: OpenAiOptions & {
    readonly reasoningSummary?: "auto" | "concise" | "detailed" | undefined
    readonly background?: boolean | undefined
  },
  capabilities: Capabilities,
  omit?: (notice: string) => void
): Result.Result<ResponseCreateParamsStreaming, WorkerErrorReason> =>
  Result.gen(function* () {
    yield* checkAbilities(model, request, capabilities)
    const target = { model, capabilities, missing, omit }
    const settings = yield* check(target, merge(options, request))
    return defined({
      model,
      input: inputOf(request.messages, model, options.systemRole ?? "developer"),
      stream: true,
      store: options.store ?? false,
      max_output_tokens: settings.maxOutputTokens,
      temperature: settings.temperature,
      ...toolsOf(request, options, capabilities),
      text: formatOf(request.output),
      reasoning: reasoningOf(settings, capabilities, options.reasoningSummary),
      background: options.background === true ? true : undefined,
      ...options.body
    }) as ResponseCreateParamsStreaming
  })
