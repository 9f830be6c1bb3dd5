/** The server reads the corpus of requests: each row is sent as its bytes are. */
import { Corpus } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

describe("the server reads the corpus of requests", () => {
  it.each(Corpus.requestRows.map((row) => [row.id, row] as const))(
    "%s",
    (_, { answer = "Fine.", expected, request }) => {
      const a = worker("a", said(answer))
      return serving(alone(a), async ({ url }) => {
        const { body, headers, method = "POST", path } = request
        const bytes = typeof body === "string" || body === undefined ? body : Buffer.from(body)
        const sent = { method, headers: { ...headers }, ...(bytes !== undefined && { body: bytes }) }
        // A relative path that begins with two slashes is a host.
        const response = await fetch(`${new URL(url).origin}${path}`, sent)
        const text = await response.text()
        assert.strictEqual(response.status, expected.status, text)
        for (const words of expected.says ?? []) assert.include(text, words)
        const [asked] = a.calls
        assert.strictEqual(asked === undefined, expected.isLocal ?? expected.status !== 200)
        for (const words of expected.sees ?? []) assert.include(JSON.stringify(asked), words)
        if (expected.asked !== undefined) assert.strictEqual(asked?.messages.at(-1)?.content, expected.asked)
        if (expected.tools !== undefined) {
          assert.deepStrictEqual(
            (asked?.tools ?? []).map(({ name }) => name),
            expected.tools
          )
        }
      })
    }
  )
})
