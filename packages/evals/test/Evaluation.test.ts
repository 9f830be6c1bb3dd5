import fs from "node:fs"
import path from "node:path"
import { Baselines, Critic, LanguagePolicy, Resilience } from "@divisi/core"
import { text } from "@divisi/core/Message"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import type { WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Lock } from "@divisi/files"
import { Verdict } from "@divisi/graders"
import { IntegerGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Evaluation from "../src/evaluation/Evaluation.ts"
import * as Regrade from "../src/evaluation/Regrade.ts"
import type * as Report from "../src/report/Report.ts"
import * as ReportDiff from "../src/report/ReportDiff.ts"
import * as ReportFile from "../src/report/ReportFile.ts"
import { folder } from "./folder.ts"

const price = { inputPerMillion: 1_000, outputPerMillion: 10_000 }

const questionOf = (request: WorkerRequest) =>
  text(request.messages.findLast(({ role }) => role === "user")).split("\n")[0] ?? ""

/** Knows the doubles of all numbers, except those that it is set to get wrong. */
const doubler = (id: string, isWrong: (n: number) => boolean = () => false) =>
  ScriptedWorker.make({
    id,
    pricing: price,
    replies: (request) => {
      const n = Number(/\d+/.exec(questionOf(request))?.[0])
      return String(isWrong(n) ? 2 * n + 1 : 2 * n)
    }
  })

const doubles = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    Task.make({
      id: `double-${String(n).padStart(3, "0")}`,
      question: `Twice ${n}?`,
      reference: String(2 * n),
      metadata: { kind: n % 2 === 0 ? "even" : "odd" }
    })
  )

const suite = (count: number, change: Partial<Evaluation.Suite["record"]> = {}): Evaluation.Suite => {
  const made = Evaluation.madeSuite({
    id: "doubles",
    title: "Doubles",
    prompt: "doubles/1",
    licence: "MIT",
    tasks: doubles(count),
    grader: IntegerGrader.integer,
    seed: 0,
    stratum: "kind"
  })
  return { ...made, record: { ...made.record, ...change } }
}

const noRetry = { maxAttempts: 1 }

const evaluate = ({
  workers: _,
  ...options
}: Partial<Evaluation.Options> & Pick<Evaluation.Options, "pool" | "folder"> & { readonly workers?: unknown }) =>
  Effect.runPromise(
    Evaluation.run({
      suites: [suite(6)],
      policies: [{ policy: Baselines.single(0) }],
      ...options,
      run: { retry: { baseDelayMillis: 0, jitter: false }, ...options.run }
    }).pipe(Effect.map(({ report }) => report))
  )

const fails = (options: Partial<Evaluation.Options> & Pick<Evaluation.Options, "pool" | "folder">) =>
  evaluate(options).then(
    () => "it did not fail",
    (error: Error) => error.message
  )

const samplesOf = (at: string) => Effect.runPromise(ReportFile.readSamples(at))

const cell = (report: Report.Report, policy: string) => report.cells.find((one) => one.policy === policy)!

