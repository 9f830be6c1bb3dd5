/** Samples completions for training: tokens and their log-probabilities. */
import type { Message } from "@divisi/core/Message"
import type { FinishReason, WorkerError, WorkflowFormat } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import type { Token } from "node-llama-cpp"
import * as Errors from "../LlamaCppError.ts"
import type { LlamaCppModel } from "../LlamaCppModel.ts"
import { errorOf, roomFor, seedOf } from "./call.ts"
import * as Completion from "./completion.ts"
import type { Template } from "./prompt.ts"
import * as Sequences from "./sequences.ts"
import { prompterOf } from "./worker.ts"

/** A request for a sample. */
export interface SampleRequest {
  /** The prompt, as messages or tokens. */
  readonly prompt: ReadonlyArray<Message> | ReadonlyArray<number>
  /** How messages are converted to a prompt. Default: `"model"`. */
  readonly template?: Template | undefined
  /** Maximum number of output tokens. Default: 1024, as in the paper. */
  readonly maxOutputTokens?: number | undefined
  readonly seed?: number | undefined
  /** Ends the completion after the third list. The format is not enforced. */
  readonly format?: WorkflowFormat | undefined
  /** Default: 1. Any other value is an error. */
  readonly temperature?: number | undefined
  /** Defaults: 0, 1 and 0. Any other value is an error. */
  readonly topK?: number | undefined
  readonly topP?: number | undefined
  readonly minP?: number | undefined
  /** Default: `false`. Any other value is an error. */
  readonly grammar?: boolean | undefined
}

/** A sampled completion. */
export interface Sample {
  readonly prompt: ReadonlyArray<number>
  /** All sampled tokens, including the one that ended the completion. */
  readonly tokens: ReadonlyArray<number>
  /** The natural logarithm of each token's probability, given the preceding tokens. */
  readonly logProbs: ReadonlyArray<number>
  readonly text: string
  /** `stop` if the completion was ended by the model or after the third list. */
  readonly reason: FinishReason
}

/** Sampling settings with which a token's probability is that of the model. */
const unfiltered: Completion.Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 }

const violation = ({ grammar = false, ...request }: SampleRequest): string | undefined => {
  if (grammar) return "a grammar changes what is sampled, so that log-probabilities are not the model's own"
  const changed = Object.entries(unfiltered).find(
    ([name, value]) => (request[name as keyof Completion.Sampling] ?? value) !== value
  )
  if (changed === undefined) return undefined
  const [name, value] = changed
  return `log-probabilities are the model's own only with ${name} at ${value}; got ${request[name as keyof Completion.Sampling]}`
}

const isTokens = (prompt: SampleRequest["prompt"]): prompt is ReadonlyArray<number> => typeof prompt[0] === "number"

const setting = (model: LlamaCppModel, detail: string) =>
  Errors.make(model.name, { _tag: "Setting", detail: `${detail}.` })

/** Samples a completion. */
export const makeSample = Effect.fnUntraced(function* (
  model: LlamaCppModel,
  asked: SampleRequest
): Effect.fn.Return<Sample, Errors.LlamaCppError | WorkerError> {
  const wrong = violation(asked)
  if (wrong !== undefined) return yield* setting(model, wrong)
  if (asked.prompt.length === 0) return yield* setting(model, "the prompt is empty")
  const { format, maxOutputTokens = 1024, prompt: given, seed, template = "model" } = asked
  const prompter = yield* Effect.promise(() => prompterOf(model, template))
  const prompt = isTokens(given) ? (given as ReadonlyArray<Token>) : prompter.tokens({ messages: given }, true)
  const room = roomFor(model, model.name, prompt)
  if (typeof room !== "number") return yield* room
  const request: Completion.Request = {
    prompt,
    limit: Math.min(maxOutputTokens, room),
    sampling: unfiltered,
    seed: seedOf(seed),
    stopTokens: prompter.stopTokens,
    stopSequences: [],
    probabilities: true,
    format
  }
  const { scheduler } = model.runtime
  const { probabilities, reason, text, tokens } = yield* Sequences.withSlot(
    scheduler,
    prompt,
    (slot, signal) => Completion.run(scheduler, slot, request, signal, () => {}),
    (cause) => errorOf(model.name, model, cause)
  ).pipe(Effect.mapError((error) => errorOf(model.name, model, error)))
  return { prompt, tokens, logProbs: probabilities.map(Math.log), text, reason }
})
