/** A provider in one file, over `fetch` alone: sound, or broken in one way, for the tests of the contract itself. */

import type { Usage } from "@divisi/core/Usage"
import {
  type FinishReason,
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Dialect, type ProviderContract } from "../../src/providers.ts"

/** A way in which a provider can be wrong. */
export type Defect =
  | "retries"
  | "ends when cut"
  | "shows its key"
  | "drops the seed"
  | "rejects the seed"
  | "goes on when interrupted"
  | "answers at the end"
  | "finishes twice"
  | "forgets cached tokens"
  | "dies of malformed events"
  | "leaves a rejection"
  | "asks before it runs"
  | "mixes calls up"
  | "asks for whole answers"

class Failed extends Error {
  readonly reason: WorkerErrorReason
  constructor(reason: WorkerErrorReason) {
    super(reason._tag)
    this.reason = reason
  }
}

const { fields, items } = Dialect

const word = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const count = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Returns a text of the answer; empty for any other value. */
const said = (value: unknown): string => {
  if (value === undefined || value === null || typeof value === "string") return value ?? ""
  throw new SyntaxError("no text")
}

const object = (value: unknown): Readonly<Record<string, unknown>> => {
  if (value === undefined || (typeof value === "object" && value !== null)) return fields(value)
  throw new SyntaxError("no object")
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
  if (Number.isSafeInteger(millis) && millis >= 0) return { retryAfterMillis: millis }
  const after = headers.get("retry-after") ?? ""
  const seconds = after === "" ? Number.NaN : Number(after)
  if (Number.isSafeInteger(seconds) && seconds >= 0) return { retryAfterMillis: seconds * 1000 }
  const date = Date.parse(after)
  return Number.isNaN(date) ? {} : { retryAfterMillis: Math.max(0, date - Date.now()) }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refused = (status: number, headers: Headers, text: string): Failed => {
  const error = fields(fields(parsed(text)).error)
  const message = word(error.message) ?? text
  const _tag = tagOf(status, word(error.code))
  const context = /context length is (\d+)/.exec(message)?.[1]
  const after = _tag === "RateLimited" || _tag === "Overloaded" ? retryAfter(headers) : {}
  const size = _tag === "ContextTooLong" && context !== undefined ? { contextTokens: Number(context) } : {}
  return new Failed({ _tag, detail: message, ...after, ...size } as WorkerErrorReason)
}

const redirected = (response: Response): Failed => {
  const location = response.headers.get("location") ?? ""
  const where = URL.canParse(location) ? new URL(location).origin : "elsewhere"
  return new Failed({ _tag: "Malformed", detail: `it redirects to ${where}`, remedy: "set the base URL" })
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
  ...(defect === "asks for whole answers" ? {} : { stream: true, stream_options: { include_usage: true } }),
  max_tokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: defect === "drops the seed" ? undefined : request.seed,
  stop: request.stopSequences,
  reasoning_effort: request.reasoning?.type === "effort" ? request.reasoning.effort : undefined,
  reasoning: request.reasoning?.type === "budget" ? { max_tokens: request.reasoning.tokens } : undefined,
  ...(request.reasoning?.type === "off" ? { reasoning_effort: "none" } : {})
})

/** As much of a body as an error needs. */
const beginning = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > 100_000) break
  }
  return text
}

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

/** More than any answer has. */
const longestAnswer = 50_000_000

/** Returns an answer that is not a stream as the one line that a stream would have. */
const whole = async function* (response: Response) {
  const decoder = new TextDecoder()
  const pieces: Array<string> = []
  let length = 0
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(decoder.decode(bytes, { stream: true }))
    length += bytes.length
    if (length > longestAnswer) throw new SyntaxError("no end")
  }
  const answer = object(JSON.parse(pieces.join("")))
  const [choice] = items(answer.choices)
  if (choice === undefined) throw new SyntaxError("no choice")
  yield `data: ${JSON.stringify({ ...answer, choices: [{ ...object(choice), delta: object(choice).message }] })}`
}

