import { Reader } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as ReaderTrainer from "../src/ReaderTrainer.ts"

const shape = { texts: 4, words: 8 }

const said = (text: string, mark: (typeof Reader.marks)[number], subject: number): ReaderTrainer.Example => {
  const words = Reader.wordsOf(text)
  return {
    words,
    said: words.map((_, place) =>
      place === words.length - 1 ? { mark: Reader.marks.indexOf(mark), subjects: [subject] } : { mark: 0, subjects: [] }
    ),
    flags: [mark === "weak", false, true]
  }
}

const examples: ReadonlyArray<ReaderTrainer.Example> = [
  said("good at sums", "good", 0),
  said("it is weak at dates", "weak", 3),
  { words: Reader.wordsOf("what is 3 + 4"), about: 0, refers: false },
  { words: Reader.wordsOf("which day was that"), about: 3, refers: true }
]

/** The loss as the plain forward pass gives it, by the same definitions. */
const lossOf = (weights: Reader.Weights): number => {
  let [mark, subject, flag, about, refers, words] = [0, 0, 0, 0, 0, 0]
  const yes = (value: number, holds: boolean) => -Math.log(holds ? value : 1 - value)
  for (const example of examples) {
    const reading = Reader.read(weights, example.words.join(" "))
    for (const [place, label] of example.said?.entries() ?? []) {
      if (label === undefined) continue
      words += 1
      mark -= (label.mark === 0 ? 1 : 5) * Math.log(reading.marks[place]![label.mark]!)
      for (const [at, value] of reading.subjects[place]!.entries()) subject += yes(value, label.subjects.includes(at))
    }
    for (const [at, holds] of example.flags?.entries() ?? []) flag += yes(reading.flags[at]!, holds) / 2
    if (example.about !== undefined) about -= Math.log(reading.about[example.about]!) / 2
    if (example.refers !== undefined) refers += yes(reading.refers, example.refers) / 2
  }
  return mark / words + (2 * subject) / words + 0.5 * flag + about + refers
}

describe("ReaderTrainer", () => {
  it("its loss is that of the plain forward pass, padding and all", async () => {
    const training = ReaderTrainer.begin(3)
    const step = await ReaderTrainer.make(training, shape)
    const expected = lossOf(training.weights)
    assert.approximately(await step(examples, 0), expected, 1e-3 * expected)
    // Weights that have moved, distances included.
    for (let count = 0; count < 5; count++) await step(examples, 0.01)
    const moved = lossOf(training.weights)
    assert.notStrictEqual(moved, expected)
    assert.approximately(await step(examples, 0), moved, 1e-3 * moved)
  })

  it("it learns labels by heart, and the same seed gives the same weights", async () => {
    const train = async () => {
      const training = ReaderTrainer.begin(3)
      const step = await ReaderTrainer.make(training, shape)
      for (let count = 0; count < 60; count++) await step(examples, 0.01)
      return training.weights
    }
    const weights = await train()
    assert.isBelow(lossOf(weights), 0.2)
    assert.deepStrictEqual(await train(), weights)
  })
})
