/** Builds the response object: the request's settings as interpreted by the server, and the output. */
import { Dialects } from "@divisi/provider-kit"
import { isObject, type JsonObject } from "../wire/Json.ts"
import { type About, type Part, runOf, type SegmentUsage } from "../wire/Wire.ts"

/** The current state of a response. */
export interface Progress {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"
  readonly output: ReadonlyArray<JsonObject>
  readonly finish?: Extract<Part, { readonly type: "finish" }> | undefined
  readonly incomplete?:
    | (typeof Dialects.Endings.incompleteWord)[keyof typeof Dialects.Endings.incompleteWord]
    | undefined
  readonly error?: JsonObject | undefined
}

/**
 * Returns the usage of the answer as the Responses API counts it, plus the tokens spent on orchestration and the total
 * cost.
 */
export const usageOf = ({ answer, costUsd, orchestration, unpricedCalls }: SegmentUsage): JsonObject => {
  const own = Dialects.UsageFields.responsesUsage(answer)
  return {
    ...own,
    input_tokens_details: {
      ...own.input_tokens_details,
      orchestration_input_tokens: orchestration.inputTokens,
      orchestration_input_cached_tokens: orchestration.cachedInputTokens ?? 0
    },
    output_tokens_details: {
      ...own.output_tokens_details,
      orchestration_output_tokens: orchestration.outputTokens
    },
    cost_usd: costUsd,
    unpriced_calls: unpricedCalls
  }
}

const toolOf = (tool: unknown): unknown =>
  isObject(tool) && tool.type === "function"
    ? {
        ...tool,
        description: tool.description ?? null,
        parameters: tool.parameters ?? null,
        strict: tool.strict ?? null
      }
    : tool

const textOf = (text: unknown): JsonObject => {
  const given: JsonObject = isObject(text) ? text : {}
  const format = isObject(given.format) ? given.format : { type: "text" }
  return {
    ...given,
    format: format.type === "json_schema" ? { description: "", ...format, strict: format.strict ?? false } : format
  }
}

const reasoningOf = (reasoning: unknown): JsonObject => {
  const given: JsonObject = isObject(reasoning) ? reasoning : {}
  return { ...given, effort: given.effort ?? null, summary: given.summary ?? null }
}

/** Returns the request fields that a response repeats. */
const asked = (body: JsonObject): JsonObject => ({
  previous_response_id: body.previous_response_id ?? null,
  instructions: body.instructions ?? null,
  tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
  tool_choice: body.tool_choice ?? "auto",
  truncation: body.truncation ?? "disabled",
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  text: textOf(body.text),
  top_p: body.top_p ?? 1,
  presence_penalty: body.presence_penalty ?? 0,
  frequency_penalty: body.frequency_penalty ?? 0,
  top_logprobs: body.top_logprobs ?? 0,
  temperature: body.temperature ?? 1,
  reasoning: reasoningOf(body.reasoning),
  max_output_tokens: body.max_output_tokens ?? null,
  max_tool_calls: body.max_tool_calls ?? null,
  store: body.store ?? true,
  background: body.background ?? false,
  service_tier: "default",
  metadata: body.metadata ?? {},
  safety_identifier: body.safety_identifier ?? null,
  prompt_cache_key: body.prompt_cache_key ?? null,
  access_programs: null
})

/** Builds the response object. */
export const make = (about: About, { error, finish, incomplete, output, status }: Progress): JsonObject => ({
  id: `resp_${about.id}`,
  object: "response",
  created_at: about.createdAt,
  completed_at:
    status === "completed" && finish !== undefined ? about.createdAt + Math.round(finish.durationMillis / 1000) : null,
  status,
  incomplete_details: incomplete === undefined ? null : { reason: incomplete },
  model: about.request.model,
  ...asked(about.body),
  output,
  error: error ?? null,
  usage: finish === undefined ? null : usageOf(finish.usage),
  ...(finish && { divisi: runOf(about, finish) })
})
