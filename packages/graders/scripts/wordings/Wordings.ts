/**
 * The fourth generator: templates of texts, in many languages, that assert a value or do not, times kinds of values,
 * openings and endings; and other spellings of the same value, times sentences. No two parts share a template or a
 * spelling. Nothing here knows the grader.
 */
import fs from "node:fs"
import type { Kinds } from "../pairs/Kind.ts"
import type { Pair } from "../pairs/Pairs.ts"
import * as Random from "../pairs/Random.ts"
import { firstForms, secondForms } from "./Forms.ts"
import { fourthForms, thirdForms } from "./Spellings.ts"
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
  { name: "second", forms: secondForms },
  { name: "third", forms: thirdForms },
  { name: "fourth", forms: fourthForms }
]

const filled = (text: string, value: Value, other: Value): string =>
  text
    .replaceAll("‹v›", () => `$${value.latex}$`)
    .replaceAll("‹t›", () => value.latex)
    .replaceAll("‹j›", () => value.latex.replaceAll("\\", "\\\\"))
    .replaceAll("‹u›", () => other.latex)
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

/** The texts of parts 3 and 4 around a spelling: plain text, which has `=` in front, only follows a label. */
const around = (templates: ReadonlyArray<Template>, random: Random.Random) => {
  const around = templates.filter(({ mark, text }) => mark === "+" && text.includes("‹v›") && !/‹[^v]›|```/.test(text))
  const labels = around.filter(({ language }) => language === "label" || language === "markdown")
  return (answer: string) =>
    answer.startsWith("=")
      ? random.pick(labels).text.replaceAll("‹v›", () => answer.slice(1))
      : random.pick(around).text.replaceAll("‹v›", () => `$${answer}$`)
}

const formsOf = (part: number, seed: number, golds: number, templates: ReadonlyArray<Template>): ReadonlyArray<Pair> =>
  Object.entries(parts[part]!.forms).flatMap(([kind, draw], index) => {
    const random = Random.make(seed * 2003 + index)
    const dressed = around(templates, random)
    const text = (answer: string) => {
      if (part > 1) return dressed(answer)
      return /[$\n]|^[A-Z].* /.test(answer) ? answer : random.pick(sentences)(answer)
    }
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
        const before = isAlone ? "" : filled(random.pick(openings!).text, value, other)
        // A heading, a table or a formula on its own line begins a paragraph.
        const opening =
          part < 2 || /^[\p{L}$‹]/u.test(text) ? before : before.replace(/\s*$/, before === "" ? "" : "\n\n")
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
    return [...worded, ...formsOf(part, seed, golds, templates)]
  }

/** The names of all kinds of a part. */
export const names = (part: number): ReadonlyArray<string> => [...new Set(make(part)(1, 1).map(({ kind }) => kind))]
