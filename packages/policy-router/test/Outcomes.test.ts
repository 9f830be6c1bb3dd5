import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Outcomes from "../src/Outcomes.ts"

const written = (name: string, lines: ReadonlyArray<unknown>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "outcomes-"))
      const file = path.join(folder, name)
      const text = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`
      fs.writeFileSync(file, name.endsWith(".gz") ? gzipSync(text) : text)
      return { folder, file }
    }),
    ({ folder }) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
  ).pipe(Effect.map(({ file }) => file))

const row = { id: "1", kind: "sums", question: "1 + 1?", scores: { a: 1, b: 0.5 }, costUsd: { a: 0.01 } }

describe("Files of outcomes", () => {
  for (const name of ["plain.jsonl", "packed.jsonl.gz"]) {
    it.effect(`are read: ${name}`, () =>
      Effect.gen(function* () {
        const file = yield* written(name, [row, { question: "2 + 2?", scores: { a: null, b: true } }])
        const [first, second] = yield* Outcomes.read(file)
        assert.strictEqual(first!.kind, "sums")
        assert.deepStrictEqual(
          [...first!.scores],
          [
            ["a", 1],
            ["b", 0.5]
          ]
        )
        assert.deepStrictEqual([...first!.costUsd], [["a", 0.01]])
        assert.isUndefined(second!.kind)
        assert.deepStrictEqual([...second!.scores], [["b", 1]])
      })
    )
  }

  it.effect("may have kinds that are numbers, and costs and answers of other forms, which count as unknown", () =>
    Effect.gen(function* () {
      const odd = { ...row, kind: 7, costUsd: { a: "free", b: -1, c: 2 }, answers: { a: { text: "2" }, b: "2" } }
      const other = { ...row, question: "2 + 2?", costUsd: "unknown", answers: "none" }
      const [first, second] = yield* Outcomes.read(yield* written("odd.jsonl", [odd, other]))
      assert.strictEqual(first!.kind, "7")
      assert.deepStrictEqual([...first!.costUsd], [["c", 2]])
      assert.deepStrictEqual([...first!.answers], [["b", "2"]])
      assert.deepStrictEqual([second!.costUsd.size, second!.answers.size], [0, 0])
    })
  )

  it.effect("report each line once if none can be used", () =>
    Effect.gen(function* () {
      const file = yield* written("texts.jsonl", [{ ...row, scores: { a: "1" } }, row.question])
      const problems: Array<string> = []
      const onUnusable = (problem: string) => void problems.push(problem)
      const { message } = yield* Effect.flip(Outcomes.read(file, { onUnusable }))
      assert.lengthOf(problems, 2)
      assert.include(problems.join(), "Expected a score from 0 to 1")
      assert.include(message, "texts.jsonl contains no usable outcomes")
    })
  )

  it.effect("may hold single outcomes, which become one question with the scores of all", () =>
    Effect.gen(function* () {
      const one = { version: 1, at: 5, question: "q", worker: "a", score: 1, source: "user" }
      const place = yield* Outcomes.placeOf("1 + 1?")
      const file = yield* written("log.jsonl", [
        one,
        { ...one, at: 9, worker: "b", score: 0, place },
        { ...one, score: 0 }
      ])
      const [question, ...others] = yield* Outcomes.read(file)
      assert.lengthOf(others, 0)
      assert.deepStrictEqual(
        [...question!.scores],
        [
          ["a", 0.5],
          ["b", 0]
        ]
      )
      assert.strictEqual(question!.at, 5)
      const [example] = yield* Outcomes.examples([question!])
      assert.strictEqual(example!.point.length, 512)
    })
  )

  it.effect("are read without the unusable lines, which are reported to a listener", () =>
    Effect.gen(function* () {
      const problems: Array<string> = []
      const file = yield* written("odd.jsonl", [row, { ...row, scores: { a: 7 } }, [], { question: "no scores" }])
      fs.appendFileSync(file, '{"torn')
      const read = yield* Outcomes.read(file, { onUnusable: (problem) => problems.push(problem) })
      assert.deepStrictEqual([read.length, problems.length], [1, 4])
    })
  )

  it.effect("are refused with the place of what is wrong", () =>
    Effect.gen(function* () {
      const file = yield* written("bad.jsonl", [row, { ...row, scores: { a: 7 } }])
      const { message } = yield* Effect.flip(Outcomes.read(file))
      assert.match(message, /bad\.jsonl, outcome 2: .*score from 0 to 1/s)
      assert.match((yield* Effect.flip(Outcomes.read(yield* written("none.jsonl", [])))).message, /no outcomes/)
    })
  )
})
