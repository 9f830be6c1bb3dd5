/** A request as a body of the Responses API. */

import { defined } from "@divisi/core/Fields"
import { plain } from "@divisi/core/Message"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses"
import type { Capabilities } from "../capabilities.ts"
import type { OpenAiOptions } from "../options.ts"
import { check, type Defaults, merge } from "./settings.ts"

/** Settings that the Responses API has no parameter for, whatever the model. */
export const lacking: Partial<Capabilities> = { seed: false, maxStopSequences: 0 }

const missing = { budget: "OpenAI takes an effort, not a number of tokens" }

const reasoningOf = (
  { reasoning }: Defaults,
  { efforts }: Capabilities,
  summary: "auto" | "concise" | "detailed" | undefined
) => {
  const effort = reasoning?.type === "effort" ? reasoning.effort : reasoning?.type === "off" ? "none" : undefined
  const fields = defined({ effort, summary: efforts.length > 0 ? summary : undefined })
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** The body for the API, or the setting that it does not have. */
export const toBody = (
  model: string,
  request: WorkerRequest,
  options: OpenAiOptions & { readonly reasoningSummary?: "auto" | "concise" | "detailed" | undefined },
  capabilities: Capabilities
): Result.Result<ResponseCreateParamsStreaming, WorkerErrorReason> =>
  Result.map(
    check({ model, capabilities, missing, omitUnsupported: options.unsupported === "omit" }, merge(options, request)),
    (settings) => {
      const systemRole = options.systemRole ?? "developer"
      return defined({
        model,
        input: request.messages
          .map(plain)
          .map(({ content, role }) => ({ role: role === "system" ? systemRole : role, content })),
        stream: true,
        store: options.store ?? false,
        max_output_tokens: settings.maxOutputTokens,
        temperature: settings.temperature,
        reasoning: reasoningOf(settings, capabilities, options.reasoningSummary),
        ...options.body
      }) as ResponseCreateParamsStreaming
    }
  )
