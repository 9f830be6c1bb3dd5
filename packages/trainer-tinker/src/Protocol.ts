/**
 * The messages of the Tinker API that reinforcement learning needs: requests, responses, and their two formats, JSON
 * and protobuf.
 *
 * Tensors are arrays of numbers here; the formats are in `internal/json.ts` and `internal/protobuf.ts`. Responses are
 * parsed leniently, because servers add and omit different fields.
 */

/** The numbers of a tensor. */
export type Numbers = ReadonlyArray<number> | Float32Array

/**
 * The tensors of one datum, all of the same length as its input. `target_tokens` contains integers, all others floats.
 */
export interface LossInputs {
  /** Position `i` is the token that follows token `i` of the input. */
  readonly target_tokens: ReadonlyArray<number>
  readonly weights?: Numbers
  readonly logprobs?: Numbers
  readonly advantages?: Numbers
}

/** One sequence to learn from. */
export interface Datum {
  /** The consecutive chunks of the input. If there are two, the first is the prompt. */
  readonly chunks: ReadonlyArray<ReadonlyArray<number>>
  readonly inputs: LossInputs
}

/** The losses that at least one server supports. */
export type LossFunction = "cross_entropy" | "importance_sampling" | "ppo" | "cispo" | "gspo"

/** A batch for computing gradients, or only log-probabilities. */
export interface Batch {
  readonly data: ReadonlyArray<Datum>
  readonly loss: LossFunction
  /** The settings of the loss, such as `clip_low_threshold`. */
  readonly config?: Readonly<Record<string, number>> | undefined
}

/** The result of a batch: the learner's log-probability of each target, datum by datum, and the server's metrics. */
export interface BatchResult {
  readonly logProbs: ReadonlyArray<ReadonlyArray<number> | Float32Array>
  readonly metrics: Readonly<Record<string, number>>
  /** The names of the tensors returned for each datum, from which the server's dialect is detected. */
  readonly fields: ReadonlyArray<string>
}

/** AdamW's settings under the protocol's names. */
export interface AdamParams {
  readonly learning_rate: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  readonly weight_decay: number
  readonly grad_clip_norm: number
}

/** A sampling request. */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  readonly maxTokens: number
  /** The number of completions, at least 1. SkyRL never answers a request for 0. */
  readonly count: number
  readonly temperature: number
  readonly seed: number
  /**
   * Tokens that end a completion. SkyRL's JAX engine continues after the model's own end token unless it is included
   * here.
   */
  readonly stop: ReadonlyArray<number>
  /** Whether to return the log-probabilities of the prompt. */
  readonly promptLogProbs?: boolean | undefined
}

/** One completion. */
export interface Sequence {
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** Completions of a prompt. */
export interface SampleResult {
  readonly sequences: ReadonlyArray<Sequence>
  /** The log-probabilities of the prompt's tokens. The first token has no value. */
  readonly promptLogProbs?: ReadonlyArray<number | null> | undefined
}

/** The settings of LoRA matrices. */
export interface LoraConfig {
  readonly rank: number
  readonly seed?: number | undefined
  /** Whether the output layer is trained. Turn this off if another server will serve the adapter. */
  readonly train_unembed: boolean
  readonly train_mlp: boolean
  readonly train_attn: boolean
}

/** The training data of a saved state, as reported by the server. */
export interface WeightsInfo {
  readonly base_model?: string | undefined
  readonly is_lora?: boolean | undefined
  readonly lora_rank?: number | undefined
}

/** A model that the server trains. */
export interface SupportedModel {
  readonly model_name: string
  readonly max_context_length?: number | undefined
}

/** The SDK version whose protocol this client implements. */
export const sdkVersion = "0.24.1"
