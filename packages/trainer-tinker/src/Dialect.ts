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

/** The servers that are known. */
export type Name = "hosted" | "skyrl-jax" | "skyrl-fsdp"

/** The time for which a sampler retains the weights it was saved with. */
export type Snapshots =
  /** Permanently. */
  | "kept"
  /** Until another sampler of the model is saved: then all of the model's samplers have its weights. */
  | "until-next"
  /** Until the optimiser steps. Sampling from an older one would turn the trained weights back. */
  | "until-step"

/** The behaviour of a server. */
export interface Dialect {
  readonly name: Name
  /**
   * Whether losses are summed over tokens and data, or are weighted means of each datum, averaged over all data since
   * the last step. A mean is undone: see `internal/batches.ts`.
   */
  readonly reduction: "sum" | "mean"
  /** Losses that the server has itself. Others are sent as the slopes of their tokens. */
  readonly losses: ReadonlyArray<LossName>
  /** Whether the losses with a ratio take `weights`, to mark the tokens that count. */
  readonly ratioWeights: boolean
  /** Settings of the optimiser that the server ignores. */
  readonly ignores: ReadonlyArray<keyof OptimizerSettings>
  readonly snapshots: Snapshots
  /** Whether the same calls in the same order give the same bits. */
  readonly deterministic: boolean
  /**
   * Whether a fresh model starts with the pending gradient of the last model in its slot. A model made only for this
   * purpose then steps it away.
   */
  readonly leavesGradients: boolean
  /** Whether a 400 for a result is the operation's failure. Elsewhere a proxy may have made it. */
  readonly isBadRequestFinal: boolean
  /** Whether log-probabilities alone have their own address, or are a flag of the protobuf form. */
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

/** Thinking Machines' service. */
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

/** SkyRL's own engine on JAX: the default of its server, and the one that runs on a CPU. */
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

/** All of them, by name. */
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
  /** The tensors of a `forward` of cross entropy, once there was one. */
  readonly forwardFields?: ReadonlyArray<string> | undefined
}

/**
 * Tells servers apart by what they give away.
 *
 * **Details**
 *
 * SkyRL says what it created before it has; the hosted service does not. SkyRL's JAX engine returns the loss of each
 * token with `forward`, its others log-probabilities alone. As a wrong guess between these two would scale gradients
 * wrongly, `undefined` means that SkyRL has to be asked by {@link Signs.forwardFields}.
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
