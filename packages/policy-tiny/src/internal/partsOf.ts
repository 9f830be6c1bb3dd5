/**
 * Splits a question into the parts that are sent to workers: greetings are removed, and instructions on how to answer
 * are attached.
 */
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"

/** Whether a text only states how to answer: it has no number, quotation or question, and refers to nothing. */
const isAside = (text: string): boolean =>
  !/[\d?"“`=]|\b[A-Z]\b|\b(?:it|that|them|this|these|sum|product|results?|answers|both|word|list)\b/.test(text)

/** Puts a line break after a greeting, because numbered parts are recognized only at the start of a line. */
const numberedApart = (question: string): string => question.replace(/^(.{1,40}?[:.!]) (?=1[.)] |First, )/, "$1\n")

/** Merges the part at a position into its neighbor. */
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

const calculates =
  /\b(?:add|subtract|multiply|divide|take|double|square|halve|(?:sum|product|difference|quotient) of) [^.?!]*\.$/i

const goesOnCalculating =
  /^(?:add|subtract|multiply|divide|double|square|halve) (?:[\d.,]+ (?:to|from) )?(?:it|the (?:sum|product|difference|quotient|result|answer))\b/i

const sorts = /\b(?:sort|arrange|order) [^.?!]*\.$/i

const picks = /^which (?:\w+ )?comes /i

/**
 * Whether a text continues the request before it: "Multiply the sum by 7" after "Add M to N", "Which word comes third?"
 * after "Sort".
 */
const goesOn = (text: string, before: string): boolean =>
  (calculates.test(before) && goesOnCalculating.test(text)) || (sorts.test(before) && picks.test(text))

/** Matches a phrase that names the part's answer, such as "Call the answer N". */
const naming = /\b(?:call|name) (?:it|this|that|the \w+) ["']?([A-Za-z])\b["']?[.,;]?/gi

/** Returns the letters by which a part names its answer. */
export const namesOf = (text: string): ReadonlyArray<string> => [...text.matchAll(naming)].map((found) => found[1]!)

/** Removes the phrases that name a part's answer. */
export const unnamed = (text: string): string => text.replace(naming, " ")

/** Whether a part mentions a name other than to define it. */
export const mentions = (text: string, name: string): boolean => LexicalPolicy.mentions(unnamed(text), name)

/** Splits a question into parts by its wording. */
export const partsOf = (question: string): ReadonlyArray<LexicalPolicy.Part> => {
  let parts = LexicalPolicy.split(numberedApart(question))
  for (;;) {
    const at = parts.findIndex(
      ({ text }, index) => parts.length > 1 && (isAside(text) || (index > 0 && goesOn(text, parts[index - 1]!.text)))
    )
    if (at < 0) return parts
    parts = folded(parts, at)
  }
}
