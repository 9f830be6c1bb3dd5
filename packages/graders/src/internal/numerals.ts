/**
 * Numbers in English words: "forty-two" is 42, "three quarters" is 3/4, "one thirty-sixth" is 1/36, "four and a half"
 * is 4 1/2, "a chance of 1 in 7" is 1/7.
 */

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

/** Returns the value of a numeral, or `undefined` for a sequence that is not a single number, such as "four five". */
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

const afterTens = /^(.+?)[\s-]+(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/i

/**
 * Returns the numerator and denominator of fractions such as "one thirty-sixth", where "one thirty" was read as a
 * numeral.
 */
const ofTens = (whole: string, fraction: string): readonly [number, number] | undefined => {
  const [, top, ten] = afterTens.exec(whole) ?? []
  const [value, unit] = [top === undefined ? undefined : valueOf(top), denominators.get(fraction.toLowerCase())]
  if (value === undefined || unit === undefined || unit < 3 || unit > 9) return undefined
  return [value, values.get(ten!.toLowerCase())! + unit]
}

/** Replaces number words with digits. "one" may be a pronoun and is only replaced if it is the whole text. */
export const withDigits = (text: string): string =>
  withMixed(text).replace(spelled, (all: string, whole: string, fraction: string | undefined) => {
    const split = fraction === undefined ? undefined : ofTens(whole, fraction)
    if (split !== undefined) return /s$/i.test(fraction!) === (split[0] === 1) ? all : split.join("/")
    const value = valueOf(whole)
    const isPronoun = /^one$/i.test(whole) && fraction === undefined && text.trim().length > 3
    if (value === undefined || isPronoun) return all
    if (fraction === undefined) return String(value)
    if (/s$/i.test(fraction) === (value === 1)) return all
    return `${value}/${denominators.get(fraction.toLowerCase())}`
  })

const chance = /(?<![\d.,/])(\d{1,6})\s+(?:in|out of)\s+(?:every\s+)?(\d[\d,]{0,9})(?![\d/]|[.,]\d)/g

/** Replaces "1 in 7" with a fraction if the sentence is about a probability. */
export const withFractions = (sentence: string): string =>
  /\b(?:probabilit\w+|chances?|likelihood)\b/i.test(sentence) ? sentence.replace(chance, "$1/$2") : sentence

const scaled = /(?<![\d.,/^])(\d{1,6}(?:\.\d{1,9})?|\ba(?= [mb]illion)) (thousand|million|billion)(?![\w-])/gi

/** Replaces "2.5 million" with digits. */
export const withScales = (text: string): string =>
  text.replace(scaled, (_, digits: string, name: string) =>
    String(Math.round((/\d/.test(digits) ? Number(digits) : 1) * 1e9 * scales[name.toLowerCase()]!) / 1e9)
  )

const mixed = new RegExp(
  `(?<![\\w-])(${numeral}|\\d+) and (?:an? (half|third|quarter)|(one|two|three|four) (half|thirds?|quarters?|fifths?))(?![\\w-])`,
  "gi"
)

/** Replaces "four and a half" with "4 1/2". */
export const withMixed = (text: string): string =>
  text.replace(mixed, (all: string, whole: string, single?: string, count?: string, part?: string) => {
    const value = /^\d/.test(whole) ? Number(whole) : valueOf(whole)
    const [top, bottom] = [
      single === undefined ? valueOf(count!)! : 1,
      denominators.get((single ?? part)!.toLowerCase())!
    ]
    return value === undefined || top >= bottom ? all : `${value} ${top}/${bottom}`
  })

const onlyNumeral = new RegExp(
  `^(?:[\\s$]|\\\\[[(])*(?:\\\\text\\s*\\{)?\\s*(?:minus |negative )?(?:an? )?(?:${numeral}|${numeral}[\\s-]+${part}|${part}|${numeral} and (?:a|one|two|three|four) ${part})\\s*\\}?(?:[\\s$.!]|\\\\[\\])])*$`,
  "i"
)

/** Converts an answer that consists only of number words to digits. Other answers are returned unchanged. */
export const numeralOf = (text: string): string => {
  if (!onlyNumeral.test(text)) return text
  const bare = text.replace(/^(?:[\s$]|\\[[(])*(?:\\text\s*\{)?|(?:[}.!\s$]|\\[\])])+$/g, "")
  const positive = bare.replace(/^\s*(?:minus|negative) /i, "")
  if (positive !== bare) return /^\d/.test(numeralOf(positive)) ? `-${numeralOf(positive)}` : text
  const plain = bare.replace(/^\s*an? (?=\S+$)/i, "").trim()
  const alone = denominators.get(plain.toLowerCase())
  return alone === undefined ? withDigits(plain) : /s$/.test(plain) ? text : `1/${alone}`
}

const chineseDigits = "零一二三四五六七八九"
const chineseScales: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000 }
const chineseGroups: Readonly<Record<string, number>> = { 万: 1e4, 亿: 1e8, 億: 1e8 }

/** Converts a Chinese or Japanese numeral: "二千八百二十一" to 2821. */
export const ofChinese = (numeral: string): number => {
  let [total, section, digit] = [0, 0, 0]
  for (const sign of numeral.replaceAll("两", "二").replaceAll("〇", "零")) {
    const group = chineseGroups[sign]
    const scale = chineseScales[sign]
    if (group !== undefined) [total, section, digit] = [(total + section + digit) * group, 0, 0]
    else if (scale !== undefined) [section, digit] = [section + (digit === 0 ? 1 : digit) * scale, 0]
    else digit = 10 * (/^[零一二三四五六七八九]+$/.test(numeral) ? digit : 0) + chineseDigits.indexOf(sign)
  }
  return total + section + digit
}
