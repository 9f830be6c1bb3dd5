/** Creates warnings for call settings that a Conductor does not pass on. */
import type { LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider"

const ofConductor = "a Conductor uses one setting for all its runs; set it with Conductor.make({ worker: { … } })"
const ofWorkers = "it differs between the workers of a run; set it when you create a worker"

/** Settings that are not passed on, with the place where they can be set instead. */
const settings = {
  maxOutputTokens: ofConductor,
  temperature: ofConductor,
  reasoning: ofConductor,
  topP: ofWorkers,
  topK: ofWorkers,
  presencePenalty: ofWorkers,
  frequencyPenalty: ofWorkers,
  stopSequences: ofWorkers
} as const satisfies Partial<Record<keyof LanguageModelV4CallOptions, string>>

const unsupported = (feature: string, details: string): SharedV4Warning => ({ type: "unsupported", feature, details })

/** Returns a warning for each setting that has no effect. */
export const warnings = (call: LanguageModelV4CallOptions): Array<SharedV4Warning> => [
  ...Object.entries(settings).flatMap(([name, details]) => {
    const value = call[name as keyof typeof settings]
    const isAsked = value !== undefined && value !== "provider-default" && !(Array.isArray(value) && value.length === 0)
    return isAsked ? [unsupported(name, details)] : []
  }),
  ...(call.tools === undefined || call.tools.length === 0
    ? []
    : [unsupported("tools", "a Conductor does not call the caller's tools, so they were not passed on")]),
  ...(call.responseFormat?.type === "json"
    ? [unsupported("responseFormat", "a Conductor answers with text; ask for JSON in the prompt")]
    : [])
]
