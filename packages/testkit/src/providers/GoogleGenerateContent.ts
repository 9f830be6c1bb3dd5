/** The wire format of Google's Gemini API (`:generateContent`, and `:streamGenerateContent` with `alt=sse`). */

import type { Tool } from "@divisi/core"
import type { ContentPart, ToolCall } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"
import type { Reasoning } from "@divisi/core/Worker"
import {
  type Captured,
  contentText,
  type Dialect,
  fields,
  items,
  parsed,
  present,
  type Reply,
  type Sent,
  type SentMessage,
  some
} from "./Dialect.ts"
import {
  type Answer,
  calls,
  type Delta,
  type Refusal,
  type RefusalKind,
  reasoningText,
  type Spoken,
  text
} from "./Script.ts"

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

/** Converts a part. Google uses the media type to distinguish images from other files, and has no file names. */
const partOf = (part: unknown): ContentPart | undefined => {
  const { fileData, inlineData, text } = fields(part)
  if (typeof text === "string") return { type: "text", text }
  const { data, fileUri, mimeType } = fields(inlineData ?? fileData)
  const source = typeof data === "string" ? { data, mediaType: String(mimeType) } : { url: String(fileUri) }
  if (data === undefined && fileUri === undefined) return undefined
  return String(mimeType).startsWith("image/") ? { type: "image", ...source } : { type: "file", ...source }
}

const partsOf = (parts: unknown): ReadonlyArray<ContentPart> => items(parts).flatMap((part) => partOf(part) ?? [])

const callOf = (part: unknown): ReadonlyArray<ToolCall> => {
  const { args, id, name } = fields(fields(part).functionCall)
  return name === undefined ? [] : [{ id: String(id), name: String(name), arguments: JSON.stringify(args) }]
}

/** Returns the result of a call, including its images. */
const resultOf = (part: unknown): ReadonlyArray<SentMessage> => {
  const { id, parts, response } = fields(fields(part).functionResponse)
  if (response === undefined) return []
  const { error, output } = fields(response)
  const media = partsOf(parts)
  return [
    {
      role: "tool",
      content: String(output ?? error),
      ...present({
        parts: some(media),
        callId: id as string,
        isError: error === undefined ? undefined : true
      })
    }
  ]
}

/** Returns the messages in a turn: each tool result separately, and the rest as a user message. */
const messagesOf = (turn: unknown): ReadonlyArray<SentMessage> => {
  const { parts, role } = fields(turn)
  const said = partsOf(parts)
  const results = items(parts).flatMap(resultOf)
  if (results.length > 0 && said.length === 0) return results
  const message: SentMessage = {
    role: role === "model" ? "assistant" : "user",
    content: partsText(turn),
    ...present({
      parts: said.some(({ type }) => type !== "text") ? said : undefined,
      toolCalls: some(items(parts).flatMap(callOf))
    })
  }
  return [...results, message]
}

const signaturesOf = (turns: unknown): ReadonlyArray<string> =>
  items(turns)
    .flatMap((turn) => items(fields(turn).parts))
    .flatMap((part) => {
      const { thoughtSignature } = fields(part)
      return typeof thoughtSignature === "string" ? [thoughtSignature] : []
    })

const toolsOf = (tools: unknown): ReadonlyArray<Tool.ToolDefinition> =>
  items(tools)
    .flatMap((tool) => items(fields(tool).functionDeclarations))
    .map((declaration) => {
      const { description, name, parametersJsonSchema } = fields(declaration)
      const input = fields(parametersJsonSchema)
      return { name: String(name), input, ...present({ description: description as string }) }
    })

const choices: Readonly<Record<string, Tool.ToolChoice>> = {
  AUTO: "auto",
  VALIDATED: "auto",
  NONE: "none",
  ANY: "required"
}

const choiceOf = (config: unknown): Tool.ToolChoice | undefined => {
  const { allowedFunctionNames, mode } = fields(fields(config).functionCallingConfig)
  const [name] = items(allowedFunctionNames)
  return name === undefined ? choices[String(mode)] : { name: String(name) }
}

const outputOf = ({ responseJsonSchema, responseMimeType }: Readonly<Record<string, unknown>>) => {
  if (responseMimeType !== "application/json") return undefined
  const output: Tool.OutputFormat =
    responseJsonSchema === undefined
      ? { type: "json" }
      : { type: "json-schema", name: "", schema: fields(responseJsonSchema) }
  return output
}

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  const url = new URL(request.path, "http://localhost")
  const config = fields(body.generationConfig)
  const system = partsText(body.systemInstruction ?? body.system_instruction ?? "")
  const turns = items(body.contents).flatMap(messagesOf)
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
      reasoning: reasoningOf(config),
      tools: some(toolsOf(body.tools)),
      toolChoice: choiceOf(body.toolConfig),
      output: outputOf(config),
      signatures: some(signaturesOf(body.contents))
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

/** Google does not include thinking tokens in the candidates' tokens. */
const usageOf = (usage: Usage) => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: usage.outputTokens - (usage.reasoningTokens ?? 0),
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...present({ cachedContentTokenCount: usage.cachedInputTokens, thoughtsTokenCount: usage.reasoningTokens }),
  promptTokensDetails: [{ modality: "TEXT", tokenCount: usage.inputTokens }]
})

const spokenPart = ({ text, type }: Spoken) => (type === "text" ? { text } : { text, thought: true })

/** Since Gemini 3, calls have an id, and the first call in an answer is signed. */
const callPart = (answer: Answer, call: ToolCall, model: string) => ({
  functionCall: {
    ...(/^gemini-2/.test(model) ? {} : { id: call.id }),
    name: call.name,
    ...(call.arguments === "" ? {} : { args: parsed(call.arguments) })
  },
  ...present({ thoughtSignature: calls(answer)[0]?.id === call.id ? answer.signature : undefined })
})

/** A call is sent as a whole, with its last chunk. */
const partWriter = (answer: Answer, model: string) => (delta: Delta, index: number) => {
  if (delta.type !== "tool-call") return spokenPart(delta)
  const next = answer.deltas[index + 1]
  if (next?.type === "tool-call" && next.id === delta.id) return undefined
  const call = calls(answer).find(({ id }) => id === delta.id)
  return call && callPart(answer, call, model)
}

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

/** Google terminates lines with CR LF. */
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
  const write = partWriter(answer, model)
  const deltas = answer.deltas.map((delta, index) => {
    const part = write(delta, index)
    return part === undefined ? "" : event(responseOf(model, candidate([part]), sofar))
  })
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
  const said = text(answer)
  const parts = [
    ...(thought === "" ? [] : [{ text: thought, thought: true }]),
    ...(said === "" && calls(answer).length > 0 ? [] : [{ text: said }]),
    ...calls(answer).map((call) => callPart(answer, call, model))
  ]
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

/** Google answers a blocked prompt with status 200 and no candidates. */
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
    "https://ai.google.dev/gemini-api/docs/function-calling",
    "https://ai.google.dev/gemini-api/docs/thought-signatures",
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
  signs: true,
  argumentsAs: "json",
  malformed: 'data: {"candidates": [{"content": {"parts": [{"te\r\n\r\n'
}
