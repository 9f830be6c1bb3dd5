/** An outage is not a wrong answer: learning and measuring must not take a worker's failure for a verdict. */
import fs from "node:fs"
import path from "node:path"
import { Baselines, Embedder, Grader, LanguagePolicy, type Transcript } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as promise from "@divisi/core/promise"
import type { RunSettings } from "@divisi/core/RunSettings"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Evaluation from "../src/evaluation/Evaluation.ts"
import * as Recording from "../src/evaluation/Recording.ts"
import * as Regrade from "../src/evaluation/Regrade.ts"
import * as Replay from "../src/evaluation/Replay.ts"
import * as ReportFile from "../src/report/ReportFile.ts"
import * as WorkerProfile from "../src/report/WorkerProfile.ts"
import { folder } from "./folder.ts"

const answering = (id: string, text = "4") => ScriptedWorker.make({ id, replies: [text] })

const down = (id: string, _tag: WorkerErrorReason["_tag"] = "Overloaded") =>
  ScriptedWorker.make({ id, replies: [{ fail: { _tag } }] })

/** A worker whose answer is paid for and empty. */
const empty = ScriptedWorker.make({
  id: "a",
  replies: [{ parts: [{ type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 9 } }] }]
})

const suite = Evaluation.madeSuite({
  id: "sums",
  title: "Sums",
  prompt: "sums/1",
  licence: "MIT",
  tasks: [Task.make({ id: "sum", question: "2 + 2?", reference: "4" })],
  grader: { ...Grader.exact, grade: (task, answer) => Effect.map(Grader.exact.grade(task, answer), graded) },
  seed: 0
})

function graded(grade: Grader.Grade) {
  return { ...grade, rung: "exact", extracted: undefined }
}

/** All workers answer at once, and most of them decide. */
const voting = Policy.fixed("voting", (pool) => ({
  answer: "majority",
  steps: pool.workers.map((_, worker) => ({ worker, subtask: "", access: [] }))
}))

const asking = (worker: number) => ({ steps: [{ worker, subtask: "", access: [] as const }] })

/** Asks the second worker in the next round. */
const again: Policy.Policy = {
  name: "again",
  recursion: 1,
  propose: ({ round }) => Effect.succeed({ workflow: asking(round) })
}

const planning = (reason: WorkerErrorReason["_tag"]) =>
  LanguagePolicy.make({ model: down("planner", reason), fallback: Baselines.single(0) })

const once = { retry: { maxAttempts: 1 } } satisfies RunSettings

type Options = Partial<Evaluation.Options> & Pick<Evaluation.Options, "pool">

const evaluate = async ({ run, ...options }: Options, at = folder()) => {
  let transcript: Transcript.Transcript | undefined
  const { report } = await Effect.runPromise(
    Evaluation.run({
      suites: [suite],
      policies: [{ policy: voting }],
      ...options,
      run: { ...once, ...run },
      folder: at,
      onTranscript: (of) => {
        transcript = of
      }
    })
  )
  const [sample] = await Effect.runPromise(ReportFile.readSamples(at))
  return { at, sample: sample!, score: report.cells[0]!.score, transcript: transcript! }
}

const reasons = ["RateLimited", "Overloaded", "Timeout", "Network", "Authentication", "Quota", "Defect"] as const

const of = (...workers: readonly [ScriptedWorker.ScriptedWorker, ...ReadonlyArray<ScriptedWorker.ScriptedWorker>]) =>
  WorkerPool.makeUnsafe(workers)

const notMeasured: Readonly<Record<string, () => Options>> = {
  ...Object.fromEntries(
    reasons.flatMap((reason) => [
      [`a member of a team: ${reason}`, () => ({ pool: of(answering("a"), down("b", reason)) })],
      [`a worker that is asked alone: ${reason}`, () => ({ pool: of(down("a", reason)) })]
    ])
  ),
  "the model of a policy that another stands in for": () => ({
    pool: of(answering("a", "5")),
    policies: [{ policy: planning("Overloaded") }]
  }),
  "a policy that asks a vendor itself: Network": () => ({
    pool: of(answering("a")),
    policies: [{ policy: promise.policy("own", () => fetch("http://127.0.0.1:9/plan").then(() => asking(0))) }]
  }),
  "a worker whose retries take the budget": () => ({
    pool: of(down("a")),
    run: { retry: { maxAttempts: 9, baseDelayMillis: 0 }, budget: { calls: 3 } }
  })
}

