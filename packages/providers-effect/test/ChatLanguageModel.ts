/**
 * A `LanguageModel` as a provider of Effect would make it, over Chat Completions: Effect's HTTP client, its reader of
 * server-sent events, its errors. Real sockets, and nothing pretended.
 */
import type { Tool as CoreTool } from "@divisi/core"
import { Endpoint } from "@divisi/provider-kit"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
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

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const text = (content: Prompt.Message["content"]): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")

const addressOf = ({ data, mediaType }: Prompt.FilePart) => {
  if (data instanceof URL) return data.href
  return `data:${mediaType};base64,${typeof data === "string" ? data : Base64.encode(data)}`
}

const partOf = (part: Prompt.UserMessagePart) => {
  if (part.type === "text") return { type: "text", text: part.text }
  if (part.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: addressOf(part) } }
  if (part.data instanceof URL) throw unsupported("the URL of a file")
  return { type: "file", file: { filename: part.fileName ?? "file.pdf", file_data: addressOf(part) } }
}

const userOf = ({ content }: Prompt.UserMessage) =>
  content.every(({ type }) => type === "text") ? content.map((part) => text([part])).join("\n") : content.map(partOf)

const assistantOf = ({ content }: Prompt.AssistantMessage) => {
  const calls = content.flatMap((part) => (part.type === "tool-call" ? [part] : []))
  const tool_calls = calls.map(({ id, name, params }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(params) }
  }))
  return { content: text(content), ...(calls.length === 0 ? {} : { tool_calls }) }
}

const resultOf = (part: Prompt.ToolMessagePart) => {
  if (part.type !== "tool-result") return []
  const { id, modelOutput, result } = part
  const content = modelOutput === undefined ? JSON.stringify(result) : Prompt.toolModelOutputToText(modelOutput)
  return [{ role: "tool", tool_call_id: id, content }]
}

const messagesOf = (message: Prompt.Message): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { role } = message
  if (role === "tool") return message.content.flatMap(resultOf)
  if (role === "assistant") return [{ role, ...assistantOf(message) }]
  return [{ role, content: role === "user" ? userOf(message) : message.content }]
}

const toolOf = (tool: Tool.Any) => ({
  type: "function",
  function: {
    name: tool.name,
    description: Tool.getDescription(tool),
    parameters: Tool.getJsonSchema(tool),
    strict: Tool.getStrictMode(tool)
  }
})

const toolsOf = ({ toolChoice, tools }: LanguageModel.ProviderOptions) => {
  if (tools.length === 0) return {}
  const choice =
    typeof toolChoice === "object" && "tool" in toolChoice
      ? { type: "function", function: { name: toolChoice.tool } }
      : toolChoice
  return { tools: tools.map(toolOf), tool_choice: choice }
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

interface Piece {
  readonly index: number
  readonly id?: string | undefined
  readonly function?: { readonly name?: string | undefined; readonly arguments?: string | undefined } | undefined
}

interface Chunk {
  readonly model?: unknown
  readonly error?: { readonly message?: string | undefined; readonly code?: string | undefined } | undefined
  readonly choices?:
    | ReadonlyArray<{
        readonly delta?:
          | {
              readonly content?: string | undefined
              readonly reasoning_content?: string | undefined
              readonly tool_calls?: ReadonlyArray<Piece> | undefined
            }
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
  content_filter: "content-filter",
  tool_calls: "tool-calls"
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

interface Call {
  readonly id: string
  readonly name: string
  arguments: string
}

/** Returns arguments as the model's package does: invalid JSON is a text. */
const paramsOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Takes a piece of a call. */
const pieceOf = (calls: Array<Call>, { function: said, id, index }: Piece): ReadonlyArray<Part> => {
  const known = calls[index]
  const call = known ?? { id: id ?? "", name: said?.name ?? "", arguments: "" }
  calls[index] = call
  const delta = said?.arguments ?? ""
  call.arguments += delta
  const piece: ReadonlyArray<Part> = delta === "" ? [] : [{ type: "tool-params-delta", id: call.id, delta }]
  return known === undefined ? [{ type: "tool-params-start", id: call.id, name: call.name }, ...piece] : piece
}

const callOf = ({ arguments: text, id, name }: Call): ReadonlyArray<Part> => [
  { type: "tool-params-end", id },
  { type: "tool-call", id, name, params: text === "" ? {} : paramsOf(text) }
]

const read = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Part, AiError.AiError> => {
  let reason: string | undefined
  let usage: Chunk["usage"]
  const calls: Array<Call> = []
  let isDone = false
  let model: string | undefined
  const parts = (chunk: Chunk): ReadonlyArray<Part> => {
    usage = chunk.usage ?? usage
    if (typeof chunk.model === "string") model = chunk.model
    if (chunk.error !== undefined) return [{ type: "error", error: chunk.error }]
    return (chunk.choices ?? []).flatMap(({ delta, finish_reason }): ReadonlyArray<Part> => {
      reason = finish_reason ?? reason
      const { content, reasoning_content, tool_calls = [] } = delta ?? {}
      if (reasoning_content) return [{ type: "reasoning-delta", id: "1", delta: reasoning_content }]
      const said: ReadonlyArray<Part> = content ? [{ type: "text-delta", id: "0", delta: content }] : []
      return [...said, ...tool_calls.flatMap((piece) => pieceOf(calls, piece))]
    })
  }
  const end: Stream.Stream<Part, AiError.AiError> = Stream.suspend(() =>
    isDone && reason !== undefined
      ? Stream.fromArray<Part>([
          ...calls.flatMap(callOf),
          { type: "response-metadata", modelId: model },
          { type: "finish", reason: reasons[reason] ?? "other", usage: usageOf(usage) }
        ])
      : Stream.fail(malformed("the stream ended before the answer was complete"))
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

const client = Layer.provide(
  FetchHttpClient.layer,
  Layer.succeed(FetchHttpClient.Fetch, Endpoint.fetchWithoutRedirects())
)

/** The error of such a provider for a setting that the vendor does not support. */
export const unsupported = (parameter: string): AiError.AiError =>
  aiError(new AiError.InvalidRequestError({ parameter, description: "Chat Completions have no such setting" }))

/** The shape of an answer, as Chat Completions have it. */
export const formatOf = (output: CoreTool.OutputFormat | undefined) => {
  if (output === undefined || output.type === "text") return undefined
  if (output.type === "json") return { type: "json_object" }
  const { description, name, schema, strict } = output
  return { type: "json_schema", json_schema: { name, description, schema, strict } }
}

/** Such a model. */
export const make = (options: {
  readonly baseURL: string
  readonly apiKey: Redacted.Redacted<string>
}): LanguageModel.LanguageModel => {
  const streamText = (asked: LanguageModel.ProviderOptions) =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const settings = yield* Config
      const messages = yield* Effect.try({
        try: () => asked.prompt.content.flatMap(messagesOf),
        catch: (error) => error as AiError.AiError
      })
      const request = HttpClientRequest.post(`${options.baseURL}/chat/completions`).pipe(
        HttpClientRequest.bearerToken(options.apiKey),
        HttpClientRequest.bodyJsonUnsafe({
          model: "model-1",
          stream: true,
          stream_options: { include_usage: true },
          messages,
          ...toolsOf(asked),
          ...settings
        })
      )
      const response = yield* Effect.mapError(client.execute(request), unreachable)
      return response.status === 200 ? read(response) : Stream.fromEffect(refused(response))
    }).pipe(Stream.unwrap, Stream.provide(client))
  return Effect.runSync(LanguageModel.make({ streamText, generateText: () => Effect.die("Workers stream.") }))
}