const usageOf = (usage: unknown, request: WorkerRequest, text: string, defect: Defect | undefined): Usage => {
  const { completion_tokens, completion_tokens_details, prompt_tokens, prompt_tokens_details } = fields(usage)
  const prompt = fields(prompt_tokens_details)
  const [inputTokens, outputTokens] = [count(prompt_tokens), count(completion_tokens)]
  if (inputTokens === undefined || outputTokens === undefined) {
    const asked = Math.ceil(JSON.stringify(request.messages).length / 4)
    return { inputTokens: asked, outputTokens: Math.ceil(text.length / 4) + 1, estimated: true }
  }
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: defect === "forgets cached tokens" ? 0 : (count(prompt.cached_tokens) ?? 0),
    cacheWriteTokens: count(prompt.cache_write_tokens) ?? 0,
    reasoningTokens: count(fields(completion_tokens_details).reasoning_tokens) ?? 0
  }
}

const finishReasons = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "refusal"]
] as const) as ReadonlyMap<string, FinishReason>

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
  if (defect === "rejects the seed" && request.seed !== undefined) {
    throw new Failed({ _tag: "InvalidRequest", detail: "seed is not supported" })
  }
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${connection.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(bodyOf(request, connection, defect)),
    signal: defect === "goes on when interrupted" ? null : controller.signal,
    redirect: "manual"
  } as const
  let response = await fetch(`${connection.baseURL}/chat/completions`, init)
  if (defect === "retries" && response.status >= 500)
    response = await fetch(`${connection.baseURL}/chat/completions`, init)
  if (response.status >= 300 && response.status < 400) throw redirected(response)
  if (!response.ok) throw refused(response.status, response.headers, await beginning(response))
  if (response.body === null) throw new SyntaxError("no body")
  const isWhole = defect === "asks for whole answers"
  const contentType = isWhole ? "application/json" : "event-stream"
  if (!response.headers.get("content-type")?.includes(contentType)) throw new SyntaxError(`no ${contentType}`)
  let text = ""
  let finish: string | undefined
  let usage: unknown
  let model: string | undefined
  const body = response.body as unknown as AsyncIterable<Uint8Array>
  for await (const line of isWhole ? whole(response) : lines(body)) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue
    tick()
    const chunk = object(JSON.parse(line.slice(6)))
    if (chunk.error !== undefined) throw refused(500, new Headers(), JSON.stringify(chunk))
    const choice = object(items(chunk.choices)[0])
    usage = chunk.usage ?? usage
    model = word(chunk.model) ?? model
    finish = word(choice.finish_reason) ?? finish
    const delta = object(choice.delta)
    const reasoning = said(delta.reasoning_content)
    const content = said(delta.content)
    if (reasoning !== "") yield { type: "reasoning", text: reasoning }
    if (content === "") continue
    text += content
    if (defect === "mixes calls up") {
      shared += content
      await new Promise((resolve) => setTimeout(resolve, 1))
      yield { type: "text", text: shared }
    } else yield { type: "text", text: content }
  }
  if (finish === undefined && defect !== "ends when cut") throw new Failed({ _tag: "Network", detail: "cut" })
  const reason = finishReasons.get(finish ?? "stop") ?? "other"
  const last = { type: "finish", reason, usage: usageOf(usage, request, text, defect), model } as const
  yield last
  if (defect === "finishes twice") yield last
}

const late = async function* (parts: AsyncGenerator<WorkerPart>) {
  const all: Array<WorkerPart> = []
  for await (const part of parts) all.push(part)
  yield* all
}

const short = (detail: string) => detail.slice(0, 300).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, " ")

const hide = (reason: WorkerErrorReason, key: string): WorkerErrorReason =>
  reason.detail === undefined ? reason : { ...reason, detail: short(reason.detail.replaceAll(key, "<key>")) }

/** A worker that keeps the contract, but for its defect. */
export const makeWorker = (connection: ProviderContract.Connection, defect?: Defect): Worker => {
  if (new URL(connection.baseURL).password !== "") throw new TypeError("The base URL has a password in it.")
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