const measured: Readonly<Record<string, readonly [options: () => Options, score: number]>> = {
  "a later round answered": [() => ({ pool: of(down("a"), answering("b")), policies: [{ policy: again }] }), 1],
  "the vendor filtered the content": [() => ({ pool: of(answering("b", "5"), down("a", "ContentFiltered")) }), 0],
  "the context was too long": [() => ({ pool: of(down("a", "ContextTooLong")) }), 0],
  "the answer was empty and paid": [() => ({ pool: of(answering("b", "5"), empty) }), 0],
  "the budget was too small": [() => ({ pool: of(answering("a")), run: { budget: { calls: 0 } } }), 0]
}

describe("An evaluation", () => {
  for (const [name, options] of Object.entries(notMeasured)) {
    it(`does not measure a task that was lost to ${name}`, async () => {
      const { sample, score } = await evaluate(options())
      assert.strictEqual(sample.missing?.cause, "worker")
      assert.notProperty(sample, "score")
      const reason = /: (\w+)$/.exec(name)?.[1] ?? "Overloaded"
      assert.deepInclude(score, { mean: null, samples: 0, missing: 1, missingBy: { [reason]: 1 } })
    })
  }

  it("lets no other worker take a step over, whatever the settings say", async () => {
    const pool = of(down("a"), answering("b"))
    const policies = [{ policy: Baselines.single(0) }]
    for (const run of [{}, { reassign: "never" } as const]) {
      const { sample } = await evaluate({ pool, policies, run })
      assert.strictEqual(sample.missing?.cause, "worker")
    }
    for (const reassign of ["next", () => 1]) {
      const refused = evaluate({ pool, policies, run: { reassign: reassign as never } })
      await refused.then(
        () => assert.fail("The evaluation must be refused."),
        (error: Error) => assert.match(error.message, /run\.reassign.*"never"/s)
      )
    }
  })

  for (const [name, [options, score]] of Object.entries(measured)) {
    it(`measures a task although a worker failed: ${name}`, async () => {
      const { sample } = await evaluate(options())
      assert.deepStrictEqual([sample.score, sample.missing], [score, undefined])
    })
  }

  it("asks only the failed workers again, and only if configured to", async () => {
    const replies: ReadonlyArray<ScriptedWorker.Reply> = [{ fail: { _tag: "Network" } }, "4"]
    const [sound, shaky] = [answering("a"), ScriptedWorker.make({ id: "b", replies })]
    const options = { pool: of(sound, shaky) }
    const { at } = await evaluate(options)
    await evaluate(options, at)
    assert.deepStrictEqual([sound.calls.length, shaky.calls.length], [1, 1])
    const { score } = await evaluate({ ...options, retryMissing: true }, at)
    assert.deepInclude(score, { mean: 1, missing: 0 })
    assert.deepStrictEqual([sound.calls.length, shaky.calls.length], [1, 2])
  })

  it("calls a worker whose key is refused three times, and other workers for every sample", async () => {
    const [sound, keyless, slow] = [answering("a"), down("b", "Authentication"), down("c", "Overloaded")]
    const tasks = Array.from({ length: 9 }, (_, index) =>
      Task.make({ id: `sum ${index}`, question: `${index} + 0?`, reference: "4" })
    )
    const many = Evaluation.madeSuite({
      id: "many",
      title: "Many",
      prompt: "many/1",
      licence: "MIT",
      tasks,
      grader: suite.grader,
      seed: 0
    })
    const policies = [0, 1, 2].map((worker) => ({ policy: Baselines.single(worker) }))
    const options = { pool: of(sound, keyless, slow), suites: [many], policies, concurrency: 1, epochs: 2 }
    const { at } = await evaluate(options)
    assert.deepStrictEqual(
      [sound, keyless, slow].map(({ calls }) => calls.length),
      [18, 3, 18]
    )
    const samples = await Effect.runPromise(ReportFile.readSamples(at))
    const lost = samples.filter(({ missing }) => missing?.reason === "Authentication")
    assert.deepStrictEqual([samples.length, lost.length], [54, 18])
    assert.strictEqual(lost.filter(({ missing }) => /not called again/.test(missing!.message)).length, 15)
    await evaluate({ ...options, retryMissing: true }, at)
    assert.strictEqual(keyless.calls.length, 6)
  })

  it("is not graded where it was cut short, however often it is graded again", async () => {
    const { at } = await evaluate({ pool: of(answering("a"), down("b")) })
    const { graded, samples } = await Effect.runPromise(Regrade.regrade({ folder: at, suites: [suite] }))
    assert.deepStrictEqual([graded, samples[0]!.missing?.cause], [0, "worker"])
    const { cells } = JSON.parse(fs.readFileSync(path.join(at, "results.json"), "utf8"))
    assert.deepStrictEqual(cells[0].score.missingBy, { Overloaded: 1 })
  })
})

