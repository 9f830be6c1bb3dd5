/** Letters and other characters of any alphabet, as readers perceive them: "é" is one character, however it is encoded. */

/** Whether a character is of a kind. `undefined` if people would disagree, as on whether "é" is an "e". */
export type Kind = (character: string) => boolean | undefined

let segmenter: Intl.Segmenter | undefined

/** Returns the characters of a text. */
export const characters = (text: string): ReadonlyArray<string> => {
  if (/^[\x20-\x7e]*$/.test(text)) return [...text]
  segmenter ??= new Intl.Segmenter("en")
  return [...segmenter.segment(text.normalize("NFC"))].map(({ segment }) => segment)
}

export const reversed = (text: string): string => characters(text).toReversed().join("")

/** Returns a text in lower case, without accents. */
export const base = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()

export const isLetter: Kind = (character) => /^\p{L}/u.test(character)
export const isCapital: Kind = (character) => /^\p{Lu}/u.test(character)
export const isSpace: Kind = (character) => /^\s/.test(character)

/** Vowels and consonants are known for the letters of English, also if they have accents. */
const ofEnglish =
  (matches: (letter: string) => boolean): Kind =>
  (character) => {
    const letter = base(character)
    if (/^[a-z]$/.test(letter)) return matches(letter)
    return isLetter(character) ? undefined : false
  }

export const isVowel = ofEnglish((letter) => /[aeiou]/.test(letter))
export const isConsonant = ofEnglish((letter) => /[^aeiou]/.test(letter))

/** Matches a letter in either case. For a letter without an accent, the same letter with one is unclear. */
export const is = (letter: string): Kind => {
  const wanted = letter.normalize("NFC").toLowerCase()
  return (character) => {
    if (character.toLowerCase() === wanted) return true
    return base(character) === wanted ? undefined : false
  }
}

/** Whether a kind is known for all characters of a text. */
export const isClear = (kind: Kind, text: string): boolean =>
  characters(text).every((character) => kind(character) !== undefined)

export const count = (text: string, kind: Kind): number => characters(text).filter(kind).length

/** Removes characters. Returns `undefined` if it is unclear which. */
export const without = (text: string, kind: Kind): string | undefined =>
  isClear(kind, text)
    ? characters(text)
        .filter((character) => kind(character) === false)
        .join("")
    : undefined
