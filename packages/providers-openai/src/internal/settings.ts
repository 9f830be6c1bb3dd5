/** Merges the settings from the request and the worker, and checks them against the model's capabilities. */
import { defined } from "@divisi/core/Fields"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

/** Settings for requests that do not specify them. */
export interface Defaults {
  /** Maximum number of output tokens, including reasoning. Default: the vendor's limit. */
  readonly maxOutputTokens?: number | undefined
  /** Sampling temperature; 0 selects the most likely token. Default: the vendor's default. */
  readonly temperature?: number | undefined
  /** The amount of reasoning. Default: the vendor's default. */
  readonly reasoning?: Reasoning | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
}

/** Merges the settings for one call. */
export const merge = (defaults: Defaults, request: WorkerRequest): Defaults => {
  const pick = <Key extends keyof Defaults>(key: Key) => request[key] ?? defaults[key]
  return defined({
    maxOutputTokens: pick("maxOutputTokens"),
    temperature: pick("temperature"),
    reasoning: pick("reasoning"),
    seed: pick("seed"),
    stopSequences: pick("stopSequences")?.length ? pick("stopSequences") : undefined
  })
}

/** The model and API that settings are checked against. */
export interface Target {
  readonly model: string
  readonly capabilities: Capabilities
  /** The reasons why the API does not support a kind of reasoning setting, regardless of the model. */
  readonly missing: { readonly [Type in Reasoning["type"]]?: string | undefined }
  /**
   * Called with a notice for each unsupported setting, which is then replaced with a supported one or omitted. If `omit`
   * is undefined, unsupported settings are rejected.
   */
  readonly omit?: ((notice: string) => void) | undefined
}

type Checked<Key extends keyof Defaults> = Result.Result<Pick<Defaults, Key>, WorkerErrorReason>

const refused = (detail: string): Result.Result<never, WorkerErrorReason> =>
  Result.fail({ _tag: "InvalidRequest", detail })

const unsupported = ({ omit }: Target, detail: string) => {
  if (omit === undefined) return refused(detail)
  omit(`${detail}; it was left out`)
  return Result.succeed({})
}

const seedOf = (target: Target, { seed }: Defaults): Checked<"seed"> => {
  if (seed === undefined) return Result.succeed({})
  return target.capabilities.seed
    ? Result.succeed({ seed })
    : unsupported(target, `seed: ${target.model} does not support this parameter here`)
}

/**
 * Returns the stop sequences. They are a demand, because they decide where the answer ends, so they are never omitted.
 */
const stopSequencesOf = (target: Target, { stopSequences }: Defaults): Checked<"stopSequences"> => {
  const { capabilities, model } = target
  if (stopSequences === undefined) return Result.succeed({})
  if (capabilities.maxStopSequences === 0) {
    return refused(`stopSequences: ${model} does not accept any here; omit them and truncate the text yourself`)
  }
  return stopSequences.length > capabilities.maxStopSequences
    ? refused(`stopSequences: ${model} accepts at most ${capabilities.maxStopSequences}; send fewer`)
    : Result.succeed({ stopSequences })
}

/** Maps a reasoning setting to one that the model supports: a budget to an effort, or the reverse. */
const mapped = (target: Target, reasoning: Reasoning | undefined): Reasoning | undefined => {
  const { capabilities, missing, omit } = target
  if (omit === undefined || reasoning === undefined || reasoning.type === "off") return reasoning
  if (reasoning.type === "budget" && missing.budget === undefined) return reasoning
  if (reasoning.type === "effort" && missing.effort !== undefined && missing.budget === undefined) {
    return { type: "budget", tokens: Dialects.Reasoning.budgetOf[reasoning.effort] }
  }
  const { efforts } = capabilities
  const effort =
    reasoning.type === "effort"
      ? Dialects.Reasoning.nearest(reasoning.effort, efforts)
      : Dialects.Reasoning.effortOf(reasoning.tokens, efforts)
  if (effort === undefined || missing.effort !== undefined) return reasoning
  if (reasoning.type === "budget")
    omit(`reasoning budget: ${reasoning.tokens} tokens were replaced by the effort "${effort}"`)
  else if (effort !== reasoning.effort) omit(`reasoning effort: "${reasoning.effort}" was replaced by "${effort}"`)
  return { type: "effort", effort }
}

/** Returns the reasoning setting. A model that never reasons needs none to turn reasoning off. */
const reasoningOf = (target: Target, settings: Defaults): Checked<"reasoning"> => {
  const { capabilities, missing, model } = target
  const reasoning = mapped(target, settings.reasoning)
  const { efforts, isReasoningFixed } = capabilities
  if (reasoning === undefined) return Result.succeed({})
  if (reasoning.type === "effort" && !efforts.includes(reasoning.effort)) {
    const known = efforts.length === 0 ? "does not reason" : `accepts the efforts ${efforts.join(", ")}`
    return unsupported(target, `reasoning effort "${reasoning.effort}": ${model} ${known}`)
  }
  if (reasoning.type === "off") {
    if (isReasoningFixed) return unsupported(target, `reasoning off: ${model} always reasons`)
    if (efforts.length === 0) return Result.succeed({})
  }
  const why = missing[reasoning.type]
  return why === undefined ? Result.succeed({ reasoning }) : unsupported(target, `reasoning ${reasoning.type}: ${why}`)
}

/**
 * Returns the temperature. 1 is the default for all models, so it is not sent. Other values may depend on the reasoning
 * setting, which has already been checked.
 */
const temperatureOf = (target: Target, { reasoning, temperature }: Defaults): Checked<"temperature"> => {
  const { capabilities, model } = target
  if (temperature === undefined) return Result.succeed({})
  if (temperature === 1 || capabilities.temperature === "always") return Result.succeed({ temperature })
  if (capabilities.temperature === "never") {
    return unsupported(target, `temperature: ${model} accepts only its default, 1`)
  }
  return reasoning === undefined || reasoning.type === "off"
    ? Result.succeed({ temperature })
    : unsupported(target, `temperature: ${model} accepts one only if reasoning is off`)
}

/** Returns the settings that the model supports. Unsupported ones are rejected by name, or omitted. */
export const check = (target: Target, settings: Defaults): Result.Result<Defaults, WorkerErrorReason> => {
  const { maxOutputTokens, temperature } = settings
  const seed = seedOf(target, settings)
  if (Result.isFailure(seed)) return seed
  const stopSequences = stopSequencesOf(target, settings)
  if (Result.isFailure(stopSequences)) return stopSequences
  const reasoning = reasoningOf(target, settings)
  if (Result.isFailure(reasoning)) return reasoning
  return Result.map(temperatureOf(target, { ...reasoning.success, temperature }), (checked) => ({
    ...defined({ maxOutputTokens }),
    ...checked,
    ...seed.success,
    ...stopSequences.success,
    ...reasoning.success
  }))
}
