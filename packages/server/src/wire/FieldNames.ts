/** Names of run settings in a client's request. Messages use them instead of the names in `@divisi/core`. */
import type { JsonObject } from "./Json.ts"

/** The request field for each setting that messages mention. */
export interface FieldNames {
  readonly maxOutputTokens: string
  readonly stopSequences: string
  readonly toolChoice: string
  readonly parallelToolCalls: string
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** The fields with an output limit. The first one that is set counts. */
export const limits = ["max_completion_tokens", "max_output_tokens", "max_tokens"] as const

/** Returns the names in a request. `limit` and `stop` are the wire's own names, used for absent fields. */
export const of = (body: JsonObject, limit: (typeof limits)[number], stop: string): FieldNames => ({
  maxOutputTokens: limits.find((name) => isSet(body[name])) ?? limit,
  stopSequences: stop,
  toolChoice: !isSet(body.tool_choice) && isSet(body.function_call) ? "function_call" : "tool_choice",
  parallelToolCalls: "parallel_tool_calls"
})

/** Matches a setting by its path, or in parentheses after its flag of the command line. */
const settings =
  /--[a-z-]+ \((?:in code or a config: )?worker\.(\w+)\)|(?<![.\w])(?:worker\.)?(maxOutputTokens|stopSequences|toolChoice|parallelToolCalls)\b/g

/** Replaces the names of settings in a message with the names of the client's fields. */
export const inMessage = (message: string, names: FieldNames | undefined): string =>
  names === undefined
    ? message
    : message.replaceAll(settings, (whole: string, ofFlag?: keyof FieldNames, own?: keyof FieldNames) => {
        const name = ofFlag ?? own
        return (name && names[name]) ?? whole
      })

/** Returns the field that a message is about, if it begins with the field's name. */
export const subjectOf = (message: string, names: FieldNames | undefined): string | undefined =>
  names === undefined ? undefined : Object.values(names).find((name) => message.startsWith(`${name} `))