describe("a report", () => {
  it("has the score, costs, workers and shapes of each policy", async () => {
    const at = folder()
    const pool = WorkerPool.makeUnsafe([doubler("good"), doubler("bad", (n) => n % 3 === 0)])
    const report = await evaluate({
      pool,
      folder: at,
      policies: [
        { policy: Baselines.single("good") },
        { policy: Baselines.single("bad"), isBaseline: true },
        { policy: Baselines.bestOf({ n: 2, judge: "good" }), isBaseline: true }
      ],
      epochs: 2
    })
    expect(report.extent).toMatchObject({ status: "complete", samples: 36, planned: 36 })
    expect(cell(report, "single:good").score).toMatchObject({ mean: 1, samples: 12, questions: 6, missing: 0 })
    const bad = cell(report, "single:bad")
    expect(bad.score.mean).toBeCloseTo(4 / 6)
    expect(bad.passAt).toEqual([
      { k: 1, any: expect.closeTo(4 / 6), all: expect.closeTo(4 / 6) },
      { k: 2, any: expect.closeTo(4 / 6), all: expect.closeTo(4 / 6) }
    ])
    expect(bad.strata.map(({ mean, stratum }) => [stratum, mean?.toFixed(2)])).toEqual([
      ["even", "0.67"],
      ["odd", "0.67"]
    ])
    const team = cell(report, "best-of-2")
    expect(team.shapes).toEqual([{ name: "best-of-n", count: 12, share: 1 }])
    expect(team.steps.mean).toBe(3)
    expect(team.workers).toEqual([
      { name: "good", count: 24, share: expect.closeTo(2 / 3) },
      { name: "bad", count: 12, share: expect.closeTo(1 / 3) }
    ])
    expect(report.comparisons).toHaveLength(2)
    expect(report.comparisons[0]).toMatchObject({
      policy: "single:good",
      against: "single:bad",
      better: 2,
      worse: 0,
      same: 4,
      test: "sign-flip"
    })
    expect(await Effect.runPromise(ReportFile.read(at))).toEqual(JSON.parse(JSON.stringify(report)))
    const samples = await samplesOf(at)
    expect(samples).toHaveLength(36)
    const seeds = Map.groupBy(samples, ({ epoch, task }) => `${task} ${epoch}`)
    expect([...seeds.values()].every((some) => new Set(some.map(({ seed }) => seed)).size === 1)).toBe(true)
    expect(new Set(samples.map(({ seed }) => seed)).size).toBe(12)
  })

  it("counts what a policy costs in full, also where another has paid for its calls", async () => {
    const at = folder()
    const worker = doubler("a")
    const twice = { ...Baselines.single("a"), name: "the same" }
    const report = await evaluate({
      pool: WorkerPool.makeUnsafe([worker]),
      folder: at,
      policies: [{ policy: Baselines.single("a") }, { policy: twice }]
    })
    expect(worker.calls).toHaveLength(6)
    expect(cell(report, "the same").costUsd.total).toBe(cell(report, "single:a").costUsd.total)
    expect(cell(report, "the same").calls.total).toBe(6)
    expect(report.extent.paidUsd).toBeCloseTo(cell(report, "single:a").costUsd.total)
  })
})

describe("failures", () => {
  const failing = (reason: Parameters<typeof ScriptedWorker.make>[0]["replies"]) =>
    WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", pricing: price, replies: reason })])

  const only = async (options: Partial<Evaluation.Options> & Pick<Evaluation.Options, "pool">) => {
    const at = folder()
    const report = await evaluate({
      suites: [suite(1)],
      ...options,
      run: { retry: noRetry, ...options.run },
      folder: at
    })
    return { sample: (await samplesOf(at))[0]!, score: report.cells[0]!.score }
  }

  it("of the infrastructure are missing", async () => {
    const { sample, score } = await only({ pool: failing([{ fail: { _tag: "Overloaded" } }]) })
    expect(sample.missing).toMatchObject({ cause: "worker", reason: "Overloaded" })
    expect(sample).not.toHaveProperty("score")
    expect(score).toMatchObject({ mean: null, samples: 0, missing: 1, missingBy: { Overloaded: 1 } })
  })

  it("of the worker, the policy or the budget are wrong answers", async () => {
    const filtered = await only({ pool: failing([{ fail: { _tag: "ContentFiltered" } }]) })
    expect(filtered.sample).toMatchObject({ score: 0, rung: "no-answer" })
    const lazy = Policy.fixed("lazy", () => ({ steps: [] }))
    const planless = await only({ pool: failing(["0"]), policies: [{ policy: lazy }] })
    expect(planless.sample).toMatchObject({ score: 0, rung: "no-answer", shape: "empty" })
    const poor = await only({ pool: failing(["0"]), run: { budget: { costUsd: 0.000001 } } })
    expect(poor.sample).toMatchObject({ score: 0, rung: "no-answer", ending: "budget", calls: 0 })
    expect(poor.score).toMatchObject({ mean: 0, samples: 1, missing: 0, unanswered: 1 })
  })

  it("to say anything readable are wrong, and failures of graders are missing", async () => {
    const mumbling = await only({ pool: failing(["I would rather not say."]) })
    expect(mumbling.sample).toMatchObject({ score: 0, isUnparsed: true, rung: "unparsed" })
    expect(mumbling.score.unparsed).toBe(1)
    const broken = Verdict.graderEffect("broken", () => Effect.fail("the sandbox did not start"))
    const lost = await only({ pool: failing(["0"]), suites: [{ ...suite(1), grader: broken }] })
    expect(lost.sample.missing).toMatchObject({ cause: "grader" })
    const grade = () => {
      throw new Error("out of order")
    }
    for (const thrown of [grade, async () => grade()]) {
      const grader = { name: "thrown", grade: thrown as never }
      const { sample } = await only({ pool: failing(["0"]), suites: [{ ...suite(1), grader }] })
      expect(sample.missing).toMatchObject({ cause: "grader", message: expect.stringContaining("out of order") })
    }
  })
})

