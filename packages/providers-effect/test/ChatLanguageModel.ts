/**
 * A `LanguageModel` as a provider of Effect would make it, over Chat Completions: Effect's HTTP client, its reader of
 * server-sent events, its errors. Real sockets, and nothing pretended.
 */
import { fetchWithoutRedirects } from "@divisi/provider-kit/Endpoint"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

/** The settings of a call, as such a provider takes them from the context. */
export const Config = Context.Reference<Readonly<Record<string, unknown>>>("test/ChatLanguageModel/Config", {
  defaultValue: () => ({})
})

const aiError = (reason: AiError.AiErrorReason) =>
  AiError.make({ module: "ChatLanguageModel", method: "streamText", reason })

const malformed = (description: string) => aiError(new AiError.InvalidResponseError({ description }))

const unreachable = (error: HttpClientError.HttpClientError) =>
  aiError(
    new AiError.NetworkError({
      reason: "TransportError",
      method: error.request.method,
      url: error.request.url,
      description: error.message,
      // As `AiError.NetworkError.fromHttpClientError` does.
      cause: error
    })
  )

const refused = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const body = yield* Effect.mapError(response.text, unreachable)
  const http = { response: { status: response.status, headers: { ...response.headers } }, body }
  return yield* aiError(AiError.reasonFromHttpStatus({ status: response.status, http }))
})

const text = (content: Prompt.Message["content"]): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")

interface Chunk {
  readonly error?: { readonly message?: string | undefined; readonly code?: string | undefined } | undefined
  readonly choices?:
    | ReadonlyArray<{
        readonly delta?:
          | { readonly content?: string | undefined; readonly reasoning_content?: string | undefined }
          | undefined
        readonly finish_reason?: string | null | undefined
      }>
    | undefined
  readonly usage?:
    | {
        readonly prompt_tokens: number
        readonly completion_tokens: number
        readonly prompt_tokens_details?:
          | { readonly cached_tokens?: number | undefined; readonly cache_write_tokens?: number | undefined }
          | undefined
        readonly completion_tokens_details?: { readonly reasoning_tokens?: number | undefined } | undefined
      }
    | undefined
}

const reasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter"
}

const usageOf = (usage: Chunk["usage"]): Response.FinishPartEncoded["usage"] => ({
  inputTokens: {
    total: usage?.prompt_tokens,
    cacheRead: usage?.prompt_tokens_details?.cached_tokens,
    cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens
  },
  outputTokens: {
    total: usage?.completion_tokens,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens
  }
})

type Part = Response.StreamPartEncoded

const read = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Part, AiError.AiError> => {
  let reason: string | undefined
  let usage: Chunk["usage"]
  let isDone = false
  const parts = (chunk: Chunk): ReadonlyArray<Part> => {
    usage = chunk.usage ?? usage
    if (chunk.error !== undefined) return [{ type: "error", error: chunk.error }]
    return (chunk.choices ?? []).flatMap(({ delta, finish_reason }): ReadonlyArray<Part> => {
      reason = finish_reason ?? reason
      const { content, reasoning_content } = delta ?? {}
      if (reasoning_content) return [{ type: "reasoning-delta", id: "1", delta: reasoning_content }]
      return content ? [{ type: "text-delta", id: "0", delta: content }] : []
    })
  }
  const end: Stream.Stream<Part, AiError.AiError> = Stream.suspend(() =>
    isDone && reason !== undefined
      ? Stream.succeed({ type: "finish", reason: reasons[reason] ?? "other", usage: usageOf(usage) })
      : Stream.fail(malformed("the stream ended before the answer did"))
  )
  return response.stream.pipe(
    Stream.mapError(unreachable),
    Stream.decodeText(),
    Stream.pipeThroughChannel(Sse.decode<AiError.AiError, unknown>({ maxEventSize: 64 * 1024 * 1024 })),
    Stream.mapError((error) => (AiError.isAiError(error) ? error : malformed(String(error)))),
    Stream.takeWhile(({ data }) => {
      isDone ||= data === "[DONE]"
      return !isDone
    }),
    Stream.mapEffect(({ data }) =>
      Effect.try({ try: (): Chunk => JSON.parse(data), catch: () => malformed("an event is not JSON") })
    ),
    Stream.flatMap((chunk) => Stream.fromArray(parts(chunk))),
    Stream.concat(end)
  )
}

const client = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetchWithoutRedirects()))

/** What such a provider says of a setting that the vendor does not have. */
export const unsupported = (parameter: string): AiError.AiError =>
  aiError(new AiError.InvalidRequestError({ parameter, description: "Chat Completions have no such setting" }))

/** Such a model. */
export const make = (options: {
  readonly baseURL: string
  readonly apiKey: Redacted.Redacted<string>
}): LanguageModel.LanguageModel => {
  const streamText = ({ prompt }: LanguageModel.ProviderOptions) =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const settings = yield* Config
      const messages = prompt.content.map(({ content, role }) => ({ role, content: text(content) }))
      const request = HttpClientRequest.post(`${options.baseURL}/chat/completions`).pipe(
        HttpClientRequest.bearerToken(options.apiKey),
        HttpClientRequest.bodyJsonUnsafe({
          model: "model-1",
          stream: true,
          stream_options: { include_usage: true },
          messages,
          ...settings
        })
      )
      const response = yield* Effect.mapError(client.execute(request), unreachable)
      return response.status === 200 ? read(response) : Stream.fromEffect(refused(response))
    }).pipe(Stream.unwrap, Stream.provide(client))
  return Effect.runSync(LanguageModel.make({ streamText, generateText: () => Effect.die("Workers stream.") }))
}
