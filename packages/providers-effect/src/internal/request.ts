/** Converts a worker's request to the input of a `LanguageModel`: a prompt, a toolkit, and settings for its adapter. */

import type { Tool as CoreTool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import * as Message from "@divisi/core/Message"
import type { WorkerRequest } from "@divisi/core/Worker"
import { ModelTurn } from "@divisi/provider-kit"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"

// -------------------------------------------------------------------------------------------------------------------
// Prompts
// -------------------------------------------------------------------------------------------------------------------

type Seen = Message.ImagePart | Message.FilePart

/** Returns the media type. That of a URL is unknown; files are assumed to be PDFs. */
const mediaTypeOf = (part: Seen): string => part.mediaType ?? (part.type === "image" ? "image/*" : "application/pdf")

const fileOf = (part: Seen): Prompt.FilePartEncoded =>
  defined({
    type: "file",
    mediaType: mediaTypeOf(part),
    fileName: part.type === "file" ? part.name : undefined,
    data: "url" in part ? new URL(part.url) : part.data
  })

const partsOf = (content: Message.Content): ReadonlyArray<Prompt.UserMessagePartEncoded> =>
  Message.parts(content).map((part) => (part.type === "text" ? part : fileOf(part)))

/** Returns tool call parameters. A value other than an object is wrapped, because some models accept only objects. */
const saidOf = (part: ModelTurn.TurnPart): Prompt.AssistantMessagePartEncoded => {
  const options = part.metadata as Prompt.ProviderOptions | undefined
  if (part.type !== "tool-call") return defined({ type: part.type, text: part.text, options })
  const { id, name } = part.call
  return defined({ type: "tool-call", id, name, params: ModelTurn.inputOf(part.call, "INVALID_JSON"), options })
}

/** Returns a tool result. A failure is also stated as text, because some packages do not pass on `isFailure`. */
const resultOf = (result: Message.ToolMessage): Prompt.ToolResultPartEncoded => {
  const text = Message.text(result.content)
  const isFailure = result.isError === true
  const said: ReadonlyArray<Prompt.TextPartEncoded> = [{ type: "text", text }]
  return defined({
    type: "tool-result",
    id: result.callId,
    name: result.name,
    isFailure,
    result: isFailure ? { error: text } : text,
    // Otherwise the text would be encoded as JSON.
    modelOutput: isFailure || text === "" ? undefined : said
  })
}

/**
 * Converts consecutive tool results to one turn, followed by their images, because most models accept only text within
 * a result.
 */
const resultsOf = (results: ReadonlyArray<Message.ToolMessage>): ReadonlyArray<Prompt.MessageEncoded> => {
  const seen = results.flatMap(({ content }) => partsOf(content).filter(({ type }) => type === "file"))
  const turn: Prompt.MessageEncoded = { role: "tool", content: results.map(resultOf) }
  return seen.length === 0 ? [turn] : [turn, { role: "user", content: seen }]
}

const turnOf = (message: Exclude<Message.Message, Message.ToolMessage>, model: string): Prompt.MessageEncoded => {
  if (message.role === "assistant")
    return { role: "assistant", content: ModelTurn.turnParts(message, model).map(saidOf) }
  if (message.role === "user") return { role: "user", content: partsOf(message.content) }
  return { role: "system", content: message.content }
}

/** Converts a conversation to turns. Throws if the URL of an image or file is invalid. */
export const promptOf = (messages: ReadonlyArray<Message.Message>, model: string): Array<Prompt.MessageEncoded> =>
  ModelTurn.turns(messages).flatMap((turn) => ("role" in turn ? [turnOf(turn, model)] : resultsOf(turn)))

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

const toolOf = ({ description, input, name, strict }: CoreTool.ToolDefinition) =>
  Tool.dynamic(name, { description, parameters: { ...input } }).annotate(Tool.Strict, strict)

/** Tools in the form that a model receives. */
export type Tools = Record<string, ReturnType<typeof toolOf>>

/** Returns a toolkit whose tools are not run by the model; the executor runs them. */
const toolkitOf = (tools: ReadonlyArray<CoreTool.ToolDefinition>): Toolkit.WithHandler<Tools> => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)])),
  handle: () => Effect.die("The executor runs the tools.")
})

/** Returns the tools of a request and the tool choice. */
export const toolsOf = ({ toolChoice = "auto", tools = [] }: WorkerRequest) => ({
  toolkit: toolkitOf(tools),
  toolChoice: typeof toolChoice === "object" ? { tool: toolChoice.name } : toolChoice
})

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** The settings passed on by an adapter: the request without the parts that a `LanguageModel` accepts itself. */
export type Settings = Omit<WorkerRequest, "messages" | "format" | "tools" | "toolChoice" | "preferences">

/** Returns the settings that a request changes. Model defaults are excluded: text output, and parallel tool calls. */
const settingsOf = (request: WorkerRequest): Settings => {
  const { output, parallelToolCalls, tools = [] } = request
  const { maxOutputTokens, reasoning, seed, stopSequences, temperature } = request
  const isOneAtATime = tools.length > 0 && parallelToolCalls === false
  return defined({
    maxOutputTokens,
    temperature,
    seed,
    stopSequences,
    reasoning,
    output: output?.type === "text" ? undefined : output,
    parallelToolCalls: isOneAtATime ? false : undefined
  })
}

/** The settings that are preferences (how to answer), as opposed to demands. */
const preferences: ReadonlySet<string> = new Set(["temperature", "seed", "reasoning", "parallelToolCalls"])

/** Returns the settings to pass on, with a notice for each omitted preference, or the demand that is not supported. */
export const passedOf = (
  request: WorkerRequest,
  passes: (name: keyof Settings) => boolean
): { readonly settings: Settings; readonly notices: ReadonlyArray<string> } | { readonly lost: string } => {
  const given = settingsOf(request)
  const unknown = (Object.keys(given) as Array<keyof Settings>).filter((name) => !passes(name))
  const lost = unknown.find((name) => request.preferences !== "omit" || !preferences.has(name))
  if (lost !== undefined) return { lost }
  const settings = Object.fromEntries(Object.entries(given).filter(([name]) => passes(name as keyof Settings)))
  return {
    settings,
    notices: unknown.map((name) => `${name}: it is not passed to this LanguageModel; it was left out`)
  }
}
