/** Tests that plant mistakes: each must be found by its seed, or by its test. */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { quarter } from "../../../scripts/quarter.ts"
import { type Mutant, mutants } from "../src/Mutants.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const patience = 120_000

/** Returns a quarter of the mutants, another one for each commit. `npm run test:longest` plants all of them. */
export const shareOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const turn = quarter()
  return names.filter((_, index) => index % 4 === turn)
}

// Each has a process of its own, as a mutant is planted where its file is loaded.
const bySeed = async (name: string, { programs, seed, survival }: Mutant): Promise<void> => {
  const world = survival === true ? ["--survival"] : programs === true ? ["--programs"] : []
  const one = ["--mutant", name, "--from", `${seed}`, "--seeds", "1", "--threads", "1"]
  const child = spawn(process.execPath, ["--conditions=@divisi/source", main, ...world, ...one], {
    stdio: ["ignore", "pipe", "ignore"]
  })
  expect(await text(child.stdout)).toContain(`seed ${seed} failed; again: pnpm simulate`)
}

const byTest = async (name: string): Promise<void> => {
  const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url))
  const config = fileURLToPath(new URL("../vitest.mutant.config.ts", import.meta.url))
  const child = spawn(process.execPath, [vitest, "run", "--config", config], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, MUTANT: name, NO_COLOR: "1" }
  })
  expect(await text(child.stdout)).toMatch(/Tests {2}[1-9]\d* failed/)
}

/** Plants mutants, each in a test of its own. */
export const plant = (names: ReadonlyArray<string>): void =>
  it.each(names)("a mistake is found: %s", { timeout: patience }, (name) => {
    const mutant = mutants[name]!
    return mutant.seed === undefined ? byTest(name) : bySeed(name, mutant)
  })
