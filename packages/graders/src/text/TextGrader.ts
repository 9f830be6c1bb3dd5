/** Grades answers in words by comparing texts, ignoring case, whitespace, surrounding punctuation and articles. */
import { isTakenBack } from "../internal/assertion/Assertion.ts"
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"

const label = /(?:final\s+)?answer(?:\*\*)?\s*(?::|is)\s*/gi

/** An extracted answer, and the position in the text where what follows it begins. */
interface Found {
  readonly content: string
  readonly end: number
}

/**
 * Returns the content of the last `<answer>…</answer>`. Opening and closing tags are matched separately, because a
 * combined pattern takes quadratic time.
 */
const lastTagged = (text: string): Found | undefined => {
  let open: number | undefined
  let last: Found | undefined
  for (const { 0: tag, index } of text.matchAll(/<\/?answer>/gi)) {
    if (!tag.startsWith("</")) open ??= index + tag.length
    else if (open !== undefined) {
      last = { content: text.slice(open, index), end: index + tag.length }
      open = undefined
    }
  }
  return last
}

const lastBoxed = (text: string): Found | undefined => {
  const match = [...text.matchAll(/\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}+/g)].at(-1)
  return match === undefined ? undefined : { content: match[1]!, end: match.index + match[0].length }
}

const lastLabelled = (text: string): Found | undefined => {
  const match = [...text.matchAll(label)].at(-1)
  if (match === undefined) return undefined
  const start = match.index + match[0].length
  const content = text.slice(start).split("\n")[0]!
  return { content, end: start + content.length }
}

const find = (text: string): Found =>
  lastTagged(text) ?? lastBoxed(text) ?? lastLabelled(text) ?? { content: text, end: text.length }

/**
 * Extracts the answer from a text: from `<answer>` tags, from a box, or from the part after the last "Answer:".
 * Otherwise, returns the whole text.
 *
 * @internal
 */
export const extract = (answer: string): string => find(spoken(answer)).content.trim()

/**
 * Normalizes a text, so that texts with the same words become equal.
 *
 * **Example**
 *
 * ```ts
 * import { TextGrader } from "@divisi/graders"
 *
 * TextGrader.normalise("The  Eiffel Tower.") // => "eiffel tower"
 * ```
 */
export const normalise = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .replace(/^[\s"'*_`([{]+/, "")
    // Match only at the start of a run of characters. Trying every position in the run would take quadratic time.
    .replace(/(?<![\s"'*_`)\]}.!?,;:])[\s"'*_`)\]}.!?,;:]+$/, "")
    .replace(/^(?:an?|the) /, "")

/** Grades answers in words. */
export const text: Verdict.AnswerGrader = Verdict.grader("text", (gold, answer) => {
  const said = spoken(answer)
  const { content, end } = find(said)
  const extracted = content.trim()
  if (extracted === "" || isTakenBack(said, end)) return Verdict.unparsed
  return Verdict.make({ correct: normalise(extracted) === normalise(gold), rung: "text", extracted })
})
