/** A worker's request as a body of `generateContent`. */
import { defined } from "@divisi/core/Fields"
import { type Message, plain } from "@divisi/core/Message"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { budgetOf, type Capabilities, type Effort } from "./capabilities.ts"

interface Part {
  readonly text: string
}

interface Turn {
  readonly role: "user" | "model"
  readonly parts: ReadonlyArray<Part>
}

interface ThinkingConfig {
  readonly thinkingBudget?: number | undefined
  /** In capitals, as the API's enumeration is. */
  readonly thinkingLevel?: Uppercase<Effort> | undefined
  readonly includeThoughts?: boolean | undefined
}

/** The settings of one answer. */
export interface GenerationConfig {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: Array<string> | undefined
  readonly thinkingConfig?: ThinkingConfig | undefined
}

/** The body of a call. */
export interface Body {
  readonly contents: Array<{ role: string; parts: Array<Part> }>
  readonly systemInstruction?: { role: string; parts: Array<Part> } | undefined
  readonly generationConfig: GenerationConfig
}

/** The model and settings that a request is converted for. */
export interface Target {
  readonly model: string
  readonly capabilities: Capabilities
  /** Leaves out settings that the model does not have, instead of refusing them. */
  readonly omitUnsupported: boolean
}

/** The vendor refuses empty texts; turns of one role become parts of one turn. */
const turnsOf = (messages: ReadonlyArray<Message>): Body["contents"] => {
  const turns: Body["contents"] = []
  for (const { content, role } of messages.map(plain)) {
    if (role === "system" || content === "") continue
    const said: Turn["role"] = role === "assistant" ? "model" : "user"
    const last = turns.at(-1)
    if (last?.role === said) last.parts.push({ text: content })
    else turns.push({ role: said, parts: [{ text: content }] })
  }
  return turns
}

const systemOf = (messages: ReadonlyArray<Message>): Pick<Body, "systemInstruction"> => {
  const texts = messages.map(plain).filter(({ content, role }) => role === "system" && content !== "")
  if (texts.length === 0) return {}
  return { systemInstruction: { role: "system", parts: [{ text: texts.map(({ content }) => content).join("\n\n") }] } }
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

const thinkingOf = (target: Target, reasoning: Reasoning | undefined): Thinking => {
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

/** The body of a streamed call, or why the model cannot take this request. */
export const toBody = (request: WorkerRequest, target: Target): Result.Result<Body, WorkerErrorReason> =>
  Result.map(thinkingOf(target, request.reasoning), (thinkingConfig) => ({
    contents: turnsOf(request.messages),
    ...systemOf(request.messages),
    generationConfig: defined({
      maxOutputTokens: request.maxOutputTokens,
      temperature: request.temperature,
      seed: request.seed,
      stopSequences: request.stopSequences && [...request.stopSequences],
      thinkingConfig
    })
  }))
