/** The options of a multiple-choice question, and their order. */

import type { Question } from "./Questions.ts"

const letters = "ABCD"

/** Whether a question has options. */
export const isLettered = ({ kind }: Question): boolean => kind === "mmlu" || kind === "docs"

/** The same question with its options moved: the option with the letter `shift` comes first. */
export const shifted = (question: Question, shift: number): Question => {
  const start = question.text.lastIndexOf("\n\nA) ")
  const options = question.text
    .slice(start + 2)
    .split(/\n(?=[B-D]\) )/)
    .map((option) => option.slice(3))
  const moved = options.map((_, at) => `${letters[at]}) ${options[(at + shift) % options.length]}`)
  const reference = letters[(letters.indexOf(question.reference) - shift + options.length) % options.length]!
  return { ...question, text: `${question.text.slice(0, start)}\n\n${moved.join("\n")}`, reference }
}

/** The letter that an option has in the question itself, from its letter in {@link shifted}. */
export const original = (letter: string, shift: number): string =>
  letters[(letters.indexOf(letter) + shift) % letters.length]!
