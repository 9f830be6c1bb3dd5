/** Creates workers from OpenAI models, using Chat Completions. */

import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { Dialects, ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions"
import { capabilitiesOf } from "./capabilities.ts"
import { aboutOpenAi } from "./internal/aboutOpenAi.ts"
import { type Dialect, readingOf, toBody } from "./internal/chatRequest.ts"
import { overSdk } from "./internal/sdk.ts"
import { makeWorker } from "./internal/worker.ts"
import { type OpenAiOptions, openAiShape } from "./options.ts"

const dialect: Dialect = {
  usage: "stream-options",
  systemRole: "developer",
  outputLimit: "max_completion_tokens",
  reasoningFields: { effort: "reasoning_effort", off: "reasoning_effort" }
}

const table = ProviderOptions.table(openAiShape)

/**
 * Creates a worker from an OpenAI model, using Chat Completions. Use it for seeds and stop sequences, which the
 * Responses API does not support.
 *
 * **Details**
 *
 * Its id is `openai-chat:<model>`, and it shares rate limits with `openai`. This API does not return reasoning.
 *
 * **Example**
 *
 * ```ts
 * import { openaiChat } from "@divisi/providers-openai"
 *
 * const worker = openaiChat("gpt-4.1", { apiKey: "sk-…", temperature: 0, seed: 7, stopSequences: ["END"] })
 * worker.limits?.contextTokens // => 1047576
 * ```
 */
export const openaiChat = (model: string, options: OpenAiOptions = {}): Worker => {
  Options.check("openaiChat", options, table)
  const capabilities = capabilitiesOf(model, options.capabilities)
  const batch = VendorBatch.settingsOf("openaiChat", options.batch)
  const settings = {
    ...options,
    ...dialect,
    systemRole: options.systemRole ?? "developer",
    store: options.store ?? false
  }
  return makeWorker(options, aboutOpenAi("openai-chat", model, options, capabilities, batch !== undefined), {
    toBody: (request, omit) => toBody(model, request, settings, capabilities, omit),
    connect: overSdk(
      options,
      (client, body: ChatCompletionCreateParamsStreaming, call) => client.chat.completions.create(body, call),
      { url: "/v1/chat/completions", eventsOf: (completion) => [{ ...completion, object: "chat.completion" }] }
    ),
    batch,
    protocol: Dialects.Chat.protocol(readingOf(dialect, model))
  })
}
