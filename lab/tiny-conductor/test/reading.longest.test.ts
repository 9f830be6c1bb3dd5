/** Tests of the reading Conductor: trained at a small scale, and measured as published. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import type { Policy } from "@divisi/core/Policy"
import { Reader } from "@divisi/gguf"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import * as TeamRuns from "../src/reader/TeamRuns.ts"
import * as Training from "../src/reader/Training.ts"
import * as Sample from "../src/tiny/Sample.ts"
import * as Teams from "../src/world/Teams.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-reading-"))
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe("a training of a reading Conductor", () => {
  it.live("goes on where it stopped with the weights of one that was not stopped, and its model plans", () =>
    Effect.gen(function* () {
      const vectors = yield* Reader.loadVectors(ReadingPolicy.file)
      const train = (name: string, until: number) =>
        Training.trainReader({
          vectors,
          folder: path.join(folder, name),
          seed: 2,
          steps: 4,
          until,
          shape: { texts: 12, words: 16 }
        })
      const whole = yield* train("whole", 4)
      yield* train("stopped", 2)
      const resumed = yield* train("stopped", 4)
      assert.deepStrictEqual(resumed, whole)
      const head = yield* Training.trainHead([whole, resumed], {
        folder: path.join(folder, "whole-runs"),
        seed: 2,
        teams: 6,
        steps: 5,
        rollouts: 1,
        gateTeams: 1
      })
      const file = path.join(folder, "model.gguf")
      yield* ReadingPolicy.save(file, { readers: [whole, resumed], head }, { "divisi.seed": "2" })
      const model = yield* ReadingPolicy.load(file)
      assert.strictEqual(model.metadata["divisi.seed"], "2")
      const teams = Teams.draw({ split: "validation", count: 3, workers: [2, 4] })
      const runs = yield* TeamRuns.measure(ReadingPolicy.make(model), teams)
      assert.lengthOf(runs, 3)
    })
  )
})

describe("the reader that ships", () => {
  const teams = (options: Partial<Teams.Options>) =>
    Teams.draw({ split: "validation", count: 40, seed: 77, ...options })

  const right = Effect.fnUntraced(function* (policy: Policy, drawn: ReadonlyArray<Teams.Team>) {
    const runs = yield* TeamRuns.measure(policy, drawn)
    return Sample.estimate(runs.map((run) => run.right)).mean
  })

  it.live("asks better workers of teams that nobody has seen than the rule of words", () =>
    Effect.gen(function* () {
      const reading = ReadingPolicy.make(yield* ReadingPolicy.load())
      for (const options of [{}, { workers: [24, 24] }, { truth: "doubtful", record: 20 }] as const) {
        const drawn = teams(options)
        const [own, rule] = [yield* right(reading, drawn), yield* right(LexicalPolicy.make(), drawn)]
        assert.isAbove(own, rule + 0.05, JSON.stringify(options))
      }
    })
  )
})
