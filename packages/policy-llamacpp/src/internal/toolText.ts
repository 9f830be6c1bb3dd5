/**
 * Represents tools in the text of a conversation, for a model that reads and writes only text. Calls are between
 * `<tool_call>` tags and results between `<tool_response>` tags, the format that Hermes and Qwen models are trained
 * with. For other models, the system message describes the format.
 */

import { Seed, type Tool } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as JsonGrammar from "./jsonGrammar.ts"
import { held } from "./output.ts"

const open = "<tool_call>"
const close = "</tool_call>"

/** Returns the tools that a worker may call for a request. */
export const toolsOf = ({ toolChoice, tools = [] }: WorkerRequest): ReadonlyArray<Tool.ToolDefinition> =>
  toolChoice === "none"
    ? []
    : typeof toolChoice === "object"
      ? tools.filter(({ name }) => name === toolChoice.name)
      : tools

// -------------------------------------------------------------------------------------------------------------------
// Instructions for the model
// -------------------------------------------------------------------------------------------------------------------

const described = ({ description, input, name }: Tool.ToolDefinition): string =>
  JSON.stringify({ type: "function", function: { name, description, parameters: input } })

const introduce = (tools: ReadonlyArray<Tool.ToolDefinition>, choice: Tool.ToolChoice | undefined): string => `# Tools

These functions can be called, each given by its signature:
<tools>
${tools.map(described).join("\n")}
</tools>

A call is a JSON object with the function's name and its arguments, between tags:
${open}
{"name": "<name>", "arguments": {<arguments>}}
${close}
${choice === undefined || choice === "auto" ? "Call functions where the answer needs them; else answer." : "Call a function now."} End your turn after your calls; their results come next.`

const shapeOf = (output: Tool.OutputFormat | undefined): string => {
  if (output === undefined || output.type === "text") return ""
  if (output.type === "json") return "Answer in JSON, with nothing around it."
  const { description, schema } = output
  const what = description === undefined ? "" : ` (${description})`
  return `Answer in JSON of this JSON Schema${what}, with nothing around it:\n${JSON.stringify(schema)}`
}

const callText = ({ arguments: text, name }: Message.ToolCall): string =>
  `${open}\n{"name": ${JSON.stringify(name)}, "arguments": ${text === "" ? "{}" : text}}\n${close}`

const resultText = (message: Message.ToolMessage): string => {
  const text = Message.text(message)
  return `<tool_response>\n${message.isError === true ? `Error: ${text}` : text}\n</tool_response>`
}

/** Converts turns to text. The results of parallel calls become one turn. */
const spoken = (messages: ReadonlyArray<Message.Message>): Array<Message.PlainMessage> => {
  const turns: Array<Message.PlainMessage> = []
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant" && (message.toolCalls?.length ?? 0) > 0) {
      const calls = message.toolCalls!.map(callText)
      turns.push({ role: "assistant", content: [message.content, ...calls].filter((text) => text !== "").join("\n") })
    } else if (message.role === "tool") {
      const content = resultText(message)
      const last = turns.at(-1)
      if (messages[index - 1]?.role === "tool" && last !== undefined) {
        turns[turns.length - 1] = { role: "user", content: `${last.content}\n${content}` }
      } else turns.push({ role: "user", content })
    } else turns.push(Message.plain(message))
  }
  return turns
}

/** Converts a conversation to plain text, including instructions about tools and the required output format. */
export const plainConversation = (request: WorkerRequest): ReadonlyArray<Message.PlainMessage> => {
  const tools = toolsOf(request)
  const rules = [tools.length === 0 ? "" : introduce(tools, request.toolChoice), shapeOf(request.output)]
  const added = rules.filter((rule) => rule !== "").join("\n\n")
  const [first, ...others] = spoken(request.messages)
  if (added === "") return first === undefined ? [] : [first, ...others]
  if (first?.role === "system") return [{ role: "system", content: `${first.content}\n\n${added}` }, ...others]
  return [{ role: "system", content: added }, ...(first === undefined ? [] : [first, ...others])]
}

// -------------------------------------------------------------------------------------------------------------------
// Constraints on the model's text
// -------------------------------------------------------------------------------------------------------------------

/** Returns the grammar for the remainder of a text, once it has reached the forced part. */
export type Force = (written: string) => string | undefined

const thinking = "<think>"
const afterThinking = "</think>"

/**
 * Returns the part of a text that is the answer, after the thinking; `undefined` while the thinking has not finished.
 */
const answerIn = (written: string, isThinking: boolean): string | undefined => {
  const at = written.indexOf(afterThinking)
  if (at >= 0) return written.slice(at + afterThinking.length)
  return isThinking || written.trimStart().startsWith(thinking) ? undefined : written
}

