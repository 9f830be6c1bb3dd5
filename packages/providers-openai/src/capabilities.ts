/**
 * Data about the capabilities of OpenAI's models: supported settings, inputs and outputs, and limits.
 *
 * A model that is not in the table is assumed to support everything; OpenAI then rejects unsupported settings. Sources:
 * the model pages under https://developers.openai.com/api/docs/models, the guide
 * https://developers.openai.com/api/docs/guides/reasoning, and the published description
 * https://github.com/openai/openai-openapi (schemas ReasoningEffort and StopConfiguration). If the sources are unclear,
 * a capability is assumed.
 */
import type * as Worker from "@divisi/core/Worker"

/** The capabilities of a model. */
export interface Capabilities extends Required<Worker.Capabilities> {
  /** Whether the model supports a temperature other than 1: always, never, or only if reasoning is turned off. */
  readonly temperature: "always" | "never" | "without-reasoning"
  /** The accepted reasoning efforts; empty for a model without reasoning. */
  readonly efforts: ReadonlyArray<"minimal" | "low" | "medium" | "high">
  /** Whether reasoning cannot be turned off. */
  readonly isReasoningFixed: boolean
  /** Whether the model supports a seed. */
  readonly seed: boolean
  /** Maximum number of stop sequences. */
  readonly maxStopSequences: number
  /** Whether the Responses API returns encrypted reasoning and accepts it back with tool results. */
  readonly encryptedReasoning: boolean
}

/** A family of models: those named `prefix`, or `prefix` followed by a hyphen and a suffix. */
export interface Family extends Worker.Limits {
  readonly prefix: string
  readonly capabilities: Partial<Capabilities>
}

const everything: Capabilities = {
  tools: true,
  images: true,
  files: true,
  jsonSchema: true,
  json: true,
  shapesWithTools: true,
  temperature: "always",
  efforts: ["minimal", "low", "medium", "high"],
  isReasoningFixed: false,
  seed: true,
  maxStopSequences: 4,
  encryptedReasoning: false
}

const chat = { temperature: "always", efforts: [] } as const
const olderReasoning = {
  temperature: "never",
  efforts: ["low", "medium", "high"],
  isReasoningFixed: true,
  maxStopSequences: 0,
  encryptedReasoning: true
} as const
const gpt5 = {
  temperature: "never",
  efforts: ["minimal", "low", "medium", "high"],
  isReasoningFixed: true,
  maxStopSequences: 0,
  encryptedReasoning: true
} as const
const optionalReasoning = {
  temperature: "without-reasoning",
  efforts: ["low", "medium", "high"],
  maxStopSequences: 0,
  encryptedReasoning: true
} as const

const k = 1000
const large = { contextTokens: 1_050_000, maxOutputTokens: 128 * k } as const

/** The known families. If several prefixes match, the longest one is used. */
export const families: ReadonlyArray<Family> = [
  { prefix: "gpt-4o", capabilities: chat, contextTokens: 128 * k, maxOutputTokens: 16_384 },
  { prefix: "gpt-4.1", capabilities: chat, contextTokens: 1_047_576, maxOutputTokens: 32_768 },
  { prefix: "o1", capabilities: olderReasoning, contextTokens: 200 * k, maxOutputTokens: 100 * k },
  { prefix: "o3", capabilities: olderReasoning, contextTokens: 200 * k, maxOutputTokens: 100 * k },
  {
    prefix: "o3-mini",
    capabilities: { ...olderReasoning, images: false, files: false },
    contextTokens: 200 * k,
    maxOutputTokens: 100 * k
  },
  { prefix: "o4-mini", capabilities: olderReasoning, contextTokens: 200 * k, maxOutputTokens: 100 * k },
  { prefix: "gpt-5", capabilities: gpt5, contextTokens: 400 * k, maxOutputTokens: 128 * k },
  { prefix: "gpt-5-chat", capabilities: chat, contextTokens: 128 * k, maxOutputTokens: 16_384 },
  {
    prefix: "gpt-5-pro",
    capabilities: { ...gpt5, efforts: ["high"] },
    contextTokens: 400 * k,
    maxOutputTokens: 272 * k
  },
  { prefix: "gpt-5.1", capabilities: optionalReasoning, contextTokens: 400 * k, maxOutputTokens: 128 * k },
  { prefix: "gpt-5.1-chat", capabilities: {} },
  { prefix: "gpt-5.2", capabilities: optionalReasoning, contextTokens: 400 * k, maxOutputTokens: 128 * k },
  { prefix: "gpt-5.2-pro", capabilities: { ...gpt5, efforts: ["medium", "high"] } },
  { prefix: "gpt-5.2-chat", capabilities: {} },
  { prefix: "gpt-5.4", capabilities: optionalReasoning, ...large },
  { prefix: "gpt-5.4-mini", capabilities: optionalReasoning, contextTokens: 400 * k, maxOutputTokens: 128 * k },
  { prefix: "gpt-5.4-nano", capabilities: optionalReasoning, contextTokens: 400 * k, maxOutputTokens: 128 * k },
  { prefix: "gpt-5.5", capabilities: optionalReasoning, ...large },
  { prefix: "gpt-5.6", capabilities: { ...optionalReasoning, temperature: "never" }, ...large },
  { prefix: "gpt-6-sol", capabilities: { efforts: ["low", "medium", "high"], encryptedReasoning: true }, ...large },
  {
    prefix: "gpt-6.1-sol",
    capabilities: { efforts: ["low", "medium", "high"], isReasoningFixed: true, encryptedReasoning: true },
    ...large
  },
  {
    prefix: "gpt-6.1-terra",
    capabilities: {
      temperature: "without-reasoning",
      efforts: ["low", "medium", "high"],
      encryptedReasoning: true
    },
    ...large
  }
]

/** Whether a model belongs to a family: `gpt-5-2025-08-07` belongs to `gpt-5`, but `gpt-5.1` does not. */
export const isOf = (model: string, prefix: string): boolean => model === prefix || model.startsWith(`${prefix}-`)

const familyOf = (model: string): Family | undefined =>
  families
    .filter(({ prefix }) => isOf(model, prefix))
    .sort((left, right) => right.prefix.length - left.prefix.length)[0]

/**
 * Returns the capabilities of a model, with the caller's overrides. If the server does not support JSON Schema, no other
 * JSON mode is assumed.
 *
 * @internal
 */
export const capabilitiesOf = (model: string, override: Partial<Capabilities> = {}): Capabilities => ({
  ...everything,
  ...familyOf(model)?.capabilities,
  ...(override.jsonSchema === undefined ? {} : { json: override.jsonSchema }),
  ...override
})

/** Returns the capabilities in the form that a worker declares. */
export const ofWorker = ({
  files,
  images,
  json,
  jsonSchema,
  shapesWithTools,
  tools
}: Capabilities): Worker.Capabilities => ({ tools, images, files, jsonSchema, json, shapesWithTools })

/** Returns the token limits of a model; `undefined` if they are unknown. */
export const limitsOf = (model: string): Worker.Limits | undefined => {
  const family = familyOf(model)
  if (family === undefined) return undefined
  const { contextTokens, maxOutputTokens } = family
  return {
    contextTokens,
    maxOutputTokens
  }
}
