/**
 * A third source of pairs whose truth is known by how they are made: texts that assert an answer, and texts that only
 * mention, ask, suppose, quote or retract one, in English and other languages; and notations that mean the same.
 */
import type { Pair } from "../pairs/Pairs.ts"
import * as Random from "../pairs/Random.ts"
import { asserted, unasserted } from "./English.ts"
import { forms } from "./Forms.ts"
import { languages } from "./Languages.ts"

const fill = (template: string, value: string, other: string): string =>
  template
    .replace(/\[@\]/g, () => `\\boxed{${value}}`)
    .replace(/\[#\]/g, () => `\\boxed{${other}}`)
    .replace(/@/g, () => value)
    .replace(/(?<!#)#(?!#)(?<!^#(?= ))/gm, () => other)

type Values = readonly [value: string, other: string]

/** Two values whose difference matters, in the forms of contests' answers. */
const values = (random: Random.Random): Values => {
  const [a, b] = random.shuffle(random.distinct(2, 11, 97)) as [number, number]
  const kinds: ReadonlyArray<Values> = [
    [`${a}`, `${b}`],
    [`${a}`, `${b}`],
    [`\\frac{${a}}{101}`, `\\frac{${b}}{101}`],
    [`${a}\\sqrt{2}`, `${b}\\sqrt{2}`]
  ]
  return random.pick(kinds)
}

interface Texts {
  readonly kind: string
  readonly isRight: boolean
  readonly templates: ReadonlyArray<string>
}

const sources: ReadonlyArray<Texts> = [
  ...Object.entries(asserted).map(([kind, templates]) => ({ kind, isRight: true, templates })),
  ...Object.entries(unasserted).map(([kind, templates]) => ({ kind, isRight: false, templates })),
  ...Object.entries(languages).flatMap(([name, { asserted: right, unasserted: wrong }]) => [
    { kind: `${name}, asserted`, isRight: true, templates: right },
    { kind: `${name}, not asserted`, isRight: false, templates: wrong }
  ])
]

const wordings: ReadonlyArray<(answer: string) => string> = [
  (answer) => `$\\boxed{${answer}}$`,
  (answer) => `The answer is $${answer}$.`,
  (answer) => `**Answer:** $${answer}$`,
  (answer) => `<answer>${answer}</answer>`,
  (answer) => `Therefore, the final answer is \\[\\boxed{${answer}}\\]`,
  (answer) => answer
]

/** A formula in LaTeX signs stays one where it stands alone in a text. */
const said = (text: string, value: string): string => {
  if (/^\d+$/.test(value)) return text
  const isPlain = (at: number) => !/[$`{"]/.test(text.slice(0, at))
  const at = text.indexOf(value)
  return at !== -1 && isPlain(at) && !text.includes("boxed") ? text.replaceAll(value, () => `$${value}$`) : text
}

/** The names of all kinds. */
export const names: ReadonlyArray<string> = [...sources.map(({ kind }) => kind), ...Object.keys(forms)]

/** All pairs of a seed. `golds` is how many times each template and form is filled. */
export const make = (seed: number, golds = 1): ReadonlyArray<Pair> => [
  ...sources.flatMap(({ isRight, kind, templates }, index) => {
    const random = Random.make(seed * 3001 + index)
    return Array.from({ length: golds }, () =>
      templates.map((template): Pair => {
        const [value, other] = /´|`|"|\\text|<answer>|==|--/.test(template)
          ? ([`${random.whole(11, 50)}`, `${random.whole(51, 97)}`] as const)
          : values(random)
        return { kind, gold: value, answer: said(said(fill(template, value, other), value), other), expected: isRight }
      })
    ).flat()
  }),
  ...Object.entries(forms).flatMap(([kind, draw], index) => {
    const random = Random.make(seed * 4001 + index)
    return Array.from({ length: golds * 2 }, () => draw(random)).flatMap((one) => {
      const text = (answer: string) => (one.isText === true ? answer : random.pick(wordings)(answer))
      return [
        ...one.right.map((answer) => ({ kind, gold: one.gold, answer: text(answer), expected: true })),
        ...one.wrong.map((answer) => ({ kind, gold: one.gold, answer: text(answer), expected: false }))
      ]
    })
  })
]
