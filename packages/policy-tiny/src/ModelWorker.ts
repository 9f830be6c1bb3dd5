/**
 * Runs a small model as a worker in plain TypeScript. It uses no native code or Node APIs, so it also works in
 * browsers.
 *
 * If a request requires a workflow, a grammar ensures that the answer can be parsed. The state computed for a prompt is
 * cached for later prompts with the same prefix.
 */

import { Seed, Options as Tables } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import { free } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import type { Model } from "@divisi/gguf"
import { Decoder, Tokenizer, WorkflowGrammar } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Caches from "./internal/caches.ts"
import { choose } from "./internal/choose.ts"
import * as Form from "./internal/form.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for a model's prompts and answers. */
export interface Options {
  /** Converts messages to a prompt. Names of control tokens in the prompt are encoded as these tokens. */
  readonly template: (messages: ReadonlyArray<Message>) => string
  /** The id of the worker. Default: the model's name. */
  readonly id?: string | undefined
  /** A sentence about the worker's strengths, shown to the planner. */
  readonly description?: string | undefined
  /** Output limit in tokens for requests without one. Default: 1024. */
  readonly maxOutputTokens?: number | undefined
  /** Temperature for requests without one. 0 selects the most likely token. Default: 0.7. */
  readonly temperature?: number | undefined
}

/** The components of a worker. */
interface Parts {
  readonly id: string
  readonly decoder: Decoder.Decoder
  readonly caches: Caches.Caches
  readonly tokenizer: Tokenizer.Tokenizer
  /** The bytes of each token; `undefined` for tokens that cannot occur in text. */
  readonly bytes: ReadonlyArray<Uint8Array | undefined>
  readonly template: Options["template"]
  readonly maxOutputTokens: number
  readonly temperature: number
}

// -------------------------------------------------------------------------------------------------------------------
// A call
// -------------------------------------------------------------------------------------------------------------------

/** Number of prompt tokens computed, and of tokens generated, before the thread is yielded. */
const promptTurn = 32
const outputTurn = 4

/** Converts a request to prompt tokens and settings. */
const readRequest = (parts: Parts, request: WorkerRequest) => {
  const { format, maxOutputTokens = parts.maxOutputTokens, seed, temperature = parts.temperature } = request
  const invalid = (detail: string) => new WorkerError({ worker: parts.id, reason: { _tag: "InvalidRequest", detail } })
  if (!(maxOutputTokens >= 1)) return invalid(`maxOutputTokens is ${maxOutputTokens}`)
  if (!(temperature >= 0)) return invalid(`temperature is ${temperature}`)
  if (format !== undefined && !(format.poolSize >= 1 && format.maxSteps >= 1)) {
    return invalid("a workflow of no workers or steps")
  }
  const prompt = Tokenizer.encode(parts.tokenizer, parts.template(request.messages), { controlTokens: true })
  // The first prediction requires at least one prompt token.
  if (prompt.length === 0) prompt.push(parts.tokenizer.endOfText)
  const { contextTokens } = parts.decoder
  const room = contextTokens - prompt.length
  if (room < 1) {
    const detail = `the prompt has ${prompt.length} tokens, but the context has ${contextTokens}`
    const neededTokens = prompt.length + 1
    return new WorkerError({
      worker: parts.id,
      reason: { _tag: "ContextTooLong", contextTokens, neededTokens, detail }
    })
  }
  const limit = Math.min(maxOutputTokens, room)
  const draw = Seed.draw(seed ?? Math.floor(Math.random() * 2 ** 31))
  const form = format && Form.make(format)
  return { prompt, limit, form, sampling: { temperature, draw }, stops: request.stopSequences?.filter(Boolean) ?? [] }
}

type Read = Exclude<ReturnType<typeof readRequest>, WorkerError>

/** Emits text in complete characters, up to a stop sequence. */
const writer = (stops: ReadonlyArray<string>, emit: (text: string) => void) => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1))
  let text = ""
  let shown = 0
  const show = (end: number) => {
    if (end > shown) emit(text.slice(shown, end))
    shown = Math.max(shown, end)
  }
  return {
    text: () => text,
    /** Returns whether a stop sequence has been reached. */
    push: (bytes: Uint8Array): boolean => {
      text += decoder.decode(bytes, { stream: true })
      const found = stops.map((stop) => text.indexOf(stop, Math.max(0, shown - longest))).filter((at) => at >= 0)
      if (found.length > 0) {
        text = text.slice(0, Math.min(...found))
        show(text.length)
        return true
      }
      show(text.length - longest)
      return false
    },
    finish: (ending: string) => {
      text += decoder.decode() + ending
      show(text.length)
    }
  }
}

