/** Reads the tool calls that a worker has made in its step, their results, and whether it may make more. */
import { type Message, text } from "@divisi/core/Message"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { stock } from "../GymTools.ts"
import type { Stock } from "./stock.ts"

/** The result of looking up an item: its stock, or the reason why there is no result. */
export type LookupResult = Stock | { readonly because: string }

/** The lookup state of a request: the results received, and whether more calls are allowed. */
export interface Lookups {
  readonly results: ReadonlyMap<string, LookupResult>
  readonly canAsk: boolean
}

const parsed = (json: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

const stockIn = (json: string): LookupResult => {
  const { dollars, pieces } = parsed(json)
  return typeof pieces === "number" && typeof dollars === "number" ? { pieces, dollars } : { because: json }
}

/** Returns the messages of a step without trailing tool calls and tool results. */
export const without = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const end = messages.findLastIndex((message) => message.role !== "tool" && !isCall(message))
  return messages.slice(0, end + 1)
}

const isCall = (message: Message): boolean => message.role === "assistant" && message.toolCalls !== undefined

/** Reads the tool calls and results from a request. */
export const read = ({ messages, toolChoice, tools = [] }: WorkerRequest): Lookups => {
  const told = new Map<string, LookupResult>()
  const asked = new Map<string, string>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const { arguments: json, id } of message.toolCalls ?? []) asked.set(id, String(parsed(json).article))
    }
    if (message.role !== "tool") continue
    const article = asked.get(message.callId)
    if (article !== undefined) told.set(article, stockIn(text(message)))
  }
  const isOther = typeof toolChoice === "object" && toolChoice.name !== stock.name
  return { results: told, canAsk: tools.some(({ name }) => name === stock.name) && toolChoice !== "none" && !isOther }
}

/** Creates tool calls for items. Their ids are numbered after the calls already made. */
export const calls = (articles: ReadonlyArray<string>, { results: told }: Lookups): ReadonlyArray<WorkerPart> =>
  articles.map((article, index) => ({
    type: "tool-call",
    id: `call-${told.size + index + 1}`,
    name: stock.name,
    arguments: JSON.stringify({ article })
  }))
