/** Text: counting letters, finding and sorting words, and reversing text. */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin, ordinal } from "../internal/wording.ts"
import { words } from "../internal/words.ts"

const integer = (question: string, value: number): Problem => ({ question, answer: String(value), kind: "integer" })
const word = (question: string, value: string): Problem => ({ question, answer: value, kind: "word" })

const lengths = { 1: [3, 4], 2: [5, 7], 3: [9, 13] } as const

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const reversed = (text: string) => [...text].reverse().join("")

/** Generates a sequence of words, sometimes capitalized like a sentence. */
const phrase = (draw: Draw, difficulty: Difficulty): ReadonlyArray<string> => {
  const [low, high] = lengths[difficulty]
  return draw.some(words, draw.int(low, high)).map((item) => (draw.chance(0.3) ? capitalised(item) : item))
}

const countLetter = (draw: Draw, difficulty: Difficulty): Problem => {
  const text = phrase(draw, difficulty).join(" ")
  const letter = draw.chance(0.6) ? draw.pick([..."aeilnorst"]) : draw.pick([...text.toLowerCase().replace(/ /g, "")])
  const count = [...text.toLowerCase()].filter((character) => character === letter).length
  return integer(
    draw.pick([
      `How many times does the letter "${letter}" appear in "${text}", capitals included?`,
      `Count the letter "${letter}" in the phrase "${text}", whether capital or not.`
    ]),
    count
  )
}

const countVowels = (draw: Draw, difficulty: Difficulty): Problem => {
  const text = phrase(draw, difficulty).join(" ")
  return integer(
    draw.pick([
      `How many vowels (a, e, i, o, u) are there in "${text}"?`,
      `Count the vowels (a, e, i, o, u) in the phrase "${text}".`
    ]),
    text.replace(/[^aeiou]/gi, "").length
  )
}

const countLetters = (draw: Draw, difficulty: Difficulty): Problem => {
  const text = phrase(draw, difficulty).join(" ")
  return integer(`How many letters are there in "${text}", not counting spaces?`, text.replace(/ /g, "").length)
}

const nthWord = (draw: Draw, difficulty: Difficulty): Problem => {
  const items = phrase(draw, difficulty).map((item) => item.toLowerCase())
  const nth = draw.int(1, items.length)
  return word(
    draw.pick([
      `What is the ${ordinal(nth)} word of "${items.join(" ")}"?`,
      `Which word comes ${ordinal(nth)} in the phrase "${items.join(" ")}"?`
    ]),
    items[nth - 1]!
  )
}

const sorted = (draw: Draw, difficulty: Difficulty): Problem => {
  const items = phrase(draw, difficulty).map((item) => item.toLowerCase())
  const nth = draw.int(1, items.length)
  return word(
    draw.pick([
      `Sort the words "${items.join(" ")}" alphabetically. Which word comes ${ordinal(nth)}?`,
      `If the words "${items.join(" ")}" are put in alphabetical order, which word is ${ordinal(nth)}?`
    ]),
    items.slice().sort()[nth - 1]!
  )
}

const backwards = (draw: Draw, difficulty: Difficulty): Problem => {
  const text = draw.some(words, difficulty).join("")
  return word(
    draw.pick([`Write "${text}" backwards.`, `Spell "${text}" backwards.`, `What is "${text}" in reverse order?`]),
    reversed(text)
  )
}

const joined = (draw: Draw, difficulty: Difficulty): Problem => {
  const items = phrase(draw, difficulty).map((item) => item.toLowerCase())
  const end = draw.pick(["first", "last"] as const)
  return word(
    `What do you get when you join the ${end} letters of the words "${items.join(" ")}"?`,
    items.map((item) => item.at(end === "first" ? 0 : -1)).join("")
  )
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem =>
  draw.pick([countLetter, countLetter, countVowels, countLetters, nthWord, sorted, backwards, joined])(draw, difficulty)

const fromWord = (draw: Draw, given: Given): Problem => {
  const lower = given.value.toLowerCase()
  const letter = draw.pick([...lower])
  return draw.pick([
    () => word(`Write ${given.noun} backwards, in lower case.`, reversed(lower)),
    () => integer(`How many letters are there in ${given.noun}?`, lower.length),
    () => integer(`How many vowels (a, e, i, o, u) are there in ${given.noun}?`, lower.replace(/[^aeiou]/g, "").length),
    () =>
      integer(
        `How many times does the letter "${letter}" appear in ${given.noun}, capitals included?`,
        [...lower].filter((character) => character === letter).length
      )
  ])()
}

const fromNumber = (draw: Draw, given: Given, value: number): Problem => {
  const figures = String(value)
  const digit = draw.pick([...figures])
  return draw.pick([
    () => integer(`Write the digits of ${given.noun} in reverse order.`, Number(reversed(figures))),
    () => integer(`How many digits does ${given.noun} have?`, figures.length),
    () =>
      integer(
        `How many times does the digit ${digit} appear in ${given.noun}?`,
        [...figures].filter((character) => character === digit).length
      )
  ])()
}

export const continueFrom = (draw: Draw, _difficulty: Difficulty, given: Given): Problem | undefined => {
  if (given.kind === "word" && /^[a-z]{2,}$/i.test(given.value)) return fromWord(draw, given)
  const value = integerWithin(given, 10, Number.MAX_SAFE_INTEGER)
  return value === undefined || value % 10 === 0 ? undefined : fromNumber(draw, given, value)
}
