/**
 * The seven promises of the scheduler, by number. To change one is a decision: see the head of `src/loop/scheduler.ts`.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import { loadAll } from "../src/OnDemand.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import { addUsage, noUsage, type Usage } from "../src/task/Usage.ts"
import type { Worker, WorkerErrorReason } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { Access, Workflow } from "../src/workflow/Workflow.ts"

// A virtual clock does not wait until modules are loaded on demand.
beforeAll(loadAll)

const step = (worker: number, access: Access = [], subtask = `subtask of ${worker}`) => ({ worker, subtask, access })

const always = (workflow: Workflow) => Policy.fixed("test", () => workflow, { maxSteps: 100 })

const worker = (
  id: string,
  replies: ScriptedWorker.Options["replies"] = [`answer of ${id}`],
  options: Partial<ScriptedWorker.Options> = {}
) => ScriptedWorker.make({ id, replies, ...options })

/** Runs to the end with a virtual clock that is moved on until the run has ended. */
const runWith = Effect.fnUntraced(function* (
  options: Omit<Conductor.Options, "policy" | "pool"> & {
    readonly workers: ReadonlyArray<Worker>
    readonly workflow: Workflow
  },
  runOptions: Conductor.RunOptions = {}
) {
  const { workers, workflow, ...rest } = options
  const recorder = Transcript.recorder()
  const events: Array<RunEvent> = []
  const listener = (event: RunEvent) => {
    events.push(event)
    recorder.listener(event)
  }
  const conductor = Conductor.make({ policy: always(workflow), pool: WorkerPool.makeUnsafe(workers), ...rest })
  const fiber = yield* Effect.forkChild(conductor.run("Why?", { runId: "run", listener, ...runOptions }))
  yield* TestClock.adjust("1 hour")
  const result = yield* Fiber.join(fiber)
  return { result, events, transcript: recorder.transcript()! }
})

const contents = (worker: ScriptedWorker.ScriptedWorker, call = 0) =>
  worker.calls[call]?.messages.map((message) => message.content)

/** Everything that events say was paid. */
const paidIn = (events: ReadonlyArray<RunEvent>) => {
  let usage: Usage = noUsage
  let costUsd = 0
  for (const event of events) {
    if (!("usage" in event)) continue
    usage = addUsage(usage, event.usage)
    costUsd += event.costUsd ?? 0
  }
  return { tokens: usage.inputTokens + usage.outputTokens, costUsd }
}

describe("promise 1: a step starts the moment the last step it can see has ended", () => {
  it.effect("wall time is the critical path, not the sum and not the levels", () =>
    Effect.gen(function* () {
      // Two chains of unequal speed in parallel: by levels they would take 60 + 60 + 60.
      const workers = [
        worker("slow-first", undefined, { latencyMillis: 60 }),
        worker("fast-first", undefined, { latencyMillis: 10 }),
        worker("fast-second", undefined, { latencyMillis: 10 }),
        worker("slow-second", undefined, { latencyMillis: 60 }),
        worker("last", undefined, { latencyMillis: 5 })
      ]
      const workflow = { steps: [step(0), step(1), step(2, [0]), step(3, [1]), step(4, [2, 3])] }
      const { result, transcript } = yield* runWith({ workers, workflow })
      assert.strictEqual(result.durationMillis, 75)
      const starts = transcript.rounds[0]!.steps.map(({ startedAt }) => startedAt! - transcript.startedAt)
      assert.deepStrictEqual(starts, [0, 0, 60, 10, 70])
    })
  )

  it.effect("steps that cannot see each other run at once", () =>
    Effect.gen(function* () {
      const workers = [worker("a", undefined, { latencyMillis: 100 }), worker("judge")]
      const workflow = { steps: [...Array.from({ length: 40 }, () => step(0)), step(1, "all")] }
      const { result } = yield* runWith({ workers, workflow })
      assert.strictEqual(result.durationMillis, 100)
      assert.strictEqual(result.spend.calls, 41)
    })
  )

  it.effect("an item starts in the next stage when it has ended in the one before", () =>
    Effect.gen(function* () {
      const items = Array.from({ length: 100 }, (_, index) => `file ${index}.`)
      // In each stage one item in ten is slow, and none is slow in both.
      const stage = (id: string, slow: number): Worker => ({
        id,
        generate: ({ messages }) =>
          Stream.unwrap(
            Effect.gen(function* () {
              const index = Number(/file (\d+)/u.exec(String(messages.at(-1)!.content))![1])
              yield* Effect.sleep(index % 10 === slow ? 200 : 10)
              return Stream.fromIterable([
                { type: "text" as const, text: "Done." },
                { type: "finish" as const, reason: "stop" as const, usage: noUsage }
              ])
            })
          )
      })
      const workers = [worker("lister", [JSON.stringify(items)]), stage("first", 0), stage("second", 5), worker("last")]
      const workflow: Workflow = {
        steps: [
          { ...step(0), gives: { list: 100 } },
          { ...step(1, [], "Review {item}"), each: 0 },
          { ...step(2, [1], "Check {item}"), each: 1 },
          step(3, [2])
        ]
      }
      const { result } = yield* runWith({ workers, workflow, itemsAtOnce: 100 })
      assert.deepStrictEqual([result.ending, result.spend.calls, result.durationMillis], ["answered", 202, 210])
    })
  )
})