describe("resuming", () => {
  it("keeps the cost limit, and with a higher one ends with the results of an evaluation without", async () => {
    const policies = [
      { policy: Baselines.single("a") },
      { policy: Baselines.selfReflection({ rounds: 2, worker: "a" }), isBaseline: true },
      { policy: Baselines.bestOf({ n: 2, judge: "b" }), isBaseline: true }
    ]
    const pool = () => {
      const workers = [doubler("a"), doubler("b", (n) => n > 3)]
      return {
        workers,
        pool: WorkerPool.makeUnsafe(workers.map((one) => ({ ...one, limits: { maxOutputTokens: 4 } })))
      }
    }
    const [free, limited] = [pool(), pool()]
    const [a, b] = [folder(), folder()]
    const whole = await evaluate({ ...free, folder: a, policies })
    const maxCostUsd = whole.extent.paidUsd / 2
    const part = await evaluate({ ...limited, folder: b, policies, maxCostUsd, concurrency: 3 })
    expect(part.extent.status).toBe("stopped")
    expect(part.extent.samples).toBeGreaterThan(0)
    expect(part.extent.paidUsd).toBeLessThanOrEqual(maxCostUsd)
    expect(part.cells.every(({ score }) => score.missing === 0)).toBe(true)
    const rest = await evaluate({ ...limited, folder: b, policies, maxCostUsd: 10 * maxCostUsd })
    const { maxCostUsd: _, ...extent } = rest.extent
    expect({ ...rest, extent }).toEqual({ ...whole, cells: expect.anything(), overall: expect.anything() })
    expect((await samplesOf(b)).map(withoutTimes)).toEqual((await samplesOf(a)).map(withoutTimes))
    const calls = (workers: ReadonlyArray<ScriptedWorker.ScriptedWorker>) =>
      workers.reduce((sum, one) => sum + one.calls.length, 0)
    expect(calls(limited.workers)).toBe(calls(free.workers))
  })

  it("counts calls that failed before an answer as if the answer had been asked for now", async () => {
    const at = folder()
    const replies: ReadonlyArray<ScriptedWorker.Reply> = [{ fail: { _tag: "Overloaded" } }, "0"]
    const worker = ScriptedWorker.make({ id: "a", pricing: price, replies })
    const terms = { pool: WorkerPool.makeUnsafe([worker]), folder: at, suites: [suite(1)] }
    await evaluate(terms)
    fs.rmSync(path.join(at, "journal.jsonl"))
    const report = await evaluate(terms)
    expect(worker.calls).toHaveLength(2)
    expect(cell(report, "single:0")).toMatchObject({ failedCalls: 1, calls: { total: 2 } })
  })

  it("pays only for a policy that is added, and refuses other terms", async () => {
    const at = folder()
    const [a, b] = [doubler("a"), doubler("b")]
    const pool = WorkerPool.makeUnsafe([a, b])
    await evaluate({ pool, folder: at })
    const more = await evaluate({
      pool,
      folder: at,
      policies: [{ policy: Baselines.single(0) }, { policy: Baselines.single(1), isBaseline: true }]
    })
    expect([a.calls.length, b.calls.length]).toEqual([6, 6])
    expect(more.comparisons).toHaveLength(1)
    expect(await fails({ pool, folder: at, run: { seed: 1 } })).toContain("a different seed")
    expect(await fails({ pool, folder: at, suites: [suite(6, { grader: "math" })] })).toContain("grader of doubles")
    expect(await fails({ pool, folder: at, policies: [] })).toContain("at least one policy")
  })

  it("tries again what was lost only if asked to", async () => {
    const at = folder()
    const replies: ReadonlyArray<ScriptedWorker.Reply> = [{ fail: { _tag: "Network" } }, "0"]
    const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", pricing: price, replies })])
    const terms = { pool, folder: at, suites: [suite(1)], run: { retry: noRetry } }
    expect((await evaluate(terms)).cells[0]!.score.missing).toBe(1)
    expect((await evaluate(terms)).cells[0]!.score.missing).toBe(1)
    expect((await evaluate({ ...terms, retryMissing: true })).cells[0]!.score).toMatchObject({ missing: 0, mean: 1 })
  })

  it("passes the gate of all calls with those that are made, and with no others", async () => {
    const at = folder()
    const entered: Array<string> = []
    const gate: Resilience.Gate = {
      enter: (worker, _, call) => {
        entered.push(worker.id)
        return call(() => {})
      }
    }
    const options: Evaluation.Options = {
      pool: WorkerPool.makeUnsafe([doubler("a")]),
      folder: at,
      suites: [suite(4)],
      policies: [{ policy: Baselines.single("a") }, { policy: { ...Baselines.single("a"), name: "the same" } }]
    }
    await Effect.runPromise(Effect.provideService(Evaluation.run(options), Resilience.Gate, gate))
    expect(entered).toEqual(["a", "a", "a", "a"])
  })

  it("keeps completions of a policy's model, too", async () => {
    const at = folder()
    const model = ScriptedWorker.make({
      id: "planner",
      pricing: price,
      replies: ['model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]']
    })
    const [a, b] = [doubler("a", () => true), doubler("b")]
    const terms = {
      pool: WorkerPool.makeUnsafe([a, b]),
      folder: at,
      suites: [suite(2)],
      policies: [{ policy: LanguagePolicy.make({ model }) }]
    }
    const first = await evaluate(terms)
    fs.rmSync(path.join(at, "journal.jsonl"))
    const second = await evaluate(terms)
    expect(second.cells[0]!.workers).toEqual([{ name: "b", count: 2, share: 1 }])
    expect([model.calls.length, b.calls.length]).toEqual([2, 2])
    expect(second.cells[0]!.costUsd).toEqual(first.cells[0]!.costUsd)
    expect(second.cells[0]!.calls.total).toBe(4)
  })
})

