/**
 * Messages of the Tinker API that reinforcement learning needs: requests and responses, in the formats JSON and
 * protobuf.
 *
 * Here, tensors are arrays of numbers; their encodings are in `internal/json.ts` and `internal/protobuf.ts`. Responses
 * are parsed leniently, because servers add and omit fields.
 */

/** The numbers in a tensor. */
export type Numbers = ReadonlyArray<number> | Float32Array

/**
 * The tensors for one datum, each as long as its input. `target_tokens` contains integers, all others contain floats.
 */
export interface LossInputs {
  /** The token at position `i` is the one that follows token `i` of the input. */
  readonly target_tokens: ReadonlyArray<number>
  readonly weights?: Numbers
  readonly logprobs?: Numbers
  readonly advantages?: Numbers
}

/** One sequence to train on. */
export interface Datum {
  /** Consecutive chunks of the input. If there are two, the first one is the prompt. */
  readonly chunks: ReadonlyArray<ReadonlyArray<number>>
  readonly inputs: LossInputs
}

/** Losses supported by at least one server. */
export type LossFunction = "cross_entropy" | "importance_sampling" | "ppo" | "cispo" | "gspo"

/** A batch for computing gradients, or only log-probabilities. */
export interface Batch {
  readonly data: ReadonlyArray<Datum>
  readonly loss: LossFunction
  /** Settings for the loss, such as `clip_low_threshold`. */
  readonly config?: Readonly<Record<string, number>> | undefined
}

/** The result for a batch: the log-probability of each target for each datum, and the server's metrics. */
export interface BatchResult {
  readonly logProbs: ReadonlyArray<ReadonlyArray<number> | Float32Array>
  readonly metrics: Readonly<Record<string, number>>
  /** Names of the tensors returned for each datum, used to detect the server's dialect. */
  readonly fields: ReadonlyArray<string>
}

/** AdamW settings under their protocol names. */
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
  /** Number of completions, at least 1. SkyRL never answers a request for 0. */
  readonly count: number
  readonly temperature: number
  readonly seed: number
  /**
   * Tokens that end a completion. SkyRL's JAX engine continues past the model's end token unless it is included here.
   */
  readonly stop: ReadonlyArray<number>
  /** Whether to return log-probabilities for the prompt. */
  readonly promptLogProbs?: boolean | undefined
}

/** A completion. */
export interface Sequence {
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** The completions for a prompt. */
export interface SampleResult {
  readonly sequences: ReadonlyArray<Sequence>
  /** Log-probabilities of the prompt's tokens. The first token has no value. */
  readonly promptLogProbs?: ReadonlyArray<number | null> | undefined
}

/** LoRA settings. */
export interface LoraConfig {
  readonly rank: number
  readonly seed?: number | undefined
  /** Whether the output layer is trained. Set to `false` if another server will serve the adapter. */
  readonly train_unembed: boolean
  readonly train_mlp: boolean
  readonly train_attn: boolean
}

/** How a saved state was trained, as reported by the server. */
export interface WeightsInfo {
  readonly base_model?: string | undefined
  readonly is_lora?: boolean | undefined
  readonly lora_rank?: number | undefined
}

/** A model that the server can train. */
export interface SupportedModel {
  readonly model_name: string
  readonly max_context_length?: number | undefined
}
