/** Habitual input of users. */
import { assert, describe, it } from "vitest"
import { divisi } from "./process.ts"

describe("the beginning of a flag", () => {
  it("is the flag, where it begins no other", async () => {
    const { code, errors } = await divisi(["run", "What is 17 times 23?", "--pol", "single:0", "--max-s=3"])
    assert.strictEqual(code, 0, errors)
    assert.include(errors, "policy   single:")
  })

  it("names the flags that it may be, where there are several", async () => {
    const { code, errors } = await divisi(["run", "Hi", "--max", "3"])
    assert.strictEqual(code, 2)
    assert.match(errors, /^divisi: Ambiguous flag --max\. Did you mean --max-steps, .*--max-cost.*\?\n$/)
  })

  it("is left as it is where it is the value of an argument or the beginning of no flag", async () => {
    const text = await divisi(["run", "--json", "--", "What is 17 times 23? --pol"])
    assert.notInclude(text.errors, "--policy")
    const unknown = await divisi(["run", "Hi", "--paul", "x"])
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.errors, "--paul")
  })
})
