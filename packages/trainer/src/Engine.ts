/**
 * Engines hold the weights of a policy in training.
 *
 * An engine has the four functions of the Tinker API: it samples, computes gradients, steps the optimizer, and saves
 * and loads. Everything else (groups, rewards, advantages, schedules, curricula) is part of the trainer, and is the
 * same for all engines, local or remote.
 */
import type { Message } from "@divisi/core/Message"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Converts between text and tokens. Engines only handle token ids. */
export interface Tokenizer {
  /** Returns the tokens of a prompt: the messages in the model's chat template, up to the start of the model's turn. */
  readonly render: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
  /** Returns the tokens of a text without an end token. */
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly decode: (tokens: ReadonlyArray<number>) => string
  /** The token that ends the model's turn. */
  readonly endToken: number
}

/** A sampling request. The temperature is 1 and all tokens are allowed, so samples follow the policy exactly. */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  /** The maximum number of tokens of a completion, including the end token. */
  readonly maxTokens: number
  /** The number of completions of the prompt. Default: 1. */
  readonly count?: number | undefined
  /** Completion `i` is sampled with `seed + i`. */
  readonly seed: number
}

/** A sampled completion. */
export interface Sample {
  /** The tokens, including the end token if `reason` is `stop`. */
  readonly tokens: ReadonlyArray<number>
  /** The natural logarithm of the sampler's probability of each token. Same length as `tokens`. */
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** A snapshot of the weights to sample from. Later optimizer steps do not change it. */
export interface Sampler {
  /** The number of optimizer steps that produced the weights. The version is recorded in each rollout. */
  readonly version: number
  readonly sample: (request: SampleRequest) => Effect.Effect<ReadonlyArray<Sample>, EngineError>
}

/** One number per token of a completion. */
export type PerToken = ReadonlyArray<number> | Float32Array

/** A training example. Position `i` of every array belongs to `completion[i]`. */
export interface Datum {
  /** The prompt, which is not trained on. Data that share the same prompt array may be computed together. */
  readonly prompt: ReadonlyArray<number>
  /** The tokens to train on; at least one. */
  readonly completion: ReadonlyArray<number>
  /**
   * The factor of each token's loss. Default: 1. Losses are summed over all tokens and data, so averaging must be part
   * of the weights.
   */
  readonly weights?: PerToken | undefined
  /** Required by all losses except `crossEntropy`. */
  readonly advantages?: PerToken | undefined
  /** The log-probabilities of the policy that sampled the completion. Required by losses with a ratio. */
  readonly logProbs?: PerToken | undefined
}

/**
 * The loss to minimize: the weighted sum of a term over tokens, where `p` is the probability under the weights, `q` the
 * probability under the sampler (`logProbs`), `A` the advantage, and `r = p / q`.
 */
export type Loss =
  /** `-log p`: supervised learning. */
  | { readonly type: "crossEntropy" }
  /** `-r A`: REINFORCE, corrected for the distance to the sampler. */
  | { readonly type: "importanceSampling" }
  /**
   * `-min(r A, clip(r, 1 - low, 1 + high) A)`: PPO's and GRPO's objective (paper section 2). The clips are distances
   * from
   * 1. With `entropy` above 0, the entropy of the policy at each token, multiplied by `entropy`, is added to the
   *    objective.
   */
  | {
      readonly type: "clippedRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }
  /** Like `clippedRatio`, but `r` is the geometric mean of the ratios of all tokens of the completion (GSPO). */
  | {
      readonly type: "sequenceRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }

/** The name of a {@link Loss}. */
export type LossName = Loss["type"]

/** The result of a pass, by datum. */
export interface Pass {
  /** The log-probabilities of the completion's tokens under the current weights, before any step. */
  readonly logProbs: ReadonlyArray<PerToken>
  /** Entropy of the distribution at each token, in nats, if the engine computes it. */
  readonly entropies?: ReadonlyArray<PerToken> | undefined
  /** The weighted sum of the loss over all data, if there is a loss. */
  readonly loss?: number | undefined
}

/** Settings for a step of AdamW (Loshchilov and Hutter 2019), on the sum of the gradients since the last step. */
export interface OptimizerSettings {
  readonly learningRate: number
  /** Default: 0.9. */
  readonly beta1?: number | undefined
  /** Default: 0.999, as in the paper. */
  readonly beta2?: number | undefined
  /** Default: 1e-8. */
  readonly epsilon?: number | undefined
  /** Decoupled weight decay. Default: 0. */
  readonly weightDecay?: number | undefined
  /** The norm to which the gradient is clipped. Default: 0, no clipping. */
  readonly maxGradientNorm?: number | undefined
}

/** The result of an optimizer step. */
export interface OptimizerStep {
  /** The number of steps so far, including this one. */
  readonly version: number
  /** The norm of the gradient before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
}

/** The capabilities of an engine. */
export interface Capabilities {
  readonly losses: ReadonlyArray<LossName>
  /** Whether the losses with a ratio support `entropy`. */
  readonly entropy: boolean
  /** Whether the same calls in the same order give bitwise equal results. */
  readonly deterministic: boolean
  /** The maximum number of tokens of a prompt and a completion together. */
  readonly contextTokens: number
  /** The formats that {@link Engine.export} supports. */
  readonly exports: ReadonlyArray<ExportFormat>
}

/** A model as a file (`gguf`), or an adapter for one (`gguf-lora`; `peft`, a folder of safetensors). */
export type ExportFormat = "gguf" | "gguf-lora" | "peft"

/**
 * A reference to a saved training state (weights, optimizer and random state). Plain data, stored in a run's folder.
 */
export interface Saved {
  /** The engine's reference to the state: a path relative to the folder it was saved in, or an address. */
  readonly reference: string
  readonly version: number
}

/** The prices of an engine, in USD per million tokens. */
export interface EnginePricing {
  /** The price of prompts in sampling requests (once per request) and of tokens in forward passes. */
  readonly prefillPerMillion: number
  readonly samplePerMillion: number
  /** The price of prompts and completions in training. */
  readonly trainPerMillion: number
  /** The source of the price, with its ISO date. */
  readonly source?: string | undefined
  readonly date?: string | undefined
}

/** Holds the weights: samples, trains and saves. */
export interface Engine {
  /** The name of the engine, e.g. `jax` or `tinker`. */
  readonly name: string
  /** The name of the model that is trained. */
  readonly model: string
  readonly capabilities: Capabilities
  /**
   * The prices of the engine. If present, its tokens count towards the cost of a run and its limit. Absent for a local
   * engine.
   */
  readonly pricing?: EnginePricing | undefined
  readonly tokenizer: Tokenizer
  /** Returns a sampler with the current weights. It is valid until the scope closes. */
  readonly sampler: Effect.Effect<Sampler, EngineError, Scope.Scope>
  /** Returns log-probabilities under the current weights, without a gradient. */
  readonly forward: (data: ReadonlyArray<Datum>) => Effect.Effect<Pass, EngineError>
  /** Adds the gradient of the loss to the sum since the last step. If it fails, nothing is added. */
  readonly forwardBackward: (data: ReadonlyArray<Datum>, loss: Loss) => Effect.Effect<Pass, EngineError>
  /** Updates the weights with the accumulated gradients, and resets them. */
  readonly step: (settings: OptimizerSettings) => Effect.Effect<OptimizerStep, EngineError>
  /** Saves weights, optimizer and random state under a name, in a folder if the engine writes files. */
  readonly save: (name: string, folder: string) => Effect.Effect<Saved, EngineError>
  /** Restores a saved state. The engine then continues exactly as it did after saving. */
  readonly load: (saved: Saved, folder: string) => Effect.Effect<void, EngineError>
  /**
   * Exports the current weights to a file for other programs. `about` is added to the metadata of a GGUF, e.g. the
   * `ConductorForm` that the model was trained with; formats without metadata ignore it.
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

/** Why an engine refused a request or failed. `detail` includes the remedy. */
export type EngineErrorReason =
  /** The engine does not support the request: an unknown loss, arrays of unequal length, no tokens. */
  | { readonly _tag: "InvalidRequest"; readonly detail: string }
  /** The request exceeds the context or the available memory. */
  | { readonly _tag: "TooLarge"; readonly detail: string }
  /** The key was rejected. */
  | { readonly _tag: "Authentication"; readonly detail: string }
  | { readonly _tag: "RateLimited"; readonly detail: string; readonly retryAfterMillis?: number | undefined }
  /** The engine is unreachable. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** A session, model or saved state that no longer exists. */
  | { readonly _tag: "Expired"; readonly detail: string }
  /** An internal failure of the engine. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** The error of an engine that refused a request or failed. */
export class EngineError extends Data.TaggedError("EngineError")<{
  readonly engine: string
  readonly doing: "sample" | "forward" | "forwardBackward" | "step" | "save" | "load" | "export" | "open"
  readonly reason: EngineErrorReason
}> {
  override get message(): string {
    return `The ${this.engine} engine could not ${verbs[this.doing]}: ${this.reason.detail}`
  }

  /** Whether the same request may succeed later. */
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
