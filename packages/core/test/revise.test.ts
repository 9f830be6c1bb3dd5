import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AnswerText from "../src/events/AnswerText.ts"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Wire from "../src/events/Wire.ts"
import * as Journal from "../src/journal/Journal.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as LanguagePolicy from "../src/policy/LanguagePolicy.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Critic from "../src/task/Critic.ts"
import * as Grader from "../src/task/Grader.ts"
import * as Tool from "../src/task/Tool.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { OnFailure, Step, Workflow } from "../src/workflow/Workflow.ts"

const pricing = { inputPerMillion: 0, outputPerMillion: 1e6 }

const says = (id: string, ...replies: ReadonlyArray<ScriptedWorker.Reply>) =>
  ScriptedWorker.make({ id, replies: replies as [ScriptedWorker.Reply], pricing })

const step = (worker: number, access: Step["access"], subtask: string, more: Partial<Step> = {}): Step => ({
  worker,
  subtask,
  access,
  ...more
})

const check = (onFailure: OnFailure = "revise", by: string | number = "number") => ({ check: { by, onFailure } })

const isNumber = (answer: string) => /^\d+$/.test(answer) || "It is no number."

type Revise = (context: Policy.Revising) => Policy.Revision

const writes = (workflow: Workflow, revise?: Revise): Policy.Policy => ({
  name: "writes",
  checks: { number: isNumber },
  propose: () => Effect.succeed({ workflow }),
  revise: revise && ((context) => Effect.sync(() => revise(context)))
})

const ran = (
  policy: Policy.Policy,
  workers: readonly [ScriptedWorker.ScriptedWorker, ...ReadonlyArray<ScriptedWorker.ScriptedWorker>],
  options: Partial<Conductor.Options> = {},
  runOptions: Conductor.RunOptions = {}
) =>
  Effect.gen(function* () {
    const events: Array<RunEvent> = []
    const conductor = Conductor.make({ reassign: "never", ...options, policy, pool: WorkerPool.makeUnsafe(workers) })
    const task = { question: "What is 6 times 7?", reference: "42" }
    const result = yield* conductor.run(task, { ...runOptions, listener: (event) => void events.push(event) })
    const transcript = Transcript.fromEvents(events)!
    // All events can be written and read.
    assert.isTrue(Result.isSuccess(Wire.readTranscript(JSON.parse(Wire.encodeTranscript(transcript)))))
    assert.deepStrictEqual(
      Transcript.spendSoFar({ ...transcript, spend: undefined } as never).costUsd,
      result.spend.costUsd
    )
    return { ...result, asked: workers.map(({ calls }) => calls.length), transcript, events }
  })

const asks: ScriptedWorker.Reply = {
  parts: [
    { type: "tool-call", id: "1", name: "ask", arguments: "{}" },
    { type: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } }
  ]
}

const lookup = Tool.make({ name: "ask", input: { type: "object" } })

const withTools = (worker: ScriptedWorker.ScriptedWorker) => ({ ...worker, capabilities: { tools: true } })

const typesOf = (events: ReadonlyArray<RunEvent>, ...types: ReadonlyArray<string>) =>
  events.flatMap((event) => (types.includes(event.type) ? [event.type] : []))

