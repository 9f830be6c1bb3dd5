import type { RunEvent } from "@divisi/core"
import { assert, describe, it } from "vitest"
import * as Failure from "../src/segment/Failure.ts"
import * as OwnWords from "../src/segment/OwnWords.ts"

const at = { runId: "a", at: 0 }
const place = { round: 0, step: 0 }
const checked = {
  type: "step-checked",
  ...at,
  ...place,
  turn: 0,
  check: "grade",
  worker: "w",
  durationMillis: 1
} as const
const failed = { type: "call-failed", ...at, ...place, sample: 0, attempt: 0, by: "check", worker: "w" } as const

describe("OwnWords", () => {
  it("hides why a check could not run, also where it is quoted, and shows what a check objects", () => {
    const objection = "The check could not run: connect ECONNREFUSED 10.0.0.7:5432"
    const note = (text: string) => ({ type: "round-revised", ...at, round: 0, policy: "p", notes: [text] }) as const
    const events = [
      { ...failed, reason: { _tag: "Network", detail: "connect ECONNREFUSED" }, message: "connect ECONNREFUSED" },
      { ...checked, passed: false, objection, couldNotRun: true },
      note(`Step 0 failed its check: ${objection}`),
      { ...checked, passed: false, objection: "It has no unit." },
      note("Step 0 failed its check: It has no unit.")
    ] as unknown as ReadonlyArray<RunEvent.RunEvent>
    const [, broken, quoted, objects, quotedToo] = OwnWords.all(events)
    const hidden = `The check could not run: ${Failure.unnamed}`
    assert.deepInclude(broken, { objection: hidden })
    assert.deepInclude(quoted, { notes: [`Step 0 failed its check: ${hidden}`] })
    assert.deepStrictEqual([objects, quotedToo], events.slice(3))
  })
})
