import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import { describe, expect, it } from "vitest"
import { mutants } from "../src/machines/mutants.ts"
import { small } from "../src/machines/small.ts"

const main = fileURLToPath(new URL("../src/machines/main.ts", import.meta.url))

const call = (...more: ReadonlyArray<string>) => {
  const flags = Object.entries(small).map(([name, value]) => `--${name}=${value}`)
  return spawnSync(process.execPath, ["--conditions=@divisi/source", main, ...flags, ...more], { encoding: "utf8" })
}

describe.skipIf(PostgresServer.find() === undefined)("simulated machines", () => {
  it("have no problem in ten seeds", { timeout: 900_000 }, () => {
    const { status, stderr, stdout } = call("--seed=2", "--seeds=10")
    expect({ status, stdout: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, stdout: "" })
  })

  it.each(Object.entries(mutants))("find the mistake %s", { timeout: 240_000 }, (name, { seed }) => {
    const { status, stdout } = call(`--mutant=${name}`, `--seed=${seed}`)
    expect({ status, isFound: /"problems":[1-9]/.test(stdout) }).toEqual({ status: 1, isFound: true })
  })
})
