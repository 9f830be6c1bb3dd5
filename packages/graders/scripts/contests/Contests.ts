/**
 * A second source of pairs whose truth is known by how they are made: answers as contests' golds have them, said as
 * solutions and people say them, in several languages. It was written without a look at the graders, nor at the other
 * generator's kinds.
 */
import type { Draw, Kinds } from "../pairs/Kind.ts"
import type { Pair } from "../pairs/Pairs.ts"
import * as Random from "../pairs/Random.ts"
import { expressions } from "./Expressions.ts"
import { sentences } from "./Sentences.ts"
import { values } from "./Values.ts"

const kinds: Kinds = { ...values, ...expressions, ...sentences }

/** The names of all kinds. */
export const names: ReadonlyArray<string> = Object.keys(kinds)

const sayings: ReadonlyArray<(answer: string) => string> = [
  (answer) => `\\boxed{${answer}}`,
  (answer) => `Hence the result is\n$$\\boxed{${answer}}.$$`,
  (answer) => `So we obtain $\\boxed{${answer}}$, as desired.`,
  (answer) => `### Answer\n\n$$${answer}$$`,
  (answer) => `**Final Answer:** $${answer}$`,
  (answer) => `Therefore, the answer is \\(${answer}\\).`,
  (answer) => `The final answer is: $${answer}$`,
  (answer) => `Die Lösung lautet $\\boxed{${answer}}$.`,
  (answer) => `最终答案为 $\\boxed{${answer}}$。`,
  (answer) => `<think>Hmm, first $x=1$.</think>\n\n<answer>$${answer}$</answer>`
]

const said = (random: Random.Random, answer: string): string => random.pick(sayings)(answer)

const pairsOf = (kind: string, draw: Draw, random: Random.Random): ReadonlyArray<Pair> => {
  const text = (answer: string) => {
    if (draw.isText === true) return answer
    return answer.startsWith("$") ? `The answer is ${answer}.` : said(random, answer)
  }
  return [
    ...draw.right.map((answer) => ({ kind, gold: draw.gold, answer: text(answer), expected: true })),
    ...draw.wrong.map((answer) => ({ kind, gold: draw.gold, answer: text(answer), expected: false }))
  ]
}

/** All pairs of a seed: so many golds of each kind. */
export const make = (seed: number, golds = 6): ReadonlyArray<Pair> =>
  Object.entries(kinds).flatMap(([kind, draw], index) => {
    const random = Random.make(seed * 2003 + index)
    return Array.from({ length: golds }, () => pairsOf(kind, draw(random), random)).flat()
  })
