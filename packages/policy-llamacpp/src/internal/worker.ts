/** Creates a core worker from a model. */

import { defined } from "@divisi/core/Fields"
import { free, type Usage } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Token } from "node-llama-cpp"
import type { LlamaCppModel } from "../LlamaCppModel.ts"
import { errorOf, failed, roomFor, seedOf } from "./call.ts"
import * as Completion from "./completion.ts"
import * as Output from "./output.ts"
import * as Prompt from "./prompt.ts"
import * as Sequences from "./sequences.ts"
import * as ToolText from "./toolText.ts"

/** Options for a model's answers. */
export interface WorkerOptions {
  /** Id of the worker. Default: `llamacpp:` followed by the name of the model. */
  readonly id?: string | undefined
  /** A sentence about the worker's strengths, shown to the planner. */
  readonly description?: string | undefined
  /**
   * How messages are converted to a prompt. Default: `"model"`, the model's chat template, or plain text if it has no
   * template.
   */
  readonly template?: Prompt.Template | undefined
  /**
   * Whether a grammar enforces requested formats, output schemas and tool calls. Set to `false` for training. Default:
   * `true`.
   */
  readonly grammar?: boolean | undefined
  /** Maximum number of tokens before the lists if a grammar is used. Default: half of the request's limit. */
  readonly reasoningTokens?: number | undefined
  /** Output limit in tokens for requests without one. Default: 1024. */
  readonly maxOutputTokens?: number | undefined
  /** Temperature for requests without one. 0 selects the most likely token. Default: 0.7. */
  readonly temperature?: number | undefined
  /** Number of most likely tokens to sample from; 0 means all. Default: 40. */
  readonly topK?: number | undefined
  /** Probability mass to sample from; 1 means all tokens. Default: 0.95. */
  readonly topP?: number | undefined
  /** Excludes tokens whose probability is less than this fraction of the most likely token's. Default: 0. */
  readonly minP?: number | undefined
}

/** Sample text of the lists. A vocabulary that cannot encode it cannot express workflows. */
const lists = 'model_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = [[], "all"]'

/** Sample text with a call and JSON. */
const json = '<tool_call>\n{"name": "a", "arguments": {"b": [-1.5e3, true, null, "\\n"]}}\n</tool_call>'

const canWrite = ({ llama }: LlamaCppModel, needed: string): boolean =>
  llama.detokenize(llama.tokenize(needed)).trim() === needed

interface Settings {
  readonly id: string
  readonly template: Prompt.Template
  readonly grammar: boolean
  /** Whether the vocabulary can express the text that the grammar requires. Checked once. */
  readonly canWriteLists: boolean
  readonly canWriteJson: boolean
  readonly reasoningTokens: number | undefined
  readonly maxOutputTokens: number
  readonly sampling: Completion.Sampling
}

const settingsOf = (model: LlamaCppModel, options: WorkerOptions): Settings => ({
  id: options.id ?? `llamacpp:${model.name}`,
  template: options.template ?? "model",
  grammar: options.grammar ?? true,
  canWriteLists: canWrite(model, lists),
  canWriteJson: canWrite(model, json),
  reasoningTokens: options.reasoningTokens,
  maxOutputTokens: options.maxOutputTokens ?? 1024,
  sampling: {
    temperature: options.temperature ?? 0.7,
    topK: options.topK ?? 40,
    topP: options.topP ?? 0.95,
    minP: options.minP ?? 0
  }
})

/** Prompt renderers by model and template, created when first used. */
const prompters = new WeakMap<LlamaCppModel["llama"], Map<Prompt.Template, Promise<Prompt.Prompter>>>()

/** Returns the prompt renderers of a model for a template. */
export const prompterOf = ({ llama }: LlamaCppModel, template: Prompt.Template): Promise<Prompt.Prompter> => {
  const known = prompters.get(llama) ?? new Map<Prompt.Template, Promise<Prompt.Prompter>>()
  prompters.set(llama, known)
  const made = known.get(template) ?? Prompt.make(llama, template)
  known.set(template, made)
  return made
}

const isText = ({ content }: WorkerRequest["messages"][number]): boolean =>
  typeof content === "string" || content.every(({ type }) => type === "text")

const wrongSetting = ({ format, maxOutputTokens, messages, temperature }: WorkerRequest): string | undefined => {
  if (!messages.every(isText)) return "it supports only text, but a message contains an image or a file"
  if (maxOutputTokens !== undefined && !(maxOutputTokens >= 1)) return `maxOutputTokens is ${maxOutputTokens}`
  if (temperature !== undefined && !(temperature >= 0)) return `temperature is ${temperature}`
  if (format !== undefined && !(format.poolSize >= 1 && format.maxSteps >= 1))
    return "a workflow of no workers or steps"
  return undefined
}

/** Whether the template has already started the model's thinking. */
const isThinking = ({ llama }: LlamaCppModel, prompt: ReadonlyArray<Token>): boolean =>
  /<think>\s*$/.test(llama.detokenize(prompt.slice(-4), true))

/** Whether the model may think first: not if thinking is disabled or the answer is constrained from the start. */
const isFree = (asked: WorkerRequest): boolean => {
  const { output = { type: "text" }, reasoning, toolChoice = "auto" } = asked
  const mustCall = ToolText.toolsOf(asked).length > 0 && toolChoice !== "auto"
  return reasoning?.type !== "off" && !mustCall && output.type === "text"
}

const forcedOf = (
  model: LlamaCppModel,
  { canWriteJson, grammar }: Settings,
  asked: WorkerRequest,
  prompt: ReadonlyArray<Token>
): Completion.Request["forced"] => {
  if (!grammar || !canWriteJson || asked.format !== undefined) return undefined
  const by = ToolText.forceOf(asked, isThinking(model, prompt))
  return by && { of: model.runtime.grammar, by }
}

