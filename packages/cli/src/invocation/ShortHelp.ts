/** The short help printed by `--help`: one screen with examples and the most used flags. `divisi help` prints all. */
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Option from "effect/Option"

/** Maximum number of examples. The full help lists all of them. */
const maxExamples = 5

/** Number of flags in the help of a command that has more than `manyFlags`. The most used ones are declared first. */
const maxFlags = 18
const manyFlags = 22

/** Maximum length of a flag's description, in characters. */
const maxLength = 90

/** Returns the first sentence of a description. Long sentences lose their parentheses, and then their last clauses. */
const firstSentence = (text: string): string => {
  const [sentence = text] = /^.*?(?=(?<!e\.g)\. [A-Z<`-]|$)/.exec(text) ?? []
  if (sentence.length <= maxLength) return sentence
  const bare = sentence.replaceAll(/ \([^()]*\)/g, "")
  return bare.length <= maxLength ? bare : bare.slice(0, maxLength).replace(/(?:[,;:] (?!.*[,;:] )| \S*$).*$/, "")
}

const examplesOf = ({ examples = [] }: HelpDoc): ReadonlyArray<string> => {
  const shown = examples.slice(0, maxExamples)
  const width = Math.max(...shown.map(({ command }) => command.length))
  return shown.map(({ command, description = "" }) => `  ${command.padEnd(width)}  ${description}`.trimEnd())
}

const mostUsed = ({ flags }: HelpDoc): HelpDoc["flags"] => (flags.length > manyFlags ? flags.slice(0, maxFlags) : flags)

/** Shortens a command's help. A help without flags is returned unchanged. */
export const of = (doc: HelpDoc): HelpDoc => {
  if (doc.flags.length === 0) return doc
  const examples = examplesOf(doc)
  return {
    ...doc,
    description: [doc.description, ...(examples.length === 0 ? [] : ["", "EXAMPLES", ...examples])].join("\n"),
    examples: [],
    flags: mostUsed(doc).map((flag) => ({ ...flag, description: Option.map(flag.description, firstSentence) }))
  }
}

/** Returns the line below a short help that refers to the full one. */
export const pointer = (doc: HelpDoc, [, ...command]: ReadonlyArray<string>): string => {
  const hidden = doc.flags.length - mostUsed(doc).length
  const subject = hidden > 0 ? `${hidden} more flags, details and examples` : "Full details and examples"
  return `${subject}: divisi help ${command.join(" ")}`.trimEnd()
}
