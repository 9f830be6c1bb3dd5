/**
 * Engines hold the weights of the policy being trained.
 *
 * An engine has the four operations of the Tinker API: sampling, gradient computation, optimizer steps, and saving and
 * loading. Everything else (groups, rewards, advantages, schedules, curricula) belongs to the trainer and works the
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
  /**
   * Returns the tokens of a prompt: the messages formatted with the model's chat template, up to the start of the
   * model's turn.
   */
  readonly render: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
  /** Returns the tokens of a string, without an end token. */
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly decode: (tokens: ReadonlyArray<number>) => string
  /** The token that ends the model's turn. */
  readonly endToken: number
}

/**
 * Sampling request. Sampling always uses temperature 1 without truncation (such as top-p or top-k), so samples follow
 * the policy's distribution exactly.
 */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  /** Maximum number of tokens per completion, including the end token. */
  readonly maxTokens: number
  /** Number of completions to sample for the prompt. Default: 1. */
  readonly count?: number | undefined
  /** Random seed. Completion `i` is sampled with `seed + i`. */
  readonly seed: number
}

/** A sampled completion. */
export interface Sample {
  /** Sampled tokens, including the end token if `reason` is `stop`. */
  readonly tokens: ReadonlyArray<number>
  /** Natural logarithm of the probability that the sampler gave each token. Same length as `tokens`. */
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** A snapshot of the weights, used for sampling. Later optimizer steps do not change it. */
export interface Sampler {
  /** Number of optimizer steps that produced these weights. Recorded in each rollout. */
  readonly version: number
  readonly sample: (request: SampleRequest) => Effect.Effect<ReadonlyArray<Sample>, EngineError>
}

/** One number for each token of a completion. */
export type PerToken = ReadonlyArray<number> | Float32Array

/** Training example. Index `i` of every array refers to `completion[i]`. */
export interface Datum {
  /**
   * Prompt tokens, which are not trained on. Engines may share computation between data that reference the same prompt
   * array.
   */
  readonly prompt: ReadonlyArray<number>
  /** Tokens to train on. Must not be empty. */
  readonly completion: ReadonlyArray<number>
  /**
   * Loss weight of each token. Default: 1. The loss is summed over all tokens and data, so to average it, include the
   * divisor in the weights.
   */
  readonly weights?: PerToken | undefined
  /** Advantage of each token. Required by all losses except `crossEntropy`. */
  readonly advantages?: PerToken | undefined
  /** Log-probabilities under the policy that sampled the completion. Required by losses that use a ratio. */
  readonly logProbs?: PerToken | undefined
}

/**
 * Loss to minimize: the weighted sum of a per-token term. In the formulas, `p` is the probability under the current
 * weights, `q` the probability under the sampler (`logProbs`), `A` the advantage, and `r = p / q`.
 */
export type Loss =
  /** `-log p`, for supervised learning. */
  | { readonly type: "crossEntropy" }
  /** `-r A`: REINFORCE with importance weights that correct for the difference from the sampler. */
  | { readonly type: "importanceSampling" }
  /**
   * `-min(r A, clip(r, 1 - low, 1 + high) A)`: the objective of PPO and GRPO (paper section 2). If `entropy` is above
   * 0, the policy's entropy at each token, multiplied by `entropy`, is added to the objective.
   */
  | {
      readonly type: "clippedRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }
  /** Like `clippedRatio`, but `r` is the geometric mean of the ratios over all tokens of the completion (GSPO). */
  | {
      readonly type: "sequenceRatio"
      readonly low: number
      readonly high: number
      readonly entropy?: number | undefined
    }

/** The name of a {@link Loss}. */
export type LossName = Loss["type"]

/** Result of a forward pass, with one entry per datum. */
export interface Pass {
  /** Log-probabilities of the completion tokens under the current weights, before any optimizer step. */
  readonly logProbs: ReadonlyArray<PerToken>
  /** Entropy of the next-token distribution at each token, in nats. Omitted if the engine does not compute it. */
  readonly entropies?: ReadonlyArray<PerToken> | undefined
  /** Weighted sum of the loss over all data. Set only if the pass has a loss. */
  readonly loss?: number | undefined
}

/**
 * Settings for an AdamW step (Loshchilov and Hutter 2019). The step applies the sum of all gradients since the previous
 * step.
 */
export interface OptimizerSettings {
  readonly learningRate: number
  /** Decay rate of the first moment. Default: 0.9. */
  readonly beta1?: number | undefined
  /** Decay rate of the second moment. Default: 0.999, as in the AdamW paper. */
  readonly beta2?: number | undefined
  /** Constant added to the denominator for numerical stability. Default: 1e-8. */
  readonly epsilon?: number | undefined
  /** Decoupled weight decay. Default: 0. */
  readonly weightDecay?: number | undefined
  /** Maximum gradient norm; larger gradients are scaled down to it. Default: 0 (no clipping). */
  readonly maxGradientNorm?: number | undefined
}

/** Result of an optimizer step. */
export interface OptimizerStep {
  /** Number of steps performed, including this one. */
  readonly version: number
  /** Gradient norm before clipping, if the engine reports it. */
  readonly gradientNorm?: number | undefined
}

/** Optional features and limits of an engine. */
export interface Capabilities {
  readonly losses: ReadonlyArray<LossName>
  /** Whether losses with a ratio support an `entropy` bonus. */
  readonly entropy: boolean
  /** Whether repeating the same calls in the same order gives bitwise equal results. */
  readonly deterministic: boolean
  /** Maximum length of a prompt plus its completion, in tokens. */
  readonly contextTokens: number
  /** Formats supported by {@link Engine.export}. */
  readonly exports: ReadonlyArray<ExportFormat>
}

/**
 * Export format: a complete model file (`gguf`) or an adapter (`gguf-lora` for llama.cpp, `peft` for a folder of
 * safetensors).
 */
export type ExportFormat = "gguf" | "gguf-lora" | "peft"

/** Reference to a saved training state (weights, optimizer and random state). Plain JSON, stored in the run folder. */
export interface Saved {
  /** Location of the stored state: a path relative to the folder passed to `save`, or a remote address. */
  readonly reference: string
  readonly version: number
}

/** Engine prices, in USD per million tokens. */
export interface EnginePricing {
  /** Price of prompt tokens in sampling requests (charged once per request) and of all tokens in forward passes. */
  readonly prefillPerMillion: number
  readonly samplePerMillion: number
  /** Price of prompt and completion tokens in training. */
  readonly trainPerMillion: number
  /** Source of the price, with its ISO date. */
  readonly source?: string | undefined
  readonly date?: string | undefined
}

/** Training backend that holds the weights, samples from them and updates them. */
export interface Engine {
  /** Name of the engine, such as `jax` or `tinker`. */
  readonly name: string
  /** Name of the model being trained. */
  readonly model: string
  readonly capabilities: Capabilities
  /**
   * Prices of the engine. If set, the engine's tokens count towards the run's cost and its cost limit. Omitted for
   * local engines.
   */
  readonly pricing?: EnginePricing | undefined
  readonly tokenizer: Tokenizer
  /** Returns a sampler for the current weights. It stays valid until the scope closes. */
  readonly sampler: Effect.Effect<Sampler, EngineError, Scope.Scope>
  /** Computes log-probabilities under the current weights, without gradients. */
  readonly forward: (data: ReadonlyArray<Datum>) => Effect.Effect<Pass, EngineError>
  /**
   * Computes the gradient of the loss and adds it to the gradients accumulated since the last step. If the call fails,
   * nothing is added.
   */
  readonly forwardBackward: (data: ReadonlyArray<Datum>, loss: Loss) => Effect.Effect<Pass, EngineError>
  /** Applies the accumulated gradients to the weights, then clears them. */
  readonly step: (settings: OptimizerSettings) => Effect.Effect<OptimizerStep, EngineError>
  /**
   * Saves the weights, optimizer and random state under a name. Engines that write local files write them to `folder`.
   */
  readonly save: (name: string, folder: string) => Effect.Effect<Saved, EngineError>
  /** Restores a saved state. Training then continues exactly as it would have from the moment of saving. */
  readonly load: (saved: Saved, folder: string) => Effect.Effect<void, EngineError>
  /**
   * Exports the current weights to a file for use in other programs. `about` is added to the metadata of GGUF files,
   * for example the `ConductorForm` used in training; formats without metadata ignore it.
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

/** Reasons for an engine failure. `detail` includes how to fix it. */
export type EngineErrorReason =
  /**
   * The request is not supported or malformed, for example an unknown loss, arrays of different lengths, or no tokens.
   */
  | { readonly _tag: "InvalidRequest"; readonly detail: string }
  /** The request exceeds the model's context length or the available memory. */
  | { readonly _tag: "TooLarge"; readonly detail: string }
  /** The API key was rejected. */
  | { readonly _tag: "Authentication"; readonly detail: string }
  | { readonly _tag: "RateLimited"; readonly detail: string; readonly retryAfterMillis?: number | undefined }
  /** The engine cannot be reached. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  /** The session, model or saved state no longer exists. */
  | { readonly _tag: "Expired"; readonly detail: string }
  /** Internal engine failure. */
  | { readonly _tag: "Failed"; readonly detail: string }

/** Raised when an engine rejects a request or fails. */
export class EngineError extends Data.TaggedError("EngineError")<{
  readonly engine: string
  readonly doing: "sample" | "forward" | "forwardBackward" | "step" | "save" | "load" | "export" | "open"
  readonly reason: EngineErrorReason
}> {
  override get message(): string {
    return `The ${this.engine} engine could not ${verbs[this.doing]}: ${this.reason.detail}`
  }

  /** Whether retrying the same request may succeed. */
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
  load: "load a saved state",
  export: "export the weights",
  open: "start"
} as const
