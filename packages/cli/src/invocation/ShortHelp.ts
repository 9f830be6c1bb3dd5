/** The help that `--help` shows: examples first, and each flag on one line. `divisi help` shows the full text. */
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Option from "effect/Option"

/** The number of examples. The full help has all of them. */
const maxExamples = 5

/** The longest description of a flag, in characters. */
const maxLength = 90

/** Returns the first sentence of a description. A long one ends at a word with "…". */
const firstSentence = (text: string): string => {
  const [sentence = text] = /^.*?(?=\. [A-Z]|$)/.exec(text) ?? []
  if (sentence.length <= maxLength) return sentence
  const cut = sentence.slice(0, maxLength)
  const words = cut.slice(0, cut.lastIndexOf(" "))
  return `${words.replace(/ \([^)]*$/, "").replace(/[,:;]+$/, "")} …`
}

const examplesOf = ({ examples = [] }: HelpDoc): ReadonlyArray<string> => {
  const shown = examples.slice(0, maxExamples)
  const width = Math.max(...shown.map(({ command }) => command.length))
  return shown.map(({ command, description = "" }) => `  ${command.padEnd(width)}  ${description}`.trimEnd())
}

/** Shortens a help; one without flags stays as it is. */
export const of = (doc: HelpDoc): HelpDoc => {
  if (doc.flags.length === 0) return doc
  const examples = examplesOf(doc)
  return {
    ...doc,
    description: [doc.description, ...(examples.length === 0 ? [] : ["", "EXAMPLES", ...examples])].join("\n"),
    examples: [],
    flags: doc.flags.map((flag) => ({ ...flag, description: Option.map(flag.description, firstSentence) }))
  }
}

/** The line below a short help. */
export const pointer = ([, ...command]: ReadonlyArray<string>): string =>
  `All details and examples: divisi help ${command.join(" ")}`.trimEnd()
