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
        ["/something/else", /of this server\.$/]
      ]
      for (const [path, hint] of rows) {
        const response = await fetch(`${root}${path}`, { method: "POST", body: "{}" })
        assert.strictEqual(response.status, 404, path)
        const { error } = (await response.json()) as { readonly error: { readonly message: string } }
        assert.match(error.message, hint, path)
      }
    }))
})
