import * as Endpoint from "@divisi/provider-kit/Endpoint"
import { detail, type Failure } from "@divisi/provider-kit/VendorError"
import { assert, describe, it } from "@effect/vitest"

const notFound = async (url: string): Promise<string> => {
  const fetch = Endpoint.refusing(
    async () => new Response("no route", { status: 404 }),
    ({ text }) => ({ _tag: "InvalidRequest", detail: text })
  )
  const failure = await fetch(url).then(
    () => undefined,
    (error: Failure) => error
  )
  return failure?.reason.detail ?? ""
}

describe("a path that a server does not have", () => {
  it("is explained where the version is missing, or is there twice", async () => {
    assert.include(await notFound("http://127.0.0.1:1/v1/v1/chat/completions"), "both have /v1")
    assert.include(await notFound("http://127.0.0.1:1/chat/completions"), "under /v1")
    assert.strictEqual(await notFound("http://127.0.0.1:1/v1/chat/completions"), "no route")
  })
})

describe("a key of one letter", () => {
  it("hides no letters of words", () => {
    assert.strictEqual(detail("no key like this: k, or k1", ["k"]), "no key like this: <hidden>, or k1")
    assert.strictEqual(detail("the key ab was wrong: abc", ["ab"]), "the key <hidden> was wrong: abc")
  })
})
