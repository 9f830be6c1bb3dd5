/** How much a request lets a model think, as Google's settings say it. */
import type { Reasoning, WorkerErrorReason } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { budgetOf, type Effort } from "../../gemini/capabilities.ts"
import type { Target } from "./request.ts"

/** Google's settings of thinking. */
export interface ThinkingConfig {
  readonly thinkingBudget?: number | undefined
  /** In capitals, as the API's enumeration is. */
  readonly thinkingLevel?: Uppercase<Effort> | undefined
  readonly includeThoughts?: boolean | undefined
}

type Thinking = Result.Result<ThinkingConfig | undefined, WorkerErrorReason>

const refused = (target: Target, detail: string): Thinking =>
  target.omitUnsupported ? Result.succeed(undefined) : Result.fail({ _tag: "InvalidRequest", detail })

const effortOf = (target: Target, effort: Effort): Thinking => {
  const { efforts, thinking } = target.capabilities
  if (!efforts.includes(effort)) {
    const known = efforts.length === 0 ? "does not reason" : `takes the efforts ${efforts.join(", ")}`
    return refused(target, `reasoning effort "${effort}": ${target.model} ${known}`)
  }
  return Result.succeed(
    thinking === "level"
      ? { thinkingLevel: effort.toUpperCase() as Uppercase<Effort>, includeThoughts: true }
      : { thinkingBudget: budgetOf[effort], includeThoughts: true }
  )
}

const tokensOf = (target: Target, tokens: number): Thinking => {
  const { budget, thinking } = target.capabilities
  if (thinking === "none") return refused(target, `reasoning budget: ${target.model} does not reason`)
  const [least, most] = budget
  if (tokens < least || tokens > most) {
    const range = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`
    return Result.fail({ _tag: "InvalidRequest", detail: `reasoning budget: ${target.model} takes ${range} tokens` })
  }
  return Result.succeed({ thinkingBudget: tokens, includeThoughts: true })
}

/** A model that does not think needs no setting that turns thinking off. */
const offOf = (target: Target): Thinking => {
  const { isThinkingFixed, thinking } = target.capabilities
  if (thinking === "none") return Result.succeed(undefined)
  return isThinkingFixed
    ? refused(target, `reasoning off: ${target.model} always reasons`)
    : Result.succeed({ thinkingBudget: 0 })
}

/** The settings of thinking, or why the model cannot think so; `undefined` leaves it to the model. */
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
