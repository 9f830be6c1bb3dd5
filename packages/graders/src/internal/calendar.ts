/** Names of weekdays and months in many languages, and words for yes and no. */

const locales =
  "en de fr es it pt nl sv da nb fi pl cs sk sl hr ro hu bg ru uk el tr vi id ms sw ar he fa hi bn th zh ja ko ca lt lv et"

/** The English names of a kind, and their names in all languages, in lower case. */
interface Kind {
  readonly english: ReadonlyArray<string>
  readonly names: ReadonlyMap<string, string>
}

const namesOf = (option: "weekday" | "month", count: number): Kind => {
  const at = (index: number) =>
    option === "weekday" ? Date.UTC(2023, 0, index + 1, 12) : Date.UTC(2023, index, 15, 12)
  const formats = locales.split(" ").map((one) => new Intl.DateTimeFormat(one, { [option]: "long", timeZone: "UTC" }))
  const english = Array.from({ length: count }, (_, index) => formats[0]!.format(at(index)))
  const names = new Map<string, string>()
  for (const format of formats) {
    for (const [index, name] of english.entries()) {
      const local = format.format(at(index)).toLowerCase()
      for (const one of [
        local,
        local.replace(/-feira$/, ""),
        local.replace("星期", "周"),
        local.replace("星期", "礼拜")
      ])
        if (!names.has(one)) names.set(one, name)
    }
  }
  return { english, names }
}

const listed = (english: string, words: string): ReadonlyArray<readonly [string, string]> =>
  words.split(" ").map((word) => [word, english])

const yesOrNo: Kind = {
  english: ["Yes", "No"],
  names: new Map([
    ...listed(
      "Yes",
      "yes ja oui sí si sì sim да так tak ano áno evet igen kyllä jah ναι vâng có ya ndiyo نعم כן بله हाँ हां हैं はい 是 是的 예 네"
    ),
    ...listed(
      "No",
      "no nein non não нет ні nie ne nee nej nei ei hayır nem όχι không tidak hapana لا לא خیر नहीं いいえ 否 不 不是 아니요 아니오"
    )
  ])
}

const made = new Map<string, Kind>()

const kinds: ReadonlyArray<readonly [names: RegExp, make: () => Kind]> = [
  [/^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)$/i, () => namesOf("weekday", 7)],
  [
    /^(?:January|February|March|April|May|June|July|August|September|October|November|December)$/i,
    () => namesOf("month", 12)
  ],
  [/^(?:yes|no)$/i, () => yesOrNo]
]

/** Returns the kind of a name in English. */
const kindOf = (english: string): Kind | undefined => {
  const found = kinds.find(([names]) => names.test(english))
  if (found === undefined) return undefined
  const kind = made.get(found[0].source) ?? found[1]()
  made.set(found[0].source, kind)
  return kind
}

const joined = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Thai}]/u

const isLetter = (sign: string | undefined): boolean => sign !== undefined && /[\p{L}\p{M}\p{N}]/u.test(sign)

/** A name in a text, with its English translation. */
export interface Named {
  readonly english: string
  readonly start: number
  readonly end: number
}

/** Finds the names in a text that are of the same kind as an English one: weekdays, months, or yes and no. */
export const namedLike = (english: string, text: string): ReadonlyArray<Named> => {
  const kind = kindOf(english)
  if (kind === undefined) return []
  const low = text.toLowerCase()
  const found: Array<Named> = []
  for (const [name, translation] of kind.names) {
    for (let at = low.indexOf(name); at !== -1; at = low.indexOf(name, at + 1)) {
      const end = at + name.length
      if (!joined.test(name) && (isLetter(low[at - 1]) || isLetter(low[end]))) continue
      found.push({ english: translation, start: at, end })
    }
  }
  const isWithin = (one: Named, other: Named) =>
    other.start <= one.start && one.end <= other.end && one.end - one.start < other.end - other.start
  return found.filter((one) => !found.some((other) => isWithin(one, other)))
}

/** Names of months, in the nominative and as in a date, in lower case. */
const monthNames = (): ReadonlyMap<string, string> => {
  const names = new Map(namesOf("month", 12).names)
  for (const locale of locales.split(" ")) {
    const format = new Intl.DateTimeFormat(locale, { month: "long", day: "numeric", timeZone: "UTC" })
    for (let month = 0; month < 12; month++) {
      const name = format
        .formatToParts(Date.UTC(2023, month, 15))
        .find(({ type }) => type === "month")
        ?.value.toLowerCase()
      if (name !== undefined && /^\p{L}{3}/u.test(name) && !names.has(name)) names.set(name, String(month + 1))
    }
  }
  return new Map(
    [...names].map(([name, value]) => [
      name,
      /^\d/.test(value) ? value : String(new Date(`${value} 1, 2023`).getMonth() + 1)
    ])
  )
}

let months: { readonly names: ReadonlyMap<string, string>; readonly pattern: RegExp } | undefined

/** Returns the dates in a text as month and day: "11 January" and "le 11 janvier" are "1-11". */
export const datesIn = (text: string): ReadonlyArray<string> => {
  if (months === undefined) {
    const names = monthNames()
    const words = [...names.keys()]
      .filter((name) => /^\p{L}{3}[\p{L}\p{M}]*$/u.test(name))
      .sort((a, b) => b.length - a.length)
    const name = `(${words.join("|")})`
    const pattern = new RegExp(
      `(?<!\\p{L})${name}\\s+(\\d{1,2})(?:st|nd|rd|th)?(?!\\d)|(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|º|\\.)?\\s+(?:of |de |di )?${name}(?!\\p{L})|(\\d{1,2})[月월]\\s?(\\d{1,2})[日일]`,
      "giu"
    )
    months = { names, pattern }
  }
  const { names, pattern } = months
  return Array.from(text.matchAll(pattern), ([, first, behind, before, second, month, day]) =>
    month === undefined
      ? `${names.get((first ?? second!).toLowerCase())}-${Number(behind ?? before)}`
      : `${Number(month)}-${Number(day)}`
  )
}

/** Whether a word is a name of a kind whose members are translated. */
export const isTranslated = (english: string): boolean => kinds.some(([names]) => names.test(english))

/** Whether a word is a yes or a no, which also occurs in sentences that answer nothing. */
export const isYesOrNo = (english: string): boolean => /^(?:yes|no)$/i.test(english)
