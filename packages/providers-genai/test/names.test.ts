/** Google takes no name of a tool that begins with a digit: it is sent with a letter before it, and comes back as it was. */
import { WorkerStream } from "@divisi/core/streams"
import { Corpus } from "@divisi/testkit/providers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, it } from "vitest"
import { genai } from "../src/index.ts"

const answer = {
  candidates: [{ content: { parts: [{ functionCall: { name: "_1c_reload", args: {} } }] }, finishReason: "STOP" }]
}

it("a name that begins with a digit goes out with a letter, and comes back without", async () => {
  await using server = await Corpus.serve([{ body: `data: ${JSON.stringify(answer)}\n\n` }])
  const worker = genai("gemini-3.5-flash", { baseURL: server.url, apiKey: "AIza-key" })
  const call = { id: "c1", name: "1c_reload", arguments: "{}" }
  const parts = await Effect.runPromise(
    Stream.runCollect(
      WorkerStream.generate(worker, {
        messages: [
          { role: "user", content: "Reload." },
          { role: "assistant", content: "", toolCalls: [call] },
          { role: "tool", callId: "c1", name: "1c_reload", content: "done" }
        ],
        tools: [{ name: "1c_reload", input: { type: "object" } }],
        toolChoice: { name: "1c_reload" }
      })
    )
  )
  assert.strictEqual(parts.find((part) => part.type === "tool-call")?.name, "1c_reload")
  const names = [...JSON.stringify(server.bodies[0]).matchAll(/"_?1c_reload"/g)].map(([name]) => name)
  assert.deepStrictEqual(
    names,
    Array.from({ length: 4 }, () => '"_1c_reload"')
  )
})
