import { WorkerError } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApiKey from "../src/ApiKey.ts"

const said = (apiKey: ApiKey.ApiKey | undefined, variables: ReadonlyArray<string>) =>
  Result.match(ApiKey.resolve(apiKey, variables), { onSuccess: Redacted.value, onFailure: (detail) => `! ${detail}` })

describe("a key", () => {
  it("is what was given, as text, redacted or by the name of a variable", () => {
    process.env.DIVISI_TEST_KEY = "from the environment"
    assert.strictEqual(said("given", ["DIVISI_TEST_KEY"]), "given")
    assert.strictEqual(said(Redacted.make("secret"), ["DIVISI_TEST_KEY"]), "secret")
    assert.strictEqual(said({ env: "DIVISI_TEST_KEY" }, []), "from the environment")
    assert.strictEqual(said(undefined, ["DIVISI_TEST_NO_KEY", "DIVISI_TEST_KEY"]), "from the environment")
    delete process.env.DIVISI_TEST_KEY
  })

  it("that is missing or empty is named, and no other takes its place", () => {
    process.env.DIVISI_TEST_KEY = "somebody else's"
    assert.strictEqual(said("", ["DIVISI_TEST_KEY"]), "! the API key is empty")
    assert.strictEqual(said(Redacted.make(""), ["DIVISI_TEST_KEY"]), "! the API key is empty")
    assert.strictEqual(said({ env: "DIVISI_TEST_NO_KEY" }, ["DIVISI_TEST_KEY"]), "! DIVISI_TEST_NO_KEY is not set")
    process.env.DIVISI_TEST_KEY = ""
    assert.strictEqual(said(undefined, ["DIVISI_TEST_KEY", "B_KEY"]), "! DIVISI_TEST_KEY or B_KEY is not set")
    delete process.env.DIVISI_TEST_KEY
  })

  it("of the environment has its variable as its label", () => {
    process.env.DIVISI_TEST_KEY = "from the environment"
    const label = (apiKey: ApiKey.ApiKey | undefined, variables: ReadonlyArray<string>) =>
      Result.getOrThrow(ApiKey.resolve(apiKey, variables)).label
    assert.strictEqual(label(undefined, ["DIVISI_TEST_NO_KEY", "DIVISI_TEST_KEY"]), "DIVISI_TEST_KEY")
    assert.strictEqual(label({ env: "DIVISI_TEST_KEY" }, []), "DIVISI_TEST_KEY")
    assert.isUndefined(label("given", ["DIVISI_TEST_KEY"]))
    delete process.env.DIVISI_TEST_KEY
  })

  it("that is refused is named by its variable or option, never by its value", () => {
    const message = (key: ApiKey.Sent) =>
      new WorkerError({
        worker: "acme:tiny",
        reason: ApiKey.explain({ _tag: "Authentication", detail: "no entry" }, key, "api.acme.com")
      }).message
    const start = "acme:tiny refused the credentials: no entry. "
    assert.strictEqual(
      message(Redacted.make("sk-secret", { label: "ACME_API_KEY" })),
      `${start}Check that ACME_API_KEY is a valid key for api.acme.com.`
    )
    assert.strictEqual(
      message(Redacted.make("sk-secret")),
      `${start}Check that the option apiKey is a valid key for api.acme.com.`
    )
    assert.include(message(undefined), `${start}No key was sent, and api.acme.com requires one. Pass it as apiKey`)
    assert.strictEqual(message("unknown"), `${start}Check its API key.`)
    const other = { _tag: "Quota" } as const
    assert.strictEqual(ApiKey.explain(other, undefined, "api.acme.com"), other)
  })

  it("does not appear in anything that is printed", () => {
    const resolved = ApiKey.resolve("sk-secret", [])
    assert.notInclude(String(resolved) + JSON.stringify(resolved), "sk-secret")
  })
})