describe("promise 2: a worker sees exactly its question, its access list and its subtask", () => {
  it.effect("access lists are obeyed, in step order, and reasoning is not shown to any step", () =>
    Effect.gen(function* () {
      const secret = worker("thinker", [
        {
          parts: [
            { type: "reasoning", text: "SECRET THOUGHT" },
            { type: "text", text: "seen" },
            { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
          ]
        }
      ])
      const workers = [secret, worker("b"), worker("c"), worker("d")]
      const workflow = { steps: [step(0), step(1), step(2, [0]), step(3, [2, 0])] }
      // The answer of step 1 is unused; the step is run here to show that no other step sees it.
      const { transcript } = yield* runWith({ workers, workflow, skipUnseen: false })
      const last = "Question:\nWhy?\n\nSubtask:\nsubtask of"
      assert.deepStrictEqual(contents(workers[1]!), [`${last} 1`])
      assert.deepStrictEqual(contents(workers[2]!), ["subtask of 0", "seen", `${last} 2`])
      assert.deepStrictEqual(contents(workers[3]!), [
        "subtask of 0",
        "seen",
        "subtask of 2",
        "answer of c",
        `${last} 3`
      ])
      assert.strictEqual(transcript.rounds[0]!.steps[0]!.reasoning, "SECRET THOUGHT")
      for (const { calls } of workers) assert.notInclude(JSON.stringify(calls), "SECRET")
    })
  )

  it.effect("no reply of any worker leaks past the access lists of random workflows", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 40; seed++) {
        const steps = Array.from({ length: 6 }, (_, index) => {
          const bits = (seed * 2654435761 + index * 40503) >>> 0
          return step(
            index,
            Array.from({ length: index }, (_, earlier) => earlier).filter((earlier) => (bits >> earlier) & 1)
          )
        })
        const workers = steps.map((_, index) => worker(`w${index}`, [`<${index}>`]))
        yield* runWith({ workers, workflow: { steps }, skipUnseen: false })
        for (const [index, { access }] of steps.entries()) {
          const text = contents(workers[index]!)!.join("\n")
          const seen = [...text.matchAll(/<(\d)>/g)].map((match) => Number(match[1]))
          assert.deepStrictEqual(seen, access as Array<number>)
        }
      }
    })
  )
})

describe("promise 3: a step whose answer no step can see is not paid for", () => {
  const workflow = { steps: [step(0), step(1), step(2, [1])] }

  it.effect("it is recorded as skipped", () =>
    Effect.gen(function* () {
      const workers = [worker("a"), worker("b"), worker("c")]
      const { result, transcript } = yield* runWith({ workers, workflow })
      assert.strictEqual(workers[0]!.calls.length, 0)
      assert.strictEqual(result.spend.calls, 2)
      assert.deepInclude(transcript.rounds[0]!.steps[0], { state: "skipped", detail: "unseen" })
    })
  )

  it.effect("unless that is turned off", () =>
    Effect.gen(function* () {
      const workers = [worker("a"), worker("b"), worker("c")]
      yield* runWith({ workers, workflow, skipUnseen: false })
      assert.strictEqual(workers[0]!.calls.length, 1)
    })
  )
})

