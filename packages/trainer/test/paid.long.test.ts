/**
 * Trainings whose workers are paid, killed and stopped in the middle of their iterations: three books are compared, the
 * vendor's, what the run says it has spent, and what an uninterrupted run pays.
 */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RunFolder from "../src/RunFolder.ts"
import type { Result } from "../src/Trainer.ts"

const script = fileURLToPath(new URL("fixtures/trainPaid.ts", import.meta.url))

/** The cost of each call. */
const price = 0.01

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-trainer-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** A training, with the vendor's book. */
const trainingIn = (at: string) => {
  const folder = path.join(at, "run")
  const book = path.join(at, "book")
  const lines = (): ReadonlyArray<string> =>
    fs.existsSync(book) ? fs.readFileSync(book, "utf8").split("\n").slice(0, -1) : []
  const count = (what: string) => lines().filter((line) => line === what).length
  /**
   * Resumes the training, and kills it once its vendor has answered so many times. Returns its result and its warnings
   * if it ends.
   */
  const train = async (answers?: number) => {
    const flags = ["--conditions=@divisi/source", "--disable-warning=ExperimentalWarning", script, folder, book]
    let [output, isOver] = ["", false]
    const ended = new Promise<boolean>((resolve, reject) => {
      const child = execFile(process.execPath, flags, (error, out, complaints) => {
        output = out
        isOver = true
        if (error !== null && error.signal !== "SIGKILL") reject(new Error(complaints))
        else resolve(error === null)
      })
      const watch = async () => {
        while (!isOver && count("answered") < answers!) await setTimeout(2)
        child.kill("SIGKILL")
      }
      if (answers !== undefined) watch().catch(reject)
    })
    return (await ended) ? output : undefined
  }
  const resultIn = (output: string) => JSON.parse(output.trim().split("\n").at(-1)!) as Result
  /** Returns the number of unconfirmed calls that the run reported. */
  const doubtsIn = (output: string) => Number(/(\d+) calls? (?:was|were) under way/.exec(output)?.[1] ?? 0)
  return { folder, count, train, resultIn, doubtsIn }
}

/** Returns what was learned, except for clock times. */
const learned = Effect.fnUntraced(function* (folder: string) {
  const metrics = yield* RunFolder.readMetrics(folder)
  const iterations = yield* RunFolder.rolloutIterations(folder)
  const rollouts = yield* Effect.forEach(iterations, (iteration) => RunFolder.readRollouts(folder, iteration))
  return {
    metrics: metrics.map((one) => ({ ...one, at: 0, seconds: 0, criticalPathSeconds: 0 })),
    rollouts: rollouts.flat().map((record) => ({ ...record, criticalPathMillis: 0 }))
  }
})

describe("a training whose workers are paid", () => {
  it.live("pays for no answer again, wherever it is killed, and says what it cannot know", () =>
    Effect.gen(function* () {
      const whole = trainingIn(yield* temporary)
      const expected = whole.resultIn((yield* Effect.promise(() => whole.train()))!)
      const calls = whole.count("answered")
      assert.isAbove(calls, 100)
      assert.strictEqual(whole.count("asked"), calls)
      assert.closeTo(expected.spentUsd, calls * price, 1e-9)

      const killed = trainingIn(yield* temporary)
      const draw = Seed.draw(5)
      let doubts = 0
      let kills = 0
      for (const share of [0.15, 0.4, 0.6, 0.9]) {
        const output = yield* Effect.promise(() => killed.train(Math.round((share + 0.08 * draw()) * calls)))
        if (output === undefined) kills += 1
      }
      const output = (yield* Effect.promise(() => killed.train()))!
      assert.strictEqual(kills, 4)
      doubts = killed.count("asked") - killed.count("answered")
      const again = killed.count("asked") - calls
      const { ending, spentUsd } = killed.resultIn(output)
      assert.strictEqual(ending.type, "finished")
      // Answers from the last milliseconds before a kill were not written, and are unconfirmed, too.
      const paidTwice = (spentUsd - expected.spentUsd) / price
      console.log(
        `${calls} calls; killed ${kills} times, ${killed.count("asked")} asked (${again} again, ${doubts} of them cut off); spent $${expected.spentUsd.toFixed(2)} and $${spentUsd.toFixed(2)}`
      )
      // The run's reported spending includes every call that the vendor received.
      assert.isAtLeast(paidTwice + 1e-6, again)
      // At most the calls that were in flight at a kill were asked again: 24 rollouts, with up to two steps at once each.
      assert.isBelow(again, kills * 24 * 2)
      assert.deepStrictEqual(yield* learned(killed.folder), yield* learned(whole.folder))
      // None of the stored rollouts remain.
      assert.deepStrictEqual(
        fs.readdirSync(killed.folder).filter((name) => name.startsWith("rollouts.")),
        []
      )
    })
  )
})
