/**
 * Executes a call the way a run does: with a budget, a time limit and a transcript, all of which must be correct for
 * any response.
 */
import assert from "node:assert/strict"
import { Baselines, Resilience, type RunEvent, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Wire from "@divisi/core/Wire"
import type { Worker, WorkerErrorReason } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { assertHidden } from "./subject.ts"

/** How a call ended. */
export interface Played {
  /** Not set if the call failed. */
  readonly text: string | undefined
  /** Not set if the call succeeded. */
  readonly reason: WorkerErrorReason | undefined
}

const pricing = { inputPerMillion: 100, outputPerMillion: 100 }

const budget = { costUsd: 1, tokens: 20_000, calls: 1 }

/** Time limit for an endless answer, in milliseconds. */
const timeoutMillis = 3000

/** Messages from the JavaScript engine that do not help the reader of an error. */
const ofCode =
  /Cannot (?:read|set|destructure|convert)|(?:undefined|null|object) is not|is not (?:a function|iterable)|\[object |Invalid string/

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const acting = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

const assertPresentable = (reason: WorkerErrorReason) => {
  const remedy = "remedy" in reason ? reason.remedy : undefined
  for (const text of [reason.detail ?? "", remedy ?? ""]) {
    assert.doesNotMatch(text, ofCode, `The error is told in words about code: ${text}`)
    assert.doesNotMatch(text, acting, "The error has characters that act on a terminal.")
  }
  const others = Object.entries(reason).filter(
    ([name, value]) => value !== undefined && !/^(?:_tag|detail|remedy)$/.test(name)
  )
  for (const [name, value] of others) assert.ok(Number.isFinite(value), `${name} is ${value}, which is no number.`)
}

/** The transcript and each event must be equal after they are encoded and decoded. */
const assertReadable = (transcript: Transcript.Transcript, events: ReadonlyArray<RunEvent.RunEvent>) => {
  const written = Wire.encodeTranscript(transcript)
  const read = Result.getOrThrow(Wire.decodeTranscript(written))
  assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(written), "The transcript is read back as another.")
  for (const event of events) Result.getOrThrow(Wire.decodeRunEvent(Wire.encodeRunEvent(event)))
}

const assertWithinBudget = ({ spend }: Transcript.Transcript) => {
  assert.ok(spend, "The run says nothing of what it has spent.")
  const { costUsd, usage } = spend
  const { estimated: _, misreported: __, ...tokens } = usage
  for (const [name, count] of Object.entries({ costUsd, ...tokens })) {
    assert.ok(Number.isFinite(count) && count >= 0, `${name} is ${count}: no call uses that.`)
  }
  assert.ok((usage.cachedInputTokens ?? 0) <= usage.inputTokens, "More of the input was cached than there was.")
}

/** Runs one call through a Conductor and checks the invariants that hold for every run. */
export const play = async (worker: Worker, secret: string): Promise<Played> => {
  const recorder = Transcript.recorder()
  const events: Array<RunEvent.RunEvent> = []
  const listener = (event: RunEvent.RunEvent) => {
    events.push(event)
    recorder.listener(event)
  }
  const conductor = Conductor.make({
    policy: Baselines.single(0),
    pool: WorkerPool.makeUnsafe([{ ...worker, pricing }]),
    budget,
    retry: Resilience.noRetry,
    worker: { maxOutputTokens: 1000, timeoutMillis }
  })
  const result = await Effect.runPromise(conductor.run("Say hello.", { listener }))
  const transcript = recorder.transcript()
  assert.ok(transcript, "The run has no transcript.")
  assertReadable(transcript, events)
  assertWithinBudget(transcript)
  assert.ok(!JSON.stringify([transcript, events]).includes(secret), "A secret shows in the record.")
  assertHidden(result.error, secret)
  const step = transcript.rounds[0]?.steps[0]
  const [lost] = step?.lost ?? []
  // A refusal is also an answer from the vendor.
  const isWhole = result.ending === "answered" || result.ending === "refused"
  if (isWhole && step?.state === "answered") return { text: step.text, reason: undefined }
  const reason = lost?.reason
  assert.ok(reason, `The call neither answered nor failed: ${result.ending} (${result.detail}).`)
  assertPresentable(reason)
  return { text: undefined, reason }
}
