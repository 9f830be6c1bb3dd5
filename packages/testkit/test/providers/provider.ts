/** A provider in one file, over `fetch` alone: sound, or broken in one way, for the tests of the contract itself. */

import type { Usage } from "@divisi/core/Usage"
import {
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ProviderContract } from "../../src/providers.ts"

/** A way in which a provider can be wrong. */
export type Defect =
  | "retries"
  | "ends when cut"
  | "shows its key"
  | "drops the seed"
  | "goes on when interrupted"
  | "answers at the end"
  | "finishes twice"
  | "forgets cached tokens"
  | "dies of malformed events"
  | "leaves a rejection"
  | "asks before it runs"
  | "mixes calls up"

class Failed extends Error {
  readonly reason: WorkerErrorReason
  constructor(reason: WorkerErrorReason) {
    super(reason._tag)
    this.reason = reason
  }
}

interface Chunk {
  readonly error?: { readonly code?: string | undefined; readonly message: string } | undefined
  readonly choices?:
    | ReadonlyArray<{
        readonly delta: { readonly content?: string | undefined; readonly reasoning_content?: string | undefined }
        readonly finish_reason?: string | undefined
      }>
    | undefined
  readonly usage?:
    | {
        readonly prompt_tokens: number
        readonly completion_tokens: number
        readonly prompt_tokens_details: {
          readonly cached_tokens: number
          readonly cache_write_tokens?: number | undefined
        }
        readonly completion_tokens_details: { readonly reasoning_tokens: number }
      }
    | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Failures
// -------------------------------------------------------------------------------------------------------------------

const tagOf = (status: number, code: string | undefined): WorkerErrorReason["_tag"] => {
  if (code === "insufficient_quota") return "Quota"
  if (code === "rate_limit_exceeded") return "RateLimited"
  if (code === "context_length_exceeded") return "ContextTooLong"
  if (code === "content_policy_violation") return "ContentFiltered"
  if (status === 401 || status === 403) return "Authentication"
  if (status === 408 || status === 504) return "Timeout"
  if (status === 429) return "RateLimited"
  return status >= 500 || status === 409 ? "Overloaded" : "InvalidRequest"
}

const retryAfter = (headers: Headers): { retryAfterMillis?: number | undefined } => {
  const millis = Number(headers.get("retry-after-ms") ?? Number.NaN)
  if (millis >= 0) return { retryAfterMillis: millis }
  const after = headers.get("retry-after") ?? ""
  const seconds = after === "" ? Number.NaN : Number(after)
  if (seconds >= 0) return { retryAfterMillis: seconds * 1000 }
  const date = Date.parse(after)
  return Number.isNaN(date) ? {} : { retryAfterMillis: Math.max(0, date - Date.now()) }
}

const refused = (status: number, headers: Headers, text: string): Failed => {
  let error: Chunk["error"]
  try {
    error = JSON.parse(text).error
  } catch {
    error = undefined
  }
  const message = error?.message ?? text
  const _tag = tagOf(status, error?.code)
  const context = /context length is (\d+)/.exec(message)?.[1]
  return new Failed({
    _tag,
    detail: message,
    ...(_tag === "RateLimited" || _tag === "Overloaded" ? retryAfter(headers) : {}),
    contextTokens: _tag === "ContextTooLong" && context !== undefined ? Number(context) : undefined
  } as WorkerErrorReason)
}

const reasonOf = (error: unknown): WorkerErrorReason => {
  if (error instanceof Failed) return error.reason
  if (error instanceof DOMException && error.name === "TimeoutError") return { _tag: "Timeout" }
  return error instanceof SyntaxError ? { _tag: "Malformed" } : { _tag: "Network", detail: String(error) }
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

const bodyOf = (
  request: WorkerRequest,
  { defaults = {} }: ProviderContract.Connection,
  defect: Defect | undefined
) => ({
  model: "m",
  messages: request.messages,
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: defect === "drops the seed" ? undefined : request.seed,
  stop: request.stopSequences,
  reasoning_effort: request.reasoning?.type === "effort" ? request.reasoning.effort : undefined,
  reasoning: request.reasoning?.type === "budget" ? { max_tokens: request.reasoning.tokens } : undefined,
  ...(request.reasoning?.type === "off" ? { reasoning_effort: "none" } : {})
})

const lines = async function* (body: AsyncIterable<Uint8Array>) {
  const decoder = new TextDecoder()
  let pieces: Array<string> = []
  for await (const bytes of body) {
    const [first = "", ...rest] = decoder.decode(bytes, { stream: true }).split("\n")
    pieces.push(first)
    for (const next of rest) {
      yield pieces.join("")
      pieces = [next]
    }
  }
}

const usageOf = (usage: Chunk["usage"], request: WorkerRequest, text: string, defect: Defect | undefined): Usage =>
  usage === undefined
    ? { inputTokens: JSON.stringify(request.messages).length / 4, outputTokens: text.length / 4 + 1, estimated: true }
    : {
        inputTokens: usage.prompt_tokens,
        outputTokens: usage.completion_tokens,
        cachedInputTokens: defect === "forgets cached tokens" ? 0 : usage.prompt_tokens_details.cached_tokens,
        cacheWriteTokens: usage.prompt_tokens_details.cache_write_tokens ?? 0,
        reasoningTokens: usage.completion_tokens_details.reasoning_tokens
      }

const finishReasons = { stop: "stop", length: "length", content_filter: "content-filter" } as const

/** A stop that also ends a silence of too many milliseconds. */
const clock = (millis: number | undefined) => {
  const controller = new AbortController()
  const expire = () => controller.abort(new DOMException("too late", "TimeoutError"))
  const timer = millis === undefined ? undefined : setTimeout(expire, millis)
  return { controller, tick: () => timer?.refresh(), stop: () => clearTimeout(timer) }
}

let shared = ""

const play = async function* (
  connection: ProviderContract.Connection,
  request: WorkerRequest,
  { controller, tick }: ReturnType<typeof clock>,
  defect: Defect | undefined
): AsyncGenerator<WorkerPart> {
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${connection.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(bodyOf(request, connection, defect)),
    signal: defect === "goes on when interrupted" ? null : controller.signal
  }
  let response = await fetch(`${connection.baseURL}/chat/completions`, init)
  if (defect === "retries" && response.status >= 500)
    response = await fetch(`${connection.baseURL}/chat/completions`, init)
  if (!response.ok) throw refused(response.status, response.headers, await response.text())
  if (!response.headers.get("content-type")?.includes("event-stream")) throw new SyntaxError("no stream")
  let text = ""
  let finish: string | undefined
  let usage: Chunk["usage"]
  for await (const line of lines(response.body as unknown as AsyncIterable<Uint8Array>)) {
    tick()
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue
    const chunk: Chunk = JSON.parse(line.slice(6))
    if (chunk.error !== undefined) throw refused(500, new Headers(), JSON.stringify(chunk))
    const [choice] = chunk.choices ?? []
    usage = chunk.usage ?? usage
    finish = choice?.finish_reason ?? finish
    const { content, reasoning_content } = choice?.delta ?? {}
    if (reasoning_content) yield { type: "reasoning", text: reasoning_content }
    if (!content) continue
    text += content
    if (defect === "mixes calls up") {
      shared += content
      await new Promise((resolve) => setTimeout(resolve, 1))
      yield { type: "text", text: shared }
    } else yield { type: "text", text: content }
  }
  if (finish === undefined && defect !== "ends when cut") throw new Failed({ _tag: "Network", detail: "cut" })
  const reason = finishReasons[(finish ?? "stop") as keyof typeof finishReasons] ?? "other"
  const last = { type: "finish", reason, usage: usageOf(usage, request, text, defect) } as const
  yield last
  if (defect === "finishes twice") yield last
}

const late = async function* (parts: AsyncGenerator<WorkerPart>) {
  const all: Array<WorkerPart> = []
  for await (const part of parts) all.push(part)
  yield* all
}

const short = (detail: string) => (detail.length > 300 ? detail.slice(0, 300) : detail)

const hide = (reason: WorkerErrorReason, key: string): WorkerErrorReason =>
  reason.detail === undefined ? reason : { ...reason, detail: short(reason.detail.replaceAll(key, "<key>")) }

/** A worker that keeps the contract, but for its defect. */
export const makeWorker = (connection: ProviderContract.Connection, defect?: Defect): Worker => {
  const fail = (error: unknown) => {
    const reason = reasonOf(error)
    if (defect === "dies of malformed events" && reason._tag === "Malformed") throw error
    if (defect === "leaves a rejection") Promise.reject(error)
    return new WorkerError({
      worker: "one",
      reason: defect === "shows its key" ? reason : hide(reason, connection.apiKey)
    })
  }
  return {
    id: "one",
    generate: (request) => {
      if (defect === "asks before it runs") fetch(connection.baseURL).catch(() => undefined)
      return Stream.suspend(() => {
        const time = clock(connection.timeoutMillis)
        const parts = play(connection, request, time, defect)
        return Stream.fromAsyncIterable(defect === "answers at the end" ? late(parts) : parts, fail).pipe(
          Stream.ensuring(
            Effect.sync(() => {
              time.stop()
              if (defect !== "goes on when interrupted") time.controller.abort()
            })
          )
        )
      })
    }
  }
}