describe("promise 4: a budget is never exceeded", () => {
  const pricing = { inputPerMillion: 0, outputPerMillion: 1_000_000 }
  const wide = { steps: [step(0), step(0), step(0), step(1, "all")] }

  it.effect("a call that could exceed it is not made, and the run says what stopped it", () =>
    Effect.gen(function* () {
      const workers = [worker("a", ["one two"], { pricing }), worker("b")]
      const { result, transcript } = yield* runWith({
        workers,
        workflow: { steps: [step(0), step(0, [0]), step(0, [1]), step(1, [2])] },
        budget: { costUsd: 13 },
        worker: { maxOutputTokens: 10 }
      })
      // Each call may cost 10 and costs 2: after two, 4 + 10 is more than 13.
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual(result.spend.costUsd, 4)
      // An answer to a subtask is not an answer to the question: it is only in the transcript.
      assert.strictEqual(result.answer, undefined)
      assert.strictEqual(transcript.rounds[0]!.steps[1]!.text, "one two")
      assert.include(result.detail, "the cost limit of 13 USD")
      assert.deepStrictEqual(
        transcript.rounds[0]!.steps.map((step) => step.state),
        ["answered", "answered", "failed", "skipped"]
      )
    })
  )

  it.effect("steps that run at once wait for each other's settlement instead of failing", () =>
    Effect.gen(function* () {
      const workers = [worker("a", ["one two"], { pricing, latencyMillis: 10 }), worker("b")]
      const { result } = yield* runWith({
        workers,
        workflow: wide,
        budget: { costUsd: 14.5 },
        worker: { maxOutputTokens: 10 }
      })
      assert.strictEqual(result.ending, "answered")
      assert.strictEqual(result.spend.costUsd, 6)
      assert.strictEqual(result.durationMillis, 30)
    })
  )

  it.effect("a worker of unknown price is refused under a cost limit, and only there", () =>
    Effect.gen(function* () {
      const { pricing: _, ...unpriced } = worker("unpriced")
      const workers = [unpriced as ScriptedWorker.ScriptedWorker]
      const workflow = { steps: [step(0)] }
      const limited = yield* runWith({ workers, workflow, budget: { costUsd: 1 } })
      assert.strictEqual(limited.result.ending, "budget")
      assert.include(limited.result.detail, "no known price")
      const unlimited = yield* runWith({ workers, workflow, budget: { tokens: 10_000 } })
      assert.strictEqual(unlimited.result.ending, "answered")
      assert.strictEqual(unlimited.result.spend.unpricedCalls, 1)
    })
  )

  it.effect("time is a limit, too: the answer so far is returned", () =>
    Effect.gen(function* () {
      const workers = [worker("a", ["early"], { latencyMillis: 10 }), worker("b", [{ hang: true }])]
      const { result } = yield* runWith({
        workers,
        // The first is asked the question itself.
        workflow: { steps: [{ ...step(0), subtask: "" }, step(1, [0])] },
        budget: { durationMillis: 1000 }
      })
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual(result.durationMillis, 1000)
      assert.strictEqual(result.answer, "early")
      assert.strictEqual(workers[1]!.running(), 0)
    })
  )

  it.effect("an answer that is being replaced because it failed its check remains at the time limit", () =>
    Effect.gen(function* () {
      const workers = [worker("a", ["early", { hang: true }])]
      const { result } = yield* runWith({
        workers,
        workflow: { steps: [{ ...step(0), subtask: "", check: { by: "never", onFailure: "again" } }] },
        checks: { never: () => false },
        budget: { durationMillis: 1000 }
      })
      assert.deepStrictEqual([result.ending, result.answer, result.isPartial], ["budget", "early", true])
    })
  )
})

