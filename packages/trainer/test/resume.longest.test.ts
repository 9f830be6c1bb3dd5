/**
 * The guarantees for a run whose process is killed, and the tests for each, by number:
 *
 * 1. Killed in the middle of any change to the disk, any number of times, it ends with the same bytes of weights and the
 *    same checkpoints, metrics and rollouts as a run that was never killed, clocks aside.
 * 2. No two processes train one run.
 * 3. A run that reaches its cost limit ends at a checkpoint, has not spent more, and resumes with a higher limit to the
 *    same result.
 * 4. So does one that is asked to stop.
 */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Seed } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RunFolder from "../src/RunFolder.ts"
import * as Trainer from "../src/Trainer.ts"
import type { TrainingError } from "../src/TrainingError.ts"
import { parts, phases } from "./world.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-trainer-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** Everything that a run leaves behind, but for what clocks say. */
const left = Effect.fnUntraced(function* (folder: string) {
  const iterations = yield* RunFolder.rolloutIterations(folder)
  const all = yield* RunFolder.checkpoints(folder)
  const states = yield* Effect.forEach(all, (checkpoint) => RunFolder.readState(folder, checkpoint))
  const state = states.at(-1)!
  return {
    states,
    weights: fs
      .readFileSync(path.join(RunFolder.checkpointFolder({ folder }, state.iteration), state.engine.reference))
      .toString("base64"),
    metrics: (yield* RunFolder.readMetrics(folder)).map((metrics) => ({
      ...metrics,
      at: 0,
      seconds: 0,
      criticalPathSeconds: 0
    })),
    rollouts: (yield* Effect.forEach(iterations, (iteration) => RunFolder.readRollouts(folder, iteration))).map((one) =>
      one.map((record) => ({ ...record, criticalPathMillis: 0 }))
    ),
    best: yield* RunFolder.readBest(folder),
    iterations
  }
})

const script = fileURLToPath(new URL("fixtures/train.ts", import.meta.url))
const run = promisify(execFile)

const childArguments = (folder: string, ...rest: ReadonlyArray<string>) => [
  "--conditions=@divisi/source",
  "--disable-warning=ExperimentalWarning",
  script,
  folder,
  ...rest
]

/** Asks a run to stop after some finished groups. */
const stopAfter = (
  groups: number,
  train: (options: Pick<Trainer.Options, "listener" | "signal">) => Effect.Effect<Trainer.Result, TrainingError>
) => {
  const controller = new AbortController()
  let left = groups * 3
  const listener: Trainer.Options["listener"] = ({ type }) => {
    if (type === "group-finished" || type === "iteration-finished") left -= 1
    if (left <= 0) controller.abort()
  }
  return train({ listener, signal: controller.signal })
}

/** Trains in a process of its own, which is killed in the middle of a change to the disk; says whether it got to its end. */
const trainAndDie = (folder: string, kind: string, at?: number) =>
  Effect.promise(() =>
    run(process.execPath, childArguments(folder, kind, ...(at === undefined ? [] : [String(at)]))).then(
      () => true,
      (error: { readonly signal?: string | undefined; readonly stderr?: string | undefined }) => {
        if (error.signal !== "SIGKILL") throw new Error(error.stderr)
        return false
      }
    )
  )

describe("a run that is killed", () => {
  for (const kind of ["strict", "lagged"]) {
    it.live(`1. ends the same as one that is not (${kind})`, () =>
      Effect.gen(function* () {
        const whole = yield* temporary
        const input = {
          phases: phases(kind === "lagged"),
          checkpoints: { every: 3, keep: 2 },
          evaluateEvery: 4
        }
        yield* Trainer.start(parts(), input, { folder: whole })
        const folder = yield* temporary
        const next = Seed.draw(7)
        let kills = 0
        // After this many kills, it may run to its end.
        while (!(yield* trainAndDie(folder, kind, kills < 6 ? 1 + Math.floor(next() * 90) : undefined))) kills += 1
        assert.isAbove(kills, 3)
        const expected = yield* left(whole)
        assert.isAbove(expected.states.at(-1)!.costUsd, 1)
        assert.deepStrictEqual(yield* left(folder), expected)
      })
    )
  }
})

describe("a run", () => {
  it.effect("2. is trained by one process at a time", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const opened = Trainer.configure(parts(), { phases: [] })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* RunFolder.create(folder, opened)
          const { reason } = yield* Effect.flip(Effect.scoped(RunFolder.open(folder)))
          assert(reason._tag === "Locked")
          assert.strictEqual(reason.holder?.pid, process.pid)
          // Held in one process, it is not had in another.
          const error = yield* Effect.flip(Effect.tryPromise(() => run(process.execPath, childArguments(folder))))
          assert.include(
            String((error.cause as { readonly stderr?: string | undefined }).stderr),
            `goes on in process ${process.pid} since`
          )
        })
      )
      yield* Effect.scoped(RunFolder.open(folder))
      const { reason } = yield* Effect.flip(Effect.scoped(RunFolder.create(folder, opened)))
      assert.deepStrictEqual(reason, { _tag: "AlreadyThere" })
    })
  )

  const input = { phases: phases(false), checkpoints: { every: 3, keep: 2 }, evaluateEvery: 4 }

  it.effect("3. ends within its cost limit, and resumes with a higher one to the same result", () =>
    Effect.gen(function* () {
      const [whole, folder] = [yield* temporary, yield* temporary]
      const { spentUsd } = yield* Trainer.start(parts(), input, { folder: whole })
      const limited = yield* Trainer.start(parts(), { ...input, maxCostUsd: spentUsd / 3 }, { folder })
      assert.strictEqual(limited.ending.type, "cost-limit")
      assert.isAtMost(limited.spentUsd, spentUsd / 3 + 1e-9)
      assert.isAbove(limited.spentUsd, spentUsd / 3 - 0.1)
      assert.strictEqual((yield* RunFolder.checkpoints(folder)).at(-1), limited.iteration)
      // Resumed with the same limit, it ends at once.
      const again = yield* Trainer.resume(parts(), { folder })
      assert.strictEqual(again.ending.type, "cost-limit")
      assert.strictEqual(again.iteration, limited.iteration)
      const resumed = yield* Trainer.resume(parts(), { folder, maxCostUsd: 2 * spentUsd })
      assert.strictEqual(resumed.ending.type, "finished")
      // Its answers were stored: nothing is paid twice.
      assert.closeTo(resumed.spentUsd, spentUsd, 1e-9)
      assert.deepStrictEqual(yield* left(folder), yield* left(whole))
    })
  )

  it.effect("4. stops on request, and resumes to the same result", () =>
    Effect.gen(function* () {
      const [whole, folder] = [yield* temporary, yield* temporary]
      yield* Trainer.start(parts(), input, { folder: whole })
      let stops = 0
      let result = yield* stopAfter(1, (options) => Trainer.start(parts(), input, { folder, ...options }))
      while (result.ending.type === "stopped") {
        stops += 1
        result = yield* stopAfter(2 + stops, (options) => Trainer.resume(parts(), { folder, ...options }))
      }
      assert.isAbove(stops, 2)
      assert.deepStrictEqual(yield* left(folder), yield* left(whole))
    })
  )
})
