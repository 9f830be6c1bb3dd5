/**
 * Compares a provider's requests with the vendor's published OpenAPI description: each body must be valid and contain
 * only described fields.
 */
import { readFile } from "node:fs/promises"
import type { Tool } from "@divisi/core"
import type { WorkerRequest } from "@divisi/core/Worker"
import type { ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { parse } from "yaml"
import { type Captured, fields, items, present } from "./Dialect.ts"
import { type Options, withSubject } from "./internal/subject.ts"
import * as Script from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A published OpenAPI description, version 3.0 or 3.1. */
export type Description = Readonly<Record<string, unknown>>

/** The result of checking requests. */
export interface Report {
  /** Number of bodies checked. */
  readonly checked: number
  /** One message for each body that does not match the description. */
  readonly problems: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const user = { role: "user", content: "Hi" } as const
const conversation = [
  { role: "system", content: "Be terse." },
  user,
  { role: "assistant", content: "Ho" },
  { role: "user", content: "Go on: \u0000 🌍" }
] as const

const tool: Tool.ToolDefinition = {
  name: "weather",
  description: "Weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false }
}

const call = { id: "call_1", name: tool.name, arguments: '{"city":"Ulm"}' }

const called = [user, { role: "assistant", content: "", toolCalls: [call] }] as const

const result = { role: "tool", callId: call.id, name: call.name } as const

const image = { type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" } as const
const linkedImage = { type: "image", url: "https://example.com/cat.png" } as const
const file = { type: "file", name: "a.pdf", data: "JVBERi0xLjQK", mediaType: "application/pdf" } as const
const linkedFile = { type: "file", url: "https://example.com/b.pdf", mediaType: "application/pdf" } as const

const shape = { type: "json-schema", name: "city", schema: tool.input } as const

const choices = ["auto", "none", "required", { name: tool.name }] as const

/** Requests that a worker may not support. If so, it rejects them. */
const able: ReadonlyArray<WorkerRequest> = [
  ...choices.map((toolChoice): WorkerRequest => ({ messages: [user], tools: [tool], toolChoice })),
  { messages: [user], tools: [{ ...tool, strict: true }], parallelToolCalls: false },
  { messages: [...called, { ...result, content: "sunny" }], tools: [tool] },
  { messages: [...called, { ...result, content: "no such city", isError: true }], tools: [tool] },
  { messages: [...called, { ...result, content: [{ type: "text", text: "A map:" }, image] }], tools: [tool] },
  { messages: [{ role: "user", content: [{ type: "text", text: "What?" }, image, linkedImage] }] },
  { messages: [{ role: "user", content: [{ type: "text", text: "What?" }, file] }] },
  { messages: [{ role: "user", content: [{ type: "text", text: "What?" }, linkedFile] }] },
  { messages: [user], output: { type: "json" } },
  { messages: [user], output: shape },
  { messages: [user], output: { ...shape, description: "A city", strict: false }, tools: [tool] }
]

const efforts = ["minimal", "low", "medium", "high"] as const

/** One request for each supported setting. */
const probes: ReadonlyArray<WorkerRequest> = [
  { messages: [user] },
  { messages: conversation },
  { messages: [user], maxOutputTokens: 4096 },
  { messages: [user], temperature: 0 },
  { messages: [user], temperature: 0.7 },
  { messages: [user], seed: 4711 },
  { messages: [user], stopSequences: ["END"] },
  ...efforts.map((effort): WorkerRequest => ({ messages: [user], reasoning: { type: "effort", effort } })),
  { messages: [user], reasoning: { type: "budget", tokens: 2048 }, maxOutputTokens: 8192 },
  { messages: [user], reasoning: { type: "off" } },
  {
    messages: conversation,
    maxOutputTokens: 4096,
    temperature: 0.5,
    seed: 1,
    stopSequences: ["a", "b", "c", "d"],
    reasoning: { type: "off" }
  },
  ...able
]

/** Returns the requests that a provider sends for all settings. Settings that it rejects are omitted. */
export const requestBodies = async (options: Options): Promise<ReadonlyArray<Captured>> => {
  const sent: Array<Captured> = []
  await withSubject(options, async ({ call, serve, worker }) => {
    const server = await serve([Script.answer("ok")])
    const one = worker(server)
    for (const probe of probes) await call(one, probe)
    sent.push(...server.exchanges)
  })
  return sent
}

// -------------------------------------------------------------------------------------------------------------------
// Descriptions
// -------------------------------------------------------------------------------------------------------------------

/**
 * Reads a description in JSON or YAML.
 *
 * @internal
 */
export const read = async (path: string): Promise<Description> => {
  const text = await readFile(path, "utf8")
  return fields(path.endsWith(".json") ? JSON.parse(text) : parse(text, { maxAliasCount: -1 }))
}

const escape = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1")

/** Whether a request's path matches a template. The path may have a prefix that depends on the server. */
const matches = (template: string, path: string): boolean => {
  const pattern = template
    .split(/\{[^}]*\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^/]+")
  return new RegExp(`${pattern}$`).test(path.split("?")[0] ?? "")
}

const longestFirst = (left: string, right: string) => right.length - left.length

/** Returns the JSON pointer to the schema for a request's body. */
const pointerOf = (description: Description, { method, path }: Captured): string | undefined => {
  const paths = fields(description.paths)
  const verb = method.toLowerCase()
  const template = Object.keys(paths)
    .filter((one) => matches(one, path) && verb in fields(paths[one]))
    .sort(longestFirst)[0]
  return template === undefined
    ? undefined
    : `#/paths/${escape(template)}/${verb}/requestBody/content/application~1json/schema`
}

const resolve = (description: Description, pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => fields(at)[key.replaceAll("~1", "/").replaceAll("~0", "~")], description)

/**
 * Returns the fields described by a schema, including those of the schemas that it is composed of. `undefined` if any
 * field is allowed.
 */
const known = (description: Description, schema: unknown, depth = 0): ReadonlySet<string> => {
  const { $ref, allOf, anyOf, oneOf, properties } = fields(schema)
  const names = new Set(Object.keys(fields(properties)))
  if (depth > 20) return names
  const inner = [
    ...(typeof $ref === "string" ? [resolve(description, $ref)] : []),
    ...[allOf, anyOf, oneOf].flatMap(items)
  ]
  for (const one of inner) for (const name of known(description, one, depth + 1)) names.add(name)
  return names
}

// -------------------------------------------------------------------------------------------------------------------
// Checking
// -------------------------------------------------------------------------------------------------------------------

/**
 * Converts keywords specific to OpenAPI 3.0 to JSON Schema. Descriptions that are labelled 3.1 may contain them as
 * well.
 */
const modern = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(modern)
  if (typeof value !== "object" || value === null) return value
  const { exclusiveMaximum, exclusiveMinimum, nullable, ...rest } = Object.fromEntries(
    // Some alternatives in a description overlap, so a value that matches several of them is valid.
    Object.entries(value).map(([key, inner]) => [
      key === "oneOf" && Array.isArray(inner) ? "anyOf" : key,
      modern(inner)
    ])
  )
  const bounds = {
    ...present({ exclusiveMinimum: exclusiveMinimum === true ? rest.minimum : exclusiveMinimum || undefined }),
    ...present({ exclusiveMaximum: exclusiveMaximum === true ? rest.maximum : exclusiveMaximum || undefined })
  }
  if (nullable === true) return { anyOf: [{ ...rest, ...bounds }, { type: "null" }] }
  // A property may have the same name as one of these keywords.
  return { ...rest, ...bounds, ...(typeof nullable === "object" ? { nullable } : {}) }
}

const compiler = (description: Description) => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false })
  formats.default(ajv)
  ajv.addSchema(modern(description) as Description, "description")
  const compiled = new Map<string, ValidateFunction>()
  return (pointer: string): ValidateFunction => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `description${encodeURI(pointer)}` })
    compiled.set(pointer, validate)
    return validate
  }
}

/** Checks requests against a description. A request to an undescribed path is a problem. */
export const check = (description: Description, requests: ReadonlyArray<Captured>): Report => {
  const compile = compiler(description)
  const problems = requests.flatMap((request) => {
    const where = `${request.method} ${request.path} ${request.text}`
    const pointer = pointerOf(description, request)
    if (pointer === undefined) return [`${where}: the description has no such path.`]
    const validate = compile(pointer)
    const wrong = validate(request.body)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${where}: ${instancePath || "/"} ${message}.`)
    const names = known(description, resolve(description, pointer))
    const strange = Object.keys(fields(request.body)).filter((name) => !names.has(name))
    return [...wrong, ...strange.map((name) => `${where}: the description has no field "${name}".`)]
  })
  return { checked: requests.length, problems }
}
