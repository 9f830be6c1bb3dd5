import { Baselines, Journal } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a")])
const conductor = Conductor.make({ pool, policy: Baselines.single(0) })

/** Valid JSON in which no version of the package writes an entry. */
const damages: ReadonlyArray<unknown> = [null, 7, "x", {}, { type: "event" }, { type: "event", event: null }]

describe("a run whose record cannot be interpreted", () => {
  for (const damage of damages) {
    it.effect(`with the entry ${JSON.stringify(damage)} fails each time, and keeps no claim`, () =>
      Effect.gen(function* () {
        const journal = Journal.makeMemory()
        const { epoch } = yield* journal.claim("r")
        yield* journal.append({ run: "r", epoch, seq: 0, entries: [damage as Journal.Entry] })
        yield* journal.release("r", epoch)
        for (let trial = 0; trial < 2; trial++) {
          const { ending } = yield* conductor.run("Q", { runId: "r", journal })
          assert.oneOf(ending, ["failed", "answered"])
          const resumed = yield* Effect.exit(conductor.resume({ runId: "r" }, { journal }))
          assert.notInclude(JSON.stringify(resumed), '"Die"')
        }
        assert.strictEqual((yield* journal.claim("r")).epoch > epoch, true)
      })
    )
  }
})
