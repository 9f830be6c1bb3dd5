/** Differences between the known Tinker API servers that the local server imitates. */

/** The known servers: the hosted service, and SkyRL's JAX and PyTorch engines. */
export type Name = "hosted" | "skyrl-jax" | "skyrl-fsdp"

/** The behaviour of a known server. */
export interface Dialect {
  readonly name: Name
  /**
   * Whether losses are summed over all tokens and data, or are weighted means per datum that are averaged until the
   * step.
   */
  readonly reduction: "sum" | "mean"
  /** Whether the optimizer clips the gradient to the norm requested by the client. */
  readonly clipsGradients: boolean
  /** Whether samplers share the model's weights. If so, sampling from an old sampler reverts the trained weights. */
  readonly samplersShareWeights: boolean
  /** Whether the gradient of an unloaded model is passed on to the next model. */
  readonly leavesGradients: boolean
}

const hosted: Dialect = {
  name: "hosted",
  reduction: "sum",
  clipsGradients: true,
  samplersShareWeights: false,
  leavesGradients: false
}

/** All dialects by name. */
export const dialects: Readonly<Record<Name, Dialect>> = {
  hosted,
  "skyrl-jax": {
    name: "skyrl-jax",
    reduction: "mean",
    clipsGradients: false,
    samplersShareWeights: true,
    leavesGradients: true
  },
  "skyrl-fsdp": { ...hosted, name: "skyrl-fsdp", clipsGradients: false }
}
