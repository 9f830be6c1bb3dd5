import { assert, describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { RunEvent, Type } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Wire from "../src/events/Wire.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type { Task } from "../src/task/Task.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const json = Arbitrary.schema(Schema.Record(Schema.String, Schema.Json))

/** Models with metadata that JSON can hold: the type says `unknown`. */
const withMetadata = <A>(schema: Wire.Of<A>, change: (value: A, metadata: Record<string, unknown>) => A) =>
  Arbitrary.map(Arbitrary.all([Arbitrary.schema(schema), json]), ([value, metadata]) =>
    // -0 has no JSON.
    change(value, JSON.parse(JSON.stringify(metadata)))
  )

const taskWith = (task: Task, metadata: Record<string, unknown>): Task =>
  task.metadata === undefined ? task : { ...task, metadata }

const transcriptWith = (
  transcript: Transcript.Transcript,
  metadata: Record<string, unknown>
): Transcript.Transcript => ({
  ...transcript,
  task: taskWith(transcript.task, metadata),
  rounds: transcript.rounds.map((round) => ({
    ...round,
    steps: round.steps.map((step) =>
      step.nested === undefined ? step : { ...step, nested: transcriptWith(step.nested, metadata) }
    )
  }))
})

/** -0 is written as 0. */
const positive = <A>(value: A): A =>
  (Object.is(value, -0)
    ? 0
    : Array.isArray(value)
      ? value.map(positive)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, positive(inner)]))
        : value) as A

const message = (result: Result.Result<unknown, Wire.WireError>) => {
  if (Result.isSuccess(result)) throw new Error("it was read")
  return result.failure.message
}

/** Events of a run in which much goes wrong: failures, retries, a nested run, a cut. */
const recorded = Effect.gen(function* () {
  const events: Array<RunEvent> = []
  const pool = WorkerPool.makeUnsafe([
    ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "ContextTooLong", neededTokens: 9 } }, "fine"] }),
    { id: "b", description: "of unknown price", generate: ScriptedWorker.echo("b").generate }
  ])
  const policy: Policy.Policy = {
    name: "outer",
    propose: (context) =>
      (context.self
        ? Policy.fixed("outer", () => ({
            steps: [
              { worker: 0, subtask: "One.", access: [] },
              { worker: 2, subtask: "Two.", access: [0] },
              { worker: 1, subtask: "Three.", access: "all" }
            ]
          }))
        : Baselines.single(1)
      ).propose(context)
  }
  const conductor = Conductor.make({ policy, pool, self: { maxDepth: 1 }, recursion: 1, reassign: "never" })
  yield* conductor.run(
    { question: "Why?", metadata: { family: "why", depth: [1, null] } },
    { runId: "r", listener: (event) => events.push(event) }
  )
  return events
})

