/** How questions with lettered options are asked. */

const letters = "ABCDEFGHIJ"

/** The letter of the option at an index, from 0. */
export const letterAt = (index: number): string => letters[index] ?? "?"

/** How the letter is asked for. */
export type ChoiceFormat = "line" | "tags"

const instruction = (format: ChoiceFormat, count: number) => {
  const range = [...letters.slice(0, count)].join(", ")
  return format === "line"
    ? `Answer the multiple choice question. Think step by step. The last line of your reply must be \`Answer: LETTER\`, where LETTER is one of ${range}.`
    : `Answer the multiple choice question. Reason in <think> tags, then give one of ${range}, and nothing else, in <answer> tags.`
}

/** Says that two options are the same: an answer that names the other one is graded wrong. */
export const equalOptions = (options: ReadonlyArray<string>): string | undefined =>
  new Set(options.map((option) => option.trim())).size < options.length ? "two options are equal" : undefined

/** The whole question: what to do, the question, its options on lines of their own. */
export const ask = (question: string, options: ReadonlyArray<string>, format: ChoiceFormat): string =>
  [
    instruction(format, options.length),
    question,
    options.map((option, index) => `${letterAt(index)}) ${option}`).join("\n")
  ].join("\n\n")

/** How a letter is given in the reply of an example. */
export const letterReply = (letter: string, format: ChoiceFormat): string =>
  format === "line" ? `Answer: ${letter}` : `<answer>${letter}</answer>`
