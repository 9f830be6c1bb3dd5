/**
 * The fourth generator: templates of texts, in many languages, that assert a value or do not, times kinds of values,
 * openings and endings; and other spellings of the same value, times plain sentences. Part 1 and part 2 share no
 * template and no spelling. Nothing here knows the grader.
 */
import fs from "node:fs"
import type { Kinds } from "../pairs/Kind.ts"
import type { Pair } from "../pairs/Pairs.ts"
import * as Random from "../pairs/Random.ts"
import { firstForms, secondForms } from "./Forms.ts"
import { sample, type Value } from "./Values.ts"

interface Template {
  readonly mark: string
  readonly language: string
  readonly text: string
}

const read = (name: string): ReadonlyArray<Template> =>
  fs
    .readFileSync(new URL(`../../suites/wordings/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^[-+<>] /.test(line))
    .map((line) => {
      const text = line.slice(2).replaceAll("⏎", "\n")
      const [language] = text.split(" ", 1)
      return /^[-+]/.test(line)
        ? { mark: line[0]!, language: language!, text: text.slice(language!.length + 1) }
        : { mark: line[0]!, language: "", text }
    })

const parts: ReadonlyArray<{ readonly name: string; readonly forms: Kinds }> = [
  { name: "first", forms: firstForms },
  { name: "second", forms: secondForms }
]

const filled = (text: string, value: Value, other: Value): string =>
  text
    .replaceAll("‹v›", () => `$${value.latex}$`)
    .replaceAll("‹t›", () => value.latex)
    .replaceAll("‹p›", () => value.plain)
    .replaceAll("‹w›", () => `$${other.latex}$`)
    .replaceAll("‹q›", () => other.plain)

/** Sentences around a spelling. */
const sentences: ReadonlyArray<(answer: string) => string> = [
  (answer) => `The answer is $${answer}$.`,
  (answer) => `$\\boxed{${answer}}$`,
  (answer) => `So the result is\n\\[${answer}\\]`,
  (answer) => `**Answer:** $${answer}$`,
  (answer) => `Hence we obtain \\(${answer}\\).`
]

const formsOf = (part: number, seed: number, golds: number): ReadonlyArray<Pair> =>
  Object.entries(parts[part]!.forms).flatMap(([kind, draw], index) => {
    const random = Random.make(seed * 2003 + index)
    const text = (answer: string) => (/[$\n]|^[A-Z].* /.test(answer) ? answer : random.pick(sentences)(answer))
    return Array.from({ length: golds }, () => draw(random)).flatMap(({ gold, right, wrong }) => [
      ...right.map((answer) => ({ kind, gold, answer: text(answer), expected: true })),
      ...wrong.map((answer) => ({ kind, gold, answer: text(answer), expected: false }))
    ])
  })

/** Pairs of a seed: so many values for each template, with the right value and, where it is asserted, a wrong one. */
export const make =
  (part: number) =>
  (seed: number, golds = 6): ReadonlyArray<Pair> => {
    const templates = read(parts[part]!.name)
    const [openings, endings] = [">", "<"].map((mark) => templates.filter((one) => one.mark === mark))
    const random = Random.make(seed * 4001 + part)
    const worded = templates.flatMap(({ language, mark, text }): ReadonlyArray<Pair> => {
      if (mark !== "+" && mark !== "-") return []
      const kind = `${language}, ${mark === "+" ? "asserted" : "not asserted"}`
      // A fence, a heading or a whole document is not continued on its own line.
      const isAlone = /^[{<]|```|\n\n<\/|\]$/.test(text)
      return Array.from({ length: golds }, () => {
        const [value, other] = sample(random)
        const opening = isAlone ? "" : filled(random.pick(openings!).text, value, other)
        const ending = isAlone || mark === "-" ? "" : random.pick(endings!).text
        // A sentence follows a sentence on its line, and anything else in a paragraph of its own.
        const placed = ending.startsWith(" ") && !/[.!。।]$/.test(text) ? `\n\n${ending.trimStart()}` : ending
        const answer = `${opening}${filled(text, value, other)}${placed}`
        if (mark === "-") return [{ kind, gold: value.latex, answer, expected: false }]
        return [
          { kind, gold: value.latex, answer, expected: true },
          { kind, gold: other.latex, answer, expected: false }
        ]
      }).flat()
    })
    return [...worded, ...formsOf(part, seed, golds)]
  }

/** The names of all kinds of a part. */
export const names = (part: number): ReadonlyArray<string> => [...new Set(make(part)(1, 1).map(({ kind }) => kind))]
