import { Baselines, Grader, Prompt, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as WorkerProfile from "../src/report/WorkerProfile.ts"
import { sample } from "./sample.ts"

const seen = (worker: string, kind: string, count: number, right: number): ReadonlyArray<WorkerProfile.Observation> =>
  Array.from({ length: count }, (_, index) => ({
    worker,
    kind,
    question: `${kind}-${index}`,
    score: index < right ? 1 : 0,
    isAlone: true,
    isAnswered: true,
    millis: 2000,
    costUsd: 0.002
  }))

describe("WorkerProfile", () => {
  it("draws estimates of few samples towards the mean, and those of many hardly", () => {
    const { workers } = WorkerProfile.make([...seen("few", "x", 1, 1), ...seen("many", "x", 99, 49)])
    const [few, many] = ["few", "many"].map((id) => workers.find(({ worker }) => worker === id)!)
    assert.strictEqual(few!.alone.mean, 1)
    assert.closeTo(few!.alone.estimate, (1 + 4 * 0.5) / 5, 1e-12)
    assert.closeTo(many!.alone.estimate, 49 / 99, 0.001)
    assert.isBelow(few!.alone.low!, 0.3)
  })

  it("says what a worker is good and weak at, and nothing of kinds with too few samples", () => {
    const { workers } = WorkerProfile.make([
      ...seen("a", "calendar", 10, 10),
      ...seen("a", "logic", 10, 0),
      ...seen("a", "rare", 2, 2)
    ])
    const line = WorkerProfile.describe(workers[0]!)
    assert.match(line, /Good at calendar \(\d+% of 10\)/)
    assert.match(line, /Weak at logic/)
    assert.notInclude(line, "rare")
    assert.include(line, "About 2 s and $0.00200 a call.")
  })

  it("keeps what teams did apart from what a worker did alone", () => {
    const alone = sample({ policy: "p", task: "q0", correct: true, worker: "a" })
    const step = alone.steps[0]!
    const team = { ...sample({ policy: "p", task: "q1" }), steps: [step, { ...step, step: 1, worker: "b" }] }
    const lost = sample({ policy: "p", task: "q2", missing: { cause: "worker", message: "down" } })
    const { workers } = WorkerProfile.make(WorkerProfile.fromSamples([alone, team, lost]))
    const a = workers.find(({ worker }) => worker === "a")!
    assert.deepStrictEqual([a.alone.samples, a.alone.mean, a.inTeams.samples, a.inTeams.mean], [1, 1, 1, 0])
    assert.strictEqual(a.calls, 3)
    assert.strictEqual(workers.find(({ worker }) => worker === "b")!.alone.mean, null)
  })

  it.effect("reads transcripts, and shows profiles to a policy without changing who works", () =>
    Effect.gen(function* () {
      const worker = ScriptedWorker.make({ id: "a", description: "says its maker", replies: ["42"] })
      const pool = WorkerPool.makeUnsafe([worker, ScriptedWorker.make({ id: "b", replies: ["?"] })])
      const transcripts: Array<Transcript.Transcript> = []
      for (const [policy, index] of [Baselines.single("a"), Baselines.single("b")].flatMap((one) =>
        [0, 1, 2].map((i) => [one, i] as const)
      )) {
        const recorder = Transcript.recorder()
        const task = Task.make({ question: `${index}?`, reference: "42", metadata: { family: "answers" } })
        yield* Conductor.make({ policy, pool }).run(task, { listener: recorder.listener })
        transcripts.push(recorder.transcript()!)
      }
      const observations = yield* WorkerProfile.fromTranscripts(transcripts, { grader: Grader.exact })
      const profiles = WorkerProfile.make(observations)
      assert.deepStrictEqual(
        profiles.workers.map(({ alone, kinds, worker }) => [worker, alone.mean, kinds[0]?.kind]),
        [
          ["a", 1, "answers"],
          ["b", 0, "answers"]
        ]
      )
      let shown = ""
      const looking: Policy.Policy = {
        name: "looking",
        propose: (context) => {
          shown = Prompt.conductorMessages(context, { descriptions: true })[0]!.content
          return Baselines.single("a").propose(context)
        }
      }
      const before = worker.calls.length
      const policy = WorkerProfile.shown(looking, profiles)
      yield* Conductor.make({ policy, pool }).run("Now?")
      assert.include(shown, "Model 0: Right alone on 100% of 3 questions.")
      assert.notInclude(shown, "says its maker")
      assert.strictEqual(worker.calls.length, before + 1)
    })
  )
})
