import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { Sealed } from "@divisi/files"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RunFolder from "../src/RunFolder.ts"
import * as RunLayout from "../src/RunLayout.ts"
import * as TrainingConfig from "../src/TrainingConfig.ts"
import { metrics } from "./madeUpMetrics.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(tmpdir(), "divisi-run-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const config = {
  version: TrainingConfig.version,
  name: "toy",
  seed: 1,
  engine: { name: "scripted", model: "tiny" },
  pool: [],
  grader: "exact",
  checkpoints: { every: 1, keep: 1 },
  evaluateEvery: 0,
  recordRollouts: true,
  versions: {}
}

describe("the folder of a run", () => {
  it.effect("is read as far as it goes where its writer was stopped", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const whole = metrics(2, 8)
      const lines = whole.map((one) => `${Sealed.stringify(one)}\n`).join("")
      fs.writeFileSync(path.join(folder, RunLayout.metrics), `${lines}{"type":"grpo","iteration":10,"rewa`)
      const rollouts = Array.from({ length: 500 }, (_, group) => ({
        type: "group",
        group,
        task: `task ${group * 7919}`
      }))
      fs.mkdirSync(path.join(folder, RunLayout.rollouts))
      const file = path.join(folder, RunLayout.rolloutsOf(9))
      fs.writeFileSync(file, zlib.gzipSync(rollouts.map((one) => `${JSON.stringify(one)}\n`).join("")))
      fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2))
      assert.deepStrictEqual(yield* RunFolder.readMetrics(folder), whole)
      const read: ReadonlyArray<unknown> = yield* RunFolder.readRollouts(folder, 9)
      assert.isAtLeast(read.length, 1)
      assert.isBelow(read.length, rollouts.length)
      assert.deepStrictEqual(read, rollouts.slice(0, read.length))
    })
  )

  it.effect("is read where its phases leave out settings that are optional", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const { phases, ...rest } = { ...config, phases: [TrainingConfig.grpo()] }
      const bare = phases.map((phase) => ({ ...phase, rollouts: { ...phase.rollouts, run: { maxSteps: 3 } } }))
      fs.writeFileSync(path.join(folder, RunLayout.config), Sealed.stringify({ ...rest, phases: bare }))
      const [phase] = (yield* RunFolder.readConfig(folder)).phases
      assert.deepStrictEqual(phase?.type === "grpo" && phase.rollouts.run, { maxSteps: 3 })
    })
  )

  it.effect("says what it lacks", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const message = Effect.map(Effect.flip(RunFolder.readConfig(folder)), (error) => error.message)
      const write = (text: string) => fs.writeFileSync(path.join(folder, RunLayout.config), text)
      assert.include(yield* message, "contains no training run")
      write('{"version":99}')
      assert.include(yield* message, "version 99")
      write("{")
      assert.include(yield* message, "cannot be used")
      assert.deepStrictEqual(yield* RunFolder.readMetrics(folder), [])
      assert.deepStrictEqual(yield* RunFolder.rolloutIterations(folder), [])
    })
  )
})
