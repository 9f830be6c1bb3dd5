import { assert, describe, it } from "vitest"
import * as Claims from "../src/claims/Claims.ts"

const row = (name: string, leads: ReadonlyArray<number>): Claims.Row => ({
  world: "gym",
  name,
  seeds: leads.map((lead, seed) => ({ seed, reading: 0.5 + lead, lexical: 0.5, single: 0.5 }))
})

const claims: Claims.Claims = {
  version: 1,
  date: "2026-11-28",
  model: "",
  tasks: { gym: 500, drawn: 200 },
  rows: [row("all", [0.02, 0.03, 0.02, 0.03, 0.02, 0.03, 0.02, 0.03, 0.02, 0.03])]
}

describe("claims", () => {
  it("calls a lead a tie if its interval over seeds holds 0", () => {
    assert.strictEqual(Claims.verdict(row("a", [0.02, 0.03, 0.02, 0.03]), "lexical"), "ahead")
    assert.strictEqual(Claims.verdict(row("a", [-0.02, 0.03, -0.02, 0.03]), "lexical"), "tie")
    assert.strictEqual(Claims.verdict(row("a", [-0.02, -0.03, -0.02, -0.03]), "single"), "behind")
  })

  it("is contradicted if the values of all new seeds are outside its interval", () => {
    const [first, second, ...others] = Claims.contradictions(claims, [row("all", [-0.02, -0.01, -0.02])], 500)
    assert.match(first!, /^gym, all: ahead of lexical by -2.0 \(seed 0\), .* the claim allows 1\.\d to 3\.\d\.$/)
    assert.match(second!, /ahead of single/)
    assert.lengthOf(others, 0)
  })

  it("allows one value outside, and a wider interval for fewer questions", () => {
    assert.lengthOf(Claims.contradictions(claims, [row("all", [-0.02, 0.025, -0.02])], 500), 0)
    assert.lengthOf(Claims.contradictions(claims, [row("all", [0.007, 0.007, 0.007])], 100), 0)
    assert.lengthOf(Claims.contradictions(claims, [row("all", [0.007, 0.007, 0.007])], 500), 2)
  })

  it("names a row that has no claim", () => {
    assert.deepStrictEqual(Claims.contradictions(claims, [row("gone", [0.1])], 500), [
      "gym, gone: there is no such row."
    ])
  })
})
