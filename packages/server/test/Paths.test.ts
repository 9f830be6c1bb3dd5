import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

describe("an unknown path", () => {
  it("is answered with the path that was meant", () =>
    serving(alone(worker("a", said("?"))), async ({ url }) => {
      const root = url.replace(/\/v1$/, "")
      const rows: ReadonlyArray<readonly [path: string, hint: RegExp]> = [
        ["/chat/completions", /Did you mean \/v1\/chat\/completions\? .*ends? in \/v1/],
        ["/v1/v1/chat/completions", /Did you mean \/v1\/chat\/completions\?/],
        ["/api/v1/models/", /Did you mean \/v1\/models\?/],
        ["/v1/chat/completion", /Did you mean \/v1\/chat\/completions\?/],
        ["/v1/v1/messages", /Did you mean \/v1\/messages\? .*Anthropic client must not end in \/v1/],
        ["/messages", /Did you mean \/v1\/messages\?/],
        ["/v1beta/models/divisi:streamGenerateContent", /Gemini.*ends? in \/v1/],
        ["/api/chat", /Ollama.*ends? in \/v1/],
        ["/openai/deployments/divisi/chat/completions", /Azure.*the deployment as the model/],
        ["/model/divisi/converse", /Bedrock/],
        ["/anthropic/v1/messages", /Did you mean \/v1\/messages\?/],
        ["/v1/audio/speech", /Call the vendor directly/],
        ["/v1/moderations", /Call the vendor directly/],
        ["/v1", /base URL of OpenAI clients/],
        ["/healthz", /\/health\/live or \/health\/ready/],
        ["/something/else", /of this server\.$/]
      ]
      for (const [path, hint] of rows) {
        const response = await fetch(`${root}${path}`, { method: "POST", body: "{}" })
        assert.strictEqual(response.status, 404, path)
        const { error } = (await response.json()) as { readonly error: { readonly message: string } }
        assert.match(error.message, hint, path)
      }
    }))

  it("is answered with 405 and the method, if only the method is wrong", () =>
    serving(alone(worker("a", said("?"))), async ({ url }) => {
      const rows = [
        ["GET", "/chat/completions", "POST"],
        ["PUT", "/messages/", "POST"],
        ["OPTIONS", "/completions", "POST"],
        ["DELETE", "/runs", "GET"]
      ] as const
      for (const [method, path, allow] of rows) {
        const response = await fetch(`${url}${path}`, { method })
        assert.deepStrictEqual([response.status, response.headers.get("allow")], [405, allow], path)
        assert.match(await response.text(), new RegExp(`does not support ${method}. Use ${allow}`))
      }
    }))
})
