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

  it("does not appear in anything that is printed", () => {
    const resolved = ApiKey.resolve("sk-secret", [])
    assert.notInclude(String(resolved) + JSON.stringify(resolved), "sk-secret")
  })
})
