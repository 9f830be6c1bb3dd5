/**
 * Engines: they hold the weights of a policy in training.
 *
 * An engine has four functions, those of the Tinker API: it samples, computes gradients, steps the optimiser, and saves
 * and loads. Everything else (groups, rewards, advantages, schedules, curricula) belongs to the trainer, and is the
 * same for every engine, local or remote.
 */
import type { Message } from "@divisi/core/Message"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Converts text to tokens: an engine only handles token ids. */
export interface Tokenizer {
  /** The tokens of a prompt: messages in the model's chat template, up to where the model's turn begins. */
  readonly render: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
  /** The tokens of a text that the model writes, without an end. */
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly decode: (tokens: ReadonlyArray<number>) => string
  /** The token that ends the model's turn. */
  readonly endToken: number
}

/** A request to sample. The temperature is 1 and no token is left out, so samples follow the policy exactly. */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  /** The most tokens of one completion, its end included. */
  readonly maxTokens: number
  /** The number of completions of the prompt. Default: 1. */
  readonly count?: number | undefined
  /** Completion `i` is sampled with `seed + i`. */
  readonly seed: number
}

/** A completion that was sampled. */
export interface Sample {
  /** The token that ends it included, where `reason` is `stop`. */
  readonly tokens: ReadonlyArray<number>
  /** Natural logarithm of the probability that the sampler gave each token; as long as `tokens`. */
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** A snapshot of the weights, to sample from. Later steps of the optimiser do not change it. */
export interface Sampler {
  /** Optimiser steps that its weights have seen; a rollout is stamped with it. */
  readonly version: number
  readonly sample: (request: SampleRequest) => Effect.Effect<ReadonlyArray<Sample>, EngineError>
}

/** Numbers of a completion, one for each of its tokens. */
export type PerToken = ReadonlyArray<number> | Float32Array

/** One completion to learn from. Position `i` of every array belongs to `completion[i]`. */
export interface Datum {
  /** Not learned. Data that share one array as their prompt may be computed together. */
  readonly prompt: ReadonlyArray<number>
  /** The tokens to learn; at least one. */
  readonly completion: ReadonlyArray<number>
  /**
   * The factor of each token's loss. Default: 1. Losses are summed over all tokens and data, so any averaging has to be
   * part of the weights.
   */
  readonly weights?: PerToken | undefined
  /** Needed by every loss but `crossEntropy`. */
  readonly advantages?: PerToken | undefined
  /** Log-probabilities of the policy that sampled the completion; needed by the losses with a ratio. */
  readonly logProbs?: PerToken | undefined
}

/**
 * The loss to minimise: the weighted sum over tokens of a term in which `p` is the probability under the weights, `q`
 * that under the sampler (`logProbs`), `A` the advantage, and `r = p / q`.
 */
export type Loss =
  /** `-log p`: supervised learning. */
  | { readonly type: "crossEntropy" }
  /** `-r A`: REINFORCE, corrected for the distance to the sampler. */
  | { readonly type: "importanceSampling" }
  /**
   * `-min(r A, clip(r, 1 - low, 1 + high) A)`: PPO's and GRPO's objective (paper section 2). The clips are distances
   * from
   * 1. With `entropy` above 0, that many times the entropy of the policy's distribution at each token is added to the
   * objective.
   */
  | {
      readonly type: "clippedRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }
  /** As `clippedRatio`, where `r` is the geometric mean of the ratios of all tokens of the completion (GSPO). */
  | {
      readonly type: "sequenceRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }

/** The name of a {@link Loss}. */
export type LossName = Loss["type"]

/** The result of a pass, for each datum in order. */
export interface Pass {
  /** Log-probabilities of the completion's tokens under the present weights, before any step. */
  readonly logProbs: ReadonlyArray<PerToken>
  /** Entropy of the distribution at each token, in nats, if the engine computes it. */
  readonly entropies?: ReadonlyArray<PerToken> | undefined
  /** The weighted sum of the loss over all data, if there is a loss. */
  readonly loss?: number | undefined
}

/** One step of AdamW (Loshchilov and Hutter 2019), on the sum of the gradients since the last one. */
export interface OptimizerSettings {
  readonly learningRate: number
  /** 0.9 by default. */
  readonly beta1?: number | undefined
  /** 0.999 by default, as in the paper. */
  readonly beta2?: number | undefined
  /** 1e-8 by default. */
  readonly epsilon?: number | undefined
  /** Decoupled from the gradient; 0 by default. */
  readonly weightDecay?: number | undefined
  /** The norm to which the whole gradient is cut; 0, the default, cuts nothing. */
  readonly maxGradientNorm?: number | undefined
}

/** The result of an optimiser step. */
export interface OptimizerStep {
  /** Steps so far, this one included. */
  readonly version: number
  /** The norm of the gradient before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
}

/** The capabilities of an engine. */
export interface Capabilities {
  readonly losses: ReadonlyArray<LossName>
  /** Whether the losses with a ratio take `entropy`. */
  readonly entropy: boolean
  /** Whether the same calls in the same order give the same bits. */
  readonly deterministic: boolean
  /** The most tokens of a prompt and a completion together. */
  readonly contextTokens: number
  /** Formats that {@link Engine.export} writes. */
  readonly exports: ReadonlyArray<ExportFormat>
}

/** A model as a file (`gguf`), or an adapter for one (`gguf-lora`; `peft`, a folder of safetensors). */
export type ExportFormat = "gguf" | "gguf-lora" | "peft"

/** A saved training state: weights, optimiser and random state. Plain data, stored in a run's folder. */
export interface Saved {
  /** The engine's reference to the state: a path relative to the folder it was saved in, or an address. */
  readonly reference: string
  readonly version: number
}

/** The prices of an engine, in USD per million tokens. */
export interface EnginePricing {
  /** For prompts that are sampled from (once for each request), and for tokens that are only looked at. */
  readonly prefillPerMillion: number
  readonly samplePerMillion: number
  /** For prompts and completions that are learned from. */
  readonly trainPerMillion: number
  /** The source of the price, with its date (ISO). */
  readonly source?: string | undefined
  readonly date?: string | undefined
}

/** The owner of the weights: samples, learns and saves. */
export interface Engine {
  /** For people and for the record, e.g. `jax` or `tinker`. */
  readonly name: string
  /** The model that is trained, for people and for the record. */
  readonly model: string
  readonly capabilities: Capabilities
  /** With it, the engine's tokens count towards the cost of a run and its limit. Absent for an engine of one's own. */
  readonly pricing?: EnginePricing | undefined
  readonly tokenizer: Tokenizer
  /** The present weights, to sample from, until the scope closes. */
  readonly sampler: Effect.Effect<Sampler, EngineError, Scope.Scope>
  /** Log-probabilities under the present weights; no gradient. */
  readonly forward: (data: ReadonlyArray<Datum>) => Effect.Effect<Pass, EngineError>
  /** Adds the gradient of the loss to the sum since the last step. Data that fail add nothing. */
  readonly forwardBackward: (data: ReadonlyArray<Datum>, loss: Loss) => Effect.Effect<Pass, EngineError>
  /** Changes the weights by the gradients so far, and forgets these. */
  readonly step: (settings: OptimizerSettings) => Effect.Effect<OptimizerStep, EngineError>
  /** Saves weights, optimiser and random state under a name, into a folder if the engine writes files. */
  readonly save: (name: string, folder: string) => Effect.Effect<Saved, EngineError>
  /** Restores a saved state. The engine then continues exactly as it did after saving. */
  readonly load: (saved: Saved, folder: string) => Effect.Effect<void, EngineError>
  /**
   * Writes the present weights as a file that other programs run. Texts of `about` go into the metadata of a GGUF by
   * their keys, e.g. the `ConductorForm` that the model was trained in; formats without metadata leave them out.
   */
  readonly export: (
    format: ExportFormat,
    path: string,
    about?: Readonly<Record<string, string>> | undefined
  ) => Effect.Effect<void, EngineError>
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why an engine refused or failed. `detail` says what to do about it. */
export type EngineErrorReason =
  /** The request makes no sense to this engine: a loss it lacks, arrays of unequal length, no tokens. */
  | { readonly _tag: "InvalidRequest"; readonly detail: string }
  /** More tokens than the context holds, or more memory than there is. */
  | { readonly _tag: "TooLarge"; readonly detail: string }
  /** Key refused. */
  | { readonly _tag: "Authentication"; readonly detail: string }
  | { readonly _tag: "RateLimited"; readonly detail: string; readonly retryAfterMillis?: number | undefined }
  /** The engine is unreachable. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** A session, model or saved state that is no longer there. */
  | { readonly _tag: "Expired"; readonly detail: string }
  /** The engine's own failure. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** An engine refused or failed. */
export class EngineError extends Data.TaggedError("EngineError")<{
  readonly engine: string
  readonly doing: "sample" | "forward" | "forwardBackward" | "step" | "save" | "load" | "export" | "open"
  readonly reason: EngineErrorReason
}> {
  override get message(): string {
    return `The ${this.engine} engine could not ${verbs[this.doing]}: ${this.reason.detail}`
  }

  /** Whether the same request may go through later. */
  get isRetryable(): boolean {
    return this.reason._tag === "RateLimited" || this.reason._tag === "Unreachable"
  }
}

const verbs = {
  sample: "sample",
  forward: "compute log-probabilities",
  forwardBackward: "compute gradients",
  step: "step the optimiser",
  save: "save",
  load: "load what was saved",
  export: "export the weights",
  open: "start"
} as const
