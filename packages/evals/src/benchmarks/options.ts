/** Reads answer options from the rows of a user's file: the supported formats, and which option is correct. */
import { isRecord } from "@divisi/core/Fields"
import { letterAt } from "./choices.ts"
import * as Row from "./Row.ts"

/** The options in a row, in order, with the index of the correct one. */
export interface Options {
  readonly texts: ReadonlyArray<string>
  readonly right: number
}

const most = 10

const textOf = (value: unknown, field: string): string => {
  if (typeof value === "string" && value.trim() !== "") return value.trim()
  if (typeof value === "number" || typeof value === "bigint") return String(value)
  throw new Row.RowError(`field "${field}" must contain strings`)
}

const listOf = (value: unknown, field: string): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.map((one) => textOf(one, field))
  throw new Row.RowError(`field "${field}" must be a list of strings, or an object mapping letters to strings`)
}

/** Parses answer options with their labels: a list, `{ "A": "..." }`, or `{ "text": [...], "label": [...] }`. */
const labelled = (value: unknown, field: string) => {
  if (!isRecord(value)) return { texts: listOf(value, field), labels: undefined }
  if (Array.isArray(value.text) || Array.isArray(value.label)) {
    const [texts, labels] = [listOf(value.text, field), listOf(value.label, field)]
    if (texts.length !== labels.length) throw new Row.RowError(`field "${field}" has options without a label`)
    return { texts, labels }
  }
  const labels = Object.keys(value)
  return { texts: labels.map((label) => textOf(value[label], field)), labels: labels.map((label) => label.trim()) }
}

/** Parses an option letter in any common notation: `B`, `b`, `(B)`, `B.`. */
const letterIn = (text: string): string | undefined => /^\(?([A-Ja-j])[).:]?$/.exec(text.trim())?.[1]?.toUpperCase()

/**
 * Returns every option that an answer may refer to: by label or letter, by its text, or, for a number, by its index
 * starting at 0.
 */
const named = (answer: unknown, texts: ReadonlyArray<string>, labels: ReadonlyArray<string>): ReadonlySet<number> => {
  const text = textOf(answer, "answer")
  const letter = letterIn(text)
  const found = texts.flatMap((option, index) => (option === text ? [index] : []))
  const byLabel = labels.findIndex(
    (label) => label === text || (letter !== undefined && label.toUpperCase() === letter)
  )
  const byIndex = typeof answer === "string" ? -1 : Number(answer)
  return new Set([...found, byLabel, byIndex].filter((index) => index >= 0 && index < texts.length))
}

/** Reads the options in a row; returns `undefined` if it has no options. */
export const read = (row: Row.Row): Options | undefined => {
  const [field, other] = ["options", "choices"].filter((name) => row[name] !== undefined && row[name] !== null)
  if (field === undefined) return undefined
  if (other !== undefined) throw new Row.RowError('it has both "options" and "choices"; remove one')
  const { labels, texts } = labelled(row[field], field)
  if (texts.length < 2 || texts.length > most) {
    throw new Row.RowError(`field "${field}" must have 2 to ${most} options, not ${texts.length}`)
  }
  const { answer } = row
  if (answer === undefined || answer === null) throw new Row.RowError('it has options but no field "answer"')
  const right = named(answer, texts, labels ?? texts.map((_, index) => letterAt(index)))
  const [only] = right
  if (right.size === 1) return { texts, right: only! }
  const shown = textOf(answer, "answer")
  throw new Row.RowError(
    right.size === 0
      ? `its answer "${shown}" is not one of its options; write the letter (A to ${letterAt(texts.length - 1)}) or the option's text`
      : `its answer "${shown}" matches several of its options (${[...right].map(letterAt).join(", ")}); make the options distinct and write the letter`
  )
}
