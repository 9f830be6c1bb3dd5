import { expect, it } from "vitest"
import * as Kills from "../src/Kills.ts"

// Each kill requires a new process.
const timeout = 300_000

it("a run that is killed at any write of its journal goes on, and is the run that it would have been", {
  timeout
}, async () => {
  const { kills, problems } = await Kills.points(() => {})
  expect(problems).toEqual([])
  expect(kills).toBeGreaterThan(10)
})

/** `pnpm durability kills` kills a thousand times. */
const kills = 15

it("of runs that are killed at random, nothing that was answered is paid again, and all in doubt is told", {
  timeout
}, async () => {
  const found = await Kills.random({ kills, until: Number.POSITIVE_INFINITY }, () => {})
  expect(found.problems).toEqual([])
  expect(found.runs).toBeGreaterThan(0)
  expect(found.inDoubt).toBeGreaterThan(0)
})
