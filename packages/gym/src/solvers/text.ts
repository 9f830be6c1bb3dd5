/** Reads and answers questions about letters, words and digits. */
import type { Habits } from "../Habits.ts"
import * as Letters from "./letters.ts"
import { Ambiguous, solver, type Text } from "./reading.ts"

type Read =
  | {
      readonly type: "count"
      readonly what: Letters.Kind
      readonly subject: string
      readonly ignored: Letters.Kind | undefined
    }
  | { readonly type: "count-words"; readonly subject: string }
  | { readonly type: "nth-word"; readonly nth: number; readonly sorted: boolean; readonly subject: string }
  | { readonly type: "nth-letter"; readonly nth: number; readonly subject: string }
  | {
      readonly type: "reverse"
      readonly subject: string
      readonly isLower: boolean
      readonly ignored: Letters.Kind | undefined
    }
  | { readonly type: "case"; readonly isLower: boolean; readonly subject: string }
  | { readonly type: "strip"; readonly removed: Letters.Kind; readonly subject: string }
  | { readonly type: "palindrome"; readonly subject: string }
  | { readonly type: "join"; readonly end: "first" | "last"; readonly subject: string }
  | { readonly type: "count-digits"; readonly digit: string | undefined; readonly subject: string }

// -------------------------------------------------------------------------------------------------------------------
// Digits
// -------------------------------------------------------------------------------------------------------------------

