/** A worker's failure that the plan did not cause is not a verdict, and a phase that taught nothing reports that. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { Grader } from "@divisi/core"
import { free, worker } from "@divisi/core/promise"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker, WorkerErrorReason } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import type { GrpoMetrics } from "../src/Metrics.ts"
import * as Trainer from "../src/Trainer.ts"
import type { TrainingEvent } from "../src/TrainingEvent.ts"
import { grpo, parts, pool, warmStart } from "./world.ts"

const root = mkdtempSync(path.join(tmpdir(), "outages-"))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0

const run = { maxSteps: 5, retry: { maxAttempts: 1, baseDelayMillis: 0 } }

const phase = (lost: "retry" | "wrong" | "drop" = "retry", iterations = 3) =>
  grpo({ iterations, rollouts: { run, failures: { lost, retries: 1 } } })

const training = (workers: ReadonlyArray<Worker>, phases: Trainer.ConfigInput["phases"], more = {}) => {
  const events: Array<TrainingEvent> = []
  const folder = path.join(root, `${folders++}`)
  const listener = (event: TrainingEvent) => void events.push(event)
  const all: Trainer.Parts = { ...parts(), evaluate: undefined, pool: WorkerPool.makeUnsafe(workers), ...more }
  const program = Trainer.start(all, { phases }, { folder, listener })
  const metrics = () =>
    events.flatMap((event) =>
      event.type === "iteration-finished" && event.metrics.type === "grpo" ? [event.metrics as GrpoMetrics] : []
    )
  return { all, events, folder, listener, metrics, program }
}

const [adder, speller] = pool.workers as readonly [Worker, Worker]

/** A worker of the pool's names that fails always. */
const down = ({ id, pricing }: Worker, _tag: WorkerErrorReason["_tag"]): Worker =>
  ScriptedWorker.make({ id, pricing, replies: [{ fail: { _tag } }] })

const outages = [
  "RateLimited",
  "Overloaded",
  "Timeout",
  "Network",
  "Malformed",
  "InvalidRequest",
  "Authentication",
  "Quota",
  "Defect"
] as const

describe("a worker that is down", () => {
  for (const _tag of outages) {
    it.live(`loses its rollouts, which are counted and never wrong: ${_tag}`, () =>
      Effect.gen(function* () {
        const { metrics, program } = training([adder, down(speller, _tag)], [warmStart, phase()])
        const { ending } = yield* program
        assert.strictEqual(ending.type, "finished")
        const all = metrics()
        const lost = all.reduce((sum, one) => sum + (one.lost ?? 0), 0)
        assert.isAbove(lost, 0)
        for (const one of all) {
          assert.strictEqual(one.dropped, one.lost)
          if ((one.lost ?? 0) > 0) assert.deepStrictEqual(one.lostTo, { [`speller: ${_tag}`]: one.lost })
          // No step of it is in what is counted.
          for (const { workers } of Object.values(one.kinds)) assert.notProperty(workers, "speller")
        }
      })
    )
  }

  it.live("counts as wrong where its reliability is to be learned, or where a plan causes it", () =>
    Effect.gen(function* () {
      for (const [_tag, lost] of [
        ["Network", "wrong"],
        ["ContextTooLong", "retry"],
        ["ContentFiltered", "retry"]
      ] as const) {
        const { metrics, program } = training([adder, down(speller, _tag)], [warmStart, phase(lost)])
        yield* program
        assert.deepStrictEqual(
          metrics().map((one) => [one.lost, one.dropped]),
          [
            [0, 0],
            [0, 0],
            [0, 0]
          ]
        )
      }
    })
  )

  it.live("stops the training if all are unreachable, with a readable error, and it resumes when they are back", () =>
    Effect.gen(function* () {
      let isDown = true
      const thrower = (of: Worker): Worker => {
        const broken = worker({
          id: of.id,
          pricing: of.pricing ?? free,
          answer: () => {
            throw new TypeError("Cannot read properties of undefined")
          }
        })
        return { ...of, generate: (request) => (isDown ? broken : of).generate(request) }
      }
      const world = training([thrower(adder), thrower(speller)], [warmStart, phase("retry", 6)])
      const error = yield* Effect.flip(world.program)
      assert.strictEqual(error._tag, "OutageError")
      assert.match(error.message, /The last \d+ rollouts that called a worker .*: Defect \(\d+\).*resume the run/)
      for (const { correct, rewardMean } of world.metrics()) assert.deepStrictEqual([correct, rewardMean], [0, 0])
      const done = world.metrics().length
      assert.isBelow(done, 6)
      assert.notStrictEqual(world.events.at(-1)?.type, "training-finished")
      isDown = false
      const { all, folder, listener } = world
      const result = yield* Trainer.resume(all, { folder, listener })
      assert.deepStrictEqual([result.ending.type, result.unlearned], ["finished", []])
      assert.deepStrictEqual(
        world.metrics().map(({ iteration }) => iteration),
        [30, 31, 32, 33, 34, 35]
      )
      for (const { lost } of world.metrics().slice(done)) assert.strictEqual(lost, 0)
    })
  )
})

describe("a phase that taught nothing", () => {
  it.live("says why: nothing could be read", () =>
    Effect.gen(function* () {
      const { events, program } = training([adder, speller], [phase("retry", 2)])
      const { unlearned } = yield* program
      assert.deepStrictEqual(unlearned, [{ phase: "grpo", why: "no completion was a valid workflow" }])
      assert.deepInclude(events.at(-1) as object, { type: "training-finished", unlearned })
    })
  )

  it.live("says why: all rewards were alike", () =>
    Effect.gen(function* () {
      const never = { ...Grader.exact, grade: () => Effect.succeed({ correct: false, score: 0 }) }
      // Each completion can be read: the policy writes nothing else after its warm start.
      const long = { ...warmStart, steps: 120 }
      const { metrics, program } = training([adder, speller], [long, phase("retry", 1)], { grader: never })
      const { unlearned } = yield* program
      if (metrics().every(({ parsed }) => parsed === 1)) {
        assert.match(unlearned[0]?.why ?? "", /^all rewards within each question were equal/)
      } else assert.deepStrictEqual(unlearned, [])
    })
  )

  it.live("does not include a phase that learned, or a warm start", () =>
    Effect.gen(function* () {
      const { program } = training([adder, speller], [warmStart, phase()])
      assert.deepStrictEqual((yield* program).unlearned, [])
    })
  )
})
