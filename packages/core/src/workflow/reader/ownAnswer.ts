/** Parses a direct answer by the policy, written as `answer = "Paris."` instead of lists. */
import type { Mode } from "../WorkflowText.ts"
import { afterComment, type Failure, failAt, type Reader, strictReader } from "./literalReader.ts"
import { readLiteral } from "./pythonLiteral.ts"

/** A direct answer with its position in the text and the accepted deviations. */
export interface OwnAnswer {
  readonly answer: string
  readonly notes: ReadonlyArray<string>
  readonly span: { readonly start: number; readonly end: number }
}

const strictHead = /answer[ \t]{0,16}=[ \t]{0,16}/y

/** Matches the head of an answer at the start of a line, optionally with markup, followed by a quote. */
const tolerantHead = /(?:^|\n)[ \t`*]{0,8}(?:final[_ ])?answer[ \t`*]{0,8}[=:][ \t`*]{0,8}(?=["'“])/giu

const startsOf = (text: string): number => {
  let last = -1
  tolerantHead.lastIndex = 0
  for (const match of text.matchAll(tolerantHead)) last = match.index + (match[0].startsWith("\n") ? 1 : 0)
  return last
}

/** Skips blank lines and comments. */
const skipLines = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === 32 || (code >= 9 && code <= 13)) at++
    else if (code === 35) at = afterComment(text, at)
    else return at
  }
}

const none = { checks: false, earlier: false, how: false }

const answerAt = (reader: Reader, start: number): OwnAnswer | Failure | undefined => {
  const literal = readLiteral(reader, "statement")
  if (literal.type === "failure") return literal
  if (literal.type !== "string") return failAt(reader, literal.at, "the answer in quotes", "another value")
  if (/^[\0- \x7f]*$/u.test(literal.value)) return failAt(reader, literal.at, "an answer", "an empty string")
  return { answer: literal.value, notes: [...reader.notes], span: { start, end: reader.at } }
}

const readStrict = (text: string, from: number): OwnAnswer | Failure | undefined => {
  const start = skipLines(text, from)
  strictHead.lastIndex = start
  const head = strictHead.exec(text)
  if (head === null) return undefined
  const reader = strictReader(text, start + head[0].length, none)
  const own = answerAt(reader, start)
  const next = skipLines(text, reader.at)
  if (own === undefined || "expected" in own || next >= text.length) return own
  return failAt(reader, next, "nothing after the answer")
}

/** Parses an answer tolerantly. It must be the last element of the text; if lists follow, it counts as reasoning. */
const readTolerant = (text: string): OwnAnswer | undefined => {
  const start = startsOf(text)
  if (start < 0) return undefined
  const separator = text.slice(start).search(/[=:]/)
  const quote = start + separator + text.slice(start + separator).search(/["'“]/u)
  const notes = new Set<string>()
  const isHead = () => false
  const reader: Reader = { text, at: quote, forgiving: true, json: false, notes, isHead, more: none }
  if (text.slice(start, quote).trim() !== "answer =")
    notes.add(`Read ${JSON.stringify(text.slice(start, quote).trim())} as "answer =".`)
  const own = answerAt(reader, start)
  if (own === undefined || "expected" in own || /[^\s`*]/u.test(text.slice(own.span.end))) return undefined
  if (text.slice(0, start).trim() !== "" || text.slice(own.span.end).trim() !== "")
    notes.add("Ignored the text around the answer.")
  return { ...own, notes: [...notes] }
}

/**
 * Parses a direct answer. Returns a failure if it is malformed, or `undefined` if the text does not contain an answer.
 */
export const readOwnAnswer = (text: string, mode: Mode): OwnAnswer | Failure | undefined => {
  const isThought = mode === "thought-then-strict"
  const from = isThought ? Math.max(0, text.lastIndexOf("\nanswer") + 1) : 0
  if (isThought && text.lastIndexOf("\nmodel_id") > from) return undefined
  const strict = readStrict(text, from)
  if (mode !== "tolerant") return strict
  return strict !== undefined && !("expected" in strict) ? strict : readTolerant(text)
}
