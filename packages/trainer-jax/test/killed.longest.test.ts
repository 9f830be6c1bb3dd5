/** A run over the embedded engine whose process is killed, wherever it happens to be, ends as one that never was. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { RunFolder } from "@divisi/trainer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { temporaryFolder } from "./model.ts"

const script = fileURLToPath(new URL("fixtures/train.ts", import.meta.url))

/** Trains in a process of its own, killed so many milliseconds after it began; says how long it took if it got to its end. */
const train = async (folder: string, killedAfter?: number): Promise<number | undefined> => {
  const child = spawn(
    process.execPath,
    ["--conditions=@divisi/source", "--disable-warning=ExperimentalWarning", script, folder],
    { stdio: ["ignore", "pipe", "pipe"] }
  )
  let complaints = ""
  child.stderr.on("data", (text) => {
    complaints += text
  })
  const closed = once(child, "close")
  await Promise.race([once(child.stdout, "data"), closed])
  const begun = performance.now()
  const timer = killedAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killedAfter)
  const [code, signal] = await closed
  clearTimeout(timer)
  if (signal === "SIGKILL") return undefined
  if (code !== 0) throw new Error(complaints)
  return performance.now() - begun
}

/** Weights, optimiser and random state, metrics and rollouts, but for what clocks say. */
const left = Effect.fnUntraced(function* (folder: string) {
  const last = (yield* RunFolder.checkpoints(folder)).at(-1)!
  const { engine } = yield* RunFolder.readState(folder, last)
  const iterations = yield* RunFolder.rolloutIterations(folder)
  const rollouts = yield* Effect.forEach(iterations, (iteration) => RunFolder.readRollouts(folder, iteration))
  return {
    last,
    weights: fs.readFileSync(path.join(RunFolder.checkpointFolder({ folder }, last), engine.reference)).toString("hex"),
    metrics: (yield* RunFolder.readMetrics(folder)).map((metrics) => ({
      ...metrics,
      at: 0,
      seconds: 0,
      criticalPathSeconds: 0
    })),
    rollouts: rollouts.flat().map((record) => ({ ...record, criticalPathMillis: 0 }))
  }
})

describe("a run over the embedded engine", () => {
  it.live("that is killed four times has the same bits at its end", () =>
    Effect.gen(function* () {
      const [whole, folder] = [yield* temporaryFolder, yield* temporaryFolder]
      const millis = (yield* Effect.promise(() => train(whole)))!
      const generator = xoroshiro128plus(11)
      let kills = 0
      for (let attempt = 0; attempt < 4; attempt++) {
        const share = (generator.next() >>> 0) / 2 ** 32
        if ((yield* Effect.promise(() => train(folder, (0.1 + 0.25 * share) * millis))) === undefined) kills++
      }
      yield* Effect.promise(() => train(folder))
      assert.isAbove(kills, 0)
      assert.deepStrictEqual(yield* left(folder), yield* left(whole))
    })
  )
})
