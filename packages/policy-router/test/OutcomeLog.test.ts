import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Baselines, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as OutcomeLog from "../src/OutcomeLog.ts"

const temporary = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "outcomes-"))),
    (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
  ),
  (folder) => path.join(folder, "deep", "outcomes.jsonl")
)

const priced = { inputPerMillion: 0, outputPerMillion: 1e6 }

/** A run of a cheap worker whose answer fails its check, and of a strong one. */
const entryOf = (policy: Parameters<typeof Conductor.make>[0]["policy"]) =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    const pool = WorkerPool.makeUnsafe([
      ScriptedWorker.make({ id: "cheap", replies: ["41"], pricing: priced }),
      ScriptedWorker.make({ id: "strong", replies: ["42"], pricing: priced })
    ])
    yield* Conductor.make({ policy, pool }).run("What is 6 times 7?", { listener: recorder.listener })
    return (yield* OutcomeLog.runOf(recorder.transcript()!, { at: 1 }))!
  })

const rating = (run: string, rest: Partial<OutcomeLog.Rating>): OutcomeLog.Rating => ({
  type: "rating",
  version: OutcomeLog.version,
  at: 2,
  run,
  score: 1,
  source: "user",
  ...rest
})

describe("The log of outcomes", () => {
  it.effect("credits the one worker of a run, and of a team only the team and the steps that are rated", () =>
    Effect.gen(function* () {
      const alone = yield* entryOf(Baselines.single("strong"))
      const [outcome] = OutcomeLog.outcomes([alone, rating(alone.run, {})])
      assert.deepInclude(outcome, { worker: "strong", score: 1, costUsd: 1 })
      assert.isUndefined(outcome!.text)
      const team = yield* entryOf(Baselines.bestOf({ judge: 1, n: 2 }))
      assert.deepStrictEqual(
        OutcomeLog.outcomes([team, rating(team.run, {})]).map(({ worker }) => worker),
        ["policy:best-of-2"]
      )
      const [step] = OutcomeLog.outcomes([team, rating(team.run, { round: 0, step: 2, score: 0 })])
      assert.deepInclude(step, { worker: "strong", score: 0 })
      assert.deepStrictEqual(OutcomeLog.outcomes([team, rating("another run", {})]), [])
    })
  )

  it.effect("has no rating of a run that an outage has cut short, and those of its steps", () =>
    Effect.gen(function* () {
      const recorder = Transcript.recorder()
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "sound", replies: ["41"] }),
        ScriptedWorker.make({ id: "down", replies: [{ fail: { _tag: "Overloaded" } }] })
      ])
      const policy = Policy.fixed("team", () => ({
        answer: "majority",
        steps: [0, 1].map((worker) => ({ worker, subtask: "", access: [] }))
      }))
      const conductor = Conductor.make({ policy, pool, retry: { maxAttempts: 1 }, reassign: "never" })
      const { ending } = yield* conductor.run("?", { listener: recorder.listener })
      assert.strictEqual(ending, "answered")
      const entry = (yield* OutcomeLog.runOf(recorder.transcript()!, { at: 1 }))!
      assert.isUndefined(OutcomeLog.rated(entry))
      assert.deepStrictEqual(OutcomeLog.outcomes([entry, rating(entry.run, { score: 0 })]), [])
      const [step] = OutcomeLog.outcomes([entry, rating(entry.run, { round: 0, step: 0, score: 0 })])
      assert.deepInclude(step, { worker: "sound", score: 0 })
    })
  )

  it.effect("counts one rating of each key: its last, whatever its source", () =>
    Effect.gen(function* () {
      const run = yield* entryOf(Baselines.single("strong"))
      const scoreOf = (...ratings: ReadonlyArray<Partial<OutcomeLog.Rating>>) =>
        OutcomeLog.outcomes([run, ...ratings.map((one) => rating(run.run, one))]).map(({ score }) => score)
      assert.deepStrictEqual(scoreOf({ score: 1, source: "grader", rater: "a" }, { score: 0, rater: "a" }), [0])
      const repeated = Array.from({ length: 50 }, () => ({ score: 0, rater: "a" }))
      assert.deepStrictEqual(scoreOf({ score: 1, source: "grader", rater: "b" }, ...repeated), [1])
      assert.deepStrictEqual(scoreOf({ score: 1, source: "grader" }, ...repeated), [1])
      const named = [rating(run.run, { rater: "a" }), rating(run.run, { rater: "a", at: 9 }), rating(run.run, {})]
      assert.strictEqual(new Set(named.map(OutcomeLog.nameOf)).size, 2)
    })
  )

  it.effect("counts the newest rating of the most trustworthy source", () =>
    Effect.gen(function* () {
      const run = yield* entryOf(Baselines.single("cheap"))
      const scoreOf = (...ratings: ReadonlyArray<Partial<OutcomeLog.Rating>>) =>
        OutcomeLog.outcomes([run, ...ratings.map((one) => rating(run.run, one))])[0]!.score
      assert.strictEqual(scoreOf({ score: 1 }, { score: 0.25 }), 0.25)
      assert.strictEqual(scoreOf({ score: 0, source: "grader" }, { score: 1, source: "user" }), 0)
      assert.strictEqual(scoreOf({ score: 0.5, source: "judge" }, { score: 1, source: "user" }), 1)
    })
  )

  it.effect("is what was appended, whatever was torn or changed in it since", () =>
    Effect.gen(function* () {
      const file = yield* temporary
      assert.deepStrictEqual(yield* OutcomeLog.read(file), [])
      const run = yield* entryOf(Baselines.single("cheap"))
      yield* OutcomeLog.append(file, run)
      fs.appendFileSync(file, '{"type":"rating","ver')
      yield* OutcomeLog.append(file, rating(run.run, { score: 0.5 }))
      const entries = yield* OutcomeLog.read(file)
      assert.deepStrictEqual(entries.length, 2)
      assert.strictEqual(OutcomeLog.outcomes(entries)[0]!.score, 0.5)
      const changed = fs.readFileSync(file, "utf8").replace('"score":0.5', '"score":1.0')
      fs.writeFileSync(file, changed)
      const problems: Array<string> = []
      const left = yield* OutcomeLog.read(file, { onUnusable: (problem) => problems.push(problem) })
      assert.deepStrictEqual([left.length, problems.length], [1, 1])
    })
  )

  it.effect("takes entries of several writers at once", () =>
    Effect.gen(function* () {
      const file = yield* temporary
      const run = yield* entryOf(Baselines.single("cheap"))
      const all = Array.from({ length: 20 }, (_, index) => rating(run.run, { at: index }))
      yield* Effect.forEach(all, (one) => OutcomeLog.append(file, one), { concurrency: "unbounded", discard: true })
      assert.lengthOf(yield* OutcomeLog.read(file), 20)
    })
  )
})
