/**
 * Splits a composite question into the parts that a worker reads, and resolves references to earlier answers.
 *
 * Parts start at numbered lines, at "First, ... Then, ...", after "Call the answer M.", at sentences with "that
 * number", and at sentences that continue from an earlier result, such as "Multiply the result by 37" or "Add both".
 */

/** A part of a question, with the earlier parts that it refers to. */
export interface Part {
  readonly text: string
  readonly needs: ReadonlyArray<number>
}

/** Replaces code and quotations with a filler of equal length, so that offsets do not change. */
const hidden = (text: string): string =>
  text.replace(/```[\s\S]*?(?:```|$)|"[^"\n]*"|“[^“”\n]*”/g, (held) => "\uE000".repeat(held.length))

const pronoun =
  /\bthat (?:number|many|word|name|value|result|answer|amount|day|date)\b|\b(?:the|your) (?:previous|earlier|last|resulting) (?:answer|result|number|value|word)\b|\bthe (?:answer|result) (?:so far|above|of the (?:previous|last|first) (?:part|step))\b/gi

const numbered =
  /\b(?:the )?(?:answer|result) (?:to|of|from) (?:part|question|step) (\d)\b|\bthe (first|second|third) (?:answer|result)\b/gi

/**
 * Matches sentences that can continue from the previous answer, such as "Multiply the result by 37", "Add 50 to it" and
 * "How many letters does it have?".
 */
const operation =
  /^[\s,]*(?:(?:and|then|now|please),? )*(?:(?:add|cube|divide|double|halve|multiply|reverse|round|spell|square|subtract|take|triple|write)\b(?: [\d.,%]+ (?:to|from|of))?|(?:(?:find|say|tell me) )?how many (?:digits|letters|vowels)\b)[^.?!\d]*(?!\w)/i

const operand =
  /\b(?:it|(?:the|that|this) (?:result|answer|total)|(?:that|this)(?= (?:by|from|in|to|with)\b|[.,;?!]|$))\b/gi

/**
 * Matches sentences that continue from the two previous answers, such as "Add both results" and "What is the difference
 * between the two?".
 */
const pair =
  /(?<=\b(?:add(?: up)?|multiply|(?:sum|product|difference|quotient) (?:of|between)) )(?:(?:both|(?:the|these|those) two)(?: (?:answers|results|numbers|values))?|(?:the|these|those) (?:answers|results))\b(?=[.?!,;]|$| (?:and|in|rounded|to|together)\b)/gi

const refersBack = (sentence: string): boolean =>
  sentence.search(pronoun) >= 0 ||
  sentence.search(pair) >= 0 ||
  (operation.exec(sentence)?.[0].search(operand) ?? -1) >= 0

const naming = /(?<!\s)\s*(?:Call|Name) (?:it|this|that|the (?:answer|result|number)) ([A-Z])\./g

const letter = (name: string) => new RegExp(`(?<![\\w"'])${name}(?![\\w"'])`, "g")

const starts =
  /(?:^|\n)[^\S\n]*\d[.)] |(?<=^|[.?!\uE000]["”]?\s|\n)(?:First|Second|Secondly|Third|Then|Next|Finally|Lastly|After that|Afterwards|Now),? |(?<=[.?!\uE000]["”]?\s|\n)(?=[A-Z(\d])|,? (?:and )?then (?=[a-z])|,? and (?=(?:how many|what|which|who)\b)/g

const opener = /^\s*(?:\d[.)] |(?:First|Secondly?|Third|Then|Next|Finally|Lastly|After that|Afterwards|Now),? )/

/** Matches the start of a clause that is a separate part only if it refers back. */
const clause = /^,? ?(?:(?:and )?then |and (?=(?:how many|what|which|who)\b))/

const closing = /(?<!\s)\s*(?:Give|Answer with|Reply with|Report) only the (?:last|final) answer\.\s*$/

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Whether a match of a lookbehind pattern ends at a position in a text. */
const isBehind = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at
  return pattern.test(text)
}

const number = /(?<=(?:^|\n)[^\S\n]*\d[.)] )/y

