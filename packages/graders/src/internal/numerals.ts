/** Numbers in English words: "forty-two" is 42, "three quarters" is 3/4, "a chance of 1 in 7" is 1/7. */

const ones =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const scales: Readonly<Record<string, number>> = { hundred: 1e2, thousand: 1e3, million: 1e6, billion: 1e9 }
const parts =
  "half third quarter fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth".split(
    " "
  )

const values = new Map<string, number>([
  ...ones.map((word, index): [string, number] => [word, index]),
  ...tens.map((word, index): [string, number] => [word, 20 + 10 * index])
])

const denominators = new Map<string, number>([
  ...parts.flatMap(
    (word, index): ReadonlyArray<[string, number]> => [
      [word, index + 2],
      [`${word}s`, index + 2]
    ]
  ),
  ["halves", 2],
  ["fourth", 4],
  ["fourths", 4],
  ["twentieth", 20],
  ["hundredth", 100],
  ["hundredths", 100]
])

const word = `(?:${[...values.keys()].sort((a, b) => b.length - a.length).join("|")})`
const scale = `(?:${Object.keys(scales).join("|")})`
const part = `(?:${[...denominators.keys()].sort((a, b) => b.length - a.length).join("|")})`

const numeral = `(?:${word}|(?:an? )(?=${scale}))(?:[\\s-]+(?:and\\s+)?(?:${word}|${scale}))*`

const spelled = new RegExp(`(?<![\\w-])(${numeral})(?:[\\s-]+(${part}))?(?![\\w-])`, "gi")

/** The value of a numeral; `undefined` for a row of words that is not one, such as "four five". */
const valueOf = (text: string): number | undefined => {
  let [total, group, least] = [0, 0, 1000]
  for (const one of text.toLowerCase().split(/[\s-]+/)) {
    const scaled = scales[one]
    const value = values.get(one)
    if (scaled === 100) [group, least] = [(group || 1) * 100, 100]
    else if (scaled !== undefined) [total, group, least] = [total + (group || 1) * scaled, 0, 1000]
    else if (value !== undefined) {
      if (value >= least) return undefined
      ;[group, least] = [group + value, value >= 20 ? 10 : 1]
    }
  }
  return total + group
}

/** Replaces numbers in words with digits; "one" may be a pronoun and stays, unless the text is nothing else. */
export const withDigits = (text: string): string =>
  text.replace(spelled, (all: string, whole: string, fraction: string | undefined) => {
    const value = valueOf(whole)
    const isPronoun = /^one$/i.test(whole) && fraction === undefined && text.trim().length > 3
    if (value === undefined || isPronoun) return all
    if (fraction === undefined) return String(value)
    if (/s$/i.test(fraction) === (value === 1)) return all
    return `${value}/${denominators.get(fraction.toLowerCase())}`
  })

const chance = /(?<![\d.,/])(\d{1,6})\s+(?:in|out of)\s+(?:every\s+)?(\d[\d,]{0,9})(?![\d/]|[.,]\d)/g

/** Replaces "1 in 7" with a fraction if the sentence is about a chance. */
export const withFractions = (sentence: string): string =>
  /\b(?:probabilit\w+|chances?|likelihood)\b/i.test(sentence) ? sentence.replace(chance, "$1/$2") : sentence

const onlyNumeral = new RegExp(
  `^(?:\\\\text\\s*\\{)?\\s*(?:an? )?(?:${numeral}|${numeral}[\\s-]+${part}|${part})\\s*\\}?[.!]?$`,
  "i"
)

/** The number that an answer is in words, and nothing else; the answer as it is, otherwise. */
export const numeralOf = (text: string): string => {
  if (!onlyNumeral.test(text)) return text
  const plain = text
    .replace(/^\\text\s*\{|[}.!]+$/g, "")
    .replace(/^\s*an? (?=\S+$)/i, "")
    .trim()
  const alone = denominators.get(plain.toLowerCase())
  return alone === undefined ? withDigits(plain) : /s$/.test(plain) ? text : `1/${alone}`
}
