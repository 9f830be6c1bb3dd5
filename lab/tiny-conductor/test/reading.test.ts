import { Reader } from "@divisi/gguf"
import { Family } from "@divisi/gym"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Breadth from "../src/reader/Breadth.ts"
import * as Choices from "../src/reader/Choices.ts"
import * as Examples from "../src/reader/Examples.ts"
import * as Judgements from "../src/reader/Judgements.ts"
import * as Lists from "../src/reader/Lists.ts"
import * as Lots from "../src/reader/Lots.ts"
import * as Words from "../src/reader/wordsOfBreadth.ts"
import * as Teams from "../src/world/Teams.ts"

/** The phrases of the gym's held-out texts, cut at their topics, that stand in one of these. */
const heldOutIn = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const padded = texts.map((text) => ` ${text.toLowerCase()} `)
  return Teams.heldOutTexts
    .flatMap((text) => text.toLowerCase().split(/\bx\b/))
    .map((text) => text.trim())
    .filter((phrase) => phrase.length > 3 && padded.some((text) => text.includes(` ${phrase} `)))
}

describe("what a reader learns from", () => {
  it("has a label for every word, and the same seed and step give the same batch", () => {
    const batch = Examples.batch(3, 5)
    assert.deepStrictEqual(Examples.batch(3, 5), batch)
    assert.notDeepEqual(Examples.batch(3, 6), batch)
    assert.isAtMost(batch.length, Examples.shape.texts)
    for (const { refers, said, words } of batch) {
      assert.isTrue((said === undefined) !== (refers === undefined))
      if (said !== undefined) assert.lengthOf(said, words.length)
    }
  })

  it("words of its own vocabulary carry the mark of the phrase around them", () => {
    const labels = Breadth.draw(1, { descriptions: 300 }).flatMap(({ said = [] }) =>
      said.filter((label) => label !== undefined)
    )
    const marked = labels.filter(({ mark }) => mark > 0)
    assert.isAbove(marked.filter(({ mark }) => Reader.marks[mark] === "weak").length, 100)
    // Of fields that no question is about, something is said too; a few words stand for several kinds.
    for (const { subjects } of marked) assert.isAtMost(subjects.length, 3)
    assert.isAbove(marked.filter(({ subjects }) => subjects.length === 0).length, 10)
    assert.isAbove(marked.filter(({ subjects }) => subjects.length === 1).length, 300)
  })

  it("words that praise and blame carry the mark, too; of those that may do both none is learned from", () => {
    const words = Breadth.draw(1, { descriptions: 1000 }).flatMap(({ said = [], words }) =>
      words.map((word, at) => ({ word, label: said[at] }))
    )
    const marksOf = (some: RegExp) =>
      words.flatMap(({ label, word }) => (label !== undefined && some.test(word) ? [Reader.marks[label.mark]] : []))
    assert.isAbove(marksOf(/^(weak|poor|bad)$/).filter((mark) => mark === "weak").length, 5)
    assert.isAbove(marksOf(/./).filter((mark) => mark === "careless").length, 100)
    assert.isAbove(words.filter(({ label }) => label === undefined).length, 5)
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

describe("judgements by lot", () => {
  const of = Lots.make(11)
  const many = <A>(draw: () => A) => Array.from({ length: 1000 }, draw)

  it("hardly ever come twice, and speak of X once", () => {
    for (const side of ["good", "weak"] as const) {
      const said = many(() => Judgements.said(of, side))
      for (const text of said) assert.lengthOf(text.match(/\bX\b/g) ?? [], 1, text)
      assert.isAbove(new Set(said).size, 800)
    }
    const checks = many(() => Judgements.checks(of))
    for (const text of checks) assert.lengthOf(text.match(/\bX\b/g) ?? [], 1, text)
    assert.isAbove(new Set(checks).size, 800)
  })

  it("have no phrase that the gym holds out", () => {
    const texts = (["careless", "exact", "general"] as const)
      .flatMap((flag) => many(() => Judgements.flagged(of, flag)))
      .concat((["good", "weak"] as const).flatMap((side) => many(() => Judgements.said(of, side))))
      .concat(many(() => Judgements.checks(of)))
    assert.deepStrictEqual(heldOutIn(texts), [])
  })
})

describe("lists of phrases", () => {
  const all = (part: Lists.Part) => [
    ...["good", "weak", "contrast"].flatMap((mark) => Lists.of("praise", mark, part)),
    ...[
      "check",
      "careless",
      "exact",
      "general",
      "cheap",
      "dear",
      "quick",
      "slow",
      "boast",
      "noise",
      "vague",
      "limit"
    ].flatMap((mark) => Lists.of("manner", mark, part)),
    ...Family.names.flatMap((kind) => [...Lists.of("topics", kind, part), ...Lists.of("acts", kind, part)]),
    ...Lists.of("others", "", part),
    ...["needs", "alone"].flatMap((mark) => Lists.of("sequels", mark, part))
  ]

  it("have no phrase that the gym holds out", () => {
    assert.isAbove(all("training").length, 10_000)
    assert.deepStrictEqual(heldOutIn([...all("training"), ...all("development")]), [])
  })

  it("keep a tenth from training", () => {
    const [training, development] = [new Set(all("training")), all("development")]
    assert.closeTo(development.length / training.size, 1 / 9, 0.03)
    assert.deepStrictEqual(
      development.filter((phrase) => training.has(phrase)),
      []
    )
  })

  it("say all that there is to say with those that are kept, too", () => {
    const said = Breadth.draw(1, { descriptions: 500 }, "development").flatMap(({ said = [] }) => said)
    for (const [mark, name] of Reader.marks.entries()) {
      assert.isAbove(said.filter((label) => label?.mark === mark).length, 50, name)
    }
  })
})

describe("what a head learns from", () => {
  /** What is true of each worker: how often it is right, whether it checks, what it costs. */
  const lesson = (
    workers: ReadonlyArray<{
      readonly features: ReadonlyArray<number>
      readonly right: number
      readonly checks?: number
      readonly price?: number
    }>
  ): Choices.Lesson => ({
    features: workers.map(({ features }) => features),
    prices: workers.map(({ price = 0 }) => price),
    chances: workers.map(({ checks = 0, right }) => ({ alone: right, twice: 1 - (1 - right) ** 2, checks })),
    needs: []
  })
  const own = (first: number) => Array.from({ length: ChoiceHead.inputs }, (_, at) => (at === 0 ? first : 0.1 * at))
  const untaught = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(at) / 16)
  const oddsOf = (head: ChoiceHead.Weights, { features, prices }: Choices.Lesson, priceWeight = 0) =>
    ChoiceHead.odds(head, { features, costs: prices.map((price) => ReadingPolicy.callCost(price, priceWeight)) })

  /** Taught by what is true, or by what choices are worth. */
  const taught = (
    lessons: ReadonlyArray<Choices.Lesson>,
    { by = "truth", from = untaught }: { readonly by?: "truth" | "values"; readonly from?: ChoiceHead.Weights } = {}
  ): ChoiceHead.Weights => {
    const head = from.slice()
    const climb = Choices.ascent(head)
    let lot = 0
    for (let step = 0; step < 1000; step++) {
      const sums = new Float64Array(ChoiceHead.size)
      if (by === "truth") Choices.addLessons(sums, head, lessons)
      else Choices.addValues(sums, head, lessons, () => (lot = (lot + 0.382) % 1))
      climb(sums, 0.01)
    }
    return head
  }

  it("what is true of workers, and that nobody is asked where nobody is right", () => {
    const known = lesson([
      { features: own(1), right: 0.9 },
      { features: own(0), right: 0.2 }
    ])
    const unknown = lesson([
      { features: own(-1), right: 0 },
      { features: own(-2), right: 0 }
    ])
    const head = taught([known, unknown])
    for (const { chances, features } of [known, unknown]) {
      for (const [ordinal, { alone }] of chances.entries()) {
        assert.approximately(ChoiceHead.chancesOf(head, features[ordinal]!).alone, alone, 0.05)
      }
    }
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, known).worker), 0)
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, unknown).worker), 2)
  })

  it("who is worth more with a check is chosen where somebody checks, and then checked", () => {
    const [sure, careless, checker] = [
      { features: own(1), right: 0.8 },
      { features: own(-1), right: 0.7 },
      { features: own(2), right: 0, checks: 1 }
    ]
    const withChecker = lesson([sure, careless, checker])
    const without = lesson([sure, careless])
    const head = taught([withChecker, without])
    const dear = { ...withChecker, prices: [10, 0, 0] }
    const odds = oddsOf(head, dear, 0.1)
    assert.strictEqual(ChoiceHead.greatest(odds.worker), 1)
    assert.strictEqual(ChoiceHead.greatest(odds.checker(1)), 2)
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, without).worker), 0)
  })

  it("who is cheaper is chosen where prices weigh more, though right less often", () => {
    const priced = lesson([
      { features: own(1), right: 0.95, price: 10 },
      { features: own(-1), right: 0.7 }
    ])
    const head = taught([priced])
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, priced, 0.1).worker), 0)
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, priced, 0.5).worker), 1)
  })

  it("what choices are worth leads from whom it believed in to who is right", () => {
    const workers = (rights: readonly [number, number]) =>
      lesson([
        { features: own(1), right: rights[0] },
        { features: own(-1), right: rights[1] }
      ])
    const believed = taught([workers([0.9, 0.6])])
    const shown = workers([0.5, 0.8])
    assert.strictEqual(ChoiceHead.greatest(oddsOf(believed, shown).worker), 0)
    const head = taught([shown], { by: "values", from: believed })
    assert.strictEqual(ChoiceHead.greatest(oddsOf(head, shown).worker), 1)
  })

  it("which earlier parts are needed is learned from examples", () => {
    const [named, other] = [
      [0, 0, 1, 0, 0, 0.2, 0],
      [1, 0, 0, 1, 1, 0.2, 0]
    ] as const
    const needs = [
      { features: named, isNeeded: true },
      { features: other, isNeeded: false }
    ]
    const head = taught([{ ...lesson([{ features: own(1), right: 1 }]), needs }])
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.needOdds(head, named)), 1)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.needOdds(head, other)), 0)
  })

  it("in some teams the dearest and the cheapest have each other's texts", () => {
    const teams = Choices.teamsOf(1, 120)
    const isExchanged = ({ members, pool }: Teams.Team) =>
      members.some(({ pieces }, at) => pool.workers[at]!.description !== pieces.map(({ text }) => text).join(""))
    assert.isAbove(teams.slice(-30).filter(isExchanged).length, 25)
  })

  it("now and then nothing was read of some workers, and all else of them stays", () => {
    const whole = lesson([
      { features: own(1), right: 1 },
      { features: own(1), right: 0 }
    ])
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
