/**
 * Data about the capabilities of Anthropic's models: inputs and outputs, thinking settings, supported parameters, and
 * limits.
 *
 * For a model that is not in the table, all settings are sent, and Anthropic rejects unsupported ones. Sources: the
 * pages of the models under https://platform.claude.com/docs/en/models, and
 * https://platform.claude.com/docs/en/build-with-claude/thinking, …/effort and …/structured-outputs, read in November
 * 2026.
 */
import type * as Worker from "@divisi/core/Worker"

/** The capabilities of a model. */
export interface Capabilities extends Required<Worker.Capabilities> {
  /**
   * How thinking is configured: the model decides (`adaptive`, `{ type: "adaptive" }`), it gets a token budget
   * (`budget`, `{ type: "enabled" }`), or either.
   */
  readonly thinking: "adaptive" | "budget" | "either"
  /** Whether the model supports `output_config.effort`. */
  readonly effort: boolean
  /** The `thinking` type that turns thinking off; `none` for a model that always thinks. */
  readonly off: "disabled" | "between_tools" | "none"
  /** Whether the model supports a temperature other than 1 (never while it thinks). */
  readonly temperature: boolean
}

/** A family of models: those whose name contains `name`. */
export interface Family extends Readonly<Record<keyof Worker.Limits, number>> {
  readonly name: string
  readonly capabilities: Capabilities
}

/** Capabilities of all models since 4.5. */
const able = { tools: true, images: true, files: true, jsonSchema: true, json: false, shapesWithTools: true }

const everything: Capabilities = { ...able, thinking: "either", effort: true, off: "disabled", temperature: true }
const always: Capabilities = { ...able, thinking: "adaptive", effort: true, off: "none", temperature: false }
const betweenTools: Capabilities = { ...always, off: "between_tools" }
const optional: Capabilities = { ...always, off: "disabled" }
const budget: Capabilities = { ...able, thinking: "budget", effort: false, off: "disabled", temperature: true }

const family = (name: string, capabilities: Capabilities, contextTokens: number, maxOutputTokens: number): Family => ({
  name,
  capabilities,
  contextTokens,
  maxOutputTokens
})

/** The known families. If several match, the first one is used. */
export const families: ReadonlyArray<Family> = [
  family("fable", always, 1_000_000, 128_000),
  family("mythos", always, 1_000_000, 128_000),
  family("opus-5-5", always, 1_000_000, 128_000),
  family("opus-5", optional, 1_000_000, 128_000),
  family("opus-4-8", optional, 1_000_000, 128_000),
  family("opus-4-7", optional, 1_000_000, 128_000),
  family("opus-4-6", everything, 1_000_000, 128_000),
  family("opus-4-5", { ...budget, effort: true }, 200_000, 64_000),
  family("sonnet-5-5", betweenTools, 1_000_000, 128_000),
  family("sonnet-5", optional, 1_000_000, 128_000),
  family("sonnet-4-6", everything, 1_000_000, 64_000),
  family("sonnet-4-5", budget, 200_000, 64_000),
  family("haiku-5-5", optional, 1_000_000, 128_000),
  family("haiku-4-5", budget, 200_000, 64_000)
]

const familyOf = (model: string) => families.find(({ name }) => model.includes(name))

/**
 * Returns the capabilities of a model, with the caller's overrides.
 *
 * @internal
 */
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

/** Returns the capabilities in the form that a worker declares. */
export const ofWorker = ({
  files,
  images,
  json,
  jsonSchema,
  shapesWithTools,
  tools
}: Capabilities): Worker.Capabilities => ({ tools, images, files, jsonSchema, json, shapesWithTools })
