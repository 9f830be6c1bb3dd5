/**
 * The grader of the gym. Compares the final answer in a text with the reference, independent of notation.
 *
 * The final answer is the text after the last "Answer:" or "answer is" or, without such a marker, the whole text.
 * Numbers are compared as exact decimals, dates as calendar days, words and truth values by their letters. An answer
 * with two values is wrong.
 */
import { Grader } from "@divisi/core"

const months = "january|february|march|april|may|june|july|august|september|october|november|december"

const marker = /\banswer(?: is|:|\s*=)\s*/i

/**
 * Extracts the final answer from a text, without the surrounding phrase.
 *
 * **Example**
 *
 * ```ts
 * import { GymGrader } from "@divisi/gym"
 *
 * GymGrader.finalAnswer("That makes 6 weeks.\nAnswer: **42** days.") // => "42 days"
 * ```
 */
export const finalAnswer = (text: string): string => {
  const [before, ...after] = text.split(marker)
  return (
    (after.at(-1)?.split("\n")[0] ?? before!)
      .trim()
      .replaceAll("**", "")
      .replace(/^["'`“]+/, "")
      // Match only at the start of a run of characters. Trying every position in the run would take quadratic time.
      .replace(/(?<!["'`”.!])["'`”.!]+$/, "")
      .trim()
  )
}

const asDate = (text: string): string | undefined => {
  const iso = /^(-?\d{4,})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (iso !== null) return day(iso[1]!, Number(iso[2]), iso[3]!)
  const dayFirst = new RegExp(`^(?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${months}),? (\\d{4})$`, "i").exec(text)
  if (dayFirst !== null) return day(dayFirst[3]!, monthOf(dayFirst[2]!), dayFirst[1]!)
  const monthFirst = new RegExp(`^(${months}) (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})$`, "i").exec(text)
  return monthFirst === null ? undefined : day(monthFirst[3]!, monthOf(monthFirst[1]!), monthFirst[2]!)
}

const monthOf = (name: string) => months.split("|").indexOf(name.toLowerCase()) + 1
const day = (year: string, month: number, date: string) =>
  `${year}-${String(month).padStart(2, "0")}-${date.padStart(2, "0")}`

/** Returns a number in its shortest decimal form, without a trailing unit. */
const asNumber = (text: string): string | undefined => {
  const match = /^=?\s*([-+−]?)\s*(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d+))?(?: ?[a-z°²%][a-z°²/ ]*)?$/i.exec(text)
  if (match === null || (match[2] === undefined && match[3] === undefined)) return undefined
  const whole = (match[2] ?? "0").replace(/,/g, "").replace(/^0+(?=\d)/, "")
  const fraction = (match[3] ?? "").replace(/(?<!0)0+$/, "")
  const size = fraction === "" ? whole : `${whole}.${fraction}`
  return (match[1] === "-" || match[1] === "−") && size !== "0" ? `-${size}` : size
}

/**
 * Normalizes an answer so that equivalent answers are equal strings, for comparing and counting.
 *
 * **Example**
 *
 * ```ts
 * import { GymGrader } from "@divisi/gym"
 *
 * GymGrader.normalise("1,234.50 metres") // => "1234.5"
 * GymGrader.normalise("the 14th of March 2031") // => "2031-03-14"
 * ```
 */
export const normalise = (text: string): string => {
  const answer = finalAnswer(text).replace(/\s+/g, " ")
  return asDate(answer) ?? asNumber(answer) ?? answer.toLowerCase().replace(/^(?:it is |it's |an? )/, "")
}

/** Whether an answer is equivalent to the reference. */
export const isCorrect = (answer: string, reference: string): boolean => normalise(answer) === normalise(reference)

/** Grades tasks of the gym. */
export const grader: Grader.Grader = Grader.fromComparison("gym", isCorrect)
