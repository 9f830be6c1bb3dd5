/** Guesses the kind of a question with naive Bayes, trained on the words of training questions. Used by rules. */

import type { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Teams from "../world/Teams.ts"

/** Guesses a kind. */
export type Guess = (text: string) => Family.FamilyName

const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(/[a-z]+|\d+|[^\s\w]/g) ?? []).map((word) => (/\d/.test(word) ? "0" : word))

/** Learns from the parts of training questions. */
export const learn = (count: number): Guess => {
  const counts = new Map<Family.FamilyName, Map<string, number>>()
  const vocabulary = new Set<string>()
  for (const { task } of Teams.draw({ split: "train", count, workers: [1, 1] })) {
    for (const { family, question } of Gym.metadata(task)!.parts) {
      const own = counts.get(family) ?? new Map<string, number>()
      counts.set(family, own)
      for (const word of new Set(wordsOf(question))) {
        own.set(word, (own.get(word) ?? 0) + 1)
        vocabulary.add(word)
      }
    }
  }
  const totals = new Map([...counts].map(([family, own]) => [family, [...own.values()].reduce((a, b) => a + b, 0)]))
  return (text) => {
    const words = [...new Set(wordsOf(text))]
    const scores = [...counts].map(([family, own]) => {
      const below = totals.get(family)! + vocabulary.size
      return { family, score: words.reduce((sum, word) => sum + Math.log(((own.get(word) ?? 0) + 1) / below), 0) }
    })
    return scores.reduce((best, one) => (one.score > best.score ? one : best)).family
  }
}
