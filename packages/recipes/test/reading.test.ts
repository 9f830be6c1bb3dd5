import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import type { Policy } from "@divisi/core/Policy"
import * as Reader from "@divisi/gguf/Reader"
import * as Teams from "@divisi/gym/Teams"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import * as Breadth from "../src/teams/Breadth.ts"
import * as Choices from "../src/teams/Choices.ts"
import * as Examples from "../src/teams/Examples.ts"
import * as TeamRuns from "../src/teams/TeamRuns.ts"
import * as Training from "../src/teams/Training.ts"
import * as Words from "../src/teams/wordsOfBreadth.ts"
import * as Sample from "../src/tiny/Sample.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-reading-"))
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe("what a reader learns from", () => {
  it("has a label for every word, and the same seed and step give the same batch", () => {
    const batch = Examples.batch(3, 5)
    assert.deepStrictEqual(Examples.batch(3, 5), batch)
    assert.notDeepEqual(Examples.batch(3, 6), batch)
    assert.isAtMost(batch.length, Examples.shape.texts)
    for (const { about, said, words } of batch) {
      assert.isTrue((said === undefined) !== (about === undefined))
      if (said !== undefined) assert.lengthOf(said, words.length)
    }
  })

  it("words of its own vocabulary carry the mark of the phrase around them", () => {
    const marked = Breadth.draw(1, 300, 0).flatMap(({ said = [] }) => said.filter(({ mark }) => mark > 0))
    assert.isAbove(marked.filter(({ mark }) => Reader.marks[mark] === "weak").length, 100)
    // Of fields that no question is about, something is said too; a few words stand for several kinds.
    for (const { subjects } of marked) assert.isAtMost(subjects.length, 3)
    assert.isAbove(marked.filter(({ subjects }) => subjects.length === 0).length, 10)
    assert.isAbove(marked.filter(({ subjects }) => subjects.length === 1).length, 300)
  })

  it("nothing of it is held out by the gym, in its lexicon or by hand", () => {
    const ours = [
      ...Object.values(Words.topics),
      ...Object.values(Words.acts),
      Words.good,
      Words.weak,
      Words.check,
      Words.contrasts,
      Words.filler,
      Words.actsGood,
      Words.actsWeak,
      Words.distractors,
      ...Words.jointTopics.map(({ words }) => words)
    ]
    const texts = [...ours.flat(), ...Object.values(Words.flags).flat()].map((text) => text.toLowerCase())
    const asked = Object.values(Words.questions).flat()
    const held = new Set(Teams.heldOutTexts.map((text) => text.toLowerCase()))
    assert.isAbove(held.size, 500)
    assert.deepStrictEqual(
      [...texts, ...asked.map((text) => text.toLowerCase())].filter((text) => held.has(text)),
      []
    )
  })
})

describe("what a head learns from", () => {
  const lesson = (features: ReadonlyArray<ReadonlyArray<number>>, values: ReadonlyArray<number>): Choices.Lesson => ({
    features,
    values,
    wanted: { worker: [...features.map(() => 0), 1] }
  })
  const own = (first: number) => Array.from({ length: ChoiceHead.inputs }, (_, at) => (at === 0 ? first : 0.1 * at))

  it("choices are worth what they are right about, and to refuse costs the answer that somebody has", () => {
    const head = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(at) / 4)
    const lessons = [lesson([own(1), own(0)], [0.9, 0.2, 0]), lesson([own(-1), own(-2)], [0.9, 0.9, 1])]
    const climb = Choices.ascent(head)
    for (let step = 0; step < 300; step++) {
      const sums = new Float64Array(ChoiceHead.size)
      Choices.addValues(sums, head, lessons)
      climb(sums, 0.03)
    }
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, lessons[0]!.features).worker), 0)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, lessons[1]!.features).worker), 2)
  })

  it("now and then nothing was read of some workers, and all else of them stays", () => {
    const whole = lesson([own(1), own(1)], [1, 0, 0])
    assert.strictEqual(
      Choices.partlyUnread(whole, () => 0.99),
      whole
    )
    const draws = [0, 0, 0.99]
    const { features } = Choices.partlyUnread(whole, () => draws.shift()!)
    assert.deepStrictEqual(features[1], whole.features[1])
    assert.strictEqual(features[0]![0], 0)
    assert.deepStrictEqual(features[0]!.slice(2, 12), whole.features[0]!.slice(2, 12))
  })
})

describe("a training of a reading Conductor", () => {
  it.live(
    "goes on where it stopped with the weights of one that was not stopped, and its model plans",
    () =>
      Effect.gen(function* () {
        const train = (name: string, until: number) =>
          Training.trainReader({
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
        const head = yield* Training.trainHead(whole, { seed: 2, teams: 6, steps: 5, rollouts: 1, gateTeams: 1 })
        const file = path.join(folder, "model.gguf")
        yield* ReadingPolicy.save(file, { reader: whole, head }, { "divisi.seed": "2" })
        const model = yield* ReadingPolicy.load(file)
        assert.strictEqual(model.metadata["divisi.seed"], "2")
        const teams = Teams.draw({ split: "validation", count: 3, workers: [2, 4] })
        const runs = yield* TeamRuns.measure(ReadingPolicy.make(model), teams)
        assert.lengthOf(runs, 3)
      }),
    60_000
  )
})

describe("the reader that ships", () => {
  const teams = (options: Partial<Teams.Options>) =>
    Teams.draw({ split: "validation", count: 40, seed: 77, ...options })

  const right = Effect.fnUntraced(function* (policy: Policy, drawn: ReadonlyArray<Teams.Team>) {
    const runs = yield* TeamRuns.measure(policy, drawn)
    return Sample.estimate(runs.map((run) => run.right)).mean
  })

  it.live(
    "asks better workers of teams that nobody has seen than the rule of words",
    () =>
      Effect.gen(function* () {
        const reading = ReadingPolicy.make(yield* ReadingPolicy.load())
        for (const options of [{}, { workers: [24, 24] }, { truth: "doubtful", record: 20 }] as const) {
          const drawn = teams(options)
          const [own, rule] = [yield* right(reading, drawn), yield* right(LexicalPolicy.make(), drawn)]
          assert.isAbove(own, rule + 0.05, JSON.stringify(options))
        }
      }),
    60_000
  )
})
