/** Nothing of ours ends in silence: streams throw, promises reject, and a fallback plans. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Journal from "../src/journal/Journal.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import type { Workflow } from "../src/promise.ts"
import {
  conduct,
  decodeTranscript,
  encodeTranscript,
  memoryJournal,
  policy,
  resume,
  single,
  streamAnswer,
  streamRun,
  tool,
  worker
} from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as RunStream from "../src/run/RunStream.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pool = [worker({ id: "a", answer: () => "42" }), worker({ id: "b", answer: () => "43" })]

const shared = { question: "What is it?", pool, policy: single(0) } as const

const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error: unknown) => error as Error
  )

const collect = async <A>(values: AsyncIterable<A>): Promise<Array<A>> => {
  const all: Array<A> = []
  for await (const value of values) all.push(value)
  return all
}

const failure = (journal: string) =>
  new Journal.JournalError({ journal, reason: { _tag: "Unwritable", detail: "the disk is full" } })

/** Journals that cannot be used, by what they fail at. */
const journals = (): Readonly<Record<string, Journal.Journal>> => {
  const memory = memoryJournal()
  return {
    claim: { ...memory, claim: () => Effect.fail(failure("claim")) },
    "claim with a defect": { ...memory, claim: () => Effect.die(new Error("a defect")) },
    "claim by throwing": {
      ...memory,
      claim: () => {
        throw new Error("it throws")
      }
    }
  }
}

describe("a stream of a run that cannot begin", () => {
  for (const [name, journal] of Object.entries(journals())) {
    it(`throws where the journal fails at ${name}, by every way to run`, async () => {
      const options = { ...shared, journal }
      assert.instanceOf(await rejection(collect(streamRun(options))), Error)
      const answer = streamAnswer(options)
      assert.instanceOf(await rejection(collect(answer)), Error)
      assert.instanceOf(await rejection(answer.result), Error)
      assert.instanceOf(await rejection(conduct(options)), Error)
      const conductor = Conductor.make({ policy: single(0), pool: WorkerPool.makeUnsafe(pool) })
      const events = RunStream.make(conductor, "What is it?", { journal })
      assert.strictEqual((await Effect.runPromise(Effect.exit(Stream.runCollect(events))))._tag, "Failure")
    })
  }

  it("ends with run-finished where the journal breaks in the middle", async () => {
    const memory = memoryJournal()
    let appends = 0
    const append: Journal.Journal["append"] = (batch) =>
      ++appends > 1 ? Effect.fail(failure("append")) : memory.append(batch)
    const events = await collect(streamRun({ ...shared, journal: { ...memory, append } }))
    const last = events.at(-1)
    assert.deepInclude(last as object, { type: "run-finished", ending: "failed" })
  })

  it("ends with run-finished where it is aborted, or a listener throws", async () => {
    const signal = AbortSignal.abort()
    const aborted = await collect(streamRun({ ...shared, signal }))
    assert.deepInclude(aborted.at(-1) as object, { type: "run-finished" })
    const onEvent = () => {
      throw new Error("no")
    }
    const heard = await collect(streamRun({ ...shared, onEvent }))
    assert.deepInclude(heard.at(-1) as object, { type: "run-finished", ending: "answered" })
  })
})