/** Enforces a grammar from the start of the text, or after the thinking started by the template. */
const fromStart = (rules: JsonGrammar.Rules, form: string, isThinking: boolean): Force => {
  if (!isThinking) return () => rules.grammar(form)
  return (written) => (answerIn(written, true) !== undefined ? rules.grammar(`"\\n"{0,2} ${form}`) : undefined)
}

/** Returns the grammar for calls; `begun` is the text after the first opening tag. */
const callForm = (
  rules: JsonGrammar.Rules,
  { parallelToolCalls }: WorkerRequest,
  tools: ReadonlyArray<Tool.ToolDefinition>
) => {
  const bodies = tools.map(({ input, name }) => {
    const args = rules.add({ type: "object", ...input })
    return `${JsonGrammar.literal(`{"name": ${JSON.stringify(name)}, "arguments": `)} ${args} "}"`
  })
  const body = `("\\n"? (${bodies.join(" | ")}) "\\n"? "${close}")`
  const next = `("\\n"? "${open}" ${body})`
  const more = parallelToolCalls === false ? "" : ` ${next}*`
  return { whole: `"${open}" ${body}${more}`, begun: `${body}${more}` }
}

/**
 * Returns the grammar that a request enforces. Required calls and output formats are enforced from the start; an
 * optional call is enforced once the model has started it.
 */
export const forceOf = (request: WorkerRequest, isThinking: boolean): Force | undefined => {
  const { output, toolChoice } = request
  const tools = toolsOf(request)
  const rules = JsonGrammar.make()
  const shape =
    output === undefined || output.type === "text"
      ? undefined
      : rules.add(output.type === "json-schema" ? output.schema : {})
  if (tools.length === 0) return shape === undefined ? undefined : fromStart(rules, shape, isThinking)
  const { begun, whole } = callForm(rules, request, tools)
  if (toolChoice !== undefined && toolChoice !== "auto") return fromStart(rules, whole, isThinking)
  if (shape !== undefined) return fromStart(rules, `(${shape} | ${whole})`, isThinking)
  const grammar = rules.grammar(begun)
  return (written) => {
    const answer = answerIn(written, isThinking) ?? ""
    const at = answer.indexOf(open)
    // A token may extend beyond the tag; a call that starts within it is not constrained.
    return at >= 0 && /^\n?$/.test(answer.slice(at + open.length)) ? grammar : undefined
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading the model's text
// -------------------------------------------------------------------------------------------------------------------

/** Parses a call between its tags; returns `undefined` for any other text. */
const read = (text: string): Omit<Message.ToolCall, "id"> | undefined => {
  try {
    const { arguments: args, name } = JSON.parse(text) as Record<string, unknown>
    return typeof name === "string" ? { name, arguments: JSON.stringify(args ?? {}) } : undefined
  } catch {
    return undefined
  }
}

/** Separates calls from the preceding text. */
export const callSplitter = ({ messages }: WorkerRequest) => {
  let waiting = ""
  let isCalling = false
  let calls = 0
  /** Deterministic for an answer and its messages, and different for any other. */
  const idOf = (text: string) => `call-${Seed.derive(calls, text, JSON.stringify(messages)).toString(36)}`
  const push = (piece: string): ReadonlyArray<WorkerPart> => {
    waiting += piece
    return isCalling ? inCall(0) : inText()
  }
  const inText = (): ReadonlyArray<WorkerPart> => {
    const at = waiting.indexOf(open)
    const end = at < 0 ? waiting.length - held(waiting, [open]) : at
    const parts = said(waiting.slice(0, end))
    waiting = waiting.slice(at < 0 ? end : at + open.length)
    isCalling = at >= 0
    return isCalling ? [...parts, ...inCall(0)] : parts
  }
  /** The closing tag may also occur in an argument, so the call ends at the first one at which it is complete. */
  const inCall = (from: number): ReadonlyArray<WorkerPart> => {
    const at = waiting.indexOf(close, from)
    if (at < 0) return []
    const text = waiting.slice(0, at)
    const call = read(text)
    if (call === undefined) return inCall(at + close.length)
    const part: WorkerPart = { type: "tool-call", id: idOf(text), ...call }
    calls++
    isCalling = false
    waiting = waiting.slice(at + close.length)
    return [part, ...inText()]
  }
  /** Whitespace between and after calls is not emitted as text. */
  const said = (text: string): ReadonlyArray<WorkerPart> =>
    text === "" || (calls > 0 && text.trim() === "") ? [] : [{ type: "text", text }]
  return {
    push,
    rest: (): ReadonlyArray<WorkerPart> => (isCalling ? [] : said(waiting)),
    calls: () => calls,
    /** Returns the text after an opening tag that is not a call. */
    unread: () => (isCalling ? waiting : undefined)
  }
}
