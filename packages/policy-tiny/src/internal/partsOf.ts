/** The parts of a question as somebody is to be asked for them: without greetings, and with what says how to answer. */
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"

/** Says how to answer, or nothing: it has no number, no quotation, no question, and refers to nothing. */
const isAside = (text: string): boolean =>
  !/[\d?"“`=]|\b[A-Z]\b|\b(?:it|that|them|this|these|sum|product|result|word|list)\b/.test(text)

/** A greeting before parts hides that the first of them begins a line. */
const numberedApart = (question: string): string => question.replace(/^(.{1,40}?[:.!]) (?=1[.)] |First, )/, "$1\n")

/** A list of parts without the one at a place, whose text stays with its neighbour. */
const folded = (parts: ReadonlyArray<LexicalPolicy.Part>, at: number): ReadonlyArray<LexicalPolicy.Part> => {
  const into = at === 0 ? 1 : at - 1
  const text = at === 0 ? parts[1]!.text : `${parts[into]!.text} ${parts[at]!.text}`
  const moved = (need: number) => (need === at ? into : need)
  return parts
    .map((part, index) => (index === into ? { ...part, text } : part))
    .map((part) => ({ ...part, needs: part.needs.map(moved) }))
    .filter((_, index) => index !== at)
    .map((part, index) => ({
      text: part.text,
      needs: [...new Set(part.needs.map((need) => (need > at ? need - 1 : need)))].filter((need) => need < index)
    }))
}

/** Cuts a question into parts by its wording. */
export const partsOf = (question: string): ReadonlyArray<LexicalPolicy.Part> => {
  let parts = LexicalPolicy.split(numberedApart(question))
  for (;;) {
    const at = parts.length < 2 ? -1 : parts.findIndex(({ text }) => isAside(text))
    if (at < 0) return parts
    parts = folded(parts, at)
  }
}
