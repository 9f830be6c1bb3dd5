/** Training of a routing head over whole runs. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import * as WholeRuns from "../src/reader/WholeRuns.ts"
import * as Teams from "../src/world/Teams.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-reading-engine-"))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const { head: shipped, readers } = await Effect.runPromise(ReadingPolicy.load())
const unsure = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(3 * at + 1) / 8)

describe("ReadingEngine", () => {
  it.live("whole runs raise the mean reward of a head that was made worse", () =>
    Effect.gen(function* () {
      const worse = shipped.map((weight, at) => 0.2 * weight + unsure[at]!)
      const rewards: Array<number> = []
      const drawn = Teams.draw({ split: "train", seed: 5, count: 24, workers: [2, 6], composites: 0 })
      const options = { seed: 1, iterations: 24, learningRate: 0.02, teams: drawn, folder: path.join(folder, "run") }
      const onIteration = (_: number, reward: number) => void rewards.push(reward)
      const head = yield* WholeRuns.train({ readers, head: worse }, { ...options, onIteration })
      const mean = (values: ReadonlyArray<number>) => values.reduce((sum, one) => sum + one, 0) / values.length
      // The questions of the first three iterations and of the last three are the same ones.
      assert.isAbove(mean(rewards.slice(-3)), mean(rewards.slice(0, 3)) + 0.05, rewards.join())
      assert.notDeepEqual(head, worse)
    })
  )
})
