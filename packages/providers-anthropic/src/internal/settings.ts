/** Converts the settings of a request to those that the model supports. */

import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema"
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages"
import type { Tool } from "@divisi/core"
import type { Reasoning, WorkerRequest } from "@divisi/core/Worker"
import { Dialects, VendorError } from "@divisi/provider-kit"
import type { Capabilities } from "../capabilities.ts"

/** The model for which a request is converted. */
export interface Model {
  readonly model: string
  readonly capabilities: Capabilities
  /** Whether unsupported settings are replaced or omitted instead of failing the request. */
  readonly omitUnsupported: boolean
  /** Called with the name of each field that was replaced or omitted. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** The SDK's types omit the temperature, which some models still support. */
export type Settings = Pick<MessageCreateParamsStreaming, "thinking" | "output_config"> & {
  readonly temperature?: number | undefined
}

/** Returns the failure for a request that cannot be sent. */
export const refused = (detail: string): VendorError.Failure =>
  new VendorError.Failure({ _tag: "InvalidRequest", detail })

const nothing: Settings = {}

/** Replaces a setting (by default with nothing), or rejects it. */
export const unsupported = (
  { omitUnsupported, onNotice }: Model,
  detail: string,
  instead: Settings = nothing
): Settings => {
  if (!omitUnsupported) throw refused(detail)
  onNotice?.(`${detail}; it was ${instead === nothing ? "left out" : `replaced by ${JSON.stringify(instead)}`}`)
  return instead
}

const knownEfforts = ["low", "medium", "high"] as const

/** Anthropic's minimum thinking budget, in tokens. */
const leastBudget = 1024

const enabled = (tokens: number | undefined): Settings =>
  tokens === undefined ? nothing : { thinking: { type: "enabled", budget_tokens: tokens } }

/** Converts an effort to one that the model supports. */
const withEffort = ({ capabilities }: Model, effort: (typeof knownEfforts)[number]): Settings => {
  const output_config = { effort }
  return capabilities.thinking === "budget"
    ? { output_config }
    : { output_config, thinking: { type: "adaptive", display: "summarized" } }
}

const effortOf = (target: Model, effort: Dialects.Reasoning.Effort, maxTokens: number): Settings => {
  const { capabilities, model } = target
  if (!capabilities.effort) {
    const tokens = Dialects.Reasoning.fitted(Dialects.Reasoning.budgetOf[effort], leastBudget, maxTokens - 1)
    return unsupported(target, `reasoning effort: ${model} accepts a budget in tokens instead`, enabled(tokens))
  }
  return effort === "minimal"
    ? unsupported(
        target,
        `reasoning effort "minimal": ${model} accepts the efforts low, medium, high`,
        withEffort(target, "low")
      )
    : withEffort(target, effort)
}

const budgetOf = (target: Model, tokens: number, maxTokens: number): Settings => {
  const { capabilities, model } = target
  if (capabilities.thinking === "adaptive") {
    const effort = Dialects.Reasoning.effortOf(tokens, knownEfforts) as (typeof knownEfforts)[number]
    const instead = capabilities.effort ? withEffort(target, effort) : nothing
    return unsupported(target, `reasoning budget: ${model} accepts an effort, not a number of tokens`, instead)
  }
  const instead = enabled(Dialects.Reasoning.fitted(tokens, leastBudget, maxTokens - 1))
  if (tokens < leastBudget) {
    return unsupported(target, `reasoning budget: ${tokens} tokens are below Anthropic's minimum of 1024`, instead)
  }
  return tokens < maxTokens
    ? enabled(tokens)
    : unsupported(
        target,
        `reasoning budget: ${tokens} tokens do not fit into maxOutputTokens, which is ${maxTokens}`,
        instead
      )
}

const reasoningOf = (target: Model, reasoning: Reasoning | undefined, maxTokens: number): Settings => {
  const { off } = target.capabilities
  switch (reasoning?.type) {
    case undefined:
      return nothing
    case "effort":
      return effortOf(target, reasoning.effort, maxTokens)
    case "budget":
      return budgetOf(target, reasoning.tokens, maxTokens)
    case "off":
      return off === "none"
        ? unsupported(
            target,
            `reasoning off: ${target.model} always reasons`,
            target.capabilities.effort ? { output_config: { effort: "low" } } : nothing
          )
        : { thinking: { type: off } }
  }
}

/**
 * Returns the temperature. 1 is the default for all models, so it is not sent; no other value is allowed while
 * thinking.
 */
const temperatureOf = (target: Model, temperature: number | undefined, thinks: boolean): Settings => {
  if (temperature === undefined || temperature === 1) return nothing
  if (!target.capabilities.temperature) {
    return unsupported(target, `temperature: ${target.model} accepts only its default, 1`)
  }
  if (thinks) return unsupported(target, `temperature: ${target.model} accepts one only if reasoning is off`)
  // OpenAI's range extends to 2.
  if (temperature > 1) return unsupported(target, `temperature: ${target.model} accepts at most 1, its default`)
  return { temperature }
}

/** Whether a schema has objects with arbitrary properties, which the vendor's JSON output does not support. */
const isOpen = (schema: unknown): boolean =>
  typeof schema === "object" &&
  schema !== null &&
  Object.entries(schema).some(([key, value]) => (key === "additionalProperties" ? value !== false : isOpen(value)))

/** Moves constraints that the vendor cannot enforce into the schema's descriptions. */
const loosened = (schema: Tool.JsonSchema): Tool.JsonSchema => {
  if (isOpen(schema))
    throw refused("output json-schema: the Messages API does not support additionalProperties with a schema")
  try {
    return transformJSONSchema(schema)
  } catch {
    throw refused("output json-schema: the Messages API requires a type, an enum or a const at every level of a schema")
  }
}

/** Returns the output format. It is a demand, so it is never omitted. */
const formatOf = (target: Model, output: Tool.OutputFormat | undefined): Settings => {
  if (output === undefined || output.type === "text") return nothing
  if (output.type === "json") throw refused("output json: the Messages API returns JSON only with a schema; add one")
  if (!target.capabilities.jsonSchema) {
    throw refused(
      `output json-schema: ${target.model} does not support schemas; describe the format in the prompt, or use another model`
    )
  }
  const schema = output.strict === false ? loosened(output.schema) : output.schema
  return { output_config: { format: { type: "json_schema", schema } } }
}

/** Whether a request turns thinking on, or its model always thinks. */
const thinksIn = ({ capabilities }: Model, { thinking }: Settings): boolean =>
  thinking === undefined ? capabilities.off === "none" : thinking.type === "adaptive" || thinking.type === "enabled"

/**
 * Rejects a forced tool call if the model thinks, because Anthropic does not support this combination and the call is a
 * demand.
 */
export const checkChoice = (target: Model, choice: Tool.ToolChoice | undefined, settings: Settings): void => {
  if (choice === undefined || choice === "auto" || choice === "none" || !thinksIn(target, settings)) return
  const forced = choice === "required" ? "required" : `"${choice.name}"`
  const { model } = target
  throw refused(
    target.capabilities.off === "none"
      ? `toolChoice ${forced}: ${model} always reasons, so it cannot be forced to call a tool; use "auto", or another model`
      : `toolChoice ${forced}: ${model} can be forced to call a tool only if reasoning is off; turn it off, or use "auto"`
  )
}

/** Returns the settings for a request. Throws a `Failure` for a setting that the model does not support. */
export const settingsOf = (target: Model, request: WorkerRequest, maxTokens: number): Settings => {
  if (request.seed !== undefined) unsupported(target, "seed: the Messages API does not have this parameter")
  const reasoning = reasoningOf(target, request.reasoning, maxTokens)
  const thinks = reasoning.thinking?.type === "adaptive" || reasoning.thinking?.type === "enabled"
  const format = formatOf(target, request.output)
  const output_config = { ...reasoning.output_config, ...format.output_config }
  return {
    ...reasoning,
    ...temperatureOf(target, request.temperature, thinks),
    ...(Object.keys(output_config).length === 0 ? nothing : { output_config })
  }
}
