/** Parses numbers in words: "three", "twenty-one", "two hundred thousand". */

const ones = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
  "eighteen nineteen"
).split(" ")
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const scales: Readonly<Record<string, number>> = { hundred: 100, thousand: 1_000, million: 1_000_000 }

const small = new Map([
  ...ones.map((word, value) => [word, value] as const),
  ...tens.map((word, index) => [word, (index + 2) * 10] as const)
])

const one = [...small.keys(), ...Object.keys(scales)].join("|")
const spelledWith = (between: string) =>
  new RegExp(`\\b(?:an? (?=hundred|thousand|million))?(?:${one})(?:${between}(?:${one}))*\\b`, "gi")
const spelled = spelledWith("[ -]")
const spelledWithAnd = spelledWith("(?:[ -]|(?<=hundred|thousand|million) and )")

/** Matches words that introduce a list. In such questions, "and" separates two numbers. */
const lists =
  /\b(?:sum|product|difference|quotient|average|mean|median|mode|range|deviation|common|largest|smallest|greatest|least|maximum|minimum|sort|order|numbers|values|add|between|multiply|gcd|lcm)\b/i

/** Returns the value of consecutive number words, or `undefined` if they form several numbers. */
const valueOf = (words: ReadonlyArray<string>): number | undefined => {
  let total = 0
  let group = 0
  /** Upper bound on the value of the next word. */
  let room = Number.POSITIVE_INFINITY
  for (const word of words) {
    const scale = scales[word]
    const value = small.get(word) ?? 0
    if (scale === undefined) {
      if (value >= room || (value === 0 && words.length > 1)) return undefined
      group += value
      room = value >= 20 ? 10 : 0
    } else if (scale === 100) {
      if (group >= 10 || room === 100) return undefined
      group = (group || 1) * 100
      room = 100
    } else {
      if (total > 0 && total / scale < 1_000) return undefined
      total += (group || 1) * scale
      group = 0
      room = 1_000
    }
  }
  return total + group
}

/** Replaces "2.5 million" by digits. */
const scaled = (text: string): string =>
  text.replace(
    /(?<![\d.])(\d{1,6})(?:\.(\d{1,2}))? (hundred|thousand|million)\b(?! \d)/gi,
    (_, whole, part = "", scale) =>
      String((Number(`${whole}${part}`) * scales[scale.toLowerCase()]!) / 10 ** part.length)
  )

/** Replaces "3 dozen" by digits. */
const dozens = (text: string): string =>
  text.replace(/(?<![\d.])(?:(\d{1,6})|\ban?) dozen\b/gi, (_, count = "1") => String(12 * Number(count)))

/** Replaces numbers in words by digits, except in quotations and code. */
export const inFigures = (text: string): string => {
  const pattern = lists.test(text) ? spelled : spelledWithAnd
  return text
    .split(/(```[\s\S]*?(?:```|$)|"[^"]*")/)
    .map((piece, index) =>
      index % 2 === 1
        ? piece
        : dozens(
            scaled(piece).replace(pattern, (words) => {
              const value = valueOf(words.toLowerCase().replace(/^an? /, "").replaceAll(" and ", " ").split(/[ -]/))
              return value === undefined ? words : String(value)
            })
          )
    )
    .join("")
}
