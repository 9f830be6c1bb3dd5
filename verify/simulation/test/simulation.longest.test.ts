import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { mutants } from "../src/Mutants.ts"
import { plant } from "./planted.ts"

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

/** A hundred thousand seeds take two minutes of two cores that have nothing else to do, and these may have much. */
const patience = 1_200_000

describe("simulation", () => {
  it(
    "four hundred seeds hold what runs promise",
    async () => {
      const { code, output } = await simulate("--seeds", "400")
      expect(code, output).toBe(0)
    },
    patience
  )

  // Each of its mutants is found within the first 100 seeds; a seed takes twice as long as those above.
  it(
    "five hundred runs with tools that are killed, stopped, suspended and resumed are whole",
    async () => {
      const { code, output } = await simulate("--survival", "--seeds", "500")
      expect(code, output).toBe(0)
    },
    patience
  )

  plant(Object.keys(mutants))

  // The one that hides best is found by ten of these seeds: the search ends with the first.
  it.each(Object.keys(mutants).filter((name) => mutants[name]!.seed !== undefined))(
    "a mistake that was mended is found again: %s",
    async (name) => {
      const what = mutants[name]!.survival === true ? ["--survival"] : []
      const { code, output } = await simulate(...what, "--mutant", name, "--seeds", "5000", "--most", "1")
      expect(output).toMatch(/^seed \d+ failed; again: pnpm simulate (?:--survival )?--seed \d+ --mutant /m)
      expect(code).toBe(1)
    },
    patience
  )
})