describe("a step with a check", () => {
  const chain = { steps: [step(0, [], "Multiply.", check()), step(1, "all", "Say it.")] }

  it.effect("continues if it passes, without a call to the policy", () =>
    Effect.gen(function* () {
      const revise = () => assert.fail("nothing has failed")
      const { answer, transcript } = yield* ran(writes(chain, revise), [says("a", "42"), says("b", "It is 42.")])
      assert.strictEqual(answer, "It is 42.")
      assert.deepInclude(transcript.rounds[0]!.steps[0]!.checks![0], { check: "number", worker: "a", passed: true })
      assert.lengthOf(transcript.rounds, 1)
    })
  )

  it.effect("holds back what sees it, lets the rest run, and asks the policy with all that has returned", () =>
    Effect.gen(function* () {
      const steps = [
        step(0, [], "Multiply.", check()),
        step(1, [], "Add."),
        step(1, [1], "Go on."),
        step(2, "all", "Say.")
      ]
      let seen: Policy.Revising | undefined
      const again = {
        steps: [
          step(2, [], "Correct it.", {
            earlier: [
              { round: 0, step: 2 },
              { round: 0, step: 0 }
            ]
          })
        ]
      }
      const policy = writes({ steps }, (context) => {
        seen = context
        return { type: "re-plan", workflow: again, notes: ["It was no number."] }
      })
      const last = says("c", "42")
      const { answer, asked, events, transcript } = yield* ran(policy, [says("a", "six"), says("b", "13", "14"), last])
      assert.deepStrictEqual([answer, asked], ["42", [1, 2, 1]])
      assert.deepStrictEqual(seen?.evidence.failed, [{ step: 0, check: "number", objection: "It is no number." }])
      assert.deepStrictEqual(
        seen?.previous.answers?.map((answer) => answer?.type === "answered" && answer.text),
        ["six", "13", "14", false]
      )
      const [first, second] = transcript.rounds
      assert.deepInclude(first!.revisions![0], { decision: "re-plan", notes: ["It was no number."] })
      assert.deepInclude(first!.steps[3], { state: "skipped", detail: "revised" })
      assert.deepStrictEqual(second!.notes, ["It was no number."])
      // Those of earlier rounds in the order in which they were asked.
      assert.deepStrictEqual(
        last.calls[0]!.messages.map(({ content }) => content),
        ["Multiply.", "six", "Go on.", "14", "Question:\nWhat is 6 times 7?\n\nSubtask:\nCorrect it."]
      )
      assert.deepStrictEqual(typesOf(events, "round-revised", "round-finished", "round-started", "workflow-proposed"), [
        "round-started",
        "workflow-proposed",
        "round-revised",
        "round-finished",
        "round-started",
        "workflow-proposed",
        "round-finished"
      ])
    })
  )

  it.effect("continues, or stops with an answer of a step, as the policy decides", () =>
    Effect.gen(function* () {
      const workers = () => [says("a", "six"), says("b", "It is 6.")] as const
      const on = yield* ran(
        writes(chain, () => ({ type: "go-on" })),
        workers()
      )
      assert.deepStrictEqual([on.answer, on.asked], ["It is 6.", [1, 1]])
      const stop: Policy.Revision = { type: "stop", answer: { round: 0, step: 0 } }
      const stopped = yield* ran(
        writes(chain, () => stop),
        workers(),
        { recursion: 3 }
      )
      assert.deepStrictEqual([stopped.answer, stopped.asked, stopped.rounds.length], ["six", [1, 0], 1])
      assert.deepInclude(stopped.transcript.rounds[0]!.steps[1], { state: "skipped", detail: "revised" })
      // An invalid revision stops nothing.
      const wrong: Policy.Revision = { type: "stop", answer: { round: 0, step: 1 } }
      const none = yield* ran(
        writes(chain, () => wrong),
        workers()
      )
      assert.strictEqual(none.answer, "It is 6.")
      assert.include(
        none.transcript.rounds[0]!.revisions![0]!.notes[0],
        "step 1 of round 0, but that step has no answer"
      )
    })
  )

  it.effect("re-plans at most as often as allowed, and then continues unchanged", () =>
    Effect.gen(function* () {
      for (const [revisions, rounds] of [
        [undefined, 3],
        [1, 2],
        [0, 1]
      ] as const) {
        const policy = writes(chain)
        const { answer, transcript } = yield* ran(policy, [says("a", "six"), says("b", "It is 6.")], { revisions })
        assert.deepStrictEqual([transcript.rounds.length, answer], [rounds, "It is 6."])
      }
    })
  )

  it.effect("fails without an answer, too", () =>
    Effect.gen(function* () {
      const policy = writes(chain, () => ({ type: "re-plan", workflow: { steps: [step(1, [], "Do it.")] } }))
      for (const reply of [{ fail: { _tag: "Quota" } }, { text: "I must not.", finishReason: "refusal" }] as const) {
        const { answer, asked } = yield* ran(policy, [says("a", reply as never), says("b", "42")])
        assert.deepStrictEqual([answer, asked], ["42", [1, 1]])
      }
    })
  )

  it.effect("calls the next worker if configured, with all payments in its record", () =>
    Effect.gen(function* () {
      const workflow = { steps: [step(1, [], "Multiply.", check("next"))] }
      const workers = [
        says("a", "sixty"),
        says("b", "six"),
        says("c", { fail: { _tag: "Quota" } }),
        says("d", "42")
      ] as const
      const { answer, spend, transcript } = yield* ran(writes(workflow), workers)
      const [only] = transcript.rounds[0]!.steps
      assert.deepStrictEqual([answer, only!.worker, spend.calls], ["42", "d", 3])
      assert.deepStrictEqual(
        only!.turns!.map(({ error, text, worker }) => [worker, text, error]),
        [["b", "six", "It is no number."]]
      )
      assert.deepStrictEqual(
        only!.checks!.map(({ passed, worker }) => [worker, passed]),
        [
          ["b", false],
          ["d", true]
        ]
      )
      const all = yield* ran(writes(workflow), [says("a", "sixty"), says("b", "six")])
      assert.deepStrictEqual([all.answer, all.asked], ["sixty", [1, 1]])
    })
  )

  it.effect("only notes the verdict if configured", () =>
    Effect.gen(function* () {
      const workflow = { steps: [step(0, [], "", check("continue"))] }
      const { answer, transcript } = yield* ran(writes(workflow), [says("a", "six")])
      assert.strictEqual(answer, "six")
      assert.deepInclude(transcript.rounds[0]!.steps[0]!.checks![0], { passed: false, objection: "It is no number." })
    })
  )

  it.effect("is checked by graders, critics and workers, who are paid", () =>
    Effect.gen(function* () {
      const judge = says("judge", "Off by one. Verdict: wrong")
      const critic = Critic.fromWorker(says("critic", "Nearly. Score: 7"))
      for (const [one, spent, options] of [
        [Grader.exact, 1, {}],
        [judge, 6, {}],
        [critic, 4, {}],
        [critic, 4, { threshold: 0.7 }]
      ] as const) {
        const policy = { ...writes({ steps: [step(0, [], "", check("continue"))] }), checks: { number: one } }
        const { spend, transcript } = yield* ran(policy, [says("a", "41")], options)
        const passed = "threshold" in options
        assert.strictEqual(transcript.rounds[0]!.steps[0]!.checks![0]!.passed, passed)
        assert.strictEqual(spend.costUsd, spent)
      }
      const byNumber = { steps: [step(0, [], "", check("continue", 1))] }
      const { transcript } = yield* ran(writes(byNumber), [says("a", "42"), says("b", "Verdict: right")])
      assert.deepInclude(transcript.rounds[0]!.steps[0]!.checks![0], { check: "b", passed: true })
      assert.lengthOf(transcript.rounds[0]!.steps[0]!.checkAnswers!, 1)
    })
  )

  it.effect("keeps its answer where the budget does not allow its check", () =>
    Effect.gen(function* () {
      const policy = { ...writes(chain), checks: { number: says("judge", "Verdict: right") } }
      const { answer, asked, ending } = yield* ran(policy, [says("a", "42"), says("b", "42")], { budget: { calls: 1 } })
      assert.deepStrictEqual([ending, answer, asked], ["budget", undefined, [1, 0]])
      const alone = { ...writes({ steps: [step(0, [], "", check())] }), checks: policy.checks }
      const only = yield* ran(alone, [says("a", "42")], { budget: { calls: 1 } })
      assert.deepStrictEqual([only.ending, only.answer], ["budget", "42"])
    })
  )

  it.effect("is refused where there is no such check, or no such step before", () =>
    Effect.gen(function* () {
      for (const [wrong, detail] of [
        [{ check: { by: "tests", onFailure: "revise" } }, 'check "tests" does not exist; checks: number'],
        [{ check: { by: 7, onFailure: "revise" } }, 'check "7" does not exist'],
        [{ check: { by: "number", onFailure: "retry" } }, 'the check of step 0 needs an onFailure of "revise", "next"'],
        [{ earlier: [{ round: 0, step: 0 }] }, "access list contains step 0 of round 0, which did not run before it"]
      ] as const) {
        const workflow = { steps: [step(0, [], "Multiply.", wrong as never)] }
        const { detail: told, ending } = yield* ran(writes(workflow), [says("a", "42")])
        assert.strictEqual(ending, "failed")
        assert.include(told, detail)
      }
    })
  )
})

