/** The settings of a call: those of the request before those of the worker, held to what the model can do. */
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@tutti/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../capabilities.ts"

/** What a worker sets where a request does not. */
export interface Defaults {
  /** The most tokens the model may write, reasoning included; the vendor's own limit when absent. */
  readonly maxOutputTokens?: number
  /** 0 is greedy; the vendor's default when absent. */
  readonly temperature?: number
  /** How much the model may think; the vendor's default when absent. */
  readonly reasoning?: Reasoning
  readonly seed?: number
  readonly stopSequences?: ReadonlyArray<string>
}

const refused = (model: string, setting: string, why: string): WorkerErrorReason => ({
  _tag: "InvalidRequest",
  detail: `${setting}: ${model} ${why}`
})

/** The settings of one call. */
export const merge = (defaults: Defaults, request: WorkerRequest): Defaults => {
  const pick = <Key extends keyof Defaults>(key: Key) => request[key] ?? defaults[key]
  return {
    ...some("maxOutputTokens", pick("maxOutputTokens")),
    ...some("temperature", pick("temperature")),
    ...some("reasoning", pick("reasoning")),
    ...some("seed", pick("seed")),
    ...some("stopSequences", pick("stopSequences")?.length ? pick("stopSequences") : undefined)
  } as Defaults
}

/** A record with one entry, or none where there is no value. */
export const some = (key: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined ? {} : { [key]: value }

/** Whether the model takes these settings; the first that it does not take fails, by name. */
export const check = (
  model: string,
  settings: Defaults,
  { efforts, isReasoningFixed, maxStopSequences, seed, temperature }: Capabilities
): Result.Result<Defaults, WorkerErrorReason> => {
  const { reasoning, stopSequences = [] } = settings
  if (settings.seed !== undefined && !seed) return Result.fail(refused(model, "seed", "has no such parameter here"))
  if (stopSequences.length > maxStopSequences) {
    const most = maxStopSequences === 0 ? "takes none here" : `takes at most ${maxStopSequences}`
    return Result.fail(refused(model, "stopSequences", most))
  }
  if (settings.temperature !== undefined && settings.temperature !== 1) {
    const isThinking = reasoning !== undefined && reasoning.type !== "off"
    if (temperature === "never") return Result.fail(refused(model, "temperature", "takes only its default, 1"))
    if (temperature === "without-reasoning" && isThinking) {
      return Result.fail(refused(model, "temperature", "takes one only where reasoning is off"))
    }
  }
  if (reasoning?.type === "effort" && !efforts.includes(reasoning.effort)) {
    const known = efforts.length === 0 ? "does not reason" : `takes the efforts ${efforts.join(", ")}`
    return Result.fail(refused(model, `reasoning effort "${reasoning.effort}"`, known))
  }
  if (reasoning?.type === "off" && isReasoningFixed) {
    return Result.fail(refused(model, "reasoning off", "always reasons"))
  }
  return Result.succeed(settings)
}
