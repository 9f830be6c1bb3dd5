import * as RunSettings from "@divisi/core/RunSettings"
import * as Option from "effect/Option"
import { assert, describe, it } from "vitest"
import { flags } from "../src/run/flags.ts"
import { type Flags, settings } from "../src/team/RunOptions.ts"

const rows = Object.entries(RunSettings.reference).flatMap(([path, { flag }]) =>
  flag === undefined ? [] : [[flag, path] as const]
)

const keyOf = (flag: string) => flag.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())

const none: Flags = {
  pool: Option.none(),
  policy: Option.none(),
  maxSteps: Option.none(),
  recursion: Option.none(),
  seed: Option.none()
}

/** Flags without a value, which set `true`. */
const toggles = new Set(["--approve-plans"])

/** Flags whose setting is put together from several flags, the config and MCP servers. */
const composed = new Set(["--check", "--tool", "--tool-access"])

describe("the flags of settings", () => {
  it.each(rows)("%s is a flag of run", (flag) => {
    assert.property(flags, keyOf(flag))
  })

  it.each(rows.filter(([flag]) => !composed.has(flag)))("%s sets %s", (flag, path) => {
    const given = toggles.has(flag) ? true : Option.some(7)
    const set = settings({}, { ...none, [keyOf(flag)]: given })
    const value = path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], set)
    assert.strictEqual(value, toggles.has(flag) ? true : 7)
  })
})
