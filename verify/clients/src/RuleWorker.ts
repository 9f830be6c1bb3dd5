/**
 * A rule-based worker that behaves as conformance suites, SDKs and coding agents expect of a model.
 *
 * It does not contain the prompts of any suite. In order of precedence:
 *
 * 1. It calls tools as requested: never if they are forbidden, the requested one if one is required, and otherwise if
 *    the question shares a word with the name or description of a tool. A task that consists of orders (`Commands`) is
 *    executed with the tools of coding agents.
 * 2. Values with a schema (arguments of tools, structured answers) are taken from the question.
 * 3. It repeats text, counts, reports tool results and recalls earlier statements by the user, if asked to.
 * 4. It respects the token limit. A word counts as one token.
 */

import type { Tool } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import type { Pricing } from "@divisi/core/Usage"
import type { Worker, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as Stream from "effect/Stream"
import * as Commands from "./Commands.ts"
import * as Instance from "./Instance.ts"

// -------------------------------------------------------------------------------------------------------------------
// Texts
// -------------------------------------------------------------------------------------------------------------------

const ordinary = new Set(
  "a an and are be call can did do does for from give have how i in is it me my of on please say tell that the this to tool use user was what which who will with you your".split(
    " "
  )
)

/** The significant words of a text, in lower case and without a plural's s. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (
      text
        .replace(/([a-z])([A-Z])/g, "$1 $2")
        .toLowerCase()
        .match(/[\p{L}\d]+/gu) ?? []
    )
      .filter((word) => word.length > 1 && !ordinary.has(word))
      .map((word) => word.replace(/s$/, ""))
  )

const shared = (left: ReadonlySet<string>, right: ReadonlySet<string>): number =>
  [...left].filter((word) => right.has(word)).length

const sentencesOf = (text: string): ReadonlyArray<string> =>
  text.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== "")

/** The user's current question. */
const questionOf = ({ messages }: WorkerRequest): string =>
  Message.text(messages.findLast(({ role }) => role === "user"))

/** The messages after the question. */
const aftermathOf = ({ messages }: WorkerRequest): ReadonlyArray<Message.Message> =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** The tool that has the most words in common with a question. */
const fitting = (tools: ReadonlyArray<Tool.ToolDefinition>, question: string): Tool.ToolDefinition | undefined => {
  const asked = wordsOf(question)
  const scored = tools.map((tool) => ({
    tool,
    score: shared(asked, wordsOf(`${tool.name} ${tool.description ?? ""}`))
  }))
  return scored.filter(({ score }) => score > 0).sort((left, right) => right.score - left.score)[0]?.tool
}

/** The calls of a turn; none if it answers. */
const callsOf = (request: WorkerRequest): ReadonlyArray<{ readonly name: string; readonly arguments: object }> => {
  const { toolChoice = "auto", tools = [] } = request
  if (tools.length === 0 || toolChoice === "none") return []
  const question = questionOf(request)
  const results = aftermathOf(request).filter(({ role }) => role === "tool").length
  const commanded = Commands.next(question, results, tools)
  if (commanded !== undefined) return commanded
  const called = (tool: Tool.ToolDefinition) => ({
    name: tool.name,
    arguments: Instance.make(tool.input, question) as object
  })
  if (typeof toolChoice === "object") return tools.filter(({ name }) => name === toolChoice.name).map(called)
  if (toolChoice === "required") return [called(fitting(tools, question) ?? tools[0]!)]
  if (results > 0) return []
  const fits = fitting(tools, question)
  if (fits === undefined) return []
  // Several places, numbers or names in one question result in several calls.
  const times = request.parallelToolCalls === false ? 1 : Instance.times(fits.input, question)
  return Array.from({ length: times }, (_, at) => ({
    name: fits.name,
    arguments: Instance.make(fits.input, question, at) as object
  }))
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

/** The text that a request dictates: in quotes, after a colon, or after "say" and "exactly". */
const dictated = (text: string): string | undefined => {
  const verb = /\b(?:say|reply|respond|answer|write|output|repeat|return|end|begin)\b[^"'`:.?!\n]*?/i.source
  const found = new RegExp(
    `${verb}(?:"([^"]+)"|\\s'([^']+)'|` +
      "`([^`]+)`" +
      `|:\\s*([^\\n]+?)[.!]?(?:\\n|$)|\\b(?:exactly|just|only|say)\\s+(?!the\\b|a\\b|an\\b|with\\b|one\\b|your\\b)([^.!?\\n]+))`,
    "im"
  ).exec(text)
  return found
    ?.slice(1)
    .find((group) => group !== undefined)
    ?.trim()
}

/** The text that the system prompt requires for every question. */
const ruled = ({ messages }: WorkerRequest): string | undefined =>
  messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map((message) => dictated(Message.text(message)))
    .find((text) => text !== undefined)

/** The numbers that it is asked to count. */
const counted = (question: string): string | undefined => {
  const found = /\bcount\b[^\d]*(\d{1,4})[^\d]+(\d{1,4})/i.exec(question)
  if (found === null) return undefined
  const [from, to] = [Number(found[1]), Number(found[2])]
  return Array.from({ length: Math.max(0, Math.min(500, to - from + 1)) }, (_, at) => `${from + at}`).join(", ")
}

/** The sentence of the conversation before the question that has the most words in common with it. */
const recalled = ({ messages }: WorkerRequest, question: string): string | undefined => {
  const asked = wordsOf(question)
  const before = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user")
  )
  const said = before
    .flatMap((message) => (message.role === "user" ? sentencesOf(Message.text(message)) : []))
    // The question itself comes before the answers of other steps.
    .filter((sentence) => !question.includes(sentence))
  const scored = said.map((sentence) => ({ sentence, score: shared(asked, wordsOf(sentence)) }))
  return scored.filter(({ score }) => score > 0).sort((left, right) => right.score - left.score)[0]?.sentence
}

const answerOf = (request: WorkerRequest): string => {
  const { output } = request
  const question = questionOf(request)
  const results = aftermathOf(request).filter((message) => message.role === "tool")
  if (output?.type === "json-schema") return JSON.stringify(Instance.make(output.schema, question))
  if (output?.type === "json") return JSON.stringify({ answer: question.slice(0, 200) })
  if (results.length > 0) return `It said: ${results.map((result) => Message.text(result)).join("; ")}`
  const memory = recalled(request, question)
  return (
    ruled(request) ??
    counted(question) ??
    (question.includes("?") ? memory : undefined) ??
    dictated(question) ??
    memory ??
    `You asked: ${question.slice(0, 500) || "nothing in words"}`
  )
}

// -------------------------------------------------------------------------------------------------------------------
// The worker
// -------------------------------------------------------------------------------------------------------------------

/** Pieces of a text, a token each. */
const tokensOf = (text: string): ReadonlyArray<string> => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []

const inputTokensOf = ({ messages }: WorkerRequest): number =>
  messages.reduce((sum, message) => sum + tokensOf(Message.text(message)).length, 0)

const partsOf = (request: WorkerRequest): ReadonlyArray<WorkerPart> => {
  const inputTokens = inputTokensOf(request)
  const calls = callsOf(request)
  if (calls.length > 0) {
    const parts = calls.map(
      ({ arguments: given, name }, at): WorkerPart => ({
        type: "tool-call",
        id: `rule-${at}`,
        name,
        arguments: JSON.stringify(given)
      })
    )
    return [...parts, { type: "finish", reason: "tool-calls", usage: { inputTokens, outputTokens: 10 * calls.length } }]
  }
  const { maxOutputTokens = Number.POSITIVE_INFINITY } = request
  const tokens = tokensOf(answerOf(request))
  const said = tokens.slice(0, maxOutputTokens)
  return [
    ...said.map((text): WorkerPart => ({ type: "text", text })),
    {
      type: "finish",
      reason: said.length < tokens.length ? "length" : "stop",
      usage: { inputTokens, outputTokens: said.length }
    }
  ]
}

const usual: Pricing = { inputPerMillion: 1, outputPerMillion: 10 }

/** Makes a worker that follows these rules. */
export const make = (id: string, pricing = usual): Worker => ({
  id,
  description: "follows rules",
  capabilities: { tools: true, images: true, files: true, jsonSchema: true },
  pricing,
  isLanguageModel: true,
  generate: (request) => Stream.fromIterable(partsOf(request))
})
