/** Converts reasoning settings to Google's thinking settings. */
import type { Reasoning, WorkerErrorReason } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { budgetOf, type Effort, fitted, nearest } from "../reasoning.ts"
import type { Target } from "./request.ts"

/** Google's thinking settings. */
export interface ThinkingConfig {
  readonly thinkingBudget?: number | undefined
  /** In upper case, as in the API's enumeration. */
  readonly thinkingLevel?: Uppercase<Effort> | undefined
  readonly includeThoughts?: boolean | undefined
}

type Thinking = Result.Result<ThinkingConfig | undefined, WorkerErrorReason>

/** Replaces a setting (by default with nothing), or rejects it. */
const unsupported = (target: Target, detail: string, instead?: ThinkingConfig): Thinking => {
  if (!target.omitUnsupported) return Result.fail({ _tag: "InvalidRequest", detail })
  target.onNotice?.(
    `${detail}; it was ${instead === undefined ? "left out" : `replaced by ${JSON.stringify(instead)}`}`
  )
  return Result.succeed(instead)
}

/** Converts an effort to what the model supports: a level, or the equivalent number of tokens. */
const withEffort = ({ capabilities }: Target, effort: Effort): ThinkingConfig =>
  capabilities.thinking === "level"
    ? { thinkingLevel: effort.toUpperCase() as Uppercase<Effort>, includeThoughts: true }
    : { thinkingBudget: budgetOf[effort], includeThoughts: true }

const effortOf = (target: Target, effort: Effort): Thinking => {
  const { efforts } = target.capabilities
  if (efforts.includes(effort)) return Result.succeed(withEffort(target, effort))
  const known = efforts.length === 0 ? "does not reason" : `accepts the efforts ${efforts.join(", ")}`
  const other = nearest(effort, efforts)
  const detail = `reasoning effort "${effort}": ${target.model} ${known}`
  return unsupported(target, detail, other && withEffort(target, other))
}

const tokensOf = (target: Target, tokens: number): Thinking => {
  const { budget, thinking } = target.capabilities
  if (thinking === "none") return unsupported(target, `reasoning budget: ${target.model} does not reason`)
  const [least, most] = budget
  if (tokens >= least && tokens <= most) return Result.succeed({ thinkingBudget: tokens, includeThoughts: true })
  const range = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`
  const detail = `reasoning budget: ${target.model} takes ${range} tokens`
  return unsupported(target, detail, { thinkingBudget: fitted(tokens, least, most), includeThoughts: true })
}

/** Returns the lowest setting for a model that cannot turn thinking off. */
const leastOf = ({ capabilities: { budget, efforts, thinking } }: Target): ThinkingConfig | undefined => {
  if (thinking === "budget") return { thinkingBudget: budget[0] }
  const [least] = efforts
  return least && { thinkingLevel: least.toUpperCase() as Uppercase<Effort> }
}

/** Returns the setting that turns thinking off. A model that never thinks needs none. */
const offOf = (target: Target): Thinking => {
  const { isThinkingFixed, thinking } = target.capabilities
  if (thinking === "none") return Result.succeed(undefined)
  return isThinkingFixed
    ? unsupported(target, `reasoning off: ${target.model} always reasons`, leastOf(target))
    : Result.succeed({ thinkingBudget: 0 })
}

/**
 * Returns the thinking settings, or the reason why the model does not support the request. `undefined` leaves the
 * choice to the model.
 */
export const thinkingOf = (target: Target, reasoning: Reasoning | undefined): Thinking => {
  switch (reasoning?.type) {
    case undefined:
      return Result.succeed(undefined)
    case "effort":
      return effortOf(target, reasoning.effort)
    case "budget":
      return tokensOf(target, reasoning.tokens)
    case "off":
      return offOf(target)
  }
}
