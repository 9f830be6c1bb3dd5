/** Runs that were stored before steps could have items: `fixtures/released-0` is a journal and a transcript of them. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { conduct, decodeTranscript, encodeTranscript, policy, resume, worker } from "@divisi/core/promise"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openJournal } from "../src/promise.ts"

const fixture = path.join(import.meta.dirname, "fixtures/released-0")

let folder = ""
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-released-"))
  fs.copyFileSync(path.join(fixture, "runs.sqlite"), path.join(folder, "runs.sqlite"))
  fs.chmodSync(path.join(folder, "runs.sqlite"), 0o600)
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

/** The options with which the stored runs were made; the first call of `b` fails in a new run. */
const options = (isNew = false) => {
  const calls: Array<string> = []
  let failures = isNew ? 0 : 1
  const pool = ["a", "b"].map((id) =>
    worker({
      id,
      pricing: { inputPerMillion: 1, outputPerMillion: 2 },
      answer: ({ messages }) => {
        calls.push(id)
        if (id === "b" && failures++ === 0) throw Object.assign(new Error("503 Service Unavailable"), { status: 503 })
        return `${id} says ${messages.length}`
      }
    })
  )
  const steps = [
    { worker: "a", subtask: "Plan.", access: [], check: { by: "fine", onFailure: "continue" as const } },
    { worker: "b", subtask: "Do it.", access: [0] },
    { worker: "a", subtask: "Sum up.", access: "all" as const }
  ]
  const retry = { maxAttempts: 2, baseDelayMillis: 1 }
  return {
    calls,
    options: { pool, policy: policy("plain", () => ({ steps })), checks: { fine: () => true }, seed: 7, retry }
  }
}

const stored = fs.readFileSync(path.join(fixture, "transcript.json"), "utf8")

/** A transcript without times and ids, and without sentences, whose words may change. */
const timeless = (text: string) =>
  JSON.parse(text, (key, value) => (/At$|^at$|Millis$|^runId$|^id$|chargeId|^message$/u.test(key) ? undefined : value))

describe("files of an earlier version", () => {
  it("are read: a finished run is given back, and a stopped one asks only for what is missing", async () => {
    await using journal = await openJournal({ file: path.join(folder, "runs.sqlite") })
    const first = options()
    expect(await resume({ ...first.options, journal, runId: "whole" })).toMatchObject({
      ending: "answered",
      answer: "a says 5",
      spend: { calls: 4 }
    })
    expect(first.calls).toEqual([])
    const second = options()
    expect(await resume({ ...second.options, journal, runId: "half" })).toMatchObject({
      ending: "answered",
      answer: "a says 5",
      spend: { calls: 3 }
    })
    expect(second.calls).toEqual(["a"])
  })

  it("are written in the same form: a transcript is read, written and resumed as it was", async () => {
    const transcript = await decodeTranscript(stored)
    expect(JSON.parse(encodeTranscript(transcript))).toEqual(JSON.parse(stored))
    const { calls, options: same } = options()
    const again = await resume({ ...same, transcript, results: {} })
    expect([again.answer, again.spend.calls, calls.length]).toEqual(["a says 5", 4, 0])
  })

  it("are what the same run writes now", async () => {
    const now = await conduct({ question: "What is 6 times 7?", ...options(true).options })
    expect(timeless(encodeTranscript(now.transcript))).toEqual(timeless(stored))
  })
})
