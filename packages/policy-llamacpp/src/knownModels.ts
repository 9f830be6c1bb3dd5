/**
 * Known models by name: open weights with permissive licenses that run on consumer hardware.
 *
 * Sizes are approximate, from the repositories; a download is verified against the length and SHA-256 that the server
 * reports. If a file has been moved, the error names it. Any other model can be used by its reference.
 */

/** A model by name. */
export interface KnownModel {
  readonly name: string
  /** The address of its file, as `hf:owner/repository/file`. */
  readonly source: string
  /** The number of weights, in billions. */
  readonly billions: number
  /** The approximate size of the download. */
  readonly gigabytes: number
  readonly licence: string
  /** The model's strengths, in a sentence, shown to policies that use descriptions. */
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

/** The default Conductor if there is no API key: large enough to plan, small enough for any machine. */
export const defaultConductor = "qwen2.5-1.5b-instruct"

/** The default pool: three small models of different families. */
export const defaultPool = ["qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct", "smollm2-1.7b-instruct"] as const

/** The model of the paper's Conductor, before it was trained. */
export const paperConductor = "qwen2.5-7b-instruct"

/** Returns the known model with a name, ignoring case. */
export const find = (name: string): KnownModel | undefined =>
  knownModels.find((model) => model.name === name.toLowerCase())
