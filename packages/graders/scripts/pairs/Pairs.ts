/**
 * Pairs of a gold answer and another one whose truth is known by how they are made, from a seed. Nothing here knows the
 * graders: what is right follows from the numbers that are drawn.
 */
import { formulas } from "./Formulas.ts"
import type { Draw, Kinds } from "./Kind.ts"
import { numbers } from "./Numbers.ts"
import * as Random from "./Random.ts"
import { texts } from "./Texts.ts"

/** A pair, and whether the answer is right. */
export interface Pair {
  readonly kind: string
  readonly gold: string
  readonly answer: string
  readonly expected: boolean
}

const kinds: Kinds = { ...numbers, ...formulas, ...texts }

/** The names of all kinds. */
export const names: ReadonlyArray<string> = Object.keys(kinds)

/** Ways to say an answer. */
const wordings: ReadonlyArray<(answer: string) => string> = [
  (answer) => `$\\boxed{${answer}}$`,
  (answer) => `Let us see.\n\nPutting this together:\n\\[\\boxed{${answer}}\\]`,
  (answer) => `The answer is $${answer}$.`,
  (answer) => `**Answer:** $${answer}$`,
  (answer) => `<answer>${answer}</answer>`,
  (answer) => `Therefore, the final answer is: $\\boxed{${answer}}$. I hope it is correct.`,
  (answer) => `We compute step by step. Thus the final answer is \\(${answer}\\).`
]

/** Ways to set a formula that change nothing. */
const dresses: ReadonlyArray<(answer: string) => string> = [
  (answer) => answer,
  (answer) => answer,
  (answer) => answer.replaceAll("\\frac{", "\\dfrac{"),
  (answer) => `\\displaystyle ${answer}`,
  (answer) => `${answer} `,
  (answer) => answer.replaceAll(" + ", "+").replaceAll(" - ", "-"),
  (answer) => answer.replaceAll(", ", ",\\, ")
]

const dressed = (random: Random.Random, answer: string): string => {
  const isPlain = /^[a-z]|sqrt\(/.test(answer) || answer.includes("$")
  const dress = isPlain ? dresses[0]! : random.pick(dresses)
  return random.pick(wordings)(dress(answer))
}

const pairsOf = (kind: string, draw: Draw, random: Random.Random): ReadonlyArray<Pair> => {
  const text = (answer: string) => (draw.isText === true ? answer : dressed(random, answer))
  return [
    ...draw.right.map((answer) => ({ kind, gold: draw.gold, answer: text(answer), expected: true })),
    ...draw.wrong.map((answer) => ({ kind, gold: draw.gold, answer: text(answer), expected: false }))
  ]
}

/** All pairs of a seed: so many golds of each kind. */
export const make = (seed: number, golds = 6): ReadonlyArray<Pair> =>
  Object.entries(kinds).flatMap(([kind, draw], index) => {
    const random = Random.make(seed * 1009 + index)
    return Array.from({ length: golds }, () => pairsOf(kind, draw(random), random)).flat()
  })