/** Generates text until it is complete or a limit is reached. The computed state remains in the cache. */
const write = Effect.fnUntraced(function* (
  parts: Parts,
  request: Read,
  cache: Decoder.Cache,
  emit: (text: string) => void
) {
  const { bytes, decoder, tokenizer } = parts
  const { form, limit, prompt, sampling, stops } = request
  const out = writer(stops, emit)
  // Reserves half of the tokens for the workflow.
  const reasoningLimit = Math.max(1, Math.floor(limit / 2))
  const isAllowed = (token: number) => {
    if (token === tokenizer.endOfText) return form === undefined
    const piece = bytes[token]
    return piece !== undefined && (form === undefined || form.accepts(piece))
  }
  for (let at = cache.tokens.length; prompt.length - at > promptTurn; at += promptTurn) {
    decoder.append(cache, prompt.slice(at, at + promptTurn))
    yield* Effect.yieldNow
  }
  let next = prompt.slice(cache.tokens.length)
  let count = 0
  let reason: "stop" | "length" = "length"
  while (count < limit) {
    const token = choose(decoder.append(cache, next), sampling, isAllowed)
    if (token !== undefined) count++
    const piece = token === undefined || token === tokenizer.endOfText ? undefined : bytes[token]
    if (piece !== undefined) form?.push(piece)
    if (piece === undefined || out.push(piece) || form?.isWhole() === true) {
      reason = "stop"
      break
    }
    if (count === reasoningLimit) form?.endReasoning(out.text())
    next = [token!]
    if (count % outputTurn === 0) yield* Effect.yieldNow
  }
  out.finish(reason === "length" && form !== undefined ? WorkflowGrammar.ending(out.text(), form.rules) : "")
  return { reason, outputTokens: count }
})

const generate = (parts: Parts) =>
  Effect.fnUntraced(function* (asked: WorkerRequest, offer: (part: WorkerPart) => void) {
    const request = readRequest(parts, asked)
    if (request instanceof WorkerError) return yield* request
    const cache = parts.caches.take(request.prompt)
    const known = cache.tokens.length
    const { outputTokens, reason } = yield* write(parts, request, cache, (text) => offer({ type: "text", text })).pipe(
      Effect.ensuring(Effect.sync(() => parts.caches.release(cache)))
    )
    const usage = defined({ inputTokens: request.prompt.length, outputTokens, cachedInputTokens: known || undefined })
    offer({ type: "finish", reason, usage })
  })

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Computes a hash of all weights (FNV-1a) that distinguishes this model from others. */
const fingerprint = ({ tensors }: Model.DenseModel): string => {
  let hash = 0x811c9dc5
  for (const { data } of Object.values(tensors)) {
    const words = new Uint32Array(data.buffer, data.byteOffset, data.length)
    for (let index = 0; index < words.length; index++) hash = Math.imul(hash ^ words[index]!, 0x01000193)
  }
  return (hash >>> 0).toString(16)
}

const table = Tables.table(
  {
    template: Tables.aFunction,
    id: Tables.name,
    description: Tables.text,
    maxOutputTokens: Tables.whole(1),
    temperature: Tables.temperature
  } satisfies Tables.ShapeOf<Options>,
  { required: ["template"] }
)

/**
 * Creates a worker from a model whose weights are in memory. Throws a `RangeError` if a tensor is missing.
 *
 * **Details**
 *
 * The same seed and prompt give the same text. Runs share the program's single thread and yield it every few tokens.
 * Reasoning before a workflow is limited to half of the tokens; the lists of the workflow must follow.
 *
 * **Gotchas**
 *
 * Suitable for models with up to a few million weights; larger models run much faster in llama.cpp.
 *
 * **Example**
 *
 * ```ts
 * import { text } from "@divisi/core/Message"
 * import { ModelWorker } from "@divisi/policy-tiny"
 * import { TinyModel } from "@divisi/gguf"
 *
 * const model = TinyModel.random({ architecture: "llama", seed: 1 })
 * const worker = ModelWorker.make(model, { template: (messages) => messages.map((message) => text(message)).join("\n") })
 * worker.limits?.contextTokens // => 2048
 * ```
 */
export const make = (model: Model.DenseModel, options: Options): Worker => {
  Tables.check("ModelWorker.make", options, table)
  const { description, id = model.name ?? "gguf", maxOutputTokens = 1024, temperature = 0.7, template } = options
  const { tokenizer } = model
  const decoder = Decoder.make(model)
  const bytes = tokenizer.tokens.map((_, token) =>
    token < tokenizer.endOfText ? Tokenizer.bytesOf(tokenizer, token) : undefined
  )
  const run = generate({
    id,
    decoder,
    caches: Caches.make(decoder),
    tokenizer,
    bytes,
    template,
    maxOutputTokens,
    temperature
  })
  return {
    id,
    description,
    settings: { version: fingerprint(model), template: template.toString(), maxOutputTokens, temperature },
    pricing: free,
    takesReasoning: false,
    recovery: "free",
    limits: { contextTokens: decoder.contextTokens, maxOutputTokens },
    generate: (request) =>
      Stream.callback<WorkerPart, WorkerError>((queue) =>
        run(request, (part) => Queue.offerUnsafe(queue, part)).pipe(
          Effect.matchCauseEffect({
            onFailure: (cause) => Queue.failCause(queue, cause),
            onSuccess: () => Queue.end(queue)
          })
        )
      )
  }
}
