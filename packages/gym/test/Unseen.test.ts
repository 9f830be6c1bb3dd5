/**
 * Questions that were written down with their right answers before the gym answered any of them: 414, then 234 after
 * the faults that the first ones showed were fixed, then 196. None may be answered wrongly, and those that are answered stay so.
 */
import fs from "node:fs"
import * as Conductor from "@divisi/core/Conductor"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as GymQuestion from "../src/GymQuestion.ts"

interface Unseen {
  readonly question: string
  /** Several answers if people would accept each of them, and none if there is nothing to answer. */
  readonly right: ReadonlyArray<string>
  readonly answered: boolean
}

const questions: ReadonlyArray<Unseen> = fs
  .readFileSync(new URL("./fixtures/unseenQuestions.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))

const conductor = Conductor.make({
  policy: GymQuestion.declining(LexicalPolicy.make()),
  pool: GymPool.make({ latencyMillis: 0, mistakes: false })
})

describe("questions that the gym was not written for", () => {
  it("are answered rightly or not at all", async () => {
    const wrong: Array<string> = []
    const declined: Array<string> = []
    for (const { answered, question, right } of questions) {
      const { answer, ending } = await Effect.runPromise(conductor.run(question))
      if (ending === "answered") {
        if (!right.some((one) => GymGrader.isCorrect(answer ?? "", one)))
          wrong.push(`${question} → ${answer}, not ${right.join(" or ")}`)
      } else if (answered) declined.push(question)
    }
    assert.deepStrictEqual({ wrong, declined }, { wrong: [], declined: [] })
  }, 120_000)
})