const requestOf = (
  model: LlamaCppModel,
  settings: Settings,
  asked: WorkerRequest,
  prompter: Prompt.Prompter
): Completion.Request | WorkerError => {
  const wrong = wrongSetting(asked)
  if (wrong !== undefined) return failed(settings.id, { _tag: "InvalidRequest", detail: wrong })
  const { format, stopSequences = [], temperature } = asked
  if (format !== undefined && settings.grammar && !settings.canWriteLists) {
    const detail = "its vocabulary has no tokens for the brackets and quotes of a workflow; turn the grammar off"
    return failed(settings.id, { _tag: "InvalidRequest", detail })
  }
  const prompt = prompter.tokens(asked, isFree(asked))
  const room = roomFor(model, settings.id, prompt)
  if (typeof room !== "number") return room
  const limit = Math.min(asked.maxOutputTokens ?? settings.maxOutputTokens, room)
  return {
    prompt,
    limit,
    sampling: temperature === undefined ? settings.sampling : { ...settings.sampling, temperature },
    seed: seedOf(asked.seed),
    stopTokens: prompter.stopTokens,
    stopSequences: stopSequences.filter((stop) => stop !== ""),
    format,
    forced: forcedOf(model, settings, asked, prompt),
    grammar:
      format === undefined || !settings.grammar
        ? undefined
        : {
            of: model.runtime.grammar,
            reasoningLimit: settings.reasoningTokens ?? Math.max(1, Math.floor(limit / 2))
          }
  }
}

const usageOf = ({ prompt }: Completion.Request, { reused, tokens }: Completion.Completed): Usage =>
  defined({ inputTokens: prompt.length, outputTokens: tokens.length, cachedInputTokens: reused || undefined })

/** Splits a completion into thinking, text and calls. Workflows are treated as plain text. */
const readerOf = (asked: WorkerRequest, isThinking: boolean) => {
  const thinking = Output.thinkingSplitter(isThinking)
  const calls = ToolText.callSplitter(asked)
  const isPlain = asked.format !== undefined
  const hasTools = ToolText.toolsOf(asked).length > 0
  const parts = (pieces: ReturnType<typeof thinking.push>): ReadonlyArray<WorkerPart> =>
    hasTools ? pieces.flatMap((piece) => (piece.type === "text" ? calls.push(piece.text) : [piece])) : pieces
  return {
    push: (text: string): ReadonlyArray<WorkerPart> =>
      isPlain ? [{ type: "text", text }] : parts(thinking.push(text)),
    rest: (): ReadonlyArray<WorkerPart> => [...parts(thinking.rest()), ...calls.rest()],
    calls: calls.calls,
    unread: calls.unread
  }
}

const generate = (model: LlamaCppModel, settings: Settings) =>
  Effect.fnUntraced(function* (asked: WorkerRequest, offer: (part: WorkerPart) => void) {
    const prompter = yield* Effect.tryPromise({
      try: () => prompterOf(model, settings.template),
      catch: (cause) => errorOf(settings.id, model, cause)
    })
    const request = requestOf(model, settings, asked, prompter)
    if ("_tag" in request) return yield* request
    const reader = readerOf(asked, isThinking(model, request.prompt))
    const emit = (text: string) => reader.push(text).forEach(offer)
    const { scheduler } = model.runtime
    const completed = yield* Sequences.withSlot(
      scheduler,
      request.prompt,
      (slot, signal) => Completion.run(scheduler, slot, request, signal, emit),
      (cause) => errorOf(settings.id, model, cause)
    ).pipe(Effect.mapError((error) => errorOf(settings.id, model, error)))
    reader.rest().forEach(offer)
    const usage = usageOf(request, completed)
    const unread = completed.reason === "stop" ? reader.unread() : undefined
    if (unread !== undefined) {
      const detail = `the model wrote an invalid tool call: ${unread.trim().slice(0, 200)}`
      return yield* new WorkerError({ worker: settings.id, reason: { _tag: "Malformed", detail }, usage })
    }
    const reason = completed.reason === "stop" && reader.calls() > 0 ? "tool-calls" : completed.reason
    offer({ type: "finish", reason, usage })
  })

/** Creates a core worker from a model. */
export const makeWorker = (model: LlamaCppModel, options: WorkerOptions): Worker => {
  const settings = settingsOf(model, options)
  const run = generate(model, settings)
  const { canWriteJson, grammar, sampling, template } = settings
  return {
    id: settings.id,
    description: options.description,
    settings: {
      version: model.runtime.key.version,
      adapters: model.adapters.map(({ path, scale }) => ({ path, scale })),
      template: typeof template === "function" ? template.toString() : template,
      maxOutputTokens: settings.maxOutputTokens,
      grammar,
      ...sampling
    },
    isLanguageModel: true,
    takesReasoning: "off",
    capabilities: { tools: grammar && canWriteJson, jsonSchema: grammar && canWriteJson },
    provider: `llamacpp:${model.path}`,
    pricing: free,
    limits: { contextTokens: model.contextTokens, maxOutputTokens: settings.maxOutputTokens },
    generate: (asked) =>
      Stream.callback<WorkerPart, WorkerError>((queue) =>
        run(asked, (part) => Queue.offerUnsafe(queue, part)).pipe(
          Effect.matchCauseEffect({
            onFailure: (cause) => Queue.failCause(queue, cause),
            onSuccess: () => Queue.end(queue)
          })
        )
      )
  }
}
