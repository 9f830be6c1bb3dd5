import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Outcome from "../src/events/Outcome.ts"
import { isWithoutCall } from "../src/events/RunEvent.ts"
import {
  conduct,
  decodeTranscript,
  encodeTranscript,
  fork,
  memoryJournal,
  policy,
  resume,
  single,
  spendByWorker,
  worker,
  workerError
} from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ForkPrice from "../src/run/ForkPrice.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { Step, Workflow } from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 4 }

/** A team whose calls are noted, each with the last message that it was sent. */
const team = () => {
  const called: Array<string> = []
  const member = (id: string, answer: (text: string, all: string) => string = () => `${id} ${called.length}`) =>
    worker({
      id,
      pricing,
      answer: ({ messages }) => {
        called.push(id)
        const all = messages.map(({ content }) => String(content))
        return answer(all.at(-1)!, all.join("\n"))
      }
    })
  return { called, member }
}

const question = "What is 6 times 7?"
const step = (worker: number, access: Step["access"] = [], more: Partial<Step> = {}): Step => ({
  worker,
  subtask: "Do it.",
  access,
  ...more
})
const chain: Workflow = { steps: [step(0), step(1, [0]), step(0), step(1, [1, 2])] }

describe("fork", () => {
  it("asks for the step and for those that follow from it", async () => {
    const { called, member } = team()
    const options = { pool: [member("a"), member("b"), member("c")], policy: policy("chain", () => chain) }
    const { answer, transcript } = await conduct({ ...options, question })
    assert.lengthOf(called, 4)
    const run = async (cut: object) => {
      called.length = 0
      const result = await fork({ ...options, transcript, ...(cut as { at: { round: number; step: number } }) })
      return { result, called: [...called] }
    }
    const same = await run({ at: { round: 0, step: 3 } })
    assert.deepStrictEqual(same.called, ["b"])
    assert.strictEqual(same.result.spend.calls, 1)
    assert.strictEqual(same.result.transcript.rounds[0]?.steps[0]?.text, transcript.rounds[0]?.steps[0]?.text)
    assert.deepStrictEqual(same.result.transcript.forkOf, { runId: transcript.runId, round: 0, step: 3 })
    assert.deepStrictEqual((await run({ at: { round: 0, step: 0 } })).called.toSorted(), ["a", "b", "b"])
    const answered = await run({ at: { round: 0, step: 1 }, answer: "Given." })
    assert.deepStrictEqual(answered.called, ["b"])
    const steps = answered.result.transcript.rounds[0]!.steps
    assert.deepStrictEqual(
      steps.map(({ cached, origin, paid, text }) => [origin, cached, paid?.costUsd === 0, text === "Given."]),
      [
        ["forked-run", false, true, false],
        ["caller", false, true, true],
        ["forked-run", false, true, false],
        [undefined, false, false, false]
      ]
    )
    assert.deepStrictEqual(Object.keys(spendByWorker(answered.result.transcript)), ["a", "b"])
    assert.isUndefined(Outcome.fromTranscript(answered.result.transcript, { score: 1, source: "user", at: 0 }))
    // A fork of the fork, and a resumed fork, still report who answered.
    const again = await fork({ ...options, transcript: answered.result.transcript, at: { round: 0, step: 3 } })
    assert.strictEqual(again.transcript.rounds[0]?.steps[1]?.origin, "caller")
    const last = await run({ at: { round: 0, step: 3 }, answer: "The end." })
    assert.deepStrictEqual([last.called, last.result.answer, last.result.spend.costUsd], [[], "The end.", 0])
    assert.deepStrictEqual((await run({ at: { round: 0, step: 1 }, change: { worker: "c" } })).called, ["c", "b"])
    assert.notStrictEqual(answer, undefined)
  })

  it("makes the calls of its price", async () => {
    const { called, member } = team()
    const failing = worker({
      id: "b",
      pricing,
      answer: () => {
        throw workerError("b", { _tag: "InvalidRequest", detail: "No." } as never)
      }
    })
    const plan: Workflow = { steps: [step(0), step(1), step(0, [0]), step(0, [1, 2])] }
    const pool = [member("a"), failing]
    const options = { pool, policy: policy("plan", () => plan), reassign: "never" as const }
    const { transcript } = await conduct({ ...options, question })
    const cuts = [0, 2, 3].map((at) => ({ at: { round: 0, step: at } }))
    for (const cut of [...cuts, { ...cuts[1]!, answer: "Given." }, { ...cuts[2]!, plan }]) {
      const price = Result.getOrThrow(ForkPrice.of(transcript, cut, { pool: WorkerPool.makeUnsafe(pool) }))
      called.length = 0
      await fork({ ...options, transcript, ...cut })
      assert.strictEqual(price.likely.calls, called.length, JSON.stringify(cut))
    }
    const wrong = ForkPrice.of(transcript, { at: { round: 0, step: 9 } }, { pool: WorkerPool.makeUnsafe(pool) })
    assert.isTrue(Result.isFailure(wrong))
  })

  it("runs another plan, and takes the answers of steps that it leaves as they are", async () => {
    const { called, member } = team()
    const options = { pool: [member("a"), member("b"), member("c")], policy: policy("chain", () => chain) }
    const { transcript } = await conduct({ ...options, question })
    const run = async (plan: unknown, at = 3) => {
      called.length = 0
      const result = await fork({ ...options, transcript, at: { round: 0, step: at }, plan: plan as Workflow })
      return { ...result, called: called.toSorted() }
    }
    const longer = await run({ steps: [...chain.steps, step(2, [3])] })
    assert.deepStrictEqual(longer.called, ["b", "c"])
    assert.strictEqual(longer.answer, longer.transcript.rounds[0]?.steps[4]?.text)
    const { notes, workflow } = longer.transcript.rounds[0]!
    assert.deepStrictEqual([workflow?.steps.length, notes.at(-1)], [5, "A fork replaced the plan."])
    // Step 2 is changed, and step 3 sees it; steps 0 and 1 are the same.
    const changed = { steps: chain.steps.map((one, index) => (index === 2 ? { ...one, worker: "c" } : one)) }
    assert.deepStrictEqual((await run(changed)).called, ["b", "c"])
    const shorter = await run({ steps: chain.steps.slice(0, 2) })
    assert.deepStrictEqual([shorter.called, shorter.ending], [[], "answered"])
    assert.strictEqual(shorter.answer, transcript.rounds[0]?.steps[1]?.text)
    const text = WorkflowText.write({ steps: [chain.steps[0]!, step(2, [0])] })
    assert.deepStrictEqual((await run(text, 1)).called, ["c"])
    assert.strictEqual((await run(text, 0)).called.length, 2)
    const settings = { steps: chain.steps.map((one) => ({ ...one, settings: { temperature: 0.5 } })) }
    const { transcript: set } = await conduct({ ...options, policy: policy("set", () => settings), question })
    called.length = 0
    const same = await fork({
      ...options,
      transcript: set,
      at: { round: 0, step: 3 },
      plan: WorkflowText.write(settings)
    })
    assert.deepStrictEqual(
      [called, same.transcript.rounds[0]?.workflow?.steps[1]?.settings],
      [["b"], { temperature: 0.5 }]
    )
  })

  it("refuses a plan that cannot be read or run", async () => {
    const { called, member } = team()
    const options = { pool: [member("a"), member("b")], policy: policy("chain", () => chain) }
    const { transcript } = await conduct({ ...options, question })
    called.length = 0
    const detailOf = async (plan: unknown, more: object = {}) => {
      const given = { ...options, transcript, at: { round: 0, step: 3 }, plan: plan as string, ...more }
      return fork(given).then(
        ({ detail, ending }) => `${ending}: ${detail}`,
        (error: Error) => error.message
      )
    }
    assert.match(
      await detailOf('model_id = [0]\nsubtasks = ["a"; "b"]\naccess_list = [[]]'),
      /Line 2, column \d+: expected/
    )
    assert.match(
      await detailOf('model_id = [7]\nsubtasks = ["a"]\naccess_list = [[]]'),
      /Line 1, column 13: .*worker 7/
    )
    assert.match(await detailOf({ steps: [{ worker: "nope", subtask: "", access: [] }] }), /nope/)
    assert.match(await detailOf({ steps: [step(0, [1])] }), /^fork: Step 0/)
    assert.match(await detailOf({ steps: [step(0)] }, { answer: "x" }), /no step 3/)
    assert.lengthOf(called, 0)
  })

  it("refuses a wrong place by name", async () => {
    const { member } = team()
    const options = { pool: [member("a"), member("b")], policy: policy("chain", () => chain) }
    const { transcript } = await conduct({ ...options, question })
    for (const [at, words] of [
      [{ round: 0, step: 1, item: 1 }, 'fork: "at.item" must be the name of an item, such as "3", not 1.'],
      [{ round: 0, step: 1, itme: "1" }, 'fork: option "at.itme" does not exist. Did you mean "at.item"?'],
      [{ round: 0, step: 1, nested: { round: 0, setp: 1 } }, 'option "at.nested.setp" does not exist.'],
      [{ round: 0 }, 'fork: "at.step" is missing'],
      ["0.1", 'fork: "at" must be the step to fork at, { round, step }.']
    ] as const) {
      const detail = await fork({ ...options, transcript, at: at as never }).then(String, String)
      assert.include(detail, words)
    }
  })

  it("refuses a wrong change, plan, answer or option by name, before a call is made", async () => {
    const { called, member } = team()
    const options = { pool: [member("a"), member("strong")], policy: policy("chain", () => chain) }
    const { transcript } = await conduct({ ...options, question })
    called.length = 0
    const checked = { by: 1, onFailure: "agin" }
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ change: { workr: 1 } }, 'Step 1 has no "workr"; did you mean "worker"?'],
      [{ change: { worker: "strng" } }, 'worker "strng" is not in the pool; did you mean "strong"?'],
      [{ change: { worker: 9 } }, "Step 1: worker 9 does not exist; use 0 or 1."],
      [{ change: { subtask: 3 } }, "in step 1, subtask is 3, not a string"],
      [{ change: { access: [1] } }, "a step can see only earlier steps"],
      [{ change: { settings: { temprature: 1 } } }, 'has no "temprature"; did you mean "temperature"?'],
      [{ change: { check: { by: "tests", onFailure: "next" } } }, 'check "tests" does not exist'],
      [{ change: { check: checked } }, "the check of step 1 needs an onFailure of"],
      [{ change: { gives: { shape: "finding" } } }, 'shape "finding" does not exist'],
      [{ change: "worker" }, '"change" must be an object with the fields of a step to change'],
      [{ plan: { stps: [] } }, 'The workflow has no "stps"; did you mean "steps"?'],
      [{ plan: { steps: [{ ...step(0), workr: 1 }] } }, 'Step 0 has no "workr"'],
      [{ plan: 3 }, '"plan" must be a plan, { steps }, or the text of one, not 3.'],
      [{ answer: 42 }, '"answer" must be a text, not 42.'],
      [{ forkId: 3 }, '"forkId" must be a string of 1 to 512 characters'],
      [{ chnge: {} }, 'option "chnge" does not exist. Did you mean "change"?'],
      [{ runId: "other" }, '"runId" is "other", but the transcript is of run "']
    ]
    for (const [cut, words] of wrong) {
      const all = { ...options, transcript, at: { round: 0, step: 1 }, ...cut }
      const refused = await fork(all as never).then(String, String)
      assert.include(refused, "OptionsError: fork: ")
      assert.include(refused, words)
    }
    const conductor = Conductor.make({ ...options, pool: WorkerPool.makeUnsafe(options.pool) })
    for (const of of [{ change: { workr: 1 } }, { chnge: {} }, { plan: { stps: [] } }, { answer: 42 }]) {
      const all = { transcript, at: { round: 0, step: 1 }, ...of }
      const { ending, error, rounds } = await Effect.runPromise(conductor.fork(all as never))
      assert.deepStrictEqual([ending, error?._tag, rounds.length], ["failed", "OptionsError", 0])
    }
    assert.lengthOf(called, 0)
    const names = { tests: () => true }
    const change = { check: { by: "tests", onFailure: "next" } } as const
    const known = await fork({ ...options, checks: names, transcript, at: { round: 0, step: 1 }, change })
    assert.strictEqual(known.ending, "answered", known.detail)
  })

  it("keeps the items that do not follow from an item", async () => {
    const { called, member } = team()
    const lister = member("lister", () => '["x", "y", "z"]')
    const reviewer = member("reviewer", (text) => `review of ${text.at(-1)}`)
    const checker = member("checker", (text) => `checked ${text.at(-1)}`)
    const joiner = member("joiner", (_, all) => (all.includes("fine") ? "with it" : "without it"))
    const plan: Workflow = {
      steps: [
        step(0, [], { gives: { list: 8 } }),
        step(1, [], { each: 0, subtask: "Review {item}" }),
        step(2, [1], { each: 1, subtask: "Check {item}" }),
        step(3, [1, 2])
      ]
    }
    const options = { pool: [lister, reviewer, checker, joiner], policy: policy("map", () => plan) }
    const first = await conduct({ ...options, question })
    assert.strictEqual(first.spend.calls, 8)
    const run = async (cut: object) => {
      called.length = 0
      const result = await fork({
        ...options,
        transcript: first.transcript,
        ...(cut as { at: { round: number; step: number } })
      })
      assert.strictEqual(result.spend.calls, called.length)
      return [called.toSorted().join(), result.answer]
    }
    assert.deepStrictEqual(await run({ at: { round: 0, step: 1, item: "1" }, answer: "y is fine" }), [
      "checker,joiner",
      "with it"
    ])
    assert.deepStrictEqual(await run({ at: { round: 0, step: 1, item: "2" } }), [
      "checker,joiner,reviewer",
      "without it"
    ])
    assert.deepStrictEqual(await run({ at: { round: 0, step: 0 }, answer: '["w"]' }), [
      "checker,joiner,reviewer",
      "without it"
    ])
  })

  it("takes later rounds from the policy, and earlier ones from the record", async () => {
    const { called, member } = team()
    const asked: Array<number> = []
    const rounds = policy("rounds", ({ round }) => {
      asked.push(round)
      return { steps: [step(round === 0 ? 0 : 1, "all")] }
    })
    const options = { pool: [member("a"), member("b")], policy: rounds, recursion: 2 }
    const { transcript } = await conduct({ ...options, question })
    assert.deepStrictEqual(called, ["a", "b", "b"])
    called.length = 0
    asked.length = 0
    const result = await fork({ ...options, transcript, at: { round: 1, step: 0 } })
    assert.deepStrictEqual([called, asked, result.spend.calls], [["b", "b"], [2], 2])
    const other = await fork({
      ...options,
      recursion: 1,
      policy: single(0),
      transcript,
      at: { round: 0, step: 0 },
      answer: "Given."
    })
    assert.lengthOf(other.transcript.rounds, 2)
    assert.strictEqual(other.transcript.rounds[0]?.answer, "Given.")
  })

  it("repeats failures and checks without a call, and nested runs", async () => {
    const { called, member } = team()
    const failing = worker({
      id: "failing",
      answer: () => {
        called.push("failing")
        throw workerError("failing", { _tag: "Defect", detail: "no" })
      }
    })
    const plan = policy("nesting", ({ self }) =>
      self
        ? { steps: [step(0, [], { check: { by: 1, onFailure: "continue" } }), step(2, [0]), step(1, [0, 1])] }
        : { steps: [step(1)] }
    )
    const options = {
      pool: [failing, member("b", () => "Verdict: right")],
      policy: plan,
      self: { maxDepth: 1 },
      retry: { maxAttempts: 1 }
    }
    const first = await conduct({ ...options, question })
    assert.strictEqual(first.ending, "answered")
    const before = called.length
    const again = await fork({ ...options, transcript: first.transcript, at: { round: 0, step: 2 } })
    assert.strictEqual(called.length, before + 1)
    assert.strictEqual(again.spend.calls, 1)
    assert.strictEqual(again.transcript.rounds[0]?.steps[1]?.nested?.runId, `${again.runId}/0.1`)
  })

  it("asks a nested run again, in a map too, and streams its steps alone", async () => {
    const { called, member } = team()
    const plan = policy("nested map", ({ self }) =>
      self
        ? { steps: [step(0, [], { gives: { list: 3 } }), step(2, [], { each: 0 }), step(1, [1])] }
        : { steps: [step(1), step(1, [0])] }
    )
    const lists = worker({
      id: "list",
      capabilities: { jsonSchema: true },
      answer: () => {
        called.push("list")
        return '["x", "y", "z"]'
      }
    })
    const options = { pool: [lists, member("b")], policy: plan, self: { maxDepth: 1 } }
    const first = await conduct({ ...options, question })
    assert.strictEqual(first.spend.calls, 1 + 3 * 2 + 1)
    called.length = 0
    const asked = new Set<string>()
    const streamed: Array<string> = []
    const again = await fork({
      ...options,
      transcript: first.transcript,
      at: { round: 0, step: 1, item: "1" },
      onEvent: (event) => {
        if (event.type === "step-delta") streamed.push(event.text)
        if (event.type === "step-finished" && !isWithoutCall(event))
          asked.add(`${event.runId} ${event.step} ${event.item}`)
      }
    })
    // Both steps of the nested run of the item, and the join.
    assert.deepStrictEqual(called, ["b", "b", "b"])
    assert.strictEqual(again.spend.calls, 3)
    assert.include([...asked], `${again.runId}/0.1[1] 1 undefined`)
    assert.notInclude([...asked], `${again.runId}/0.1[0] 1 undefined`)
    assert.isTrue(streamed.includes(again.answer!))
    const nested = again.transcript.rounds[0]!.steps[1]!.items!.map((item) => item.nested?.runId)
    assert.deepStrictEqual(
      nested,
      ["0", "1", "2"].map((item) => `${again.runId}/0.1[${item}]`)
    )
    // A transcript that was written and read back is forked in the same way.
    const read = await decodeTranscript(encodeTranscript(again.transcript))
    called.length = 0
    const third = await fork({ ...options, transcript: read, at: { round: 0, step: 2 } })
    assert.deepStrictEqual([called.length, third.spend.calls], [1, 1])
  })

  it("begins within a nested run, and leaves the others as they are", async () => {
    const { called, member } = team()
    let planned = 0
    const plan = policy("nested", ({ self, task }) => {
      planned += 1
      if (self) return { steps: [step(2, [], { subtask: "One." }), step(2, [], { subtask: "Two." }), step(1, [0, 1])] }
      return { steps: [step(0), step(1, [0]), step(1, [1], { subtask: `For ${task.id}` })] }
    })
    const options = { pool: [member("a"), member("b")], policy: plan, self: { maxDepth: 1 } }
    const journal = memoryJournal()
    const first = await conduct({ ...options, journal, runId: "first", question, seed: 3 })
    assert.deepStrictEqual([first.spend.calls, planned], [7, 3])
    const run = async (cut: object, more: object = {}) => {
      called.length = 0
      planned = 0
      const given = { ...options, transcript: first.transcript, ...cut, ...more }
      const result = await fork(given as unknown as Parameters<typeof fork>[0])
      assert.strictEqual(result.ending, "answered", result.detail)
      const [one, two] = result.transcript.rounds[0]!.steps
      return { result, one: one!.nested!, two: two!.nested!, called: [...called], planned }
    }
    const [before] = first.transcript.rounds
    const at = { round: 0, step: 1, nested: { round: 0, step: 1 } }

    // The step, the one that follows in its run, and the last step of the outer run.
    const same = await run({ at })
    assert.deepStrictEqual([same.called, same.result.spend.calls, same.planned], [["b", "b", "b"], 3, 0])
    assert.deepStrictEqual(same.result.transcript.forkOf, { runId: "first", ...at })
    assert.strictEqual(same.one.rounds[0]?.steps[2]?.text, before!.steps[0]!.nested!.rounds[0]!.steps[2]!.text)
    assert.strictEqual(same.two.rounds[0]?.steps[0]?.text, before!.steps[1]!.nested!.rounds[0]!.steps[0]!.text)
    assert.strictEqual(same.two.runId, `${same.result.runId}/0.1`)
    assert.strictEqual(same.two.parent?.runId, same.result.runId)

    const answered = await run({ at, answer: "Given." })
    assert.deepStrictEqual(answered.called, ["b", "b"])
    assert.strictEqual(answered.two.rounds[0]?.steps[1]?.text, "Given.")
    const changed = await run({ at, change: { worker: "a", subtask: "Another." } })
    assert.deepStrictEqual(changed.called, ["a", "b", "b"])
    assert.strictEqual(changed.two.rounds[0]?.workflow?.steps[1]?.subtask, "Another.")
    // Another policy plans nothing that the record has.
    const other = { policy: policy("other", () => assert.fail("the plans are in the record")) }
    const replanned = await run({ at: { round: 0, step: 1, nested: { round: 0, step: 2 } } }, other)
    assert.deepStrictEqual(replanned.called, ["b", "b"])
    const last = await run({ at: { round: 0, step: 2 } }, other)
    assert.deepStrictEqual([last.called, last.result.spend.calls], [["b"], 1])

    // A fork in a journal, and a fork of that fork.
    const written = await fork({ ...options, journal, runId: "first", forkId: "second", at })
    assert.strictEqual(written.spend.calls, 3)
    const read = await decodeTranscript(encodeTranscript(written.transcript))
    assert.deepStrictEqual(read.forkOf, { runId: "first", ...at })
    const third = await fork({
      ...options,
      journal,
      runId: "second",
      forkId: "third",
      at: { round: 0, step: 0, nested: { round: 0, step: 2 } }
    })
    assert.strictEqual(third.spend.calls, 2)
    assert.deepStrictEqual((await resume({ ...options, journal, runId: "third" })).answer, third.answer)
  })

  it("forks a run of a journal, and is resumed from it", async () => {
    const { called, member } = team()
    const journal = memoryJournal()
    const options = { pool: [member("a"), member("b")], policy: policy("chain", () => chain), journal }
    await conduct({ ...options, question, runId: "first", seed: 3 })
    called.length = 0
    const stop = new AbortController()
    const hanging = worker({ id: "b", pricing, answer: () => new Promise<string>(() => stop.abort()) })
    const stopped = await fork({
      ...options,
      pool: [options.pool[0]!, hanging],
      runId: "first",
      forkId: "second",
      at: { round: 0, step: 3 },
      change: { subtask: "Another." },
      signal: stop.signal
    })
    assert.strictEqual(stopped.ending, "interrupted")
    const other = policy("chain", () => assert.fail("the plan is in the record"))
    const result = await resume({ ...options, policy: other, runId: "second" })
    assert.strictEqual(result.ending, "answered")
    assert.deepStrictEqual(called, ["b"])
    assert.strictEqual(result.transcript.rounds[0]?.workflow?.steps[3]?.subtask, "Another.")
    assert.deepStrictEqual(result.transcript.forkOf, { runId: "first", round: 0, step: 3 })
    const read = await decodeTranscript(encodeTranscript(result.transcript))
    assert.deepStrictEqual(read.forkOf, result.transcript.forkOf)
    assert.deepStrictEqual(
      read.rounds[0]?.steps.map(({ origin }) => origin),
      ["forked-run", "forked-run", "forked-run", undefined]
    )
  })

  it("charges nothing for answers without a call, also where cached answers are charged", async () => {
    const { called, member } = team()
    const options = { pool: [member("a"), member("b")], policy: policy("chain", () => chain) }
    const charged = { ...options, cachedAnswers: "charged" as const }
    const { transcript } = await conduct({ ...options, question })
    const { spend } = await fork({ ...charged, transcript, at: { round: 0, step: 2 }, answer: "Given." })
    assert.deepStrictEqual([spend.calls, called.length], [1, 5])
  })

  it("refuses an answer that is no list for a step that gives one", async () => {
    const list = worker({ id: "list", capabilities: { jsonSchema: true }, answer: () => '["a", "b"]' })
    const plan = policy("map", () => ({ steps: [step(0, [], { gives: { list: 2 } }), step(0, [], { each: 0 })] }))
    const options = { pool: [list], policy: plan }
    const { transcript } = await conduct({ ...options, question })
    for (const [answer, why] of [
      ["none", "it is not JSON"],
      ["[1, 2, 3]", "it has 3 items; the maximum is 2"]
    ]) {
      const forked = fork({ ...options, transcript, at: { round: 0, step: 0 }, answer })
      assert.include(await forked.then(() => "", String), `Step 0 gives a list, but the answer does not: ${why}`)
    }
  })

  it.each([
    [{ at: { round: 0, step: 9 } }, "has no step 9 in round 0"],
    [{ at: { round: 0, step: 0, item: "1" } }, 'has no item "1"'],
    [{ at: { round: 0, step: 0 }, change: { worker: "bb" } }, 'worker "bb" is not in the pool'],
    [{ at: { round: 0, step: 0, nested: { round: 0, step: 0 } } }, "There is no nested run in step 0 of round 0."],
    [{ at: { round: 0, step: 0 }, answr: "42" }, 'fork: option "answr" does not exist. Did you mean "answer"?'],
    [{ at: 3 }, "{ round, step }"]
  ] as const)("refuses %j", async (cut, why) => {
    const { member } = team()
    const options = { pool: [member("a"), member("b")], policy: policy("chain", () => chain) }
    const { transcript } = await conduct({ ...options, question })
    const error = await fork({
      ...options,
      transcript,
      ...(cut as unknown as { at: { round: number; step: number } })
    }).then(() => "", String)
    assert.include(error, why)
  })
})
