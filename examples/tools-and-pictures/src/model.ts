/**
 * The worker of these examples: a model of OpenAI where there is a key, and otherwise a stand-in on this machine that
 * speaks OpenAI's wire format and follows a few rules.
 */
import type { Tool } from "@divisi/core"
import { type OpenAiOptions, openai } from "@divisi/providers-openai"
import { type Dialect, OpenAiResponses, Script, WireServer } from "@divisi/testkit/providers"

/** Width and height stand at fixed places in the first bytes of a PNG. */
const sizeOf = (data: string) => {
  const bytes = Buffer.from(data, "base64")
  return `${bytes.readUInt32BE(16)} by ${bytes.readUInt32BE(20)}`
}

/** A value of a schema; a text is the next capitalised word of the question. */
const valueOf = (schema: Tool.JsonSchema, words: Array<string>): unknown => {
  if (schema.type === "object") {
    const properties = Object.entries(schema.properties as Record<string, Tool.JsonSchema>)
    return Object.fromEntries(properties.map(([name, property]) => [name, valueOf(property, words)]))
  }
  return schema.type === "string" ? (words.shift() ?? "") : 1
}

const reply = ({ messages, output, tools }: Dialect.Sent): Script.Script => {
  const last = messages.at(-1)!
  if (last.role === "tool") return Script.answer(last.isError === true ? "I could not." : `I was told: ${last.content}`)
  const names = last.content.match(/\p{Lu}\p{L}+/gu)?.slice(1) ?? []
  const tool = tools?.[0]
  if (tool !== undefined) {
    const call = Script.call("call-1", tool.name, JSON.stringify(valueOf(tool.input, names)))
    return Script.answer(call, { ending: "tool-calls" })
  }
  if (output?.type === "json-schema") return Script.answer(JSON.stringify(valueOf(output.schema, names)))
  const picture = last.parts?.find((part) => part.type === "image")
  return Script.answer(
    picture !== undefined && "data" in picture ? `A picture of ${sizeOf(picture.data)} pixels.` : "Hello."
  )
}

const isReal = process.env.OPENAI_API_KEY !== undefined
const { dialect } = OpenAiResponses
const server = isReal ? undefined : await WireServer.start(dialect, (request) => reply(dialect.read(request)))

const local: OpenAiOptions = server === undefined ? {} : { baseURL: server.url, apiKey: "none" }

export const model = openai(process.env.OPENAI_MODEL ?? "gpt-6.1-terra", { ...local, maxOutputTokens: 2_000 })

/** Whether what it answers is known. */
export const isStandIn = !isReal

/** Ends the stand-in, without which the program ends. */
export const close = async () => server?.close()
