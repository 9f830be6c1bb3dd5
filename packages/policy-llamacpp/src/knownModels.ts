/**
 * Known models by name: open weights with permissive licenses that run on consumer hardware.
 *
 * Sizes are approximate and come from the repositories; a download is verified against the length and SHA-256 reported
 * by the server. If a file has moved, the error names it. Other models can be used by reference.
 */

/** A model that can be used by name. */
export interface KnownModel {
  readonly name: string
  /** Location of its file, as `hf:owner/repository/file`. */
  readonly source: string
  /** Number of weights, in billions. */
  readonly billions: number
  /** Approximate download size, in gigabytes. */
  readonly gigabytes: number
  readonly licence: string
  /** A sentence about the model's strengths, shown to policies that use descriptions. */
  readonly description: string
}

/** The known models, smallest first. */
export const knownModels: ReadonlyArray<KnownModel> = [
  {
    name: "qwen2.5-0.5b-instruct",
    source: "hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf",
    billions: 0.5,
    gigabytes: 0.5,
    licence: "Apache-2.0",
    description: "Very small and fast: short answers, rewording, extraction"
  },
  {
    name: "qwen2.5-1.5b-instruct",
    source: "hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf",
    billions: 1.5,
    gigabytes: 1.1,
    licence: "Apache-2.0",
    description: "Small generalist: explains, summarises, follows instructions"
  },
  {
    name: "qwen2.5-coder-1.5b-instruct",
    source: "hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    billions: 1.5,
    gigabytes: 1.1,
    licence: "Apache-2.0",
    description: "Small programmer: writes, reads and corrects code"
  },
  {
    name: "smollm2-1.7b-instruct",
    source: "hf:HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF/smollm2-1.7b-instruct-q4_k_m.gguf",
    billions: 1.7,
    gigabytes: 1.1,
    licence: "Apache-2.0",
    description: "Small generalist of another family: a second opinion, prose, common knowledge"
  },
  {
    name: "qwen2.5-7b-instruct",
    source: "hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
    billions: 7.6,
    gigabytes: 4.7,
    licence: "Apache-2.0",
    description: "Generalist: reasons, plans, computes and programs; the size of the paper's Conductor"
  }
]

/** The default Conductor if no API key is set: large enough to plan, and small enough for any machine. */
export const defaultConductor = "qwen2.5-1.5b-instruct"

/** The default pool: three small models from different families. */
export const defaultPool = ["qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct", "smollm2-1.7b-instruct"] as const

/** Returns the known model with a name, ignoring case. */
export const find = (name: string): KnownModel | undefined =>
  knownModels.find((model) => model.name === name.toLowerCase())
