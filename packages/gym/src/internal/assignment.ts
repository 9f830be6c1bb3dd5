/** Parses a worker's messages into the question, earlier turns and the worker's assignment. */
import { type Message, text } from "@divisi/core/Message"
import { finalAnswer, normalise } from "../GymGrader.ts"
import type { Part } from "./parts.ts"

/** An earlier subtask and its answer. */
export interface Turn {
  readonly subtask: string
  readonly answer: string
}

/** The contents of a request's messages. */
export interface Reading {
  readonly question: string
  /** The subtask. Empty if the worker is asked the whole question. */
  readonly subtask: string
  readonly turns: ReadonlyArray<Turn>
}

/** The work that a subtask requests. */
export interface Assignment {
  /** Indices of the parts to solve, ascending. All parts if the subtask does not refer to any. */
  readonly parts: ReadonlyArray<number>
  /** A separate question that the subtask asks instead. */
  readonly own?: string | undefined
  /** Whether to compare earlier answers to the same question. */
  readonly weigh: boolean
  /** Whether to write a plan instead of an answer. */
  readonly plan: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const separator = "\n\nSubtask:\n"
const heading = "Question:\n"

export const read = (messages: ReadonlyArray<Message>): Reading => {
  const last = text(messages.at(-1))
  const cut = last.startsWith(heading) ? last.lastIndexOf(separator) : -1
  const turns: Array<Turn> = []
  for (let index = 1; index < messages.length - 1; index++) {
    const [asked, said] = [messages[index - 1]!, messages[index]!]
    if (asked.role === "user" && said.role === "assistant") turns.push({ subtask: text(asked), answer: said.content })
  }
  return cut < 0
    ? { question: last.startsWith(heading) ? last.slice(heading.length) : last, subtask: "", turns }
    : { question: last.slice(heading.length, cut), subtask: last.slice(cut + separator.length).trim(), turns }
}

/** Whether an answer is a refusal. */
export const isDecline = (answer: string): boolean =>
  /^(?:I cannot|I can't|I do not know|This step (?:failed|was not run)|The answer to this step was empty)/.test(
    answer.trim()
  )

// -------------------------------------------------------------------------------------------------------------------
// Assignments
// -------------------------------------------------------------------------------------------------------------------

const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "")

/** Minimum length of a quotation that identifies a part. Shorter ones could occur in any text. */
const tellingLength = 12

/** Minimum share of a part's words that a subtask must contain to refer to that part without quoting it. */
const telling = 0.9

const tokens = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[a-z]+|\d+/g) ?? []

/** Returns the share of a part's words that occur in a subtask, counting repeated words. */
const coverage = (part: string, subtask: string): number => {
  const left = new Map<string, number>()
  for (const token of tokens(subtask)) left.set(token, (left.get(token) ?? 0) + 1)
  const wanted = tokens(part)
  const found = wanted.filter((token) => {
    const count = left.get(token) ?? 0
    left.set(token, count - 1)
    return count > 0
  })
  return wanted.length === 0 ? 0 : found.length / wanted.length
}

/** Returns the parts that a subtask quotes exactly or nearly, or the part that contains the subtask. */
const quoted = (parts: ReadonlyArray<Part>, subtask: string): ReadonlyArray<number> => {
  const wanted = letters(subtask)
  const held = parts.flatMap(({ text }, index) => (wanted.includes(letters(text)) ? [index] : []))
  if (held.length > 0 || wanted.length < tellingLength) return held
  const pieces = parts.flatMap(({ text }, index) => (letters(text).includes(wanted) ? [index] : []))
  if (pieces.length > 0) return pieces
  return parts.flatMap(({ text }, index) => (coverage(text, subtask) >= telling ? [index] : []))
}

const ordinals = ["first", "second", "third", "fourth", "fifth"]
const part = /\b(?:part|question) (\d)\b|\b(first|second|third|fourth|fifth|last|final) (?:part|question)\b/gi
const answerOfPart =
  /\b(?:answers?|results?) (?:to|of|from) (?:the )?(?:(?:first|second|third|last) (?:part|step|question)|(?:part|step|question)s? \d(?: and \d)?)/gi

const numbered = (count: number, subtask: string): ReadonlyArray<number> => {
  const found = [...subtask.replace(answerOfPart, "").matchAll(part)].map(([, digit, word]) => {
    if (digit !== undefined) return Number(digit) - 1
    const place = ordinals.indexOf(word!.toLowerCase())
    return place < 0 ? count - 1 : place
  })
  return [...new Set(found)].filter((index) => index >= 0 && index < count).sort((left, right) => left - right)
}

const weighing =
  /\b(?:check|verify|review|compare|judge|choose|pick|select|best|majority|vote|weigh|mistakes?|correct|corrected|correction|reflect|improve|revise|combine|merge|aggregate|synthesi[sz]e|confirm)\b/i

const planning =
  /\b(?:make a plan|plan (?:the|how|what)|outline|break (?:it|this|the question) (?:down|into)|decompose|list the (?:steps|parts))\b/i

/** Terms by which a subtask may refer to a type of part. */
const kinds: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:conver\w+|units?)\b/i, "units"],
  [/\b(?:dates?|calendar|weekday|days between)\b/i, "calendar"],
  [/\b(?:equations?|algebra\w*|unknown|solve for)\b/i, "algebra"],
  [/\b(?:arithmetic|multipl\w+|calculation|sums?)\b/i, "arithmetic"],
  [/\b(?:letters?|words?|text|spell\w*)\b/i, "text"],
  [/\b(?:logic\w*|puzzle|truth|true or false)\b/i, "logic"],
  [/\b(?:statistic\w*|mean|median|average|deviation)\b/i, "statistics"],
  [/\b(?:programs?|code|javascript)\b/i, "program"],
  [/\b(?:stock|warehouse)\b/i, "stock"]
]

const byKind = (
  parts: ReadonlyArray<Part>,
  subtask: string,
  familyOf: (text: string) => string | undefined
): ReadonlyArray<number> => {
  const named = kinds.flatMap(([pattern, family]) => (pattern.test(subtask) ? [family] : []))
  return parts.flatMap(({ text }, index) => (named.includes(familyOf(text) ?? "") ? [index] : []))
}

/** Returns the indices of all parts. */
const whole = (parts: ReadonlyArray<Part>): ReadonlyArray<number> => parts.map((_, index) => index)

/**
 * Determines the assignment in a subtask. `familyOf` returns the family of a question, or `undefined` for any other
 * text.
 */
export const assign = (
  parts: ReadonlyArray<Part>,
  subtask: string,
  familyOf: (text: string) => string | undefined
): Assignment => {
  const weigh = weighing.test(parts.reduce((text, { text: part }) => text.replace(part, ""), subtask))
  if (subtask === "") return { parts: whole(parts), weigh: false, plan: false }
  const named = quoted(parts, subtask)
  if (named.length > 0) return { parts: named, weigh, plan: false }
  const counted = parts.length > 1 ? numbered(parts.length, subtask) : []
  if (counted.length > 0) return { parts: counted, weigh, plan: false }
  if (familyOf(subtask) !== undefined) return { parts: [], own: subtask, weigh, plan: false }
  if (planning.test(subtask)) return { parts: whole(parts), weigh: false, plan: true }
  const kind = parts.length > 1 ? byKind(parts, subtask, familyOf) : []
  return { parts: kind.length === 1 ? kind : whole(parts), weigh, plan: false }
}

/** Extracts the value from an answer, for use in later parts. */
export const valueOf = (answer: string): string => {
  const value = finalAnswer(answer)
  return /^[-−+]?\d/.test(value) ? normalise(value) : value
}