describe("A function that is given to an evaluation", () => {
  const kinds = {
    throws: () => {
      throw new Error("boom")
    },
    "is rejected": () => Promise.reject(new Error("boom")),
    fails: () => Effect.fail(new Error("boom")) as never,
    dies: () => Effect.die(new Error("boom")) as never
  }
  const pool = () => of(answering("a"))
  const messageOf = (options: Partial<Evaluation.Options>) =>
    Effect.runPromise(
      Evaluation.run({ suites: [suite], policies: [{ policy: voting }], pool: pool(), folder: folder(), ...options })
    ).then(
      ({ report }) => `missing ${report.cells[0]!.score.missing}`,
      (error: Error) => error.message
    )
  for (const [kind, fail] of Object.entries(kinds)) {
    it(`ends in words where it ${kind}`, async () => {
      assert.include(await messageOf({ onTranscript: fail }), "onTranscript failed: boom")
      assert.include(await messageOf({ sampleSeed: fail as never }), "sampleSeed failed: boom")
      assert.strictEqual(await messageOf({ onProgress: fail }), "missing 0")
      const grader = { name: "own", grade: fail as never }
      assert.strictEqual(await messageOf({ suites: [{ ...suite, grader }] }), "missing 1")
      const embedder = { name: "own", embed: fail as never }
      const error = await Effect.runPromise(Effect.flip(Embedder.ask(embedder, ["a"])))
      assert.strictEqual(error.message, "own returned no embeddings: boom")
    })
  }
})

describe("Learning from runs", () => {
  it("learns nothing of one that an outage has cut short", async () => {
    const { transcript } = await evaluate({ pool: of(answering("a", "5"), down("b")) })
    const [decisions, answers, profile] = await Effect.runPromise(
      Effect.all([
        Replay.decisions([transcript], { grader: Grader.exact }),
        Replay.answers([transcript], { grader: Grader.exact }),
        WorkerProfile.fromTranscripts([transcript], { grader: Grader.exact })
      ])
    )
    assert.deepStrictEqual([decisions, answers], [[], []])
    assert.deepStrictEqual(
      profile.map(({ isAnswered, score, worker }) => [worker, score, isAnswered]),
      [
        ["a", undefined, true],
        ["b", undefined, false]
      ]
    )
    const record = Recording.make({
      tasks: [Task.make({ question: "2 + 2?", reference: "4" })],
      grader: Grader.exact,
      pool: of(answering("a", "5"), down("b")),
      ...once
    })
    const samples = await Effect.runPromise(record([voting, Baselines.single("a"), planning("Timeout")]))
    assert.deepStrictEqual(
      samples.map(({ score }) => score),
      [undefined, 0, undefined]
    )
  })
})