describe("a run that is resumed", () => {
  const counted = (verdicts: ReadonlyArray<boolean>) => {
    let count = 0
    return { check: () => verdicts[count++] ?? true, count: () => count }
  }

  it.effect("does not check again what its journal has found", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      // The second time it would find otherwise.
      const { check: flaky, count } = counted([false, true, true])
      const again = { steps: [step(1, [], "Ask.", { tools: true })] }
      const policy = {
        ...writes({ steps: [step(0, [], "", check())] }, () => ({ type: "re-plan", workflow: again })),
        checks: { number: flaky }
      }
      const workers = [says("a", "six"), says("b", asks, "42")].map(withTools) as never
      const options = { tools: [lookup] }
      const first = yield* ran(policy, workers, options, { journal, runId: "r" })
      assert.strictEqual(first.ending, "suspended")
      const conductor = Conductor.make({ ...options, policy, pool: WorkerPool.makeUnsafe(workers) })
      const results = { [first.waitingFor[0]!.id]: "42" }
      const resumed = yield* conductor.resume({ runId: "r", results }, { journal })
      assert.deepStrictEqual([resumed.answer, resumed.rounds.length, count()], ["42", 2, 1])
      assert.strictEqual(resumed.spend.calls, 3)
      // Nor what a transcript has.
      const { check: other, count: more } = counted([true])
      const anew = Conductor.make({
        ...options,
        policy: { ...policy, checks: { number: other } },
        pool: WorkerPool.makeUnsafe(workers)
      })
      const replayed = yield* anew.resume({ transcript: first.transcript, results })
      assert.deepStrictEqual([replayed.rounds.length, more()], [2, 0])
    })
  )

  it.effect("says nothing of what was held back while others wait for tools", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      const steps = [step(0, [], "Multiply.", check()), step(1, [0], "Say."), step(2, [], "Ask.")]
      const policy = writes({ steps }, () => ({ type: "go-on" }))
      const workers = [says("a", "six"), says("b", "It is six."), says("c", asks, "42")].map(withTools) as never
      const options = { tools: [lookup], skipUnseen: false }
      const first = yield* ran(policy, workers, options, { journal, runId: "r" })
      assert.strictEqual(first.ending, "suspended")
      assert.notInclude(typesOf(first.events, "step-skipped"), "step-skipped")
      const conductor = Conductor.make({ ...options, policy, pool: WorkerPool.makeUnsafe(workers) })
      const results = { [first.waitingFor[0]!.id]: "7" }
      const { listener, transcript } = Transcript.recorder()
      const resumed = yield* conductor.resume({ runId: "r", results }, { journal, listener })
      assert.strictEqual(resumed.answer, "42")
      const held = transcript()!.rounds[0]!.steps[1]!
      assert.deepStrictEqual([held.state, "detail" in held], ["answered", false])
    })
  )

  it.live("asks the worker that takes over from an answer that was emitted before its check had ended", () =>
    Effect.gen(function* () {
      const journal = Journal.makeMemory()
      const slow = { ...journal, append: (batch: Journal.Batch) => Effect.delay(journal.append(batch), 20) }
      // The first process is stopped as it checks, the second before the next worker is asked.
      const finds = [new Promise<boolean>(() => {}), false, true]
      const policy = {
        ...writes({ steps: [step(0, [], "", check("next"))] }),
        checks: { number: () => finds.shift()! }
      }
      const pool = WorkerPool.makeUnsafe([says("a", "six"), says("b", "42")])
      const conductor = Conductor.make({ policy, pool })
      for (const kept of [journal, slow]) {
        const { interrupt } = yield* conductor.start("What is 6 times 7?", { journal: kept, runId: "r" })
        yield* Effect.sleep(10)
        assert.strictEqual((yield* interrupt).ending, "interrupted")
      }
      const { answer, spend } = yield* conductor.resume({ runId: "r" }, { journal })
      assert.strictEqual(answer, "42")
      const { spend: _, ...transcript } = Transcript.fromEvents(Journal.eventsOf(yield* journal.read("r")))!
      // A duplicate report is counted once.
      assert.strictEqual(Transcript.spendSoFar(transcript).costUsd, spend.costUsd)
      const { checks, state, text, turns } = transcript.rounds[0]!.steps[0]!
      assert.deepStrictEqual([state, text, turns?.map(({ text }) => text)], ["answered", "42", ["six"]])
      assert.deepStrictEqual(
        checks?.map(({ passed }) => passed),
        [false, true]
      )
    })
  )
})

