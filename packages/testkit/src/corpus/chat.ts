/** Rows of Chat Completions: what servers that speak it were seen to answer. */
import { events, type ResponseRow, type Row } from "./Row.ts"

const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
  ...more
})

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const row = (one: Omit<ResponseRow, "protocol" | "direction">): ResponseRow => ({
  protocol: "chat",
  direction: "response",
  ...one
})

export const chat: ReadonlyArray<Row> = [
  row({
    id: "chat/folding/usage-after-end",
    class: "folding",
    source: { repository: "agentscope-ai/agentscope", number: 2314, subject: "usage comes in a chunk without choices" },
    why: "A reader that stops at the ending estimates what it could have read.",
    replies: [{ body: events(chunk({ content: "Sunny." }), chunk({}, "stop"), { choices: [], usage }) }],
    expected: { text: "Sunny.", finish: "stop", usage: { inputTokens: 11, outputTokens: 7 } }
  })
]
