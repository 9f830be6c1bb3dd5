import * as Baselines from "@divisi/core/Baselines"
import * as Conductor from "@divisi/core/Conductor"
import * as Journal from "@divisi/core/Journal"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Journals from "../src/runs/Journals.ts"

describe("divisi serve --keep-runs", () => {
  it.effect("lets go of runs that are older, at the start and each hour, and of no others", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
      const conductor = Conductor.make({ pool, policy: Baselines.single("a") })
      const run = (runId: string) => conductor.run("6 times 7?", { runId, journal })
      const kept = Effect.map(journal.list(), (runs) => runs.map(({ run }) => run).toSorted())
      yield* run("old")
      yield* TestClock.adjust("2 days")
      yield* run("new")
      yield* Effect.forkChild(Journals.pruning(journal, 86_400_000), { startImmediately: true })
      assert.deepStrictEqual(yield* kept, ["new"])
      yield* TestClock.adjust("23 hours")
      yield* run("newer")
      assert.deepStrictEqual(yield* kept, ["new", "newer"])
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* kept, ["newer"])
    })
  )
})