describe("a language policy", () => {
  const plan = (...lines: ReadonlyArray<string>) => ["Hm.", "", ...lines].join("\n")

  it.effect("writes checks and reads what came of them, where the run has some", () =>
    Effect.gen(function* () {
      const model = says(
        "planner",
        plan(
          "model_id = [0, 1]",
          'subtasks = ["Multiply.", "Say it."]',
          'access_list = [[], "all"]',
          'checks = ["number", ""]'
        ),
        plan("model_id = [1]", 'subtasks = ["Correct it."]', 'access_list = [["0.0"]]')
      )
      const last = says("b", "42")
      const options = { checks: { number: isNumber } }
      const { answer, asked, transcript } = yield* ran(
        LanguagePolicy.make({ model }),
        [says("a", "six"), last],
        options
      )
      assert.deepStrictEqual([answer, asked], ["42", [1, 1]])
      assert.include(model.calls[0]!.messages[0]!.content, 'There are the checks "number"')
      const shown = model.calls[1]!.messages[1]!.content
      for (const part of [
        'checks = ["number", ""]',
        '"0.0" (Model 0):\nsix',
        "Step 0 failed its check: It is no number."
      ]) {
        assert.include(shown, part)
      }
      assert.deepStrictEqual(last.calls[0]!.messages.map(({ content }) => content).slice(0, 2), ["Multiply.", "six"])
      // A completion written during a round belongs to that round.
      assert.deepStrictEqual(
        transcript.rounds.map(({ completions }) => completions.length),
        [2, 0]
      )
    })
  )

  const lists = ["model_id = [0, 1]", 'subtasks = ["Multiply.", "Say it."]', 'access_list = [[], "all"]']
  const doubted = plan(...lists, 'checks = ["number", ""]')
  const named = (name: string) => ["model_id = []", "subtasks = []", `access_list = ${name}`]
  const stopping = (...texts: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const model = says("planner", doubted, ...texts)
      const run = yield* ran(LanguagePolicy.make({ model }), [says("a", "six"), says("b", "6")], {
        checks: { number: isNumber }
      })
      return { ...run, model }
    })

  // As prompted models write it: the form as it was shown, in prose and a fence, as JSON, with the inner list left out.
  it.effect.each([
    plan(...named('[["0.0"]]')),
    `Step 0 says "six", which is right in words.\n\n\`\`\`python\n${named("['0.0']").join("\n")}\n\`\`\`\nThat stands.`,
    '{"model_id": [], "subtasks": [], "access_list": [["0.0"]]}',
    `**model_id** = []\n**subtasks** = []\n**access_list** = [ [ "0.0" ] ]`,
    plan(...named('["0.0"]'), "checks = []")
  ])("stops with an answer that stands: %s", (text) =>
    Effect.gen(function* () {
      const { answer, asked, ending, model, transcript } = yield* stopping(text)
      assert.deepStrictEqual([answer, ending, asked], ["six", "answered", [1, 0]])
      assert.deepStrictEqual(transcript.rounds[0]!.revisions?.at(-1)?.decision, "stop")
      assert.include(model.calls[1]!.messages[1]!.content, 'access_list = [["0.1"]]')
    })
  )

  it.effect("is notified if an answer cannot be confirmed", () =>
    Effect.gen(function* () {
      const { answer, asked, model } = yield* stopping(plan(...named('[["0.1"]]')), plan(...named("[]")))
      assert.deepStrictEqual([answer, asked], ["6", [1, 1]])
      assert.include(
        model.calls[2]!.messages.at(-1)!.content,
        "The final answer cannot be step 1 of round 0, because that step has no answer."
      )
      const none = yield* stopping(plan(...named('[["3.0"]]')), plan(...named('[["0.0"]]')))
      assert.strictEqual(none.answer, "six")
    })
  )

  it.effect("has its fallback plan where it cannot be read in the middle of a round", () =>
    Effect.gen(function* () {
      const model = says("planner", doubted, "I do not know.")
      const policy = LanguagePolicy.make({ model, resamples: 0, fallback: Baselines.single(1) })
      const { answer, asked } = yield* ran(policy, [says("a", "six"), says("b", "42")], {
        checks: { number: isNumber }
      })
      assert.deepStrictEqual([answer, asked], ["42", [1, 1]])
    })
  )

  it.effect("continues with three empty lists, and sees no checks in a run without checks", () =>
    Effect.gen(function* () {
      const model = says(
        "planner",
        plan(...lists, 'checks = ["number: revise", ""]'),
        plan("model_id = []", "subtasks = []", "access_list = []")
      )
      const options = { checks: { number: isNumber } }
      const on = yield* ran(LanguagePolicy.make({ model }), [says("a", "six"), says("b", "6")], options)
      assert.deepStrictEqual([on.answer, on.rounds.length], ["6", 1])
      const other = says("planner", plan(...lists))
      yield* ran(LanguagePolicy.make({ model: other }), [says("a", "six"), says("b", "6")])
      assert.notInclude(other.calls[0]!.messages[0]!.content, "checks = ")
    })
  )
})

