/**
 * Capabilities of Google's models, as data: their inputs and outputs, how thinking is configured, and their limits.
 *
 * For a model that is not in the table, all settings of a request are sent, and Google rejects unsupported ones.
 * Sources: https://ai.google.dev/gemini-api/docs/thinking,
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking,
 * https://ai.google.dev/gemini-api/docs/function-calling and https://ai.google.dev/gemini-api/docs/thought-signatures,
 * read in November 2026.
 */
import type * as Worker from "@divisi/core/Worker"
import type { Effort } from "../dialects/reasoning.ts"

export type { Effort } from "../dialects/reasoning.ts"

/** Capabilities of a model. */
export interface Capabilities extends Required<Worker.Capabilities> {
  /** Whether a tool result can contain images and files. For other models, they are sent next to the result. */
  readonly mediaInResults: boolean
  /** Whether a function call must be sent back with its signature. */
  readonly signsCalls: boolean
  /**
   * How thinking is configured: with a level (`thinkingLevel`), with a number of tokens (`thinkingBudget`), to which
   * efforts are also mapped, or not at all.
   */
  readonly thinking: "level" | "budget" | "none"
  /** The efforts that the model accepts. */
  readonly efforts: ReadonlyArray<Effort>
  /** Minimum and maximum thinking budget, in tokens. */
  readonly budget: readonly [least: number, most: number]
  /** Whether thinking cannot be turned off. */
  readonly isThinkingFixed: boolean
}

/** A family of models: those whose name begins with `prefix`. */
export interface Family extends Readonly<Record<keyof Worker.Limits, number>> {
  readonly prefix: string
  readonly capabilities: Capabilities
}

const all: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high"]
const any: readonly [number, number] = [1, Number.POSITIVE_INFINITY]

const able = { tools: true, images: true, files: true, jsonSchema: true, json: true }

const everything: Capabilities = {
  ...able,
  shapesWithTools: true,
  mediaInResults: true,
  signsCalls: true,
  thinking: "level",
  efforts: all,
  budget: any,
  isThinkingFixed: false
}
const level = (...efforts: ReadonlyArray<Effort>): Capabilities => ({ ...everything, efforts, isThinkingFixed: true })

/** Capabilities introduced with Gemini 3. */
const before3 = { shapesWithTools: false, mediaInResults: false, signsCalls: false }
const budget = (least: number, most: number, isThinkingFixed: boolean): Capabilities => ({
  ...able,
  ...before3,
  thinking: "budget",
  efforts: all,
  budget: [least, most],
  isThinkingFixed
})
const none: Capabilities = { ...everything, ...before3, thinking: "none", efforts: [] }

const family = (prefix: string, capabilities: Capabilities, maxOutputTokens = 65_536): Family => ({
  prefix,
  capabilities,
  contextTokens: 1_048_576,
  maxOutputTokens
})

/** The known families. The first one with a matching prefix is used. */
export const families: ReadonlyArray<Family> = [
  family("gemini-3.8-flash", level("low", "medium", "high")),
  family("gemini-3.7-flash", level("low", "medium", "high")),
  family("gemini-3.6-flash", level(...all)),
  family("gemini-3.5-flash", level(...all)),
  family("gemini-3.1-flash-lite", level(...all)),
  family("gemini-3.1-pro", level("low", "medium", "high")),
  family("gemini-3-flash", level(...all)),
  family("gemini-3-pro", level("low", "high")),
  family("gemini-2.5-pro", budget(128, 32_768, true)),
  family("gemini-2.5-flash-lite", budget(512, 24_576, false)),
  family("gemini-2.5-flash", budget(1, 24_576, false)),
  family("gemini-2.0-", none, 8192)
]

const familyOf = (model: string) => {
  const name = model.replace(/^models\//, "")
  return families.find(({ prefix }) => name.startsWith(prefix))
}

/** Returns the capabilities of a model, with the caller's overrides. */
export const capabilitiesOf = (model: string, override: Partial<Capabilities> = {}): Capabilities => ({
  ...(familyOf(model)?.capabilities ?? everything),
  ...override
})

/** Returns the token limits of a model; empty if they are unknown. */
export const limitsOf = (model: string): Worker.Limits => {
  const known = familyOf(model)
  if (known === undefined) return {}
  const { contextTokens, maxOutputTokens } = known
  return { contextTokens, maxOutputTokens }
}
