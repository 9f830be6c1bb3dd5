/**
 * Data about the differences between servers of the Tinker API.
 *
 * The protocol has three variants: the hosted service, SkyRL's JAX engine, and SkyRL's FSDP and Megatron engines. The
 * client handles all three with the same code and reads the differences from this table. {@link detect} identifies the
 * variant as far as possible; the dialect can also be set explicitly.
 */
import type { LossName, OptimizerSettings } from "@divisi/trainer/Engine"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The names of the known dialects. */
export type Name = "hosted" | "skyrl-jax" | "skyrl-fsdp"

/** How long a sampler retains the weights with which it was saved. */
export type Snapshots =
  /** Permanently. */
  | "kept"
  /** Until another sampler of the model is saved. All samplers of the model then use the new weights. */
  | "until-next"
  /** Until the next optimizer step. Sampling from an older sampler would revert the trained weights. */
  | "until-step"

/** How a server behaves where servers differ. */
export interface Dialect {
  readonly name: Name
  /**
   * Whether losses are summed over tokens and data, or each datum's weighted mean is averaged over all data since the
   * last step. The client compensates for means; see `internal/batches.ts`.
   */
  readonly reduction: "sum" | "mean"
  /** The losses supported by the server. Others are sent as per-token derivatives. */
  readonly losses: ReadonlyArray<LossName>
  /** Whether ratio losses accept `weights`, which select the tokens to train on. */
  readonly ratioWeights: boolean
  /** The optimizer settings that the server ignores. */
  readonly ignores: ReadonlyArray<keyof OptimizerSettings>
  readonly snapshots: Snapshots
  /** Whether the same calls in the same order give bitwise identical results. */
  readonly deterministic: boolean
  /**
   * Whether a new model starts with the pending gradient of the previous model in its slot. If so, the client creates a
   * temporary model that consumes the gradient in a step.
   */
  readonly leavesGradients: boolean
  /**
   * Whether status 400 for a result means that the operation failed. On other servers, the status may come from a
   * proxy.
   */
  readonly isBadRequestFinal: boolean
  /** Whether log-probabilities without gradients have a separate endpoint, instead of a flag in the protobuf format. */
  readonly hasForward: boolean
  /** Whether a checkpoint's archive is requested by its name alone. */
  readonly bareArchiveName: boolean
  /** The content of an archive: an adapter, or the whole model. */
  readonly archive: "adapter" | "model"
  /** Maximum number of concurrent sampling requests. */
  readonly sampleConcurrency: number
}

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

/**
 * The dialect of the hosted service by Thinking Machines.
 *
 * @internal
 */
export const hosted: Dialect = {
  name: "hosted",
  reduction: "sum",
  losses: ["crossEntropy", "importanceSampling", "clippedRatio"],
  ratioWeights: false,
  ignores: [],
  snapshots: "kept",
  deterministic: false,
  leavesGradients: false,
  isBadRequestFinal: false,
  hasForward: true,
  bareArchiveName: false,
  archive: "adapter",
  sampleConcurrency: 400
}

/**
 * The dialect of SkyRL's JAX engine, which is its server's default and runs on a CPU.
 *
 * @internal
 */
export const skyrlJax: Dialect = {
  name: "skyrl-jax",
  reduction: "mean",
  losses: ["crossEntropy", "importanceSampling", "clippedRatio"],
  ratioWeights: true,
  ignores: ["maxGradientNorm"],
  snapshots: "until-step",
  deterministic: false,
  leavesGradients: true,
  isBadRequestFinal: true,
  hasForward: true,
  bareArchiveName: true,
  archive: "adapter",
  sampleConcurrency: 256
}

/** The dialect of SkyRL on PyTorch with vLLM: FSDP or Megatron. */
const skyrlFsdp: Dialect = {
  name: "skyrl-fsdp",
  reduction: "sum",
  losses: ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"],
  ratioWeights: true,
  ignores: ["beta1", "beta2", "epsilon", "weightDecay", "maxGradientNorm"],
  snapshots: "until-next",
  deterministic: false,
  leavesGradients: false,
  isBadRequestFinal: true,
  hasForward: true,
  bareArchiveName: true,
  archive: "model",
  sampleConcurrency: 256
}

/**
 * All dialects by name.
 *
 * @internal
 */
export const dialects: Readonly<Record<Name, Dialect>> = {
  hosted,
  "skyrl-jax": skyrlJax,
  "skyrl-fsdp": skyrlFsdp
}

// -------------------------------------------------------------------------------------------------------------------
// Telling apart
// -------------------------------------------------------------------------------------------------------------------

/** Observations used to detect a server's dialect. */
export interface Signs {
  /** The immediate reply to `create_model`. */
  readonly created: Readonly<Record<string, unknown>>
  /** Names of the tensors in the result of a cross-entropy `forward`, once available. */
  readonly forwardFields?: ReadonlyArray<string> | undefined
}

/**
 * Detects the dialect of a server.
 *
 * **Details**
 *
 * SkyRL's reply to `create_model` describes the model before it exists; the hosted service's reply does not. With
 * `forward`, SkyRL's JAX engine returns the loss of each token, and its other engines return only log-probabilities.
 * Confusing these two would scale gradients incorrectly, so the result is `undefined` until {@link Signs.forwardFields}
 * is known.
 *
 * **Example**
 *
 * ```ts
 * import { Dialect } from "@divisi/trainer-tinker"
 *
 * Dialect.detect({ created: { request_id: "a" } })?.name // => "hosted"
 * Dialect.detect({ created: { request_id: "1", status: "created", base_model: "m" } }) // => undefined
 * ```
 */
export const detect = ({ created, forwardFields }: Signs): Dialect | undefined => {
  if (!("status" in created) && !("base_model" in created)) return hosted
  if (forwardFields === undefined) return undefined
  return forwardFields.includes("elementwise_loss") ? skyrlJax : skyrlFsdp
}

/**
 * Returns sentences about the limitations that a user should know before a training run; empty if the server supports
 * everything.
 *
 * @internal
 */
export const notices = ({ ignores, name, snapshots }: Dialect): ReadonlyArray<string> => [
  ...(ignores.length === 0
    ? []
    : [
        `The server (${name}) ignores ${ignores.join(", ")}: it uses its own configuration, and a client cannot change that.`
      ]),
  ...(snapshots === "kept"
    ? []
    : [
        `Samplers of the server (${name}) are removed at ${snapshots === "until-step" ? "the next optimizer step" : "the next sampler"}: train on-policy (offPolicySteps 0).`
      ])
]
