import * as Reader from "@divisi/gguf/Reader"
import * as Teams from "@divisi/gym/Teams"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import { assert, describe, it } from "@effect/vitest"
import * as Breadth from "../src/teams/Breadth.ts"
import * as Choices from "../src/teams/Choices.ts"
import * as Examples from "../src/teams/Examples.ts"
import * as Words from "../src/teams/wordsOfBreadth.ts"

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
