/** Evaluations that are killed, or stopped, in the middle of a run. */
import fs from "node:fs"
import path from "node:path"
import { Baselines } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import * as Task from "@divisi/core/Task"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { IntegerGrader } from "@divisi/graders/math"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as Evaluation from "../src/evaluation/Evaluation.ts"
import * as ReportFile from "../src/report/ReportFile.ts"
import { folder } from "./folder.ts"

const suites = [
  Evaluation.madeSuite({
    id: "doubles",
    title: "Doubles",
    prompt: "doubles/1",
    licence: "MIT",
    tasks: [1, 2, 3].map((n) => Task.make({ id: `task-${n}`, question: `Twice ${n}?`, reference: `${2 * n}` })),
    grader: IntegerGrader.integer,
    seed: 0
  })
]

/** Answers for a dollar, and is never cached. At its call `stopAt` it tells so, and says no more. */
const vendor = (stopAt = Number.POSITIVE_INFINITY) => {
  const asked: Array<string> = []
  const stuck = Deferred.makeUnsafe<void>()
  const worker: Worker = {
    id: "a",
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
    limits: { maxOutputTokens: 10 },
    isCacheable: false,
    generate: ({ messages }) =>
      Stream.suspend(() => {
        asked.push(JSON.stringify(messages))
        if (asked.length === stopAt) {
          Deferred.doneUnsafe(stuck, Effect.void)
          return Stream.never
        }
        const text = `${2 * Number(/Twice (\d+)/.exec(messages.map((one) => Message.text(one)).join(" "))?.[1])}`
        const parts: ReadonlyArray<WorkerPart> = [
          { type: "text", text },
          { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 1 } }
        ]
        return Stream.fromIterable(parts)
      })
  }
  return { asked, stuck, pool: WorkerPool.makeUnsafe([worker]) }
}

/** Two calls for each sample, one after the other. */
const evaluate = (at: string, { pool }: ReturnType<typeof vendor>, options: Partial<Evaluation.Options> = {}) => {
  const said: Array<unknown> = []
  const logger = Logger.make(({ message }) => void said.push(message))
  return Evaluation.run({
    suites,
    policies: [{ policy: Baselines.selfReflection({ rounds: 1, worker: "a" }) }],
    pool,
    folder: at,
    concurrency: 1,
    ...options
  }).pipe(
    Effect.map(({ report, samples, stoppedBy }) => ({ report, samples, stoppedBy, said: said.flat().join("\n") })),
    Effect.provide(Logger.layer([logger]))
  )
}

/** The critical path is that of the clock, too: a step that took no time is on none. */
const withoutTimes = (samples: Evaluation.Evaluated["samples"]) =>
  JSON.parse(JSON.stringify(samples, (key, value) => (/[mM]illis$|^criticalPath$/.test(key) ? undefined : value)))

/** An evaluation that is left in the middle of its second sample: the folder as a kill leaves it, or a stop. */
const leftOff = (way: "killed" | "stopped") =>
  Effect.gen(function* () {
    const [at, copy] = [folder(), folder()]
    const first = vendor(5)
    const running = yield* Effect.forkChild(evaluate(at, first))
    yield* Deferred.await(first.stuck)
    fs.cpSync(at, copy, { recursive: true, filter: (file) => !file.endsWith(".lock") })
    yield* Fiber.interrupt(running)
    return { at: way === "killed" ? copy : at, first }
  })

describe("an evaluation", () => {
  it.live("that is killed resumes in the middle of a run, pays no answer twice, and counts unconfirmed calls", () =>
    Effect.gen(function* () {
      const whole = yield* evaluate(folder(), vendor())
      expect(whole.report.extent.paidUsd).toBe(whole.samples.length * (whole.samples[0]?.calls ?? 0))
      const { at, first } = yield* leftOff("killed")
      expect(fs.existsSync(path.join(at, ReportFile.names.runs))).toBe(true)
      const second = vendor()
      const { report, said, samples } = yield* evaluate(at, second)
      // Of five calls four were answered; the fifth is asked again.
      expect(first.asked.length - 1 + second.asked.length).toBe(whole.report.extent.paidUsd)
      expect(second.asked[0]).toBe(first.asked.at(-1))
      expect(withoutTimes(samples)).toEqual(withoutTimes(whole.samples))
      expect(report.cells[0]!.costUsd).toEqual(whole.report.cells[0]!.costUsd)
      expect(report.extent.paidUsd).toBe(whole.report.extent.paidUsd + 1)
      expect(said).toContain("1 call was in flight when this evaluation was killed")
      expect(fs.readdirSync(at).filter((name) => name.startsWith(ReportFile.names.runs))).toEqual([])
      const again = yield* evaluate(at, vendor())
      expect([again.report.extent.paidUsd, again.said]).toEqual([report.extent.paidUsd, ""])
    })
  )

  it.live("that is killed enforces its cost limit with unconfirmed calls", () =>
    Effect.gen(function* () {
      const { at } = yield* leftOff("killed")
      const second = vendor()
      const { report, stoppedBy } = yield* evaluate(at, second, { maxCostUsd: 6 })
      expect(stoppedBy?.account).toBe("payer")
      expect([report.extent.paidUsd, second.asked.length]).toEqual([6, 1])
      const third = vendor()
      const rest = yield* evaluate(at, third, { maxCostUsd: 100 })
      expect(rest.report.extent).toMatchObject({ status: "complete", paidUsd: 6 + third.asked.length })
    })
  )

  it.live("that is stopped resumes in the middle of a run, with the samples of one that never stopped", () =>
    Effect.gen(function* () {
      const whole = yield* evaluate(folder(), vendor())
      const { at, first } = yield* leftOff("stopped")
      const second = vendor()
      const { report, said, samples } = yield* evaluate(at, second)
      expect(first.asked.length - 1 + second.asked.length).toBe(whole.report.extent.paidUsd)
      expect(withoutTimes(samples)).toEqual(withoutTimes(whole.samples))
      // The call that was stopped midway has been paid.
      expect([report.extent.paidUsd, said]).toEqual([whole.report.extent.paidUsd + 1, ""])
    })
  )

  it.live("whose worker sends other requests than before restarts its run", () =>
    Effect.gen(function* () {
      const { at } = yield* leftOff("killed")
      const { report, samples } = yield* evaluate(at, vendor(), {
        policies: [
          {
            policy: { ...Baselines.single("a"), name: Baselines.selfReflection({ rounds: 1, worker: "a" }).name }
          }
        ]
      })
      expect(report.extent.status).toBe("complete")
      expect(samples.map(({ score }) => score)).toEqual([1, 1, 1])
    })
  )
})
