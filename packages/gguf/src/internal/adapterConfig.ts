/** Parses PEFT's `adapter_config.json` and rejects features that llama.cpp cannot represent. */
import * as Predicate from "effect/Predicate"
import * as Errors from "../GgufError.ts"
import { shown } from "./shown.ts"

/** The configuration that determines how updates are scaled. */
export interface AdapterConfig {
  readonly rank: number
  /** Names of the adapted modules. Undefined if PEFT selects them by pattern or adapts all linear layers. */
  readonly targetModules?: ReadonlyArray<string> | undefined
  /** Returns the alpha of a module with the given rank. The update is scaled by `alpha / rank`. */
  readonly alphaOf: (module: string, rank: number) => number
  /** Whether some modules have a separate rank. */
  readonly hasRankPattern: boolean
  readonly baseModel?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

const unsupported = (detail: string) => Errors.make({ _tag: "Unsupported", detail })
const corrupt = (detail: string) => Errors.make({ _tag: "Corrupt", detail })

/** Formats a value for an error message. */
const said = (value: unknown) => String(JSON.stringify(value)).slice(0, 80)

const isSet = (value: unknown) =>
  value === true || (typeof value === "object" && value !== null && Object.keys(value).length > 0)

/** Throws if the adapter cannot be expressed as a product of two matrices. */
const checkKind = (fields: Fields) => {
  const { bias = "none", peft_type: kind } = fields
  if (kind !== "LORA") throw unsupported(`It is an adapter of type ${said(kind)}; only LORA is supported.`)
  if (bias !== "none") throw unsupported(`It trains biases ("bias": ${said(bias)}), which a GGUF adapter cannot hold.`)
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

/** Returns all suffixes of a module name, such as `layers.0.q_proj`, `0.q_proj` and `q_proj`. */
export const endingsOf = (module: string): ReadonlyArray<string> => {
  const parts = module.split(".")
  return parts.map((_, at) => parts.slice(at).join("."))
}

/**
 * Returns alphas keyed by module name suffix. The first entry wins. PEFT also accepts regular expressions here, but an
 * expression from a third-party file might never terminate.
 */
const alphasOf = (patterns: unknown): ReadonlyMap<string, { readonly place: number; readonly alpha: number }> => {
  if (patterns === undefined || patterns === null) return new Map()
  if (!Predicate.isObject(patterns)) throw corrupt('"alpha_pattern" is not an object.')
  return new Map(
    Object.entries(patterns).map(([name, alpha], place) => {
      if (!/^[\w.-]+$/.test(name)) {
        throw unsupported(`Its "alpha_pattern" has ${shown(name)}; only layer names are supported, not patterns.`)
      }
      if (typeof alpha !== "number") throw corrupt(`"alpha_pattern" has no number for ${shown(name)}.`)
      return [name, { place, alpha }]
    })
  )
}

/** Returns the alpha of a module: the first matching suffix in the map, or the common alpha. */
const alphaFor = (alphas: ReturnType<typeof alphasOf>, module: string, common: number): number => {
  if (alphas.size === 0) return common
  const found = endingsOf(module).flatMap((ending) => alphas.get(ending) ?? [])
  return found.reduce((first, one) => (one.place < first.place ? one : first), { place: alphas.size, alpha: common })
    .alpha
}

const fieldsOf = (text: string): Fields => {
  try {
    const fields: unknown = JSON.parse(text)
    if (Predicate.isObject(fields)) return fields as Fields
  } catch {
    // Reported below.
  }
  throw corrupt("it is not a JSON object.")
}

/** Parses the configuration. Throws a `GgufError` if it is invalid or cannot be converted. */
export const parse = (text: string): AdapterConfig => {
  const fields = fieldsOf(text)
  checkKind(fields)
  const { alpha_pattern: patterns, lora_alpha: alpha, r: rank, target_modules: targets } = fields
  const { base_model_name_or_path: baseModel, rank_pattern: ranks, use_rslora: isRankStabilised } = fields
  if (typeof rank !== "number" || !Number.isInteger(rank) || rank < 1)
    throw corrupt(`"r" is ${said(rank)}, which is not a valid rank.`)
  if (typeof alpha !== "number" || !Number.isFinite(alpha))
    throw corrupt(`"lora_alpha" is ${said(alpha)}, which is not a number.`)
  const alphas = alphasOf(patterns)
  return {
    rank,
    hasRankPattern: isSet(ranks),
    // Rank-stabilized LoRA divides by the square root of the rank, LoRA by the rank.
    alphaOf: (module, own) => alphaFor(alphas, module, alpha) * (isRankStabilised === true ? Math.sqrt(own) : 1),
    targetModules: Array.isArray(targets) ? targets.filter((target) => typeof target === "string") : undefined,
    baseModel: typeof baseModel === "string" ? baseModel : undefined
  }
}