describe("withFallback", () => {
  const plans: Readonly<Record<string, () => unknown>> = {
    null: () => null,
    undefined: () => undefined,
    "a text": () => "ask b",
    "a number": () => 7,
    "a list": () => [],
    "no list of steps": () => ({}),
    "no steps": () => ({ steps: [] }),
    "a step that is null": () => ({ steps: [null] }),
    "an unknown worker": () => ({ steps: [{ worker: 9, subtask: "", access: [] }] }),
    "an unknown worker by its name": () => ({ steps: [{ worker: "z", subtask: "", access: [] }] }),
    "no worker": () => ({ steps: [{ subtask: "", access: [] }] }),
    "no access list": () => ({ steps: [{ worker: 0, subtask: "" }] }),
    "no subtask": () => ({ steps: [{ worker: 0, access: [] }] }),
    "access to a later step": () => ({ steps: [{ worker: 0, subtask: "", access: [0] }] }),
    "an unknown check": () => ({
      steps: [{ worker: 0, subtask: "", access: [], check: { by: "gone", onFailure: "next" } }]
    }),
    "too many steps": () => ({ steps: Array.from({ length: 9 }, () => ({ worker: 0, subtask: "", access: [] })) }),
    "an exception": () => {
      throw new Error("no plan")
    },
    "an exception that is no error": () => {
      throw null
    },
    "a rejected promise": () => Promise.reject(new Error("no plan"))
  }

  for (const [name, plan] of Object.entries(plans)) {
    it(`plans with the other where the first gives ${name}, which alone fails the run`, async () => {
      const first = policy("mine", plan as () => Workflow)
      const result = await conduct({ ...shared, policy: Policy.withFallback(first, Baselines.single(1)) })
      assert.deepStrictEqual([result.ending, result.answer], ["answered", "43"])
      assert.match(result.transcript.rounds[0]?.notes.join(" ") ?? "", /^Using the fallback policy/)
      const alone = await conduct({ ...shared, policy: first })
      assert.strictEqual(alone.ending, "failed")
      assert.notMatch(alone.detail ?? "", /Cannot read|undefined is not/)
    })
  }

  it("plans where a policy of Effect throws or dies", async () => {
    for (const propose of [() => Effect.die(new Error("no")), () => assert.fail("no")]) {
      const first: Policy.Policy = { name: "mine", propose }
      const result = await conduct({ ...shared, policy: Policy.withFallback(first, Baselines.single(1)) })
      assert.strictEqual(result.answer, "43")
    }
  })

  it("leaves a valid plan as it is", async () => {
    const first = policy("mine", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
    const result = await conduct({ ...shared, policy: Policy.withFallback(first, Baselines.single(1)) })
    assert.strictEqual(result.answer, "42")
  })
})

describe("resume of a result", () => {
  it("rejects, and never throws synchronously, for an invalid result", async () => {
    const asks = worker({
      id: "clerk",
      capabilities: { tools: true },
      answer: () => ({ toolCalls: [{ name: "total", arguments: {} }] })
    })
    const total = tool({ name: "total", input: { type: "object" } })
    const suspended = await conduct({ ...shared, pool: [asks], tools: [total] })
    if (suspended.ending !== "suspended") return assert.fail("it does not wait")
    const id = suspended.waitingFor[0]!.id
    const circular: { self?: unknown } = {}
    circular.self = circular
    const wrong: ReadonlyArray<unknown> = [
      10n,
      { content: 10n },
      Symbol("x"),
      () => "x",
      null,
      Number.NaN,
      new Map(),
      circular,
      { content: [{ type: "text", text: 1n }] },
      { approved: 1n }
    ]
    for (const given of wrong) {
      let promise: Promise<unknown> | undefined
      assert.doesNotThrow(() => {
        promise = suspended.resume({ [id]: given } as never)
      })
      assert.instanceOf(await rejection(promise!), Error)
    }
    for (const results of [10n, null, "x", { gone: 1n }]) {
      let promise: Promise<unknown> | undefined
      assert.doesNotThrow(() => {
        promise = suspended.resume(results as never)
      })
      assert.instanceOf(await rejection(promise!), Error)
    }
    const transcript = await decodeTranscript(encodeTranscript(suspended.transcript))
    const options = { pool: [asks], policy: single(0), tools: [total], transcript }
    assert.instanceOf(await rejection(resume({ ...options, results: { [id]: 10n } as never })), Error)
  })
})

describe("the id of a run", () => {
  const wrong = ["", " ", "\ud800", "a\udc00b", "a\u0000b", "a\nb", "\u007f", "x".repeat(513), ".", "..", 7, null]

  it("is refused in words where not every journal can store it, by every way to run", async () => {
    for (const runId of wrong as ReadonlyArray<string>) {
      for (const run of [
        () => conduct({ ...shared, runId }),
        () => collect(streamRun({ ...shared, runId })),
        () => collect(streamAnswer({ ...shared, runId })),
        () => resume({ pool, policy: single(0), journal: memoryJournal(), runId })
      ]) {
        assert.match((await rejection(run())).message, /runId/, JSON.stringify(runId))
      }
      const conductor = Conductor.make({ policy: single(0), pool: WorkerPool.makeUnsafe(pool) })
      const events: Array<RunEvent> = []
      const listener = (event: RunEvent) => void events.push(event)
      const journal = memoryJournal()
      const result = await Effect.runPromise(conductor.run("What is it?", { runId, listener, journal }))
      if (runId === null) continue
      assert.match(result.detail ?? "", /"runId" must be a string of 1 to 512 characters/)
      assert.deepStrictEqual([result.ending, events.length], ["failed", 0])
      const resumed = await Effect.runPromise(Effect.result(conductor.resume({ runId }, { journal })))
      assert.match(Result.isSuccess(resumed) ? (resumed.success.detail ?? "") : "", /"runId" must be/)
    }
  })

  it("may be any other text", async () => {
    for (const runId of ["run-1", "üñ/0:1", "run 1", "😀", "x".repeat(512)]) {
      const result = await conduct({ ...shared, runId, journal: memoryJournal() })
      assert.deepStrictEqual([result.ending, result.runId], ["answered", runId])
    }
  })
})
