import { assert, describe, it } from "vitest"
import { chat } from "../src/chat/Chat.ts"
import { messages } from "../src/messages/Messages.ts"
import { responses } from "../src/responses/Responses.ts"
import * as Steps from "../src/wire/Steps.ts"

const question = { role: "user", content: "Write a poem." }
const notice = "The last message is from the assistant. The answer is a new message and does not continue it."

describe("a request whose last message is the assistant's", () => {
  it.each([
    ["chat", chat, { messages: [question, { role: "assistant", content: "Roses", prefix: true }] }],
    ["chat, partial", chat, { messages: [question, { role: "assistant", content: "Roses", partial: true }] }],
    ["messages", messages, { max_tokens: 10, messages: [question, { role: "assistant", content: "Roses" }] }],
    ["responses", responses, { input: [question, { role: "assistant", content: "Roses" }] }]
  ] as const)("gets a notice that the answer does not continue it (%s)", (_, { read }, body) => {
    assert.deepStrictEqual(Steps.all(read({ model: "divisi", ...body }, {})).notices, [notice])
  })

  it("gets none if a question or a result follows", () => {
    const body = { model: "divisi", messages: [question, { role: "assistant", content: "Roses" }, question] }
    assert.deepStrictEqual(Steps.all(chat.read(body, {})).notices, [])
  })
})