describe("promise 5: retried, then reassigned, then reported or ended", () => {
  const single = { steps: [step(0)] }
  const overloaded = { fail: { _tag: "Overloaded" } as WorkerErrorReason }

  it.effect("a worker that fails once is tried again, and the failure is in the transcript", () =>
    Effect.gen(function* () {
      const workers = [worker("a", [overloaded, "well"])]
      const { result, transcript } = yield* runWith({ workers, workflow: single })
      assert.strictEqual(result.answer, "well")
      assert.deepInclude(transcript.rounds[0]!.steps[0]!.lost[0], { worker: "a", reason: { _tag: "Overloaded" } })
    })
  )

  it.effect("what a retry cannot help is not retried", () =>
    Effect.gen(function* () {
      const tags = ["Authentication", "Quota", "InvalidRequest", "ContentFiltered", "ContextTooLong"] as const
      for (const _tag of tags) {
        const ending = _tag === "ContentFiltered" ? "refused" : "failed"
        const workers = [worker("a", [{ fail: { _tag } }, "never asked"])]
        const { result } = yield* runWith({ workers, workflow: single })
        assert.strictEqual(result.ending, ending)
        assert.strictEqual(workers[0]!.calls.length, 1)
        assert.include(result.detail, "a ")
      }
    })
  )

  it.effect("garbage, nothing at all, parts after the end and a cut stream are failures that are retried", () =>
    Effect.gen(function* () {
      const finish = { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 2 } } as const
      const text = { type: "text", text: "half" } as const
      const bad: ReadonlyArray<ScriptedWorker.Reply> = [
        { parts: [] },
        { parts: [finish] },
        { parts: [text] },
        { parts: [text, finish, text] },
        { parts: [text], thenFail: { _tag: "Network", detail: "reset" } }
      ]
      for (const reply of bad) {
        const workers = [worker("a", [reply, "whole"])]
        const { result } = yield* runWith({ workers, workflow: single })
        assert.strictEqual(result.answer, "whole")
      }
    })
  )

  it.effect("a worker that hangs is out of time, and another takes over", () =>
    Effect.gen(function* () {
      const workers = [worker("a", [{ hang: true }]), worker("b")]
      const { result, transcript } = yield* runWith({
        workers,
        workflow: single,
        worker: { timeoutMillis: 2000 },
        retry: { maxAttempts: 2, jitter: false },
        reassign: "next"
      })
      assert.strictEqual(result.answer, "answer of b")
      assert.strictEqual(result.durationMillis, 2000 + 500 + 2000)
      const record = transcript.rounds[0]!.steps[0]!
      assert.deepStrictEqual(
        record.reassigned.map(({ from }) => from),
        ["a"]
      )
      assert.deepStrictEqual(
        record.lost.map(({ reason }) => reason?._tag),
        ["Timeout", "Timeout"]
      )
    })
  )

  it.effect("a failed step is shown to the steps that see it", () =>
    Effect.gen(function* () {
      const workers = [worker("a", [{ fail: { _tag: "Quota" } }]), worker("b")]
      const { result } = yield* runWith({ workers, workflow: { steps: [step(0), step(1, [0])] }, reassign: "never" })
      assert.strictEqual(result.ending, "answered")
      assert.include(contents(workers[1]!)![1], "This step failed")
    })
  )

  it.effect("or ends the run, stopping concurrent steps", () =>
    Effect.gen(function* () {
      const workers = [worker("a", [{ fail: { _tag: "Quota" } }]), worker("b", [{ hang: true }]), worker("c")]
      const { result } = yield* runWith({
        workers,
        workflow: { steps: [step(0), step(1), step(2, "all")] },
        reassign: "never",
        onStepFailure: "end"
      })
      assert.strictEqual(result.ending, "failed")
      assert.include(result.detail, "quota")
      assert.strictEqual(result.durationMillis, 0)
      assert.strictEqual(workers[1]!.running(), 0)
      assert.strictEqual(workers[2]!.calls.length, 0)
    })
  )

  it.effect("whatever happens, what was paid is in the events once", () =>
    Effect.gen(function* () {
      const pricing = { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }
      const finish = { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 2 } } as const
      const workers = [
        worker("empty", [{ parts: [finish] }], { pricing }),
        worker("cut", [{ parts: [{ type: "text", text: "half" }] }], { pricing }),
        worker("hangs", [{ hang: true }], { pricing }),
        worker("good", ["yes"], { pricing })
      ]
      const { events, result } = yield* runWith({
        workers,
        workflow: { steps: [step(0), step(1), step(2), step(3, "all")] },
        reassign: "never",
        worker: { timeoutMillis: 100, maxOutputTokens: 8 }
      })
      const { costUsd, tokens } = paidIn(events)
      assert.strictEqual(result.answer, "yes")
      assert.strictEqual(costUsd, result.spend.costUsd)
      assert.strictEqual(tokens, result.spend.usage.inputTokens + result.spend.usage.outputTokens)
      assert.isAbove(costUsd, 3 * (3 + 2 * 2))
      assert.strictEqual(result.spend.calls, 3 * 3 + 1)
    })
  )
})

