import { Endpoint, VendorError } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const notFound = async (url: string): Promise<string> => {
  const fetch = Endpoint.refusing(
    async () => new Response("no route", { status: 404 }),
    ({ text }) => ({ _tag: "InvalidRequest", detail: text }),
    undefined
  )
  const failure = await fetch(url).then(
    () => undefined,
    (error: VendorError.Failure) => error
  )
  return failure?.reason.detail ?? ""
}

describe("a path that a server does not have", () => {
  it("is explained where the version is missing, or is there twice", async () => {
    assert.include(await notFound("http://127.0.0.1:1/v1/v1/chat/completions"), "both contain /v1")
    assert.include(await notFound("http://127.0.0.1:1/chat/completions"), "under /v1")
    assert.strictEqual(await notFound("http://127.0.0.1:1/v1/chat/completions"), "no route")
  })

  it("is explained where a whole address was taken for a base URL, or another API's", async () => {
    const rows: ReadonlyArray<readonly [url: string, hint: string]> = [
      ["https://a.example/v1/chat/completions/chat/completions", "remove /chat/completions"],
      ["https://a.example/v1/responses/chat/completions", "remove /responses"],
      ["https://a.example/v1/messages/v1/messages", "remove /messages"],
      ["http://127.0.0.1:11434/api/chat/chat/completions", "for Ollama, end it with /v1"],
      ["http://127.0.0.1:11434/api/chat/completions", "for Ollama, end it with /v1"],
      ["https://a.openai.azure.com/openai/deployments/gpt-5/chat/completions", "under /openai/v1"],
      ["https://a.openai.azure.com/chat/completions", "under /openai/v1"],
      ["https://generativelanguage.googleapis.com/v1beta/chat/completions", "under /v1beta/openai"],
      [
        "https://g.example/v1beta/models/gemini-3-pro:generateContent/v1beta/models/gemini-3-pro:streamGenerateContent",
        "remove /models/gemini-3-pro:generateContent"
      ]
    ]
    for (const [url, hint] of rows) assert.include(await notFound(url), hint, url)
    for (const url of [
      "https://a.openai.azure.com/openai/v1/chat/completions",
      "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent"
    ]) {
      assert.strictEqual(await notFound(url), "no route", url)
    }
  })
})

describe("a key of one letter", () => {
  it("hides no letters of words", () => {
    assert.strictEqual(VendorError.detail("no key like this: k, or k1", ["k"]), "no key like this: <hidden>, or k1")
    assert.strictEqual(VendorError.detail("the key ab was wrong: abc", ["ab"]), "the key <hidden> was wrong: abc")
  })
})
