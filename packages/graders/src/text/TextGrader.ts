/** Grades answers in words: the same text, but for capitals, white space, punctuation at the ends, and articles. */
import { spoken } from "../internal/spoken.ts"
import * as Verdict from "../Verdict.ts"

const label = /(?:final\s+)?answer(?:\*\*)?\s*(?::|is)\s*/gi

/** The answer in a text: in its `<answer>` tags, boxed, behind its last "Answer:", or all of it. */
export const extract = (answer: string): string => {
  const text = spoken(answer)
  const tagged = [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)?.[1]
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
 * One spelling for texts that say the same in the same words.
 *
 * **Example**
 *
 * ```ts
 * import { TextGrader } from "@divisi/graders/text"
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
    .replace(/^[\s"'*_`([{]+|[\s"'*_`)\]}.!?,;:]+$/g, "")
    .replace(/^(?:an?|the) /, "")

/** Grades answers in words. */
export const text: Verdict.AnswerGrader = Verdict.grader("text", (gold, answer) => {
  const extracted = extract(answer)
  if (extracted === "") return Verdict.unparsed
  return Verdict.make({ correct: normalise(extracted) === normalise(gold), rung: "text", extracted })
})
