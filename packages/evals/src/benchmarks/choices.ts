/** Formats questions with lettered options. */

const letters = "ABCDEFGHIJ"

/** Returns the letter of the option at an index, starting at 0. */
export const letterAt = (index: number): string => letters[index] ?? "?"

/** How the answer letter is requested. */
export type ChoiceFormat = "line" | "tags"

const instruction = (format: ChoiceFormat, count: number) => {
  const range = [...letters.slice(0, count)].join(", ")
  return format === "line"
    ? `Answer the multiple choice question. Think step by step. The last line of your reply must be \`Answer: LETTER\`, where LETTER is one of ${range}.`
    : `Answer the multiple choice question. Reason in <think> tags, then give one of ${range}, and nothing else, in <answer> tags.`
}

/** Returns a warning if two options are equal, because an answer that names the other one is graded as wrong. */
export const equalOptions = (options: ReadonlyArray<string>): string | undefined =>
  new Set(options.map((option) => option.trim())).size < options.length ? "two options are equal" : undefined

/** Returns the full prompt: the instruction, the question, and its options on separate lines. */
export const ask = (question: string, options: ReadonlyArray<string>, format: ChoiceFormat): string =>
  [
    instruction(format, options.length),
    question,
    options.map((option, index) => `${letterAt(index)}) ${option}`).join("\n")
  ].join("\n\n")

/** Formats the answer letter in the reply of a few-shot example. */
export const letterReply = (letter: string, format: ChoiceFormat): string =>
  format === "line" ? `Answer: ${letter}` : `<answer>${letter}</answer>`
