/** Reads PEFT's `adapter_config.json`, and refuses what has no counterpart in llama.cpp. */
import * as Predicate from "effect/Predicate"
import * as Errors from "../GgufError.ts"
import { shown } from "./shown.ts"

/** The scale of the modules' changes. */
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

/** A value as an error shows it. */
const said = (value: unknown) => String(JSON.stringify(value)).slice(0, 80)

const isSet = (value: unknown) =>
  value === true || (typeof value === "object" && value !== null && Object.keys(value).length > 0)

/** Throws if the adapter is of a kind that a product of two matrices cannot express. */
const checkKind = (fields: Fields) => {
  const { bias = "none", peft_type: kind } = fields
  if (kind !== "LORA") throw unsupported(`It is an adapter of the kind ${said(kind)}; LORA can be converted.`)
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

/** The names that a module has by what it ends in: `layers.0.q_proj`, `0.q_proj` and `q_proj`. */
export const endingsOf = (module: string): ReadonlyArray<string> => {
  const parts = module.split(".")
  return parts.map((_, at) => parts.slice(at).join("."))
}

/**
 * Returns the alphas of modules by the suffix of their names; the first entry wins. PEFT also accepts regular
 * expressions, but one in a third-party file might never terminate.
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

/** The alpha of a module: that of the first name in the map that it ends in, or the common one. */
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
    // Said below.
  }
  throw corrupt("it is not a JSON object.")
}

/** Reads the text of the file. Throws a `GgufError` if it is invalid or of a kind that cannot be converted. */
export const parse = (text: string): AdapterConfig => {
  const fields = fieldsOf(text)
  checkKind(fields)
  const { alpha_pattern: patterns, lora_alpha: alpha, r: rank, target_modules: targets } = fields
  const { base_model_name_or_path: baseModel, rank_pattern: ranks, use_rslora: isRankStabilised } = fields
  if (typeof rank !== "number" || !Number.isInteger(rank) || rank < 1) throw corrupt(`"r" is ${said(rank)}, no rank.`)
  if (typeof alpha !== "number" || !Number.isFinite(alpha)) throw corrupt(`"lora_alpha" is ${said(alpha)}, no number.`)
  const alphas = alphasOf(patterns)
  return {
    rank,
    hasRankPattern: isSet(ranks),
    // Rank-stabilised LoRA divides by the square root of the rank where LoRA divides by the rank.
    alphaOf: (module, own) => alphaFor(alphas, module, alpha) * (isRankStabilised === true ? Math.sqrt(own) : 1),
    targetModules: Array.isArray(targets) ? targets.filter((target) => typeof target === "string") : undefined,
    baseModel: typeof baseModel === "string" ? baseModel : undefined
  }
}