const readDigits = (text: Text): Read | undefined => {
  const reverse =
    text.take(/\b(?:write|reverse|spell) the digits of (\d+)(?: (?:in reverse(?: order)?|backwards))/i) ??
    text.take(/\breverse the digits of (\d+)/i) ??
    text.take(/\b(?:spell|write) (\d+) (?:in reverse(?: order)?|backwards)/i)
  if (reverse !== undefined) return { type: "reverse", subject: reverse[1]!, isLower: false, ignored: undefined }
  const all =
    text.take(/\bhow many digits (?:does |has )?(?:the number )?(\d+)(?: ha(?:s|ve))?(?![\w.])/i) ??
    text.take(/\bhow many digits (?:are there |are )?in (?:the number )?(\d+)(?![\w.])/i)
  if (all !== undefined) return { type: "count-digits", digit: undefined, subject: all[1]! }
  const one =
    text.take(
      /\bhow (?:many times|often) does (?:the )?digit (\d) (?:appear|occur) in (?:the number )?(\d+)(?![\w.])/i
    ) ?? text.take(/\bhow many (\d)'?s (?:are there |are )?in (?:the number )?(\d+)(?![\w.])/i)
  return one === undefined ? undefined : { type: "count-digits", digit: one[1], subject: one[2]! }
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

const nthNames = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
const nth = `([1-9]\\d*(?:st|nd|rd|th)|last|${nthNames.join("|")})`

/** Returns a position, counted from 1; 0 is the last one. */
const nthOf = (text: string): number => {
  if (/^last$/i.test(text)) return 0
  const name = nthNames.indexOf(text.toLowerCase())
  return name < 0 ? Number.parseInt(text, 10) : name + 1
}

/** Placeholder for a quotation. */
const Q = "\uE001"
const what = "(?:the )?(?:(?:words?|phrases?|texts?|sentences?|strings?|names?) )?"
const quotations = new RegExp(`(?:\\bboth )?${what}${Q}(?:(?:, and | and |, )(?:in )?${what}${Q})*`)

/** Matches the word that a question without quotations is about. */
const bareWord =
  /(?:\b(?:does|in|reverse|spell|write|is)|\uE000) (?:(?:the|this) (?:word|name) )?([a-z]{2,})(?=[,.?!\uE000]| backwards| in reverse| ha(?:s|ve)|$)/i

/** Takes the subject of a question: its quotations, joined to one text, or a single word. */
const takeSubject = (text: Text, most: "one" | "several" = "several"): string | undefined => {
  const quoted = text.takeAll(/"([^"]+)"/g, Q).map((match) => match[1]!)
  if (quoted.length === 0) {
    const word = bareWord.exec(text.left)?.[1]
    if (word !== undefined)
      text.take(
        new RegExp(`\\b(?:(?:the|this) (?:word|name) )?${word}(?=[,.?!\uE000]| backwards| in reverse| ha(?:s|ve)|$)`)
      )
    return word
  }
  // It is ambiguous how several words should be reversed.
  if (most === "one" && quoted.length > 1) return undefined
  const found = text.take(quotations)
  // Two separate quotations may belong to different questions.
  return found?.[0].split(Q).length === quoted.length + 1 ? quoted.join(" ") : undefined
}

const ignoring = "(?:not counting|not including|excluding|without|ignoring|leaving out|except(?: for)?)"
const ignorable: ReadonlyArray<readonly [pattern: string, what: (letter: string) => Letters.Kind]> = [
  ["(?:spaces|blanks)", () => Letters.isSpace],
  ["vowels", () => Letters.isVowel],
  ["consonants", () => Letters.isConsonant],
  [`(?:letters? )?"?(\\p{L})"?(?:'s)?`, Letters.is]
]

const ignorables = ignorable.map(
  ([pattern, what]) =>
    [new RegExp(`[,(]? ?\\b${ignoring} (?:the |any |all )?(?:the )?${pattern}(?![\\p{L}'])\\)?`, "iu"), what] as const
)

/** Takes the description of characters to ignore. */
const takeIgnored = (text: Text): Letters.Kind | undefined => {
  for (const [pattern, what] of ignorables) {
    const found = text.take(pattern)
    if (found !== undefined) return what(found[1] ?? "")
  }
  return undefined
}

const counting = /\b(?:how many times|how many|how often|count|the number of)\b/i

/** Things that can be counted, with their patterns. */
const counted: ReadonlyArray<readonly [RegExp, (letter: string) => Letters.Kind]> = [
  [/(?<=\bdoes )"(\p{L})"(?= (?:appear|occur)\b)/iu, Letters.is],
  [/(?<=\uE000 )"?(\p{L})"?(?= (?:are there |are )?in\b)/iu, Letters.is],
  [/\bletter "?(\p{L})"?(?![\p{L}'"])/iu, Letters.is],
  [/(?<!\p{L})"?(\p{L})"?'s(?!\p{L})/iu, Letters.is],
  [/\bvowels\b(?: \(a, e, i, o, u\))?/i, () => Letters.isVowel],
  [/\bconsonants\b/i, () => Letters.isConsonant],
  [/\b(?:capitals|capital letters|upper-?case letters)\b(?! included)/i, () => Letters.isCapital],
  [/\bletters\b/i, () => Letters.isLetter]
]

/** Matches phrases that say capitals count, which is already the default. */
const anyCase = /,? ?\b(?:capitals included|whether capital or not|ignoring case|in either case)\b/i

const readCount = (text: Text): Read | undefined => {
  if (text.take(counting) === undefined) return undefined
  text.take(anyCase)
  const ignored = takeIgnored(text)
  const what = counted.flatMap(([pattern, make]) => {
    const found = text.take(pattern)
    return found === undefined ? [] : [{ make, letter: found[1] ?? "" }]
  })
  const [only, more] = what
  if (more !== undefined) return undefined
  if (only === undefined && text.take(/\bwords\b/i) === undefined) return undefined
  if (only === undefined && ignored !== undefined) return undefined
  const subject = takeSubject(text)
  if (subject === undefined) return undefined
  text.take(/\b(?:together|altogether|in total|in all|combined)\b/i)
  return only === undefined
    ? { type: "count-words", subject }
    : { type: "count", what: only.make(only.letter), subject, ignored }
}

const reversed = /\bin reverse(?: order)?\b|\bbackwards\b|\bfrom back to front\b|\breversed?\b/i

const readReversed = (text: Text): Read | undefined => {
  if (!text.has(reversed)) return undefined
  const isLower = text.take(/,? ?\bin lower ?case(?: letters)?\b/i) !== undefined
  const ignored = takeIgnored(text)
  const subject = takeSubject(text, "one")
  text.take(reversed)
  text.take(/\b(?:write|spell)\b/i)
  return subject === undefined ? undefined : { type: "reverse", subject, isLower, ignored }
}

/** Matches a quotation, or a single word at the end of the text. */
const named = '(?:the )?(?:(?:word|phrase|text|sentence|string) )?(?:"([^"]+)"|([a-z]{2,}))[.!?]*$'

const cased = [
  new RegExp(`\\b(upper|lower) ?-?case ${named}`, "i"),
  /\b(?:write|put|convert|make|turn) (?:the )?(?:(?:word|phrase|text|sentence|string) )?(?:"([^"]+)"|([a-z]{2,})) (?:in|to|into|in all) ?(upper|lower) ?-?case(?: letters)?[.!?]*$/i
] as const

const readCase = (text: Text): Read | undefined => {
  const first = text.take(cased[0])
  if (first !== undefined) return { type: "case", isLower: /l/i.test(first[1]!), subject: first[2] ?? first[3]! }
  const second = text.take(cased[1])
  return second && { type: "case", isLower: /l/i.test(second[3]!), subject: second[1] ?? second[2]! }
}

const palindromic = /\bis (?:the (?:word|phrase|text|sentence) )?(?:"([^"]+)"|([a-z]{2,})) a palindrome\b/i

const readPalindrome = (text: Text): Read | undefined => {
  const found = text.take(palindromic)
  return found && { type: "palindrome", subject: found[1] ?? found[2]! }
}

const strippables = ignorable.map(
  ([pattern, what]) =>
    [
      new RegExp(`\\b(?:remove|delete|drop|strip) (?:all )?(?:the )?${pattern} (?:from|in|out of) ${named}`, "iu"),
      what
    ] as const
)

const readStripped = (text: Text): Read | undefined => {
  for (const [pattern, what] of strippables) {
    const found = text.take(pattern)
    if (found === undefined) continue
    const [word, quoted, letter] = [found.at(-1), found.at(-2), found.length > 3 ? found[1] : ""]
    return { type: "strip", removed: what(letter ?? ""), subject: quoted ?? word! }
  }
  return undefined
}

const readJoin = (text: Text): Read | undefined => {
  const [, end] = text.take(/\bjoin the (first|last) letters of\b/i) ?? []
  if (end === undefined) return undefined
  text.take(/\bwhat do (?:you|we) get when (?:you|we)\b/i)
  const subject = takeSubject(text, "one")
  return subject === undefined ? undefined : { type: "join", end: end.toLowerCase() as "first" | "last", subject }
}

const alphabetical =
  /\bsort (?=the words\b)|\bif (?=the words\b)|\balphabetically\b|\bare put in alphabetical order\b|\bin alphabetical order\b/gi

const nthLetter = new RegExp(`\\b${nth} letter of\\b`, "i")
const nthWord = [
  new RegExp(`\\b${nth} word (?:of|in)\\b`, "i"),
  new RegExp(`\\bwhich word (?:comes|is) (?:the )?${nth}\\b`, "i")
] as const

const readNth = (text: Text): Read | undefined => {
  const letter = text.take(nthLetter)
  if (letter !== undefined) {
    const subject = takeSubject(text, "one") ?? text.take(/(?:the word )?\b([a-z]{2,})(?=[.?!]*$)/i)?.[1]
    return subject === undefined ? undefined : { type: "nth-letter", nth: nthOf(letter[1]!), subject }
  }
  const sorted = text.takeAll(alphabetical).length > 0
  const place = text.take(nthWord[0]) ?? text.take(nthWord[1])
  const subject = place === undefined ? undefined : takeSubject(text, "one")
  return subject === undefined ? undefined : { type: "nth-word", nth: nthOf(place![1]!), sorted, subject }
}

const read = (text: Text): Read | Ambiguous | undefined => {
  if (text.has(/```|\btrue or false\b/i)) return undefined
  const found =
    readDigits(text) ??
    firstOf(text, [readJoin, readNth, readCount, readStripped, readCase, readPalindrome, readReversed])
  return found === undefined || isClear(found) ? found : new Ambiguous(found.subject)
}

/** Returns the kinds of characters that are counted or left out. */
const kindsIn = (read: Read): ReadonlyArray<Letters.Kind> => {
  if (read.type === "strip") return [read.removed]
  if (read.type !== "count" && read.type !== "reverse") return []
  return [...(read.type === "count" ? [read.what] : []), ...(read.ignored === undefined ? [] : [read.ignored])]
}

const isPalindrome = (text: string): boolean => {
  const letters = Letters.characters(text.toLowerCase()).filter((character) => /^[\p{L}\p{N}]/u.test(character))
  return letters.join("") === letters.toReversed().join("")
}

const isClear = (read: Read): boolean =>
  read.type === "palindrome"
    ? isPalindrome(read.subject) === isPalindrome(Letters.base(read.subject))
    : kindsIn(read).every((kind) => Letters.isClear(kind, read.subject))

/** Returns the first reading that succeeds. Failed readers must not take anything. */
const firstOf = (text: Text, readers: ReadonlyArray<(text: Text) => Read | undefined>): Read | undefined => {
  const whole = text.left
  for (const reader of readers) {
    const found = reader(text)
    if (found !== undefined) return found
    text.restore(whole)
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const without = (text: string, ignored: Letters.Kind | undefined): string =>
  ignored === undefined ? text : (Letters.without(text, ignored) ?? text)

/** Returns the words of a text, without the punctuation around them. */
const wordsIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/\s/)
    .map((word) => word.replace(/^\p{P}+|(?<!\p{P})\p{P}+$/gu, ""))
    .filter((word) => /[\p{L}\p{N}]/u.test(word))

const answer = (read: Read, habits: Habits): string | undefined => {
  const all = habits.wordsRead === undefined
  const whole = all ? read.subject : read.subject.split(" ").slice(0, habits.wordsRead).join(" ")
  const words = wordsIn(whole)
  const lettersIn = (text: string) => Letters.characters(text).filter(Letters.isLetter)
  switch (read.type) {
    case "count": {
      const seen = habits.overlooksCapitals ? whole.replace(/\p{Lu}/gu, "") : whole
      return String(Letters.count(without(seen, read.ignored), read.what))
    }
    case "count-words":
      return String(words.length)
    case "reverse": {
      const reversed = Letters.reversed(without(whole, read.ignored))
      const shown = read.isLower ? reversed.toLowerCase() : reversed
      return /^\d+$/.test(whole) ? shown.replace(/^0+(?=\d)/, "") : shown
    }
    case "case":
      return read.isLower ? whole.toLowerCase() : whole.toUpperCase()
    case "strip":
      return without(whole, read.removed)
    case "palindrome":
      return isPalindrome(whole) ? "yes" : "no"
    case "join":
      return words.map((word) => lettersIn(word).at(read.end === "first" ? 0 : -1) ?? "").join("")
    case "nth-letter":
      return lettersIn(whole).at(read.nth - 1)
    case "nth-word":
      return (read.sorted ? words.toSorted(new Intl.Collator("en").compare) : words).at(
        Math.min(read.nth, all ? Number.POSITIVE_INFINITY : words.length) - 1
      )
    case "count-digits":
      return String([...read.subject].filter((digit) => read.digit === undefined || digit === read.digit).length)
  }
}

export const text = solver<Read>({
  words: "appear appears occur occurs in does do has have it of are is",
  read,
  kind: ({ type }) => (type.startsWith("count") ? "number" : type === "palindrome" ? undefined : "word"),
  solve: (read, { habits }) => answer(read, habits)
})
