/** A model as a core worker. */

import { defined } from "@divisi/core/Fields"
import { free, type Usage } from "@divisi/core/Usage"
import type { Worker, WorkerError, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { LlamaCppModel } from "../LlamaCppModel.ts"
import { errorOf, failed, roomFor, seedOf } from "./call.ts"
import * as Completion from "./completion.ts"
import * as Output from "./output.ts"
import * as Prompt from "./prompt.ts"
import * as Sequences from "./sequences.ts"

/** How a model answers. */
export interface WorkerOptions {
  /** `llamacpp:` and the name of the model by default. */
  readonly id?: string | undefined
  /** What it is good at, in a sentence. */
  readonly description?: string | undefined
  /** `"model"` by default: the chat template of the model, and plain texts where it has none. */
  readonly template?: Prompt.Template | undefined
  /** Whether a grammar forces a requested format; true by default. Turn it off for training. */
  readonly grammar?: boolean | undefined
  /** The most tokens before the lists under a grammar; half of the request's tokens by default. */
  readonly reasoningTokens?: number | undefined
  /** For requests that set no limit; 1024 by default. */
  readonly maxOutputTokens?: number | undefined
  /** For requests that set none; 0.7 by default. 0 is greedy. */
  readonly temperature?: number | undefined
  /** The most likely tokens to choose from; 40 by default, 0 for all. */
  readonly topK?: number | undefined
  /** The share of probability to choose from; 0.95 by default, 1 for all. */
  readonly topP?: number | undefined
  /** Leaves out tokens less likely than this share of the likeliest; 0 by default. */
  readonly minP?: number | undefined
}

/** A sample of the lists: a vocabulary that cannot write it can write no workflow. */
const needed = 'model_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = [[], "all"]'

const canWrite = ({ llama }: LlamaCppModel): boolean => llama.detokenize(llama.tokenize(needed)).trim() === needed

interface Settings {
  readonly id: string
  readonly template: Prompt.Template
  readonly grammar: boolean
  /** Whether the vocabulary can write what the grammar requires: checked once, not with every request. */
  readonly canWriteLists: boolean
  readonly reasoningTokens: number | undefined
  readonly maxOutputTokens: number
  readonly sampling: Completion.Sampling
}

const settingsOf = (model: LlamaCppModel, options: WorkerOptions): Settings => ({
  id: options.id ?? `llamacpp:${model.name}`,
  template: options.template ?? "model",
  grammar: options.grammar ?? true,
  canWriteLists: canWrite(model),
  reasoningTokens: options.reasoningTokens,
  maxOutputTokens: options.maxOutputTokens ?? 1024,
  sampling: {
    temperature: options.temperature ?? 0.7,
    topK: options.topK ?? 40,
    topP: options.topP ?? 0.95,
    minP: options.minP ?? 0
  }
})

/** Prompters by model and template, each made with the first prompt. */
const prompters = new WeakMap<LlamaCppModel["llama"], Map<Prompt.Template, Promise<Prompt.Prompter>>>()

/** The prompter of a model for a template. */
export const prompterOf = ({ llama }: LlamaCppModel, template: Prompt.Template): Promise<Prompt.Prompter> => {
  const known = prompters.get(llama) ?? new Map<Prompt.Template, Promise<Prompt.Prompter>>()
  prompters.set(llama, known)
  const made = known.get(template) ?? Prompt.make(llama, template)
  known.set(template, made)
  return made
}

const wrongSetting = ({ format, maxOutputTokens, temperature }: WorkerRequest): string | undefined => {
  if (maxOutputTokens !== undefined && !(maxOutputTokens >= 1)) return `maxOutputTokens is ${maxOutputTokens}`
  if (temperature !== undefined && !(temperature >= 0)) return `temperature is ${temperature}`
  if (format !== undefined && !(format.poolSize >= 1 && format.maxSteps >= 1))
    return "a workflow of no workers or steps"
  return undefined
}

const requestOf = (
  model: LlamaCppModel,
  settings: Settings,
  asked: WorkerRequest,
  prompter: Prompt.Prompter
): Completion.Request | WorkerError => {
  const wrong = wrongSetting(asked)
  if (wrong !== undefined) return failed(settings.id, { _tag: "InvalidRequest", detail: wrong })
  const { format, reasoning, stopSequences = [], temperature } = asked
  if (format !== undefined && settings.grammar && !settings.canWriteLists) {
    const detail = "its vocabulary has no tokens for the brackets and quotes of a workflow; turn the grammar off"
    return failed(settings.id, { _tag: "InvalidRequest", detail })
  }
  const prompt = prompter.tokens(asked.messages, reasoning?.type !== "off")
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

/** Whether the template has already begun the model's thinking. */
const isThinking = ({ llama }: LlamaCppModel, { prompt }: Completion.Request): boolean =>
  /<think>\s*$/.test(llama.detokenize(prompt.slice(-4), true))

const generate = (model: LlamaCppModel, settings: Settings) =>
  Effect.fnUntraced(function* (asked: WorkerRequest, offer: (part: WorkerPart) => void) {
    const prompter = yield* Effect.tryPromise({
      try: () => prompterOf(model, settings.template),
      catch: (cause) => errorOf(settings.id, model, cause)
    })
    const request = requestOf(model, settings, asked, prompter)
    if ("_tag" in request) return yield* request
    const splitter = Output.thinkingSplitter(isThinking(model, request))
    const emit =
      asked.format === undefined
        ? (text: string) => splitter.push(text).forEach(offer)
        : (text: string) => offer({ type: "text", text })
    const { scheduler } = model.runtime
    const completed = yield* Sequences.withSlot(
      scheduler,
      request.prompt,
      (slot, signal) => Completion.run(scheduler, slot, request, signal, emit),
      (cause) => errorOf(settings.id, model, cause)
    ).pipe(Effect.mapError((error) => errorOf(settings.id, model, error)))
    splitter.rest().forEach(offer)
    offer({ type: "finish", reason: completed.reason, usage: usageOf(request, completed) })
  })

/** A model as a core worker. */
export const makeWorker = (model: LlamaCppModel, options: WorkerOptions): Worker => {
  const settings = settingsOf(model, options)
  const run = generate(model, settings)
  const { grammar, sampling, template } = settings
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
