/**
 * The Tinker API's messages, as far as training by reinforcement needs them: what is sent, what comes back, and both of
 * their forms, JSON and protobuf.
 *
 * Tensors are arrays of numbers here; the two forms are in `internal/json.ts` and `internal/protobuf.ts`. Replies are
 * read leniently: servers differ in what they add and leave out.
 */

/** Numbers of a tensor. */
export type Numbers = ReadonlyArray<number> | Float32Array

/** The tensors of one datum, all as long as its input. Integers for `target_tokens`, floats for all others. */
export interface LossInputs {
  /** Position `i` is what follows token `i` of the input. */
  readonly target_tokens: ReadonlyArray<number>
  readonly weights?: Numbers
  readonly logprobs?: Numbers
  readonly advantages?: Numbers
}

/** One sequence to learn from. */
export interface Datum {
  /** Pieces of the input, one behind the other; the first is the prompt where there are two. */
  readonly chunks: ReadonlyArray<ReadonlyArray<number>>
  readonly inputs: LossInputs
}

/** Losses that at least one server has. */
export type LossFunction = "cross_entropy" | "importance_sampling" | "ppo" | "cispo" | "gspo"

/** A batch to compute gradients, or only log-probabilities, of. */
export interface Batch {
  readonly data: ReadonlyArray<Datum>
  readonly loss: LossFunction
  /** Settings of the loss, e.g. `clip_low_threshold`. */
  readonly config?: Readonly<Record<string, number>> | undefined
}

/** The result of a batch: the learner's log-probability of each target, datum by datum, and the server's metrics. */
export interface BatchResult {
  readonly logProbs: ReadonlyArray<ReadonlyArray<number> | Float32Array>
  readonly metrics: Readonly<Record<string, number>>
  /** The names of the tensors that came for each datum: servers are told apart by them. */
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

/** A request to sample. */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  readonly maxTokens: number
  /** At least 1: SkyRL never answers a request for none. */
  readonly count: number
  readonly temperature: number
  readonly seed: number
  /** Tokens that end a completion. SkyRL's JAX engine runs past the model's own end unless it is in here. */
  readonly stop: ReadonlyArray<number>
  /** Whether the prompt's own log-probabilities are wanted. */
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
  /** As long as the prompt; the first token has no value. */
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

/** The version of the protocol's SDK that this client speaks like. */
export const sdkVersion = "0.24.1"
