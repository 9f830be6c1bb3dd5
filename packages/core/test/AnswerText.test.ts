import { AnswerText, type Resilience, type RunEvent, type Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const usage = { inputTokens: 1, outputTokens: 1 }

const said = (...texts: Array<string>): ReadonlyArray<WorkerPart> => [
  ...texts.map((text) => ({ type: "text", text }) as const),
  { type: "finish", reason: "stop", usage }
]

const cut = (...texts: Array<string>): ScriptedWorker.Reply => ({
  parts: texts.map((text) => ({ type: "text", text }) as const),
  thenFail: { _tag: "Network" }
})

interface Scene {
  readonly workers: Readonly<Record<string, ReadonlyArray<ScriptedWorker.Reply>>>
  readonly steps?: ReadonlyArray<Workflow.Step> | undefined
  readonly answer?: "majority" | undefined
  readonly recursion?: number | undefined
  readonly reassign?: Resilience.Reassign | undefined
  readonly isRetractable?: boolean | undefined
}

/** Runs a scene. Returns the emitted pieces, and whether all were emitted before the run ended. */
const play = Effect.fnUntraced(function* (scene: Scene) {
  const { answer: vote, isRetractable, reassign = "never", recursion = 0, steps, workers } = scene
  const pool = WorkerPool.makeUnsafe(
    Object.entries(workers).map(([id, replies]) => ScriptedWorker.make({ id, replies }))
  )
  const workflow = {
    steps: steps ?? [{ worker: 0, subtask: "", access: [] }],
    ...(vote === undefined ? {} : { answer: vote })
  }
  const conductor = Conductor.make({
    policy: Policy.fixed("fixed", () => workflow),
    pool,
    recursion,
    reassign,
    retry: { baseDelayMillis: 0 }
  })
  let state = AnswerText.start({ maxRounds: conductor.maxRounds, isRetractable })
  const pieces: Array<string> = []
  const live: Array<string> = []
  const listener = (event: RunEvent.RunEvent) => {
    const [next, text] = AnswerText.emit(state, event)
    state = next
    if (text !== "") pieces.push(text)
    if (text !== "" && event.type !== "run-finished") live.push(text)
  }
  const { answer } = yield* conductor.run("Q", { listener })
  return { answer, pieces, live, state }
})

describe("AnswerText", () => {
  it.live("tells the answering step alone, as it comes", () =>
    Effect.gen(function* () {
      const { live, pieces } = yield* play({
        workers: { draft: [{ parts: said("no", "ise") }], last: [{ parts: said("ans", "wer") }] },
        steps: [
          { worker: 0, subtask: "", access: [] },
          { worker: 1, subtask: "", access: "all" }
        ]
      })
      // Deltas that arrive together are one piece.
      assert.deepStrictEqual(live, ["answer"])
      assert.deepStrictEqual(pieces, live)
    })
  )

  it.live("waits for the end where another round may follow", () =>
    Effect.gen(function* () {
      const { live, pieces } = yield* play({ workers: { a: [{ parts: said("ans", "wer") }] }, recursion: 1 })
      assert.deepStrictEqual(live, [])
      assert.deepStrictEqual(pieces, ["answer"])
    })
  )

  it.live("waits for the end where steps vote", () =>
    Effect.gen(function* () {
      const step = (worker: number) => ({ worker, subtask: "", access: [] })
      const { live, pieces } = yield* play({
        workers: { a: ["42"], b: ["41"] },
        steps: [step(0), step(0), step(1)],
        answer: "majority"
      })
      assert.deepStrictEqual(live, [])
      assert.deepStrictEqual(pieces, ["42"])
    })
  )

  it.live("does not repeat what a second call says again", () =>
    Effect.gen(function* () {
      const { answer, pieces, state } = yield* play({
        workers: { a: [cut("Hello, "), { parts: said("He", "llo, wor", "ld") }] }
      })
      assert.strictEqual(answer, "Hello, world")
      assert.deepStrictEqual(pieces, ["Hello, ", "world"])
      assert.isFalse(state.isContradicted)
    })
  )

  it.live("reports that a second call has a different answer", () =>
    Effect.gen(function* () {
      const { pieces, state } = yield* play({ workers: { a: [cut("Hello"), { parts: said("Good ", "day") }] } })
      assert.deepStrictEqual(pieces, ["Hello"])
      assert.isTrue(state.isContradicted)
    })
  )

  it.live("reports that the second answer is shorter than the emitted text", () =>
    Effect.gen(function* () {
      const { pieces, state } = yield* play({ workers: { a: [cut("Hello"), { parts: said("Hell") }] } })
      assert.deepStrictEqual(pieces, ["Hello"])
      assert.isTrue(state.isContradicted)
    })
  )

  it.live("retracts the text of a failed call where its consumer can", () =>
    Effect.gen(function* () {
      const { pieces, state } = yield* play({
        isRetractable: true,
        workers: { a: [cut("Hello"), { parts: said("Good ", "day") }] }
      })
      assert.deepStrictEqual(pieces, ["Hello", "Good day"])
      assert.deepStrictEqual([state.emitted, state.retractions, state.isContradicted], ["Good day", 1, false])
    })
  )

  it.live("follows another worker that takes over", () =>
    Effect.gen(function* () {
      const { live } = yield* play({
        workers: {
          a: [{ parts: [{ type: "text", text: "Hi" }], thenFail: { _tag: "Quota" } }],
          b: [{ parts: said("Hi ", "there") }]
        },
        reassign: "next"
      })
      assert.deepStrictEqual(live, ["Hi", " there"])
    })
  )
})
