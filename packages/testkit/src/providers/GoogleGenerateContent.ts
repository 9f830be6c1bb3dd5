/** The wire format of Google's Gemini API (`:generateContent`, and `:streamGenerateContent` with `alt=sse`). */
import type { PlainMessage } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"
import type { Reasoning } from "@divisi/core/Worker"
import { type Captured, contentText, type Dialect, fields, items, present, type Reply, type Sent } from "./Dialect.ts"
import { type Answer, type Refusal, type RefusalKind, reasoningText, type Spoken, spoken, text } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const reasoningOf = (config: Readonly<Record<string, unknown>>): Reasoning | undefined => {
  const { thinkingBudget: tokens, thinkingLevel: level } = fields(config.thinkingConfig)
  if (tokens === 0) return { type: "off" }
  if (typeof tokens === "number") return { type: "budget", tokens }
  return typeof level === "string" ? { type: "effort", effort: level.toLowerCase() as "low" } : undefined
}

const partsText = (content: unknown): string =>
  typeof content === "string" ? content : contentText(fields(content).parts ?? content)

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  const url = new URL(request.path, "http://localhost")
  const config = fields(body.generationConfig)
  const system = partsText(body.systemInstruction ?? body.system_instruction ?? "")
  const turns = items(body.contents).map(
    (item): PlainMessage => ({ role: fields(item).role === "model" ? "assistant" : "user", content: partsText(item) })
  )
  return {
    isStream: url.pathname.endsWith(":streamGenerateContent"),
    messages: system === "" ? turns : [{ role: "system", content: system }, ...turns],
    ...present({
      key: request.headers["x-goog-api-key"] ?? url.searchParams.get("key"),
      model: /models\/([^:]+):/.exec(url.pathname)?.[1],
      maxOutputTokens: config.maxOutputTokens as number,
      temperature: config.temperature as number,
      seed: config.seed as number,
      stopSequences: config.stopSequences as ReadonlyArray<string>,
      reasoning: reasoningOf(config)
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const finishReasons: Readonly<Record<Answer["ending"], string>> = {
  stop: "STOP",
  "stop-sequence": "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  unknown: "MOON_PHASE"
}

/** Google counts thoughts beside the tokens of the candidates. */
const usageOf = (usage: Usage) => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: usage.outputTokens - (usage.reasoningTokens ?? 0),
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...present({ cachedContentTokenCount: usage.cachedInputTokens, thoughtsTokenCount: usage.reasoningTokens }),
  promptTokensDetails: [{ modality: "TEXT", tokenCount: usage.inputTokens }]
})

const partOf = ({ text, type }: Spoken) => (type === "text" ? { text } : { text, thought: true })

const responseOf = (model: string, candidate: unknown, more: Readonly<Record<string, unknown>> = {}) => ({
  candidates: [candidate],
  modelVersion: model,
  responseId: "resp-01",
  ...more
})

const candidate = (parts: ReadonlyArray<unknown>, more: Readonly<Record<string, unknown>> = {}) => ({
  content: { parts, role: "model" },
  index: 0,
  ...more
})

/** Google ends its lines with CR and LF. */
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`

const strange = { a_field_of_tomorrow: { nested: [1] } }

const stream = (answer: Answer, model: string) => {
  const isNoisy = answer.noise !== false
  const sofar = {
    usageMetadata: answer.usage && {
      promptTokenCount: answer.usage.inputTokens,
      totalTokenCount: answer.usage.inputTokens
    }
  }
  const deltas = answer.deltas.map((delta) => event(responseOf(model, candidate([partOf(spoken(delta))]), sofar)))
  const last = responseOf(
    model,
    candidate([{ text: "", thoughtSignature: isNoisy ? "EjQKMgEM" : undefined }], {
      finishReason: finishReasons[answer.ending]
    }),
    {
      usageMetadata: answer.usage && usageOf(answer.usage),
      ...(isNoisy ? strange : {})
    }
  )
  const opening = isNoisy ? [event(responseOf(model, candidate([{ weather: "mild" }]), strange))] : []
  return { opening, deltas, closing: [event(last)] }
}

const whole = (answer: Answer, model: string) => {
  const thought = reasoningText(answer)
  const parts = [...(thought === "" ? [] : [{ text: thought, thought: true }]), { text: text(answer) }]
  return responseOf(model, candidate(parts, { finishReason: finishReasons[answer.ending] }), {
    usageMetadata: answer.usage && usageOf(answer.usage)
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Refusing
// -------------------------------------------------------------------------------------------------------------------

interface Words {
  readonly code: number
  readonly status: string
  readonly message: string
  readonly details?: ReadonlyArray<unknown> | undefined
}

const quotaFailure = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaMetric: "generativelanguage.googleapis.com/generate_content_requests", quotaId }]
})

const words: Readonly<Record<Exclude<RefusalKind, "content-filtered">, Words>> = {
  "rate-limited": {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota. Quota exceeded for metric: generate_content_requests, limit: 5.",
    details: [quotaFailure("GenerateRequestsPerMinutePerProjectPerModel")]
  },
  overloaded: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded. Please try again later." },
  unavailable: { code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable." },
  "server-error": { code: 500, status: "INTERNAL", message: "An internal error has occurred. Please retry." },
  timeout: { code: 504, status: "DEADLINE_EXCEEDED", message: "Deadline expired before operation could complete." },
  authentication: {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "API key not valid. Please pass a valid API key.",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" }
      }
    ]
  },
  permission: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: "Method doesn't allow unregistered callers (callers without established identity)."
  },
  quota: {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota, please check your plan and billing details. limit: 0",
    details: [quotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")]
  },
  "invalid-request": {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "Unable to submit request because it has a temperature value of 9 but the supported range is 0 to 2."
  },
  "unknown-model": {
    code: 404,
    status: "NOT_FOUND",
    message: "models/gemini-nope is not found for API version v1beta, or is not supported for generateContent."
  },
  "context-too-long": {
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
  }
}

const errorOf = ({ echo, kind }: Refusal & { readonly kind: keyof typeof words }) => {
  const { message, ...rest } = words[kind]
  return { error: { message: echo === undefined ? message : `${message} ${echo}`, ...rest } }
}

const isError = (refusal: Refusal): refusal is Refusal & { readonly kind: keyof typeof words } =>
  refusal.kind !== "content-filtered"

/** Google answers a blocked prompt with status 200 and no candidate. */
const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 9 } }

const refuse = (refusal: Refusal, isStream: boolean): Reply => {
  if (isError(refusal)) return { status: words[refusal.kind].code, body: JSON.stringify(errorOf(refusal)) }
  return isStream
    ? { status: 200, headers: { "content-type": "text/event-stream" }, body: event(blocked) }
    : { status: 200, body: JSON.stringify(blocked) }
}

const refuseInStream = (refusal: Refusal): string => event(isError(refusal) ? errorOf(refusal) : blocked)

// -------------------------------------------------------------------------------------------------------------------
// The dialect
// -------------------------------------------------------------------------------------------------------------------

/** Google's Gemini API. */
export const dialect: Dialect = {
  name: "Google generateContent",
  sources: [
    "https://ai.google.dev/api/generate-content",
    "https://ai.google.dev/gemini-api/docs/troubleshooting",
    "https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto",
    "npm @google/genai, dist/genai.d.ts"
  ],
  read,
  contentType: "text/event-stream",
  stream,
  whole,
  refuse,
  refuseInStream,
  malformed: 'data: {"candidates": [{"content": {"parts": [{"te\r\n\r\n'
}