describe("run events", () => {
  it.effect.prop(
    "come back as they were written",
    [
      withMetadata(Wire.RunEvent, (event, metadata) =>
        event.type === "run-started" ? { ...event, task: taskWith(event.task, metadata) } : event
      )
    ],
    ([event]) =>
      Effect.sync(() => {
        const line = Wire.encodeRunEvent(event)
        assert.isFalse(line.includes("\n"))
        assert.deepStrictEqual(Result.getOrThrow(Wire.decodeRunEvent(line)), positive(event))
      }),
    { arbitrary: { runs: 400 } }
  )

  it("keep an unknown cost unknown", () => {
    const paid = { usage: { inputTokens: 1, outputTokens: 2 }, costUsd: undefined }
    const event: RunEvent = { type: "call-interrupted", runId: "r", at: 0, round: 0, worker: "a", ...paid }
    const read = Result.getOrThrow(Wire.decodeRunEvent(Wire.encodeRunEvent(event)))
    assert.deepStrictEqual(read, event)
    assert.isTrue("costUsd" in read)
    const encoded = Schema.encodeUnknownSync(Wire.RunEvent)(event)
    assert.deepStrictEqual(encoded, JSON.parse(Wire.encodeRunEvent(event)))
  })

  it.effect("of a real run come back, line by line and as a whole", () =>
    Effect.gen(function* () {
      const events = yield* recorded
      const types = new Set<Type>(events.map((event) => event.type))
      for (const type of ["call-failed", "step-failed", "step-finished", "run-finished"] as const) {
        assert.isTrue(types.has(type), type)
      }
      const text = `${events.map(Wire.encodeRunEvent).join("\n")}\n\n`
      assert.deepStrictEqual(Result.getOrThrow(Wire.decodeRunEvents(text)), events)
    })
  )

  it("may carry fields that this version does not know", () => {
    const line = '{"type":"round-started","runId":"r","at":1,"round":0,"mood":"good"}'
    expect(Result.getOrThrow(Wire.decodeRunEvent(line))).toEqual({
      type: "round-started",
      runId: "r",
      at: 1,
      round: 0
    })
  })

  it("that are wrong are refused with the field that is", () => {
    const started = {
      type: "run-started",
      version: 1,
      runId: "r",
      at: 0,
      task: { id: "t", messages: [{ role: "bot", content: "Why?" }] },
      pool: [],
      policy: "p",
      seed: 0
    }
    expect(message(Wire.decodeRunEvent(JSON.stringify(started)))).toBe(
      'The run event cannot be read at "task.messages[0]": expected its role to be one of system, developer, user, assistant, tool.'
    )
    expect(message(Wire.decodeRunEvent('{"type":"round-started","runId":"r","at":0,"round":1.5}'))).toBe(
      'The run event cannot be read at "round": expected an integer.'
    )
    expect(message(Wire.decodeRunEvent('{"type":"round-started","runId":"r","round":1}'))).toBe(
      'The run event cannot be read at "at": missing key.'
    )
    expect(message(Wire.decodeRunEvent('{"type":"round-ended","runId":"r","at":0,"round":1}'))).toMatch(
      /^The run event cannot be read: expected its type to be one of run-started, round-started, .*, run-finished\.$/
    )
    expect(message(Wire.decodeRunEvent("{nope"))).toMatch(/^The run event is not JSON: /)
  })

  it("of a file are refused with their line", () => {
    const good = '{"type":"round-started","runId":"r","at":0,"round":0}'
    expect(message(Wire.decodeRunEvents(`${good}\n\n${good}\n{"type":"round-started"}\n`))).toMatch(
      /^The run event on line 4 cannot be read at /
    )
  })
})

describe("transcripts", () => {
  it.effect.prop(
    "come back as they were written",
    [withMetadata(Wire.Transcript, transcriptWith)],
    ([transcript]) =>
      Effect.sync(() =>
        assert.deepStrictEqual(
          Result.getOrThrow(Wire.decodeTranscript(Wire.encodeTranscript(transcript))),
          positive(transcript)
        )
      ),
    { arbitrary: { runs: 100 } }
  )

  it.effect("of a real run come back at every moment of it", () =>
    Effect.gen(function* () {
      const events = yield* recorded
      for (let count = 1; count <= events.length; count++) {
        const transcript = Transcript.fromEvents(events.slice(0, count))!
        const read = Result.getOrThrow(Wire.decodeTranscript(Wire.encodeTranscript(transcript)))
        assert.deepStrictEqual(read, transcript)
      }
      const whole = Transcript.fromEvents(events)!
      assert.isDefined(whole.rounds[0]?.steps[1]?.nested)
    })
  )

  it("of another version are refused as such, whatever else they hold", () => {
    expect(message(Wire.decodeTranscript('{"version":2,"runs":[]}'))).toBe(
      "The transcript has version 2, but only version 1 is supported. Use the release of Divisi that wrote it, or a newer one."
    )
    expect(message(Wire.decodeRunEvent('{"type":"run-started","version":"next"}'))).toMatch(/has version "next"/)
  })
})

describe("tasks and workflows", () => {
  it.effect.prop(
    "come back as they were written",
    [withMetadata(Wire.Task, taskWith), Arbitrary.schema(Wire.Workflow)],
    ([task, workflow]) =>
      Effect.sync(() => {
        assert.deepStrictEqual(Result.getOrThrow(Wire.decodeTask(JSON.stringify(task))), positive(task))
        assert.deepStrictEqual(Result.getOrThrow(Wire.decodeWorkflow(JSON.stringify(workflow))), positive(workflow))
      })
  )

  it("that are wrong are refused with the field that is", () => {
    expect(message(Wire.decodeTask('{"id":"t","messages":[]}'))).toBe(
      'The task cannot be read at "messages[0]": missing key.'
    )
    expect(message(Wire.decodeWorkflow('{"steps":[{"worker":0,"subtask":"Go.","access":[0,"1"]}]}'))).toBe(
      'The workflow cannot be read at "steps[0].access[1]": expected number.'
    )
    expect(message(Wire.decodeWorkflow("7"))).toMatch(/^The workflow cannot be read: expected/)
  })
})
