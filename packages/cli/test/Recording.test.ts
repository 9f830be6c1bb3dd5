import { type RunEvent, Transcript } from "@divisi/core"
import { Sealed } from "@divisi/files"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Recording from "../src/replay/Recording.ts"
import * as BlockView from "../src/view/BlockView.ts"
import * as PlainView from "../src/view/PlainView.ts"
import { complete, events, finished, fold, type Part, proposed, runId, running, started } from "./fixture.ts"

const transcriptOf = (list: ReadonlyArray<RunEvent.RunEvent>) => JSON.stringify(Transcript.fromEvents(list), null, 2)

const linesOf = (list: ReadonlyArray<RunEvent.RunEvent>) => list.map((event) => `${JSON.stringify(event)}\n`).join("")

const failure = (text: string): string => {
  const read = Recording.read(text)
  return Result.isFailure(read) ? read.failure : "it could be read"
}

const final = (list: ReadonlyArray<RunEvent.RunEvent>) => BlockView.toPlainText(BlockView.final(fold(list), 100))

const lost: Part = {
  type: "call-failed",
  round: 0,
  step: 0,
  worker: "units",
  attempt: 0,
  reason: { _tag: "Overloaded" },
  message: "units is overloaded",
  usage: { inputTokens: 5, outputTokens: 0 },
  costUsd: 0
}

/** A run with all that can happen to a step, and a nested run. */
const eventful: ReadonlyArray<RunEvent.RunEvent> = [
  ...events([
    started,
    ...proposed,
    { type: "step-started", round: 0, step: 0, worker: "units" },
    lost,
    { type: "step-reassigned", round: 0, step: 0, from: "units", to: "generalist" },
    { ...finished(0, "generalist", "4320"), durationMillis: 300 } as Part,
    { type: "step-started", round: 0, step: 1, worker: "calendar" }
  ]),
  ...events([{ ...started, parent: { runId, round: 0, step: 1 } } as Part, ...proposed], `${runId}/0/1`).map(
    (event) => ({
      ...event,
      at: event.at + 1_000
    })
  ),
  ...events([
    { type: "step-failed", round: 0, step: 1, worker: "calendar", message: "It failed.", durationMillis: 700 } as Part,
    { type: "step-skipped", round: 0, step: 2, worker: "generalist", reason: "budget" } as Part,
    {
      type: "run-finished",
      ending: "budget",
      detail: "The cost limit is reached.",
      spend: { usage: { inputTokens: 35, outputTokens: 10 }, costUsd: 0.1, calls: 2, unpricedCalls: 0 },
      durationMillis: 2_000
    } as Part
  ]).map((event) => ({ ...event, at: event.at + 2_000 }))
]

describe("a transcript that carries a checksum", () => {
  const text = Sealed.stringify(Transcript.fromEvents(eventful)!, 2)

  it("is read if it matches, also reformatted or without its checksum", () => {
    for (const one of [text, JSON.stringify(JSON.parse(text)), transcriptOf(eventful)]) {
      assert.isTrue(Result.isSuccess(Recording.read(one)))
    }
  })

  it("is not read as another one", () => {
    const damaged = text.replace(/"at": \d/, (at) => `${at.slice(0, -1)}9`)
    assert.include(failure(damaged), "its checksum does not match")
  })
})

describe("a recording", () => {
  it("is read from lines of events as it is", () => {
    const list = events(complete)
    const recording = Result.getOrThrow(Recording.read(linesOf(list)))
    for (const [index, { at }] of list.entries()) {
      assert.deepStrictEqual(recording.at(at), Transcript.fromEvents(list.slice(0, index + 1)))
    }
    assert.deepStrictEqual(recording.at(list[0]!.at), Transcript.fromEvents(list.slice(0, 1)))
  })

  for (const [name, list] of [
    ["a complete run", events(complete)],
    ["a run that was cut off", events(running)],
    ["an eventful run", eventful]
  ] as const) {
    it(`is read from the transcript of ${name}, and ends in the same view`, () => {
      const { at, endedAt, run } = Result.getOrThrow(Recording.read(transcriptOf(list)))
      for (const replayed of [run, at(endedAt)]) {
        assert.strictEqual(BlockView.toPlainText(BlockView.final(replayed, 100)), final(list))
      }
    })

    it(`of ${name} plays in the order of time`, () => {
      const { run } = Result.getOrThrow(Recording.read(transcriptOf(list)))
      const times = PlainView.entries(run).map(({ at }) => at)
      assert.deepStrictEqual(
        times.toSorted((left, right) => left - right),
        times
      )
    })
  }

  it("starts and ends steps when they did", () => {
    const recording = Result.getOrThrow(Recording.read(transcriptOf(events(complete))))
    const stateAt = (time: number) => recording.at(time).rounds[0]!.steps[1]!.state
    const [start, end] = [4, 7].map((index) => events(complete)[index]!.at) as [number, number]
    assert.deepStrictEqual([start - 1, start, end - 1, end].map(stateAt), ["waiting", "running", "running", "answered"])
  })

  it("says in one message what is wrong with a file", () => {
    const lines = linesOf(events(complete))
    assert.strictEqual(failure(" \n"), "is empty.")
    assert.include(failure("hello"), "not a run transcript or event file")
    assert.include(failure('{"a":1}'), "not a run transcript or event file")
    assert.include(failure(transcriptOf(events(complete)).slice(0, 300)), "truncated")
    assert.include(failure(lines.slice(0, -30)), `line ${complete.length}`)
    assert.include(failure(lines.slice(lines.indexOf("\n") + 1)), "the beginning is missing")
    assert.include(failure(lines.replace('"version":1', '"version":99')), "version 99")
    assert.include(failure(transcriptOf(events(complete)).replace('"seed": 0', '"seed": "x"')), "seed")
  })
})
