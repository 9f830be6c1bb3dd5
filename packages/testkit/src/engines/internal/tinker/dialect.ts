/** How the known servers of the Tinker API differ in what they do, as far as the local server does the same. */

/** The servers that are known: the hosted service, and SkyRL's engines on JAX and on PyTorch. */
export type Name = "hosted" | "skyrl-jax" | "skyrl-fsdp"

/** The behaviour of a server. */
export interface Dialect {
  readonly name: Name
  /** Whether losses are summed over tokens and data, or are weighted means of each datum, averaged until the step. */
  readonly reduction: "sum" | "mean"
  /** Whether the optimiser cuts the gradient to the norm that a client asks for. */
  readonly clipsGradients: boolean
  /** Whether samplers share the model's weights, so that sampling from an old one turns the trained weights back. */
  readonly samplersShareWeights: boolean
  /** Whether an unloaded model leaves its gradient to its successor. */
  readonly leavesGradients: boolean
}

const hosted: Dialect = {
  name: "hosted",
  reduction: "sum",
  clipsGradients: true,
  samplersShareWeights: false,
  leavesGradients: false
}

/** All of them, by name. */
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
