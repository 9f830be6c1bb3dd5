/** Creates workers from OpenAI models, using the Responses API. */

import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { Dialects, ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type OpenAI from "openai"
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses"
import { capabilitiesOf } from "./capabilities.ts"
import { aboutOpenAi } from "./internal/aboutOpenAi.ts"
import * as Request from "./internal/responsesRequest.ts"
import { overSdk } from "./internal/sdk.ts"
import { makeWorker } from "./internal/worker.ts"
import { type OpenAiOptions, openAiShape } from "./options.ts"

/** Options for a worker that uses the Responses API. */
export interface ResponsesOptions extends OpenAiOptions {
  /** Requests a summary of the reasoning, which is emitted as reasoning parts. Default: no summary. */
  readonly reasoningSummary?: "auto" | "concise" | "detailed" | undefined
  /**
   * Whether OpenAI continues an answer if this process exits. OpenAI then stores the answer (`store`), and a run with a
   * journal fetches it instead of paying for a new one. A call that is stopped intentionally also continues at OpenAI,
   * and is charged. Default: `false`.
   */
  readonly background?: boolean | undefined
}

const table = ProviderOptions.table({ ...openAiShape, reasoningSummary: Options.text, background: Options.flag })

/**
 * Creates a worker from an OpenAI model, using the Responses API. Prefer it to `openaiChat`.
 *
 * **Details**
 *
 * Its id is `openai:<model>`. The Responses API does not support seeds and stop sequences, so a request that sets one
 * fails with `InvalidRequest`. Use `openaiChat` if you need them. Reasoning is set by effort, not by a number of
 * tokens.
 *
 * **Example**
 *
 * ```ts
 * import { openai } from "@divisi/providers-openai"
 *
 * const reasoning = { type: "effort", effort: "low" } as const
 * const worker = openai("gpt-6.1-terra", { apiKey: "sk-…", maxOutputTokens: 4096, reasoning })
 * worker.id // => "openai:gpt-6.1-terra"
 * worker.pricing?.inputPerMillion // => 1
 * ```
 */
export const openai = (model: string, options: ResponsesOptions = {}): Worker => {
  Options.check("openai", options, table)
  const capabilities = { ...capabilitiesOf(model), ...Request.lacking, ...options.capabilities }
  const isBackground = options.background === true
  const batch = VendorBatch.settingsOf("openai", options.batch)
  if (isBackground && batch !== undefined) {
    const detail = '"background" and "batch" cannot be used together. Choose one of them.'
    throw new Options.OptionsError({ what: "openai", detail })
  }
  const stored = isBackground ? { ...options, store: true } : options
  const again = (client: OpenAI, handle: string, call: { readonly signal: AbortSignal }) =>
    client.responses.retrieve(handle, { stream: true }, call)
  return makeWorker(options, aboutOpenAi("openai", model, options, capabilities, batch !== undefined), {
    toBody: (request, omit) => Request.toBody(model, request, stored, capabilities, omit),
    connect: overSdk(
      options,
      (client, body: ResponseCreateParamsStreaming, call) => client.responses.create(body, call),
      { url: "/v1/responses", eventsOf: (response) => [{ type: "response.done", response }] },
      isBackground ? again : undefined
    ),
    batch,
    protocol: Dialects.Responses.protocol(model, isBackground)
  })
}
