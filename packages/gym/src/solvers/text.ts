/** Reads questions about letters, words and digits, and answers them. */
import type { Habits } from "../Habits.ts"
import { plain, solver } from "./reading.ts"

type Read =
  | { readonly type: "count-letter"; readonly letter: string; readonly subject: string }
  | { readonly type: "count-vowels"; readonly subject: string }
  | { readonly type: "count-letters"; readonly subject: string }
  | { readonly type: "count-words"; readonly subject: string }
  | { readonly type: "nth-word"; readonly nth: number; readonly sorted: boolean; readonly subject: string }
  | { readonly type: "reverse"; readonly subject: string }
  | { readonly type: "join"; readonly end: "first" | "last"; readonly subject: string }
  | { readonly type: "count-digits"; readonly digit: string | undefined; readonly subject: string }

const nthNames = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

const nthIn = (text: string): number | undefined => {
  const figure = /\b(\d+)(?:st|nd|rd|th)\b/.exec(text)?.[1]
  if (figure !== undefined) return Number(figure)
  const name = nthNames.findIndex((word) => new RegExp(`\\b${word}\\b`, "i").test(text))
  return name < 0 ? undefined : name + 1
}

/** What the question is about: the last quotation, or the word that it ends in. */
const subjectOf = (text: string): string | undefined => {
  const quotations = [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1]!)
  const last = quotations.at(-1)
  if (last !== undefined && !(last.length === 1 && /letter "/.test(text))) return last
  return /\b(?:does|in|letters|reverse|spell|vowels|write|is) (?:the word )?([a-z]{2,})(?=[,.?]| backwards| in reverse| ha(?:s|ve)|$)/i.exec(
    text
  )?.[1]
}

const aboutDigits = (text: string): Read | undefined => {
  const reverse = /\b(?:digits of|spell|write) (\d+) (?:in reverse|backwards)/i.exec(text)?.[1]
  if (reverse !== undefined) return { type: "reverse", subject: reverse }
  const all = /\bhow many digits (?:does )?(\d+) ha(?:s|ve)\b/i.exec(text)?.[1]
  if (all !== undefined) return { type: "count-digits", digit: undefined, subject: all }
  const [, digit, subject] = /\bdigit (\d) (?:appear|occur)\w* in (\d+)/i.exec(text) ?? []
  return subject === undefined ? undefined : { type: "count-digits", digit, subject }
}

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  if (/```|\btrue or false\b/i.test(text)) return undefined
  const digits = aboutDigits(text)
  if (digits !== undefined) return digits
  const subject = subjectOf(text)
  if (subject === undefined) return undefined
  const asked = text.replace(`"${subject}"`, "")
  const letter = /\bletter "?([a-z])"?\b|\b([a-z])'s\b/i
    .exec(asked)
    ?.slice(1)
    .find((found) => found !== undefined)
    ?.toLowerCase()
  if (letter !== undefined) return { type: "count-letter", letter, subject }
  if (/\bvowels\b/i.test(asked)) return { type: "count-vowels", subject }
  if (/\bhow many letters\b/i.test(asked)) return { type: "count-letters", subject }
  if (/\bhow many words\b/i.test(asked)) return { type: "count-words", subject }
  if (/\bbackwards\b|\bin reverse\b|\breverse\b/i.test(asked)) return { type: "reverse", subject }
  if (/\bjoin\b.*\bletters\b/i.test(asked))
    return { type: "join", end: /\blast\b/i.test(asked) ? "last" : "first", subject }
  const nth = nthIn(asked)
  if (nth === undefined || !/\bword\b/i.test(asked)) return undefined
  return { type: "nth-word", nth, sorted: /\balphabetical/i.test(asked), subject }
}

const count = (text: string, pattern: RegExp): string => String(text.match(pattern)?.length ?? 0)

const answer = (read: Read, habits: Habits): string | undefined => {
  const words = read.subject.split(" ").slice(0, habits.wordsRead ?? Number.POSITIVE_INFINITY)
  const whole = words.join(" ")
  const counted = habits.overlooksCapitals ? whole.replace(/[A-Z]/g, "") : whole
  switch (read.type) {
    case "count-letter":
      return count(counted, new RegExp(read.letter, "gi"))
    case "count-vowels":
      return count(counted, /[aeiou]/gi)
    case "count-letters":
      return count(counted, /[a-z]/gi)
    case "count-words":
      return String(words.length)
    case "reverse":
      return [...whole]
        .reverse()
        .join("")
        .toLowerCase()
        .replace(/^0+(?=\d)/, "")
    case "join":
      return words.map((word) => word.at(read.end === "first" ? 0 : -1)).join("")
    case "nth-word":
      return (read.sorted ? words.slice().sort((left, right) => (left < right ? -1 : 1)) : words)[
        Math.min(read.nth, habits.wordsRead === undefined ? Number.POSITIVE_INFINITY : words.length) - 1
      ]
    case "count-digits":
      return String([...read.subject].filter((digit) => read.digit === undefined || digit === read.digit).length)
  }
}

export const text = solver(read, answer)
