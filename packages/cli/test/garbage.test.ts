/** The young generation of V8's heap: a server's does not grow, so that each collection is short. */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const file = fileURLToPath(new URL("../bin/garbage.js", import.meta.url))

/** Keeps 60 MB of small objects, and prints the size of the young generation in MB. */
const program = `
  const kept = []
  for (let at = 0; at < 500_000; at++) kept.push({ at, list: [at] })
  const spaces = process.getBuiltinModule("node:v8").getHeapSpaceStatistics()
  console.log(spaces.find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20)
`

const sizeOf = (command: string): number =>
  Number(execFileSync(process.execPath, ["--import", file, "-", command], { input: program, encoding: "utf8" }))

describe("the young generation", () => {
  it("does not grow in a server", () => assert.isAtMost(sizeOf("serve"), 4))

  it("grows in other commands, which run faster with a large one", () => assert.isAbove(sizeOf("run"), 4))
})
