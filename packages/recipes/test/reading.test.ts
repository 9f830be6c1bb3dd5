import * as Reader from "@divisi/gguf/Reader"
import { names } from "@divisi/gym/Family"
import * as Teams from "@divisi/gym/Teams"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Breadth from "../src/teams/Breadth.ts"
import * as Choices from "../src/teams/Choices.ts"
import * as Examples from "../src/teams/Examples.ts"
import * as Judgements from "../src/teams/Judgements.ts"
import * as Lists from "../src/teams/Lists.ts"
import * as Lots from "../src/teams/Lots.ts"
import * as Words from "../src/teams/wordsOfBreadth.ts"

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
    ...names.flatMap((kind) => [...Lists.of("topics", kind, part), ...Lists.of("acts", kind, part)]),
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
  /** Where prices weigh nothing: what each choice brings. */
  const lesson = (
    features: ReadonlyArray<ReadonlyArray<number>>,
    { asked, refused }: { readonly asked: ReadonlyArray<ReadonlyArray<number>>; readonly refused: number }
  ): Choices.Lesson => ({
    features,
    worths: { asked: asked.map((own) => own.map((right) => ({ right, price: 0 }))), refused },
    wanted: { worker: [...features.map(() => 0), 1] },
    needs: [],
    priceFactor: 1
  })
  const own = (first: number) => Array.from({ length: ChoiceHead.inputs }, (_, at) => (at === 0 ? first : 0.1 * at))
  const untaught = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(at) / 16)
  const taught = (
    lessons: ReadonlyArray<Choices.Lesson>,
    add: typeof Choices.addLessons = Choices.addValues,
    from: ChoiceHead.Weights = untaught
  ): ChoiceHead.Weights => {
    const head = from.slice()
    const climb = Choices.ascent(head)
    for (let step = 0; step < 1000; step++) {
      const sums = new Float64Array(ChoiceHead.size)
      add(sums, head, lessons)
      climb(sums, 0.01)
    }
    return head
  }

  it("choices are worth what they are right about, and to refuse costs the answer that somebody has", () => {
    const unchecked = (value: number) => [0, 0, value]
    const lessons = [
      lesson([own(1), own(0)], { asked: [unchecked(0.9), unchecked(0.2)], refused: 0 }),
      lesson([own(-1), own(-2)], { asked: [unchecked(0.9), unchecked(0.9)], refused: 1 })
    ]
    const head = taught(lessons)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, lessons[0]!.features).worker), 0)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, lessons[1]!.features).worker), 2)
  })

  it("who is worth more with a check is chosen where somebody checks, and then checked", () => {
    const [dear, careless, checker] = [own(1), own(-1), own(2)]
    const alone = [0.8, 0.6, 0]
    const withChecker = lesson([dear, careless, checker], {
      asked: alone.map((value, at) => [0, 0, at === 1 ? 0.9 : 0, value]),
      refused: 0
    })
    const without = lesson([dear.with(16, 0), careless.with(16, 0)], {
      asked: alone.slice(0, 2).map((value) => [0, 0, value]),
      refused: 0
    })
    // As from the oracle: where the careless one is asked, it is checked.
    const checked = { worker: [0.5, 0.5, 0, 0], checker: { given: 1, shares: [0, 0, 1, 0] } }
    const either = { worker: [0.5, 0.5, 0] }
    const shown = taught(
      [
        { ...withChecker, wanted: checked },
        { ...without, wanted: either }
      ],
      Choices.addLessons
    )
    const head = taught([withChecker, without], Choices.addValues, shown)
    const odds = ChoiceHead.odds(head, withChecker.features)
    assert.strictEqual(ChoiceHead.greatest(odds.worker), 1)
    assert.strictEqual(ChoiceHead.greatest(odds.checker(1)), 2)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, without.features).worker), 0)
  })

  it("who is cheaper is chosen where prices weigh more, though right less often", () => {
    const priced = lesson([own(1).with(ReadingPolicy.priceInput, 1), own(-1).with(ReadingPolicy.priceInput, 0)], {
      asked: [],
      refused: 0
    })
    const none = { right: -1, price: 0 }
    const usual = {
      ...priced,
      worths: {
        asked: [
          [none, none, { right: 1, price: 1 }],
          [none, none, { right: 0.7, price: 0 }]
        ],
        refused: 0
      }
    }
    const draws = [0, 0.99]
    const other = Choices.otherwisePriced(usual, () => draws.shift()!)
    assert.isAbove(other.priceFactor, 5)
    assert.approximately(other.features[0]![ReadingPolicy.priceInput]!, other.priceFactor, 1e-12)
    const head = taught([usual, other])
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, usual.features).worker), 0)
    assert.strictEqual(ChoiceHead.greatest(ChoiceHead.odds(head, other.features).worker), 1)
  })

  it("which earlier parts are needed is learned from the oracle's examples", () => {
    const [named, other] = [
      [0, 0, 1, 0, 0, 0.2, 0],
      [1, 0, 0, 1, 1, 0.2, 0]
    ] as const
    const needs = [
      { features: named, isNeeded: true },
      { features: other, isNeeded: false }
    ]
    const whole = { ...lesson([own(1)], { asked: [[0, 1]], refused: 0 }), needs }
    const head = taught([whole], Choices.addLessons)
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
    const whole = lesson([own(1), own(1)], {
      asked: [
        [0, 0, 1],
        [0, 0, 0]
      ],
      refused: 0
    })
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
