import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../src/Nearest.ts"

describe("the nearest known word", () => {
  const settings = ["costUsd", "tokens", "calls", "durationMillis", "maxOutputTokens"]

  it.each([
    ["costUSD", "costUsd"],
    ["cost_usd", "costUsd"],
    ["cost", "costUsd"],
    ["tokns", "tokens"],
    ["tokesn", "tokens"],
    ["call", "calls"],
    ["duration", "durationMillis"],
    ["maxOutputToken", "maxOutputTokens"]
  ])("for %s is %s", (given, meant) => assert.strictEqual(nearest(given, settings), meant))

  it.each([
    ["cmd", "command"],
    ["msg", "message"],
    ["cwdd", "cwd"],
    ["wrkr", "worker"],
    ["CWD", "cwd"]
  ])("for the abbreviation %s is %s", (given, meant) =>
    assert.strictEqual(nearest(given, ["cwd", "command", "message", "worker"]), meant)
  )

  it.each(["colour", "x", "", "ca", "a".repeat(1_000_000)])("is none where nothing is near", (given) =>
    assert.isUndefined(nearest(given, settings))
  )

  it("returns undefined without known names", () => assert.isUndefined(nearest("cost", [])))
})
