/**
 * The code point that a name in `\N{...}` stands for.
 *
 * Python knows some 35,000 names and aliases beside those that follow from the code point; without them strict reading
 * would not be Python's. The packed table costs about a millisecond to load and is unpacked on first use.
 */
import { leads, lines, seconds, singles, words } from "./unicodeNameTable.ts"

// -------------------------------------------------------------------------------------------------------------------
// The table
// -------------------------------------------------------------------------------------------------------------------

/** The words a line of the table adds to the name before it. */
const unpackWords = (line: string, dictionary: ReadonlyArray<string>): Array<string> => {
  const found: Array<string> = []
  let at = 1
  while (at < line.length) {
    const lead = leads.indexOf(line[at]!)
    if (lead < 0) {
      const end = literalEnd(line, at)
      found.push(line.slice(at, end))
      at = end
    } else if (lead < singles) {
      found.push(dictionary[lead]!)
      at++
    } else {
      found.push(dictionary[singles + (lead - singles) * seconds.length + seconds.indexOf(line[at + 1]!)]!)
      at += 2
    }
  }
  return found
}

/** A word that stands as it is ends before the next blank or hyphen, or before a key. */
const literalEnd = (line: string, start: number): number => {
  let end = start + 1
  while (end < line.length && line[end] !== " " && line[end] !== "-" && !leads.includes(line[end]!)) end++
  return end
}

const unpack = (): ReadonlyMap<string, number> => {
  const dictionary = words.split("|")
  const table = new Map<string, number>()
  let code = 0
  let name: Array<string> = []
  for (const line of lines.split("\n")) {
    if (line[0] === "=") {
      code = Number.parseInt(line.slice(1), 16)
      continue
    }
    name = [...name.slice(0, Number(line[0])), ...unpackWords(line, dictionary)]
    table.set(name.join(""), code++)
  }
  return table
}

let table: ReadonlyMap<string, number> | undefined

// -------------------------------------------------------------------------------------------------------------------
// Names that follow from the code point
// -------------------------------------------------------------------------------------------------------------------

const initials = "G GG N D DD R M B BB S SS  J JJ C K T P H".split(" ")
const vowels = "A AE YA YAE EO E YEO YE O WA WAE OE YO U WEO WE WI YU EU YI I".split(" ")
const finals = " G GG GS N NJ NH D L LG LM LB LS LT LP LH M B BS S SS NG J C K T P H".split(" ")

const syllable = /^([^AEIOUWY]*)([AEIOUWY]+)([^AEIOUWY]*)$/

const hangul = (name: string): number | undefined => {
  const parts = syllable.exec(name)
  if (parts === null) return undefined
  const [initial, vowel, final] = [initials.indexOf(parts[1]!), vowels.indexOf(parts[2]!), finals.indexOf(parts[3]!)]
  if (initial < 0 || vowel < 0 || final < 0) return undefined
  return 0xac00 + (initial * vowels.length + vowel) * finals.length + final
}

/** The unified ideographs that Python 3.11 names so. */
const ideographs = [
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b738],
  [0x2b740, 0x2b81d],
  [0x2b820, 0x2cea1],
  [0x2ceb0, 0x2ebe0],
  [0x30000, 0x3134a]
] as const

const ideograph = (digits: string): number | undefined => {
  if (!/^[0-9A-F]{4,5}$/.test(digits)) return undefined
  const code = Number.parseInt(digits, 16)
  return ideographs.some(([first, last]) => code >= first && code <= last) ? code : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Lookup
// -------------------------------------------------------------------------------------------------------------------

/** The code point of a character's name or alias, as Python finds it; `undefined` when there is no such name. */
export const codePointOfName = (name: string): number | undefined => {
  if (name.startsWith("HANGUL SYLLABLE ")) return hangul(name.slice(16))
  if (name.startsWith("CJK UNIFIED IDEOGRAPH-")) return ideograph(name.slice(22))
  if (!/^[ -z]+$/.test(name)) return undefined
  table ??= unpack()
  return table.get(name.toUpperCase())
}