describe("a critic", () => {
  it("is paid for, stored and part of the terms like all other workers", async () => {
    const at = folder()
    const judge = ScriptedWorker.make({ id: "judge", pricing: price, replies: ["Nothing is wrong.\nScore: 10"] })
    const worker = doubler("a")
    const terms = {
      pool: WorkerPool.makeUnsafe([worker]),
      folder: at,
      suites: [suite(3)],
      run: { critic: Critic.fromWorker(judge) }
    }
    const first = await evaluate(terms)
    expect(first.cells[0]!.calls.total).toBe(6)
    expect(first.extent.paidUsd).toBeCloseTo(first.cells[0]!.costUsd.total)
    expect(first.config.settings).toMatchObject({ critic: terms.run.critic.name })
    fs.rmSync(path.join(at, "journal.jsonl"))
    const second = await evaluate(terms)
    expect([judge.calls.length, worker.calls.length]).toEqual([3, 3])
    expect(second.cells[0]!.costUsd).toEqual(first.cells[0]!.costUsd)
    expect(await fails({ ...terms, run: {} })).toMatch(
      /a different recursion \(2 instead of 0\), settings \(\{.*\} instead of none\)/
    )
  })
})

const withoutTimes = (sample: Report.Sample) => ({
  ...sample,
  millis: 0,
  criticalPath: { ...sample.criticalPath, steps: [], millis: 0 },
  steps: sample.steps.map((step) => ({ ...step, millis: 0 }))
})

