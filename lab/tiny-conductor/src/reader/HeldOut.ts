/** Words and phrases held out by the gym, which must not occur in training text. */
import * as Teams from "../world/Teams.ts"

/** A text as words between spaces, without punctuation and plural endings. */
const plain = (text: string): string =>
  ` ${(text.toLowerCase().match(/[a-z\d]+/g) ?? []).map((word) => word.replace(/(?<=..)s$/, "")).join(" ")} `

/** Phrases are cut at their topics; what is left of three letters is no phrase. */
const phrases: ReadonlySet<string> = new Set(
  Teams.heldOutTexts
    .flatMap((text) => text.split(/\bX\b/i))
    .map(plain)
    .filter((phrase) => phrase.trim().length > 3)
)

/** Whether a text contains a held-out phrase. */
export const has = (text: string): boolean => {
  const found = plain(text)
  for (const phrase of phrases) if (found.includes(phrase)) return true
  return false
}
