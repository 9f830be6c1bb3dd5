/** First weights: they look up in a list before any step of training. */

import { TinyModel } from "@divisi/gguf"
import { Induction } from "@divisi/trainer-jax"
import { assert, describe, it } from "@effect/vitest"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"

const config = {
  architecture: "llama",
  vocabularySize: 600,
  hiddenSize: 128,
  layers: 2,
  heads: 4,
  feedForwardSize: 128,
  contextLength: 512,
  tiedEmbeddings: true,
  ropeTheta: 1e8
} as const

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

const lines = 12
const ordinals = range(0, lines)
const headings = range(50, 16)
const words = range(100, 500)
const [colon, equals, lineBreak] = [20, 21, 22]

/** A list of `ordinal heading fifteen words`, in which no two lines have a heading or a word in common. */
const drawList = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  const shuffled = (items: ReadonlyArray<number>) =>
    items
      .map((item) => ({ item, key: generator.next() }))
      .sort((left, right) => left.key - right.key)
      .map(({ item }) => item)
  const [titles, some] = [shuffled(headings), shuffled(words)]
  return ordinals.map((ordinal) => ({
    ordinal,
    heading: titles[ordinal]!,
    words: some.slice(15 * ordinal, 15 * ordinal + 15)
  }))
}

/** How often the likeliest heading after a word, and the likeliest ordinal after a heading, is the right one. */
const sharesFound = (tensors: ReturnType<typeof Induction.tensors>, seed: number) => {
  const list = drawList(seed)
  const text = list.flatMap((line) => [line.ordinal, line.heading, ...line.words, lineBreak])
  const questions = list.flatMap((line) => [line.words[3]!, colon, line.heading, equals, line.ordinal, lineBreak])
  const logits = TinyModel.forward({ config, tensors }, [...text, ...questions])
  const likeliest = (place: number, of: ReadonlyArray<number>) =>
    of.reduce((best, token) => (logits[place]![token]! > logits[place]![best]! ? token : best))
  const right = (offset: number, of: ReadonlyArray<number>) =>
    list.filter((_, line) => {
      const place = text.length + line * 6 + offset
      return likeliest(place, of) === [...text, ...questions][place + 1]
    }).length / list.length
  return { headings: right(1, headings), ordinals: right(3, ordinals) }
}

/** Chance would find one heading in sixteen, and one ordinal in twelve. */
describe("Induction", () => {
  const shares = (tensors: ReturnType<typeof Induction.tensors>) => {
    const each = range(1, 4).map((seed) => sharesFound(tensors, seed))
    const mean = (of: "headings" | "ordinals") => each.reduce((sum, share) => sum + share[of] / each.length, 0)
    return { headings: mean("headings"), ordinals: mean("ordinals") }
  }

  it("finds the heading of a word's line, and the text before the word", () => {
    const found = shares(Induction.tensors(config, 3, headings))
    assert.isAbove(found.headings, 0.3)
    assert.isAbove(found.ordinals, 0.3)
  })

  it("knows no lines without headings", () => {
    const found = shares(Induction.tensors(config, 3))
    assert.isBelow(found.headings, 0.15)
    assert.isAbove(found.ordinals, 0.3)
  })
})
