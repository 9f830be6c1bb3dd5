/** A field that a reader of a wire looks at never counts as unknown. */

import { assert, it } from "vitest"
import { chat } from "../src/chat/Chat.ts"
import { messages } from "../src/messages/Messages.ts"
import { responses } from "../src/responses/Responses.ts"
import { invalid } from "../src/wire/ApiError.ts"
import * as Steps from "../src/wire/Steps.ts"

/** Reads a body, and returns the names of the fields that the reader looked at, except those that it listed. */
const lookedAt = (read: (body: Record<string, unknown>) => unknown, body: Record<string, unknown>): Set<string> => {
  const names = new Set<string>()
  read(
    new Proxy(body, {
      get: (target, name) => {
        names.add(String(name))
        return Reflect.get(target, name)
      }
    })
  )
  return names
}

/** A value that no reader can use, so that each field says whether it is known: it is refused, omitted, or read. */
const noticesOf = (
  read: (body: Record<string, unknown>) => { readonly notices: ReadonlyArray<string> },
  body: object
) => {
  try {
    return read({ ...body }).notices
  } catch (error) {
    if (error instanceof invalid("", "").constructor) return []
    throw error
  }
}

it.each([
  ["chat", chat, { messages: [{ role: "user", content: "Hi" }] }],
  ["responses", responses, { input: "Hi" }],
  ["messages", messages, { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] }]
] as const)("of %s", (_, { read }, given) => {
  const body = { model: "divisi", ...given }
  const names = lookedAt((body) => Steps.all(read(body, {})), body)
  assert.isAbove(names.size, 20)
  const unknown = [...names].filter((name) =>
    noticesOf((body) => Steps.all(read(body, {})), {
      ...body,
      [name]: name in body ? Reflect.get(body, name) : { a: 1 }
    }).some((notice) => notice === `${name} is not known and was ignored.`)
  )
  assert.deepStrictEqual(unknown, [])
})