describe("a confidential benchmark", () => {
  it("leaves no text in what may be shared", async () => {
    const at = folder()
    await evaluate({
      pool: WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", pricing: price, replies: ["Twice 3 it is: 6."] })]),
      folder: at,
      suites: [suite(6, { isConfidential: true })]
    })
    const shared = [ReportFile.names.results, ReportFile.names.samples].map((name) =>
      fs.readFileSync(path.join(at, name), "utf8")
    )
    expect(shared.join("")).not.toContain("Twice")
    const [sample] = await samplesOf(at)
    expect(sample?.answerSha256).toMatch(/^[0-9a-f]{64}$/)
    expect(sample).not.toHaveProperty("answer")
    expect(sample).not.toHaveProperty("extracted")
  })
})

describe("grading again", () => {
  it("changes verdicts without a call", async () => {
    const at = folder()
    const worker = doubler("a", (n) => n === 2)
    await evaluate({ pool: WorkerPool.makeUnsafe([worker]), folder: at })
    const lenient = Verdict.grader("lenient", (_, answer) =>
      Verdict.make({ correct: true, rung: "any", extracted: answer })
    )
    const { changes, graded, report } = await Effect.runPromise(
      Regrade.regrade({ folder: at, suites: [{ ...suite(6), grader: lenient }] })
    )
    expect([graded, worker.calls.length]).toEqual([6, 6])
    expect(report.cells[0]!.score.mean).toBe(1)
    expect(report.benchmarks[0]!.grader).toBe("lenient")
    expect(changes.filter(({ after, before }) => after.correct !== before.correct)).toHaveLength(1)
    expect((await samplesOf(at)).every(({ rung }) => rung === "any")).toBe(true)
    const other = doubles(6).map((task) => Task.make({ ...task, messages: [{ role: "user", content: "Thrice?" }] }))
    const changed = Regrade.regrade({ folder: at, suites: [{ ...suite(6), tasks: other }] })
    await expect(Effect.runPromise(changed)).rejects.toThrow("a different task double-000 of doubles")
  })
})

describe("two reports", () => {
  it("are compared question by question where the tasks are the same", async () => {
    const side = async (count: number, isWrong: (n: number) => boolean): Promise<ReportDiff.Side> => {
      const at = folder()
      const pool = WorkerPool.makeUnsafe([doubler("a", isWrong)])
      const report = await evaluate({ pool, folder: at, suites: [suite(count)] })
      return { report, samples: await samplesOf(at) }
    }
    const before = await side(8, (n) => n < 4)
    const after = await side(10, (n) => n === 9)
    const diff = ReportDiff.make(before, after)
    expect(diff.tasks).toEqual({ both: 8, onlyFirst: 0, onlySecond: 2 })
    expect(diff.rows).toHaveLength(1)
    expect(diff.rows[0]).toMatchObject({
      firstMean: 0.5,
      secondMean: 0.9,
      paired: { mean: 0.5, better: 4, worse: 0, same: 4, questions: 8, p: 0.125, test: "mcnemar" }
    })
    expect(diff.terms).toEqual([])
  })
})

describe("a folder", () => {
  it("of something else, or in use, is left alone", async () => {
    const pool = WorkerPool.makeUnsafe([doubler("a")])
    const foreign = folder()
    fs.writeFileSync(path.join(foreign, "journal.jsonl"), "my diary\n")
    expect(await fails({ pool, folder: foreign })).toContain("line 1 is not part of an evaluation journal")
    expect(fs.readFileSync(path.join(foreign, "journal.jsonl"), "utf8")).toBe("my diary\n")
    const busy = folder()
    const refused = Effect.andThen(
      Lock.hold(path.join(busy, "journal.jsonl.lock")),
      Effect.promise(() => fails({ pool, folder: busy }))
    )
    expect(await Effect.runPromise(Effect.scoped(refused))).toMatch(
      new RegExp(`it is in use by process ${process.pid} since .*\\. Wait until it finishes, or choose another folder`)
    )
  })

  it("and a cost limit want workers with a price", async () => {
    const unpriced = { id: "a", generate: doubler("a").generate }
    expect(await fails({ pool: WorkerPool.makeUnsafe([unpriced]), folder: folder(), maxCostUsd: 1 })).toContain(
      "Unknown prices: a"
    )
  })
})
