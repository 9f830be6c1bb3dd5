/**
 * The differences between servers of the Tinker API, as data.
 *
 * The protocol has three variants: the hosted service, SkyRL's JAX engine, and SkyRL's FSDP and Megatron engines. The
 * client treats all three alike and looks up here what to send. {@link detect} distinguishes them as far as possible; a
 * caller that knows the server can set the dialect.
 */
import type { LossName, OptimizerSettings } from "@divisi/trainer/Engine"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The known servers. */
export type Name = "hosted" | "skyrl-jax" | "skyrl-fsdp"

/** The time for which a sampler retains the weights it was saved with. */
export type Snapshots =
  /** Permanently. */
  | "kept"
  /** Until another sampler of the model is saved. Then all samplers of the model have the new weights. */
  | "until-next"
  /** Until the next optimizer step. Sampling from an older sampler would revert the trained weights. */
  | "until-step"

/** The behaviour of a server. */
export interface Dialect {
  readonly name: Name
  /**
   * Whether losses are summed over tokens and data, or are weighted means of each datum, averaged over all data since
   * the last step. The client inverts a mean; see `internal/batches.ts`.
   */
  readonly reduction: "sum" | "mean"
  /** The losses that the server supports. Others are sent as per-token derivatives. */
  readonly losses: ReadonlyArray<LossName>
  /** Whether losses with a ratio accept `weights`, which mark the tokens to train on. */
  readonly ratioWeights: boolean
  /** The optimizer settings that the server ignores. */
  readonly ignores: ReadonlyArray<keyof OptimizerSettings>
  readonly snapshots: Snapshots
  /** Whether the same calls in the same order give bitwise equal results. */
  readonly deterministic: boolean
  /**
   * Whether a fresh model starts with the pending gradient of the last model in its slot. If so, the client creates a
   * temporary model that applies the gradient in a step.
   */
  readonly leavesGradients: boolean
  /** Whether status 400 for a result means that the operation failed. On other servers, it may come from a proxy. */
  readonly isBadRequestFinal: boolean
  /** Whether computing only log-probabilities has its own endpoint, instead of a flag in the protobuf format. */
  readonly hasForward: boolean
  /** Whether a checkpoint's archive is requested by its bare name. */
  readonly bareArchiveName: boolean
  /** The contents of an archive: an adapter, or the whole model. */
  readonly archive: "adapter" | "model"
  /** The maximum number of concurrent sampling requests. */
  readonly sampleConcurrency: number
}

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

/** The hosted service of Thinking Machines. */
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

/** SkyRL's JAX engine: the default of its server, and the one that runs on a CPU. */
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

/** SkyRL on PyTorch with vLLM: FSDP, or Megatron. */
export const skyrlFsdp: Dialect = {
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

/** All dialects by name. */
export const dialects: Readonly<Record<Name, Dialect>> = {
  hosted,
  "skyrl-jax": skyrlJax,
  "skyrl-fsdp": skyrlFsdp
}

// -------------------------------------------------------------------------------------------------------------------
// Telling apart
// -------------------------------------------------------------------------------------------------------------------

/** The observable signs of a server's dialect. */
export interface Signs {
  /** The immediate reply to `create_model`. */
  readonly created: Readonly<Record<string, unknown>>
  /** The tensors in the result of a cross-entropy `forward`, once available. */
  readonly forwardFields?: ReadonlyArray<string> | undefined
}

/**
 * Detects the dialect of a server from its observable signs.
 *
 * **Details**
 *
 * SkyRL describes a created model before it exists; the hosted service does not. SkyRL's JAX engine returns the loss of
 * each token with `forward`, its other engines only log-probabilities. A wrong guess between these two would scale
 * gradients wrongly, so the result is `undefined` until {@link Signs.forwardFields} is known.
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
 * Returns the limitations that a caller should know before trusting a run to a server, as sentences; empty if the
 * server does everything as requested.
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
