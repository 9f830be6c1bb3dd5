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

/** "Multiply the sum by 7" after "Add M to N": one calculation in two requests. */
const goesOn = (text: string, before: string): boolean =>
  /^(?:add|subtract|multiply|divide|take|double|square|halve) /i.test(before) &&
  /^(?:add|subtract|multiply|divide|double|square|halve) (?:it|the (?:sum|product|difference|quotient|result|answer))\b/i.test(
    text
  )

/** "Call the answer N" names the answer of its own part. */
const naming = /\b(?:call|name) (?:it|this|that|the \w+) ["']?([A-Za-z])\b["']?[.,;]?/gi

const quoted = /```[\s\S]*?(?:```|$)|"[^"\n]*"|“[^”\n]*”/g

/** What it is about stands in the part: code, a quotation, two numbers. */
const hasMaterial = (text: string): boolean => text.search(quoted) >= 0 || (text.match(/\d+/g)?.length ?? 0) > 1

const refersBack =
  /\b(?:that|its|the same|above|previous|former|latter|both|the two|the three|all (?:of )?(?:these|those|them)|(?:answer|result|total|outcome|part|step)s?\b(?! in\b)|you (?:got|found))\b/i

const refersNear = /\b(?:it|this|these|those|them|they|their)\b/i

/** Whether a part says that it builds on an earlier one, beyond the words that name its own answer or its material. */
const refers = (text: string, names: ReadonlyArray<string>): boolean => {
  const bare = text.replace(naming, " ").replace(quoted, " ")
  if (refersBack.test(bare)) return true
  if (names.some((name) => new RegExp(`(?<![\\p{L}'])${name}(?![\\p{L}'])`, "u").test(bare))) return true
  return (
    /\b(?:the )?(?:sum|product|difference|quotient)\b(?! (?:of|between))/i.test(bare) ||
    (refersNear.test(bare) && !hasMaterial(text))
  )
}

/** Parts that need no earlier one although words of theirs look like it. */
const withNeeds = (parts: ReadonlyArray<LexicalPolicy.Part>): ReadonlyArray<LexicalPolicy.Part> =>
  parts.map((part, index) => {
    const names = parts.slice(0, index).flatMap(({ text }) => [...text.matchAll(naming)].map((found) => found[1]!))
    return part.needs.length > 0 && !refers(part.text, names) ? { ...part, needs: [] } : part
  })

/** Cuts a question into parts by its wording. */
export const partsOf = (question: string): ReadonlyArray<LexicalPolicy.Part> => {
  let parts = LexicalPolicy.split(numberedApart(question))
  for (;;) {
    const at = parts.findIndex(
      ({ text }, index) => parts.length > 1 && (isAside(text) || (index > 0 && goesOn(text, parts[index - 1]!.text)))
    )
    if (at < 0) return withNeeds(parts)
    parts = folded(parts, at)
  }
}
