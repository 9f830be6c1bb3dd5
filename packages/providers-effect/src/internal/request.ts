/** Turns a worker's request into what a `LanguageModel` is asked: a prompt, a toolkit, and settings for its adapter. */

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

/** The media type of a URL is unknown; a file is usually a PDF. */
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

/** A value that is not an object is wrapped under a separate name, since some models accept only objects. */
const saidOf = (part: ModelTurn.Said): Prompt.AssistantMessagePartEncoded => {
  const options = part.metadata as Prompt.ProviderOptions | undefined
  if (part.type !== "tool-call") return defined({ type: part.type, text: part.text, options })
  const { id, name } = part.call
  return defined({ type: "tool-call", id, name, params: ModelTurn.inputOf(part.call, "INVALID_JSON"), options })
}

/** The result states a failure as text, too, since some models' packages do not pass on `isFailure`. */
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
    // Without it the text would be written as JSON.
    modelOutput: isFailure || text === "" ? undefined : said
  })
}

/** The results of tools that follow each other are one turn. Their pictures follow: mostly a result is text alone. */
const resultsOf = (results: ReadonlyArray<Message.ToolMessage>): ReadonlyArray<Prompt.MessageEncoded> => {
  const seen = results.flatMap(({ content }) => partsOf(content).filter(({ type }) => type === "file"))
  const turn: Prompt.MessageEncoded = { role: "tool", content: results.map(resultOf) }
  return seen.length === 0 ? [turn] : [turn, { role: "user", content: seen }]
}

const turnOf = (message: Exclude<Message.Message, Message.ToolMessage>, model: string): Prompt.MessageEncoded => {
  if (message.role === "assistant") return { role: "assistant", content: ModelTurn.said(message, model).map(saidOf) }
  if (message.role === "user") return { role: "user", content: partsOf(message.content) }
  return { role: "system", content: message.content }
}

/** Returns the turns of a conversation; throws if the URL of an image or of a file is invalid. */
export const promptOf = (messages: ReadonlyArray<Message.Message>, model: string): Array<Prompt.MessageEncoded> =>
  ModelTurn.turns(messages).flatMap((turn) => ("role" in turn ? [turnOf(turn, model)] : resultsOf(turn)))

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

const toolOf = ({ description, input, name, strict }: CoreTool.ToolDefinition) =>
  Tool.dynamic(name, { description, parameters: { ...input } }).annotate(Tool.Strict, strict)

/** Tools in the form that a model receives. */
export type Tools = Record<string, ReturnType<typeof toolOf>>

/** Tools as a toolkit that runs none of them: the executor does. */
const toolkitOf = (tools: ReadonlyArray<CoreTool.ToolDefinition>): Toolkit.WithHandler<Tools> => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)])),
  handle: () => Effect.die("The executor runs the tools.")
})

/** The tools of a request, and which of them the model is to use. */
export const toolsOf = ({ toolChoice = "auto", tools = [] }: WorkerRequest) => ({
  toolkit: toolkitOf(tools),
  toolChoice: typeof toolChoice === "object" ? { tool: toolChoice.name } : toolChoice
})

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** The settings that an adapter passes on: the request without the parts that a `LanguageModel` has itself. */
export type Settings = Omit<WorkerRequest, "messages" | "format" | "tools" | "toolChoice" | "preferences">

/**
 * Returns the settings that a request changes. Defaults of models are excluded: answering in text, and calling several
 * tools at once.
 */
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

/** The settings that say how to answer, and not what the caller must get. */
const preferences: ReadonlySet<string> = new Set(["temperature", "seed", "reasoning", "parallelToolCalls"])

/** The settings that can be passed on, and a notice for each preference that was left out; or a setting that is lost. */
export const passedOf = (
  request: WorkerRequest,
  passes: (name: keyof Settings) => boolean
): { readonly settings: Settings; readonly notices: ReadonlyArray<string> } | { readonly lost: string } => {
  const given = settingsOf(request)
  const unknown = (Object.keys(given) as Array<keyof Settings>).filter((name) => !passes(name))
  const lost = unknown.find((name) => request.preferences !== "omit" || !preferences.has(name))
  if (lost !== undefined) return { lost }
  const settings = Object.fromEntries(Object.entries(given).filter(([name]) => passes(name as keyof Settings)))
  return { settings, notices: unknown.map((name) => `${name}: it is not passed to this LanguageModel: left out`) }
}
