/** Reads PEFT's `adapter_config.json`, and refuses what has no counterpart in llama.cpp. */
import * as Predicate from "effect/Predicate"
import * as Errors from "../GgufError.ts"

/** What scales the changes of modules. */
export interface AdapterConfig {
  readonly rank: number
  /** Absent if PEFT takes a pattern or all linear layers. */
  readonly targetModules?: ReadonlyArray<string> | undefined
  /** The alpha of a module of some rank: `alpha / rank` multiplies its change. */
  readonly alphaOf: (module: string, rank: number) => number
  /** Whether single modules have their own ranks. */
  readonly hasRankPattern: boolean
  readonly baseModel?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

const unsupported = (detail: string) => Errors.make({ _tag: "Unsupported", detail })
const corrupt = (detail: string) => Errors.make({ _tag: "Corrupt", detail })

const isSet = (value: unknown) =>
  value === true || (typeof value === "object" && value !== null && Object.keys(value).length > 0)

/** Throws if the adapter is of a kind that a product of two matrices cannot express. */
const checkKind = (fields: Fields) => {
  const { bias = "none", peft_type: kind } = fields
  if (kind !== "LORA") throw unsupported(`It is an adapter of the kind "${kind}"; LORA can be converted.`)
  if (bias !== "none") throw unsupported(`It trains biases ("bias": "${bias}"), which a GGUF adapter cannot hold.`)
  for (const field of [
    "use_dora",
    "fan_in_fan_out",
    "modules_to_save",
    "trainable_token_indices",
    "target_parameters"
  ]) {
    if (isSet(fields[field])) throw unsupported(`It was trained with "${field}", which a GGUF adapter cannot hold.`)
  }
}

/** The alpha of a module: that of the first pattern that its name ends in, or the common one. */
const alphaFor = (patterns: Fields, module: string, common: number): number => {
  const pattern = Object.keys(patterns).find((one) => new RegExp(`^(.*\\.)?(${one})$`).test(module))
  return pattern === undefined ? common : Number(patterns[pattern])
}

const fieldsOf = (text: string): Fields => {
  try {
    const fields: unknown = JSON.parse(text)
    if (Predicate.isObject(fields)) return fields as Fields
  } catch {
    // Said below.
  }
  throw corrupt("it is no JSON object.")
}

/** Reads the text of the file. Throws a `GgufError` if it is invalid or of a kind that cannot be converted. */
export const parse = (text: string): AdapterConfig => {
  const fields = fieldsOf(text)
  checkKind(fields)
  const { alpha_pattern: patterns, lora_alpha: alpha, r: rank, target_modules: targets } = fields
  const { base_model_name_or_path: baseModel, rank_pattern: ranks, use_rslora: isRankStabilised } = fields
  if (typeof rank !== "number" || !Number.isInteger(rank) || rank < 1) throw corrupt(`"r" is ${rank}, no rank.`)
  if (typeof alpha !== "number" || !Number.isFinite(alpha)) throw corrupt(`"lora_alpha" is ${alpha}, no number.`)
  const alphas = (patterns ?? {}) as Fields
  return {
    rank,
    hasRankPattern: isSet(ranks),
    // Rank-stabilised LoRA divides by the square root of the rank where LoRA divides by the rank.
    alphaOf: (module, own) => alphaFor(alphas, module, alpha) * (isRankStabilised === true ? Math.sqrt(own) : 1),
    targetModules: Array.isArray(targets) ? targets.map(String) : undefined,
    baseModel: typeof baseModel === "string" ? baseModel : undefined
  }
}
