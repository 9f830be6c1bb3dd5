import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { conduct, worker } from "@divisi/core/promise"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Learned from "../src/Learned.ts"
import * as Outcomes from "../src/Outcomes.ts"
import { routed } from "../src/Routed.ts"
import * as Table from "../src/Table.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-routed-"))

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const priced = (id: string, outputPerMillion: number) =>
  worker({ id, answer: () => `I am ${id}.`, pricing: { inputPerMillion: 1, outputPerMillion } })

const pool = [priced("small", 1), priced("large", 10)]

const ask = async (file: string, workers = pool) => {
  const { answer, transcript } = await conduct({
    question: "How much is 8 plus 3?",
    pool: workers,
    policy: routed({ file })
  })
  return { answer, notes: transcript.rounds[0]!.notes ?? [] }
}

/** A file in which the small one is better. */
const learned = Effect.gen(function* () {
  const file = path.join(folder, "learned.json")
  const graded = Array.from({ length: 60 }, (_, index) => ({
    id: `${index}`,
    text: `How much is ${index % 11} plus ${index % 7}?`,
    scores: new Map([
      ["small", 1],
      ["large", index % 2]
    ]),
    costUsd: new Map(),
    answers: new Map(),
    at: 0
  }))
  const table = Result.getOrThrow(Table.fit(yield* Outcomes.examples(graded)))
  yield* Learned.promote(file, { at: 0, why: "a test", table })
  return file
})

describe("routed", () => {
  it("goes by prices where nothing was learned, and by what was learned where that knows the pool", async () => {
    assert.strictEqual((await ask(path.join(folder, "none.json"))).answer, "I am large.")
    const file = await Effect.runPromise(learned)
    assert.strictEqual((await ask(file)).answer, "I am small.")
    const others = [priced("other", 1), priced("large", 10)]
    assert.strictEqual((await ask(file, others)).answer, "I am large.")
  })

  it("has answers checked where the run has a check, with what was learned and without", async () => {
    for (const file of [path.join(folder, "none.json"), await Effect.runPromise(learned)]) {
      const sure = (await ask(file)).answer
      const checks = { other: (answer: string) => answer !== sure || "Somebody else, please." }
      const { answer, spend } = await conduct({
        question: "How much is 8 plus 3?",
        pool,
        policy: routed({ file }),
        checks
      })
      assert.deepStrictEqual([answer, spend.calls], [sure === "I am large." ? "I am small." : "I am large.", 2])
      const none = { nobody: () => "Nobody is good enough." }
      const { answer: stands } = await conduct({
        question: "How much is 8 plus 3?",
        pool,
        policy: routed({ file }),
        checks: none
      })
      assert.strictEqual(stands, sure)
    }
  })

  it("continues with an unusable file, and reports it", async () => {
    const file = path.join(folder, "damaged.json")
    fs.writeFileSync(file, "{")
    const { answer, notes } = await ask(file)
    assert.strictEqual(answer, "I am large.")
    assert.match(notes[0]!, /^The learned table is not used: .*damaged\.json/)
  })
})
