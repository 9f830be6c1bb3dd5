/** Adapts requests to a worker's capabilities, so that nothing is sent or paid for that the vendor would reject. */
import type { Content, ContentPart, Message } from "../task/Message.ts"
import type { OutputFormat } from "../task/Tool.ts"
import { type Capabilities, type Worker, WorkerError, type WorkerRequest } from "../task/Worker.ts"

/**
 * How to handle content that a worker does not support: fail the call (`"error"`), or drop the images, files or tools
 * (`"omit"`).
 */
export type Unsupported = "error" | "omit"

type Kind = "images" | "files" | "tools"

const names: { readonly [K in Kind]: { readonly many: string; readonly one: string } } = {
  images: { many: "pictures", one: "picture" },
  files: { many: "files", one: "file" },
  tools: { many: "tools", one: "tool" }
}

const unsupported = (worker: Worker, kind: Kind) =>
  new WorkerError({
    worker: worker.id,
    reason: {
      _tag: "InvalidRequest",
      detail: `it does not support ${names[kind].many}`,
      remedy: `set capabilities: { ${kind}: true } if it does, or omit them with unsupported: "omit"`
    }
  })

const kindOf = (part: ContentPart): "images" | "files" | undefined =>
  part.type === "text" ? undefined : part.type === "image" ? "images" : "files"

/** Returns the kinds of non-text content used in the messages. */
export const mediaOf = (messages: ReadonlyArray<Message>): ReadonlySet<"images" | "files"> => {
  const kinds = new Set<"images" | "files">()
  for (const { content } of messages) {
    if (typeof content === "string") continue
    for (const part of content) {
      const kind = kindOf(part)
      if (kind !== undefined) kinds.add(kind)
    }
  }
  return kinds
}

/** Converts tool calls and tool results to plain text, for workers that do not support tools. */
const untooled = (message: Message): Message => {
  if (message.role === "tool") {
    const what = message.isError === true ? "failed" : "gave"
    return { role: "user", content: between(`The tool ${message.name} ${what}:\n`, message.content) }
  }
  if (message.role !== "assistant" || message.toolCalls === undefined) return message
  const calls = message.toolCalls.map((call) => `[It asked for the tool ${call.name}: ${call.arguments}]`)
  return { role: "assistant", content: [message.content, ...calls].filter((text) => text !== "").join("\n") }
}

const between = (before: string, content: Content): Content =>
  typeof content === "string" ? `${before}${content}` : [{ type: "text", text: before.trim() }, ...content]

const withoutKind = (message: Message, kind: "images" | "files"): Message => {
  if (typeof message.content === "string") return message
  const [first, ...rest] = message.content.map(
    (part): ContentPart =>
      kindOf(part) === kind
        ? { type: "text", text: `[A ${names[kind].one} that you cannot see is left out here.]` }
        : part
  )
  return { ...message, content: [first!, ...rest] } as Message
}

/** Returns a prompt that describes the required output format, for workers that do not support schemas natively. */
const instructionOf = (output: OutputFormat): string => {
  if (output.type !== "json-schema") return "Answer with JSON, and with nothing else."
  return `Answer with JSON of this schema, and with nothing else:\n${JSON.stringify(output.schema)}`
}

/** Whether the worker natively enforces the requested output format. */
const holdsShape = (
  { jsonSchema, json = jsonSchema, shapesWithTools = true }: Capabilities,
  output: OutputFormat,
  { toolChoice, tools = [] }: WorkerRequest
): boolean => {
  const isAlone = tools.length === 0 || toolChoice === "none"
  return (output.type === "json" ? json : jsonSchema) === true && (shapesWithTools || isAlone)
}

/**
 * Adapts a request to the worker's capabilities. Returns the adapted request with a notice for each dropped part, or an
 * error if the request cannot be sent.
 */
export const fit = (
  worker: Worker,
  request: WorkerRequest,
  mode: Unsupported
): { readonly request: WorkerRequest; readonly notices: ReadonlyArray<string> } | WorkerError => {
  const { capabilities = {} } = worker
  const { output, tools } = request
  const notices: Array<string> = []
  let fitted = request
  for (const kind of mediaOf(request.messages)) {
    if (capabilities[kind] === true) continue
    if (mode === "error") return unsupported(worker, kind)
    fitted = { ...fitted, messages: fitted.messages.map((message) => withoutKind(message, kind)) }
    notices.push(`It does not support ${names[kind].many}, so they were left out.`)
  }
  if (capabilities.tools !== true) {
    if (tools !== undefined) {
      if (mode === "error") return unsupported(worker, "tools")
      fitted = { ...fitted, tools: undefined, toolChoice: undefined, parallelToolCalls: undefined }
      notices.push("It does not support tools, so none were offered.")
    }
    fitted = { ...fitted, messages: fitted.messages.map(untooled) }
  }
  if (output !== undefined && output.type !== "text" && !holdsShape(capabilities, output, fitted)) {
    fitted = {
      ...fitted,
      output: undefined,
      messages: [...fitted.messages, { role: "user", content: instructionOf(output) }]
    }
  }
  return { request: fitted, notices }
}

/**
 * Returns an error message for the first required capability that no worker in the pool supports, or `undefined` if
 * every capability is supported.
 */
export const missing = (workers: ReadonlyArray<Worker>, needed: ReadonlySet<Kind>): string | undefined => {
  for (const kind of needed) {
    if (workers.some(({ capabilities }) => capabilities?.[kind] === true)) continue
    return `No worker in the pool supports ${names[kind].many}. Add one that does, set capabilities: { ${kind}: true } on a worker that does, or omit them with unsupported: "omit".`
  }
  return undefined
}
