/**
 * Models with a name here: open weights, small enough to run at home, with licences that allow it.
 *
 * Sizes are approximate, from the repositories; a download is checked against the length and the SHA-256 that the
 * server gives. A file that has moved since fails by name. Any other model can be named by its own reference.
 */

/** A model by name. */
export interface KnownModel {
  readonly name: string
  /** The address of its file, as `hf:owner/repository/file`. */
  readonly source: string
  /** Billions of weights. */
  readonly billions: number
  /** The approximate size of the download. */
  readonly gigabytes: number
  readonly licence: string
  /** The model's strengths, in a sentence, shown to policies that use descriptions. */
  readonly description: string
}

/** The known models, the smallest first. */
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

/** The default Conductor when there is no key: large enough to plan, small enough for any machine. */
export const defaultConductor = "qwen2.5-1.5b-instruct"

/** The pool that goes with it: small, and of three different kinds. */
export const defaultPool = ["qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct", "smollm2-1.7b-instruct"] as const

/** The model of the paper's Conductor, before it was trained. */
export const paperConductor = "qwen2.5-7b-instruct"

/** The model of a name, in small letters or large. */
export const find = (name: string): KnownModel | undefined =>
  knownModels.find((model) => model.name === name.toLowerCase())
