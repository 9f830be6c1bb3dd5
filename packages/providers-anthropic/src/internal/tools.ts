/** Converts the tools of a request to the format of the Messages API. */
import type { Tool, ToolChoice } from "@anthropic-ai/sdk/resources/messages"
import type { Tool as CoreTool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import type { WorkerRequest } from "@divisi/core/Worker"
import { type Model, unsupported } from "./settings.ts"

/** Returns the `strict` setting. Strict arguments and output schemas are a single capability of a model. */
const strictOf = (target: Model, { name, strict }: CoreTool.ToolDefinition): boolean | undefined => {
  if (target.capabilities.jsonSchema || strict !== true) return target.capabilities.jsonSchema ? strict : undefined
  unsupported(target, `tools.${name}.strict: ${target.model} does not enforce a schema for arguments`)
  return undefined
}

const toolOf = (tool: CoreTool.ToolDefinition, target: Model): Tool =>
  defined({
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.input, type: "object" },
    strict: strictOf(target, tool)
  })

/** Returns the tools mentioned in a conversation, which the API requires to be defined. */
const namedIn = (messages: ReadonlyArray<Message>): Array<Tool> => {
  const names = messages.flatMap((message) => {
    if (message.role === "tool") return [message.name]
    return message.role === "assistant" ? (message.toolCalls ?? []).map(({ name }) => name) : []
  })
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: "object" } }))
}

const choiceOf = ({ parallelToolCalls, toolChoice }: WorkerRequest): ToolChoice | undefined => {
  if (toolChoice === "none") return { type: "none" }
  if (toolChoice === undefined && parallelToolCalls === undefined) return undefined
  const parallel = defined({
    disable_parallel_tool_use: parallelToolCalls === undefined ? undefined : !parallelToolCalls
  })
  if (typeof toolChoice === "object") return { type: "tool", name: toolChoice.name, ...parallel }
  return { type: toolChoice === "required" ? "any" : "auto", ...parallel }
}

/**
 * Returns the tools of a request, and the tool choice. If only earlier turns used tools, they are defined and calls are
 * disallowed.
 */
export const toolsOf = (
  request: WorkerRequest,
  target: Model
): { readonly tools?: Array<Tool> | undefined; readonly tool_choice?: ToolChoice | undefined } => {
  const { messages, tools = [] } = request
  if (tools.length > 0) {
    return { tools: tools.map((tool) => toolOf(tool, target)), tool_choice: choiceOf(request) }
  }
  const named = namedIn(messages)
  return named.length === 0 ? {} : { tools: named, tool_choice: { type: "none" } }
}
