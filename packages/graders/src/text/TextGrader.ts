/** Grades answers in words by comparing texts, ignoring case, whitespace, surrounding punctuation and articles. */
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"

const label = /(?:final\s+)?answer(?:\*\*)?\s*(?::|is)\s*/gi

/**
 * Returns the content of the last `<answer>…</answer>`. Opening and closing tags are matched separately, because a
 * combined pattern takes quadratic time.
 */
const lastTagged = (text: string): string | undefined => {
  let open: number | undefined
  let last: string | undefined
  for (const { 0: tag, index } of text.matchAll(/<\/?answer>/gi)) {
    if (!tag.startsWith("</")) open ??= index + tag.length
    else if (open !== undefined) {
      last = text.slice(open, index)
      open = undefined
    }
  }
  return last
}

/**
 * Extracts the answer from a text: from `<answer>` tags, from a box, or from the part after the last "Answer:".
 * Otherwise, returns the whole text.
 */
export const extract = (answer: string): string => {
  const text = spoken(answer)
  const tagged = lastTagged(text)
  if (tagged !== undefined) return tagged.trim()
  const boxed = [...text.matchAll(/\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}/g)].at(-1)?.[1]
  if (boxed !== undefined) return boxed.trim()
  const match = [...text.matchAll(label)].at(-1)
  return match === undefined
    ? text.trim()
    : text
        .slice(match.index + match[0].length)
        .split("\n")[0]!
        .trim()
}

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
  const extracted = extract(answer)
  if (extracted === "") return Verdict.unparsed
  return Verdict.make({ correct: normalise(extracted) === normalise(gold), rung: "text", extracted })
})
