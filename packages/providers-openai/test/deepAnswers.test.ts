/** Answers of a server whose JSON nests without end: each is an answer or a failure in words, and overflows no stack. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { conduct, single, tool } from "@divisi/core/promise"
import { assert, describe, it } from "vitest"
import { openaiCompatible } from "../src/index.ts"

const list = "[".repeat(100_000) + "]".repeat(100_000)
const object = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`

const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1}'
const choice = (message: string) => `{"choices":[{"index":0,"finish_reason":"stop","message":{${message}}}],${usage}}`
const call = (input: string) =>
  choice(`"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":${input}}}]`)

const bodies: Readonly<Record<string, readonly [status: number, body: string]>> = {
  "a content": [200, choice(`"content":${list}`)],
  "reasoning details": [200, choice(`"content":"hi","reasoning_details":${list}`)],
  "arguments as an object": [200, call(object)],
  "arguments as a text": [200, call(JSON.stringify(object))],
  "a usage": [200, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"hi"}}],"usage":${object}}`],
  "a list of choices": [200, `{"choices":${list},${usage}}`],
  "an error": [400, `{"error":${object}}`],
  "metadata of an error": [400, `{"error":{"message":"no","metadata":${object}}}`]
}

describe("a nesting of 50,000 and more levels", () => {
  for (const [name, [status, body]] of Object.entries(bodies)) {
    it(`in ${name} overflows no stack`, async () => {
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(status, { "content-type": "application/json" }).end(body)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      try {
        const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
        const pool = [openaiCompatible({ baseURL, model: "m", apiKey: "none" })]
        const tools = [
          tool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "nothing" })
        ]
        const result = await conduct({
          question: "Who?",
          pool,
          policy: single(0),
          tools,
          retry: { maxAttempts: 1 },
          budget: { calls: 2 }
        })
        const said = `${result.answer} ${result.error}`
        assert.match(said, /^hi |StepFailed: |BudgetExceeded: /)
        assert.notMatch(said, /call stack|RangeError|Ran out/i)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    })
  }
})
