import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { mutants } from "../src/Mutants.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** Runs `pnpm simulate`. */
const simulate = async (...options: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", main, ...options], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  const output = await text(child.stdout)
  return { code: await ended, output }
}

describe("simulation", () => {
  it("twenty thousand seeds hold what runs promise", async () => {
    const { code, output } = await simulate("--seeds", "20000")
    expect(code, output).toBe(0)
  })

  // Each of its mutants is found within the first 11 seeds; a seed takes four times as long as those above.
  it("five thousand runs with tools that are killed, stopped, suspended and resumed are whole", async () => {
    const { code, output } = await simulate("--survival", "--seeds", "5000")
    expect(code, output).toBe(0)
  })

  // The one that hides best is found by about one in 2,700 seeds: the search ends with the first.
  it.each(Object.keys(mutants))("a mistake that was mended is found again: %s", async (name) => {
    const what = mutants[name]!.survival === true ? ["--survival"] : []
    const { code, output } = await simulate(...what, "--mutant", name, "--seeds", "40000", "--most", "1")
    expect(output).toMatch(/^seed \d+ failed; again: pnpm simulate (?:--survival )?--seed \d+ --mutant /m)
    expect(code).toBe(1)
  })
})
