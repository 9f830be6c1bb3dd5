import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as promise from "@divisi/core/promise"
import { assert, describe, it } from "vitest"
import { openCache, openJournal } from "../src/promise.ts"

describe("conduct", () => {
  it("keeps answers in a file for as long as it is open, and says why one cannot be", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "divisi-promise-"))
    const file = path.join(folder, "cache.sqlite")
    let calls = 0
    const options = {
      question: "What is 6 times 7?",
      pool: [promise.worker({ id: "counted", answer: () => `call ${++calls}` })],
      policy: promise.single(0)
    }
    const answers: Array<string | undefined> = []
    for (let opened = 0; opened < 2; opened++) {
      await using cache = await openCache({ file })
      answers.push((await promise.conduct({ ...options, cache })).answer)
    }
    assert.deepStrictEqual([answers, readdirSync(folder)], [["call 1", "call 1"], ["cache.sqlite"]])
    const error: Error = await openCache({ file: folder }).catch((error) => error)
    assert.include(error.message, `The response cache ${folder} cannot be written`)
    rmSync(folder, { recursive: true })
  })

  it("lists the runs that a file keeps, with what they wait for", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "divisi-promise-"))
    {
      await using journal = await openJournal({ file: path.join(folder, "runs.sqlite") })
      const answering = promise.worker({ id: "a", answer: () => "42" })
      for (const runId of ["1", "2", "3"]) {
        await promise.conduct({
          question: `Which is ${runId}?`,
          pool: [answering],
          policy: promise.single(0),
          journal,
          runId
        })
      }
      const listed = await journal.runs({ after: "3", limit: 1 })
      assert.deepStrictEqual(
        listed.map(({ ending, question, run }) => [run, question, ending]),
        [["2", "Which is 2?", "answered"]]
      )
      assert.lengthOf(await journal.runs(), 3)
    }
    rmSync(folder, { recursive: true })
  })
})
