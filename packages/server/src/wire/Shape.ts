/**
 * Parses the output format that a client requests. Clients put it in different fields and send one vendor's fields on
 * another vendor's wire, so every wire accepts all formats. An output format is a demand: if it is invalid or no worker
 * supports it, the request fails.
 *
 * Sources: https://developers.openai.com/api/docs/guides/structured-outputs,
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * https://docs.vllm.ai/en/latest/features/structured_outputs.html and
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md.
 */
import { Options, type Tool } from "@divisi/core"
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"
import { lowerTypes } from "./Tools.ts"

/** Parses a JSON Schema, which some clients send as JSON text. */
const schemaOf = (value: unknown, field: string): Json.JsonObject => {
  if (typeof value !== "string") return Json.object(value, field)
  try {
    return Json.object(JSON.parse(value), field)
  } catch {
    throw invalid(field, `${field} must be a JSON schema.`)
  }
}

const ofSchema = (value: unknown, field: string): Tool.OutputFormat => ({
  type: "json-schema",
  name: "answer",
  schema: schemaOf(value, field)
})

/** Parses a named format: nested on Chat Completions, flat on Responses and Messages. */
const named = (format: Json.JsonObject, field: string): Tool.OutputFormat => {
  const nested = format.json_schema ?? format.jsonSchema
  const of = Json.isObject(nested) ? `${field}.json_schema` : field
  const shape = Json.isObject(nested) ? nested : format
  return {
    type: "json-schema",
    name: Json.optional(shape.name, `${of}.name`, Json.text) ?? "answer",
    description: Json.optional(shape.description, `${of}.description`, Json.text),
    schema: Json.optional(shape.schema, `${of}.schema`, schemaOf) ?? {},
    strict: Json.optional(shape.strict, `${of}.strict`, Json.flag)
  }
}

/** Whether a format is a bare JSON Schema. */
const isSchema = ({ anyOf, properties, type }: Json.JsonObject): boolean =>
  (type === "object" && Json.isObject(properties)) || (type === undefined && Array.isArray(anyOf))

/** Parses the output format from Gemini's fields. */
const geminiFormat = (body: Json.JsonObject): Tool.OutputFormat | undefined =>
  Json.optional(body.response_json_schema, "response_json_schema", ofSchema) ??
  Json.optional(body.response_schema, "response_schema", (schema, at) => ofSchema(lowerTypes(schema), at)) ??
  (body.response_mime_type === "application/json" ? { type: "json" } : undefined)

/** Parses a format with a type. Some servers accept a schema with `json_object`. */
const formatOf = (value: unknown, field: string): Tool.OutputFormat => {
  // Some clients send only the type.
  const format = typeof value === "string" ? { type: value, schema: undefined } : Json.object(value, field)
  if (isSchema(format)) return ofSchema(format, field)
  switch (typeof format.type === "string" ? format.type.toLowerCase() : format.type) {
    case null:
    case "":
    case "text":
      return { type: "text" }
    case "json":
    case "json_object":
      return Json.optional(format.schema, `${field}.schema`, ofSchema) ?? { type: "json" }
    case "json_schema":
    case "jsonschema":
      return named(format, field)
    default:
      if (Object.keys(format).length === 0) return { type: "text" }
      throw invalid(
        `${field}.type`,
        `${field}.type must be text, json_object or json_schema, not ${Options.kindOf(format.type)}.`
      )
  }
}

/** Parses vLLM's `structured_outputs`: JSON, or a constraint that only vLLM supports. */
const structured = (value: unknown, field: string): Tool.OutputFormat | undefined => {
  const given = Json.object(value, field)
  if (given.json_object === true) return { type: "json" }
  const json = Json.optional(given.json, `${field}.json`, ofSchema)
  const [other] = ["regex", "choice", "grammar", "structural_tag"].filter((name) => given[name] != null)
  if (json !== undefined || other === undefined) return json
  throw invalid(
    `${field}.${other}`,
    `${field}.${other} is not supported: only JSON schemas can constrain answers. Use ${field}.json.`
  )
}

/** Body fields handled by this module. */
export const fields = [
  "response_format",
  "text",
  "output_config",
  "output_format",
  "structured_outputs",
  "guided_json",
  "json_schema",
  "format",
  "response_json_schema",
  "response_schema",
  "response_mime_type"
] as const

const names: ReadonlySet<string> = new Set(fields)

const within = (body: Json.JsonObject, name: string): unknown => {
  const object = body[name]
  return Json.isObject(object) ? object.format : undefined
}

/**
 * Parses the output format of a request. Returns `undefined` for plain text. Throws an `ApiError` if the format is
 * invalid.
 */
export const read = (body: Json.JsonObject): Tool.OutputFormat | undefined => {
  if (!Json.hasAny(body, names)) return undefined
  const output =
    Json.optional(body.response_format, "response_format", formatOf) ??
    Json.optional(within(body, "text"), "text.format", formatOf) ??
    Json.optional(within(body, "output_config"), "output_config.format", formatOf) ??
    // The field name in the beta of the Messages API.
    Json.optional(body.output_format, "output_format", formatOf) ??
    Json.optional(body.structured_outputs, "structured_outputs", structured) ??
    Json.optional(body.guided_json, "guided_json", ofSchema) ??
    Json.optional(body.json_schema, "json_schema", ofSchema) ??
    // Ollama's field: `json`, or a schema.
    Json.optional(body.format, "format", formatOf) ??
    geminiFormat(body)
  return output?.type === "text" ? undefined : output
}