const named = /(?<=\b(?:Call|Name) (?:it|this|that|the (?:answer|result|number)) [A-Z]\.\s*)/y

const sentenceEnd = /(?<=[?.]\s)/y

/** Puts each part of a numbered list on a line of its own. */
const listed = (question: string): string =>
  /^1[.)] /.test(question) ? question.replace(/(?<=[.?!]) (?=\d[.)] )/g, "\n") : question

/** Splits a question where parts start: at markers, after an answer is named, and at sentences that refer back. */
const pieces = (text: string): ReadonlyArray<string> => {
  const question = listed(text.trim())
  const mask = hidden(question)
  const cuts = [...mask.matchAll(starts)].map((match) => match.index).filter((from) => !isBehind(number, mask, from))
  const sentences = cuts.map((from, index) => mask.slice(from, cuts[index + 1] ?? mask.length))
  // Adjacent questions are parts only if a later one uses both answers.
  const ofPair = sentences.findLastIndex((sentence) => sentence.search(pair) >= 0)
  const begins = cuts.filter(
    (from, index) =>
      from > 0 &&
      (opener.test(sentences[index]!) ||
        refersBack(sentences[index]!) ||
        isBehind(named, mask, from) ||
        (index < ofPair && (isBehind(sentenceEnd, mask, from) || clause.test(sentences[index]!))))
  )
  return [0, ...begins].map((from, index) => question.slice(from, begins[index] ?? question.length).trim())
}

const ordinals = ["first", "second", "third"]

const needsOf = (text: string, names: ReadonlyMap<string, number>, part: number): ReadonlyArray<number> => {
  const mask = hidden(text)
  const found = new Set<number>()
  for (const [, digit, word] of mask.matchAll(numbered)) {
    found.add(digit === undefined ? ordinals.indexOf(word!.toLowerCase()) : Number(digit) - 1)
  }
  for (const [name, index] of names) if (letter(name).test(mask)) found.add(index)
  if (found.size === 0 && mask.search(pair) >= 0) return part < 2 ? [] : [part - 2, part - 1]
  if (found.size === 0 && refersBack(mask)) found.add(part - 1)
  return [...found].filter((index) => index >= 0 && index < part).sort((left, right) => left - right)
}

/** Splits a question into its parts, in order. A question that asks for one thing has a single part. */
export const split = (question: string): ReadonlyArray<Part> => {
  const names = new Map<string, number>()
  return pieces(question.replace(closing, ""))
    .map((piece) => piece.replace(opener, "").replace(clause, "").trim())
    .filter((piece) => piece !== "")
    .map((piece, index) => {
      const needs = needsOf(piece.replace(naming, ""), names, index)
      for (const [, name] of piece.matchAll(naming)) names.set(name!, index)
      return { text: capital(piece.replace(naming, "").trim()), needs }
    })
}

/** Returns the letters that a question assigns to answers, with the part that each refers to. */
export const namesIn = (question: string): ReadonlyMap<string, number> => {
  const names = new Map<string, number>()
  pieces(question).forEach((piece, index) => {
    for (const [, name] of piece.matchAll(naming)) names.set(name!, index)
  })
  return names
}

/** The target of a reference: the answer of a specific part, of the previous part, or of the two previous parts. */
export type Reference = number | "previous" | "both"

/** Replaces references to earlier answers with the answers themselves. */
export const substitute = (
  text: string,
  value: (reference: Reference) => string | undefined,
  names: ReadonlyMap<string, number> = new Map()
): string => {
  let result = text
  for (const [name, part] of names) {
    const known = value(part)
    if (known !== undefined) result = result.replace(letter(name), known)
  }
  return result
    .replace(numbered, (whole, digit: string | undefined, word: string | undefined) => {
      return value(digit === undefined ? ordinals.indexOf(word!.toLowerCase()) : Number(digit) - 1) ?? whole
    })
    .replace(pronoun, (whole) => value("previous") ?? whole)
    .replace(pair, (whole) => value("both") ?? whole)
    .replace(operation, (clause) => clause.replace(operand, (whole) => value("previous") ?? whole))
}