describe("promise 6: interrupting a run stops its calls at once and still yields the transcript so far", () => {
  it.effect("at every point of the run", () =>
    Effect.gen(function* () {
      const workflow = { steps: [step(0), step(1), step(2, "all"), step(0, [2])] }
      for (let at = 0; at <= 45; at += 5) {
        const workers = [10, 20, 15].map((latencyMillis, index) =>
          worker(`w${index}`, undefined, {
            latencyMillis,
            pricing: { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 }
          })
        )
        const recorder = Transcript.recorder()
        const events: Array<RunEvent> = []
        const conductor = Conductor.make({ policy: always(workflow), pool: WorkerPool.makeUnsafe(workers) })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const run = yield* conductor.start("Why?", {
              listener: (event) => {
                events.push(event)
                recorder.listener(event)
              }
            })
            yield* TestClock.adjust(at)
            const result = yield* run.interrupt
            const ended = at >= 45
            assert.strictEqual(result.ending, ended ? "answered" : "interrupted")
            for (const { running } of workers) assert.strictEqual(running(), 0)
            const transcript = recorder.transcript()!
            assert.strictEqual(transcript.ending, result.ending)
            const answered = transcript.rounds[0]!.steps.filter(({ state }) => state === "answered").length
            assert.strictEqual(answered, [10, 20, 35, 45].filter((time) => time <= at).length)
            assert.strictEqual(result.answer === undefined, !ended)
            assert.strictEqual(paidIn(events).costUsd, result.spend.costUsd)
            assert.strictEqual(events.filter(({ type }) => type === "run-finished").length, 1)
          })
        )
      }
    })
  )

  it.effect("interrupting the fiber of a plain run tells the listener", () =>
    Effect.gen(function* () {
      const recorder = Transcript.recorder()
      const workers = [worker("a", [{ hang: true }])]
      const conductor = Conductor.make({
        policy: Baselines.single(0),
        pool: WorkerPool.makeUnsafe(workers)
      })
      const fiber = yield* Effect.forkChild(conductor.run("Why?", { listener: recorder.listener }))
      yield* TestClock.adjust(1)
      assert.strictEqual(workers[0]!.running(), 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(workers[0]!.running(), 0)
      assert.strictEqual(recorder.transcript()!.ending, "interrupted")
    })
  )
})

describe("promise 7: the same seeds and the same answers give the same transcript", () => {
  it.effect("with failures, retries and reassignments in it", () =>
    Effect.gen(function* () {
      const transcriptOf = (seed: number) =>
        Effect.gen(function* () {
          const pick = (call: number) => (call % 3 === 0 ? { fail: { _tag: "Network" } as const } : "")
          const workers = [0, 1, 2].map((index) =>
            worker(`w${index}`, (request, call) => pick(call + index) || `answer ${request.seed}`, {
              latencyMillis: 5 * (index + 1)
            })
          )
          const workflow = { steps: [step(0), step(1), step(2, [0]), step(0, "all")] }
          const { transcript } = yield* runWith({ workers, workflow, reassign: "next", seed })
          const { startedAt } = transcript
          // Moments are compared from the start of the run.
          return JSON.parse(
            JSON.stringify(transcript, (key, value) => (/At$|^at$/.test(key) ? (value as number) - startedAt : value))
          )
        })
      const first = yield* transcriptOf(7)
      assert.deepStrictEqual(yield* transcriptOf(7), first)
      assert.notDeepEqual(yield* transcriptOf(8), first)
      assert.match(JSON.stringify(first), /answer \d+/)
    })
  )
})