describe("the text of an answer", () => {
  it.effect("waits for a check that may replace it, and no longer", () =>
    Effect.gen(function* () {
      const again = { steps: [step(1, [], "")] }
      const policy = writes({ steps: [step(0, [], "", check())] }, () => ({ type: "re-plan", workflow: again }))
      const { events } = yield* ran(policy, [says("a", "six"), says("b", "42")])
      let state = AnswerText.start({ maxRounds: 1 })
      const pieces = events.flatMap((event) => {
        const [next, text] = AnswerText.emit(state, event)
        state = next
        return text === "" ? [] : [[event.type, text]]
      })
      assert.deepStrictEqual(pieces, [["step-delta", "42"]])
      assert.isFalse(state.isContradicted)
    })
  )
})

describe("withFallback", () => {
  it.effect("asks who has written the workflow", () =>
    Effect.gen(function* () {
      const chain = { steps: [step(0, [], "", check())] }
      const stop: Policy.Revision = { type: "stop", answer: { round: 0, step: 0 } }
      const main = {
        ...writes(chain, () => assert.fail("it wrote nothing")),
        propose: () => Effect.fail(new Policy.PolicyError({ policy: "main", detail: "no" }))
      }
      const policy = Policy.withFallback(main, { ...writes(chain, () => stop), name: "other" })
      const { answer, rounds } = yield* ran(policy, [says("a", "six")])
      assert.deepStrictEqual([answer, rounds.length], ["six", 1])
    })
  )
})
