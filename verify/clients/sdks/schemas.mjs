/**
 * Validates recorded answers byte by byte against the vendors' own schemas: `node schemas.mjs URL openai.json
 * open-responses.json`. The two files are the OpenAPI descriptions published by OpenAI and Open Responses. They are not
 * part of this repository.
 */
import assert from "node:assert/strict"
import fs from "node:fs"
import Ajv from "ajv/dist/2020.js"
import { openaiUrl, question, run, weather } from "./check.mjs"

const [, openaiFile, openResponsesFile] = process.argv.slice(2)

/** Converts an OpenAPI 3.0 schema to JSON Schema. */
const modern = (value) => {
  if (Array.isArray(value)) return value.map(modern)
  if (typeof value !== "object" || value === null) return value
  const { nullable, ...rest } = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, modern(one)]))
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest
}

const validators = (file) => {
  const description = modern(JSON.parse(fs.readFileSync(file, "utf8")))
  const ajv = new Ajv({ strict: false, validateFormats: false, logger: false })
  ajv.addSchema({ $id: "https://schemas.test/all", components: description.components })
  const { schemas } = description.components
  const compiled = new Map()
  const of = (name) => {
    if (!compiled.has(name))
      compiled.set(name, ajv.compile({ $ref: `https://schemas.test/all#/components/schemas/${name}` }))
    return compiled.get(name)
  }
  const typesOf = ({ properties }) => properties?.type?.enum ?? [properties?.type?.const]
  /** Returns the schema for an event, by its type. */
  const eventOf = (type) =>
    Object.keys(schemas).find((name) => /Event$/.test(name) && typesOf(schemas[name]).includes(type))
  return { of, eventOf }
}

const post = (path, body) =>
  fetch(`${openaiUrl}/${path}`, { method: "POST", body: JSON.stringify({ model: "divisi", ...body }) })

const eventsOf = async (response) =>
  (await response.text())
    .split("\n\n")
    .map((block) => /^data: (\{.*)$/m.exec(block)?.[1])
    .filter((data) => data !== undefined)
    .map((data) => JSON.parse(data))

const holds = (validate, value, name) =>
  assert.ok(
    validate(value),
    `${name}: ${JSON.stringify(validate.errors?.slice(0, 4))} in ${JSON.stringify(value).slice(0, 600)}`
  )

const schema = {
  type: "object",
  properties: { age: { type: "integer" } },
  required: ["age"],
  additionalProperties: false
}
const functions = { name: weather.name, description: weather.description, parameters: weather.schema }
const messages = [{ role: "user", content: question }]

/** Requests of various kinds: plain, with tools, with an answer shape, and truncated at the output limit. */
const chats = {
  plain: { messages },
  tools: { messages, tools: [{ type: "function", function: functions }] },
  shape: { messages, response_format: { type: "json_schema", json_schema: { name: "s", schema, strict: true } } },
  cut: { messages, max_completion_tokens: 2 }
}
const include = ["reasoning.encrypted_content"]
const responses = {
  plain: { input: question },
  tools: { input: question, tools: [{ type: "function", strict: true, ...functions }] },
  state: { input: question, include, store: false, tools: [{ type: "function", strict: true, ...functions }] },
  shape: { input: question, text: { format: { type: "json_schema", name: "s", schema, strict: true } } },
  cut: { input: question, max_output_tokens: 2 },
  "no plan": { input: question, reasoning: { effort: "none" } }
}

/** Removes null usage. OpenAI sends it for a response in progress, although its own schema does not allow it. */
const withoutUsage = (value) => {
  const { usage, ...rest } = value
  const response = rest.response === undefined ? {} : { response: withoutUsage(rest.response) }
  return { ...rest, ...response, ...(usage === null || usage === undefined ? {} : { usage }) }
}

/** Replaces the schema of an answer's shape with null, as in Open Responses. OpenAI requires a schema there. */
const withoutSchema = (value) => {
  const response = value.response === undefined ? {} : { response: withoutSchema(value.response) }
  const format = value.text?.format
  const text = format?.type === "json_schema" ? { text: { ...value.text, format: { ...format, schema: null } } } : {}
  return { ...value, ...response, ...text }
}

const openai = validators(openaiFile)
const open = validators(openResponsesFile)
const checks = {}
for (const [name, body] of Object.entries(chats)) {
  checks[`chat, ${name}`] = async () => {
    holds(openai.of("CreateChatCompletionResponse"), await (await post("chat/completions", body)).json(), "body")
    const stream = await eventsOf(await post("chat/completions", { ...body, stream: true }))
    assert.ok(stream.length > 1)
    for (const chunk of stream) holds(openai.of("CreateChatCompletionStreamResponse"), chunk, "chunk")
  }
}
for (const [name, body] of Object.entries(responses)) {
  for (const [whose, { eventOf, of }, whole, as] of [
    ["OpenAI", openai, "Response", withoutUsage],
    ["Open Responses", open, "ResponseResource", withoutSchema]
  ]) {
    checks[`responses, ${name}, by ${whose}`] = async () => {
      holds(of(whole), as(await (await post("responses", body)).json()), "body")
      const stream = await eventsOf(await post("responses", { ...body, stream: true }))
      assert.ok(stream.length > 3)
      for (const event of stream) {
        const schemaName = eventOf(event.type)
        assert.ok(schemaName, `no schema of ${event.type}`)
        holds(of(schemaName), as(event), event.type)
      }
    }
  }
}
await run(checks)
