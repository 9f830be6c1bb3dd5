/** Units in answers: their dimension and their size in base units. */
import * as Rational from "./Rational.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A unit. `m/s` and `km/h` have the same name and differ in scale. */
export interface Unit {
  /** The dimension in base units and powers, such as `metre second^-1`. Empty if there is no unit. */
  readonly name: string
  /** Size in base units. */
  readonly scale: Rational.Rational
}

const one = Rational.integer(1)

/** The absence of a unit. */
export const none: Unit = { name: "", scale: one }

// -------------------------------------------------------------------------------------------------------------------
// What there is
// -------------------------------------------------------------------------------------------------------------------

/** Units spelled as words: the spellings, the base units with powers, and the size in base units. */
const words: ReadonlyArray<readonly [spellings: string, name: string, scale: string]> = [
  ["dollar buck usd", "dollar", "1"],
  ["cent penny pennies ¢", "dollar", "0.01"],
  ["euro eur €", "euro", "1"],
  ["pound gbp £ lb", "pound", "1"],
  ["yen ¥", "yen", "1"],
  ["rupee ₹", "rupee", "1"],
  ["degree deg °", "degree", "1"],
  ["arcminute", "degree", "1/60"],
  ["arcsecond", "degree", "1/3600"],
  ["celsius °c", "celsius", "1"],
  ["fahrenheit °f", "fahrenheit", "1"],
  ["radian rad", "radian", "1"],
  ["percent pct percentage", "percent", "1"],
  ["permille ‰", "permille", "1"],
  ["inch inches", "metre", "0.0254"],
  ["foot feet ft", "metre", "0.3048"],
  ["yard yd", "metre", "0.9144"],
  ["mile mi", "metre", "1609.344"],
  ["mph", "metre second^-1", "0.44704"],
  ["kph kmh", "metre second^-1", "5/18"],
  ["second sec", "second", "1"],
  ["minute min", "second", "60"],
  ["hour hr", "second", "3600"],
  ["day", "second", "86400"],
  ["week", "second", "604800"],
  ["month", "month", "1"],
  ["year yr", "month", "12"],
  ["ounce oz", "ounce", "1"],
  ["tonne", "kilogram", "1000"],
  ["quart qt", "quart", "1"],
  ["gallon gal", "quart", "4"],
  ["pint pt", "quart", "0.5"],
  ["cup", "quart", "0.25"],
  ["hectare ha", "metre^2", "10000"],
  ["acre", "metre^2", "4046.8564224"],
  ["knot", "metre second^-1", "463/900"],
  ["decade", "month", "120"],
  ["century centuries", "month", "1200"],
  ["unit", "unit", "1"]
]

/** Units with SI prefixes: names, symbols, base units with powers, and the size in base units. */
const prefixed: ReadonlyArray<readonly [names: string, symbols: string, name: string, scale: string]> = [
  ["metre meter", "m", "metre", "1"],
  ["gram gramme", "g", "kilogram", "0.001"],
  ["second", "s", "second", "1"],
  ["litre liter", "l L", "metre^3", "0.001"],
  ["newton", "N", "kilogram metre second^-2", "1"],
  ["joule", "J", "kilogram metre^2 second^-2", "1"],
  ["watt", "W", "kilogram metre^2 second^-3", "1"],
  ["pascal", "Pa", "kilogram metre^-1 second^-2", "1"],
  ["hertz", "Hz", "second^-1", "1"],
  ["volt", "V", "kilogram metre^2 second^-3 ampere^-1", "1"],
  ["ampere amp", "A", "ampere", "1"],
  ["ohm", "Ω", "kilogram metre^2 second^-3 ampere^-2", "1"],
  ["coulomb", "C", "ampere second", "1"],
  ["kelvin", "K", "kelvin", "1"],
  ["mole", "mol", "mole", "1"],
  ["electronvolt", "eV", "electronvolt", "1"],
  ["calorie", "cal", "calorie", "1"],
  ["byte", "B", "byte", "1"],
  ["bit", "", "bit", "1"]
]

const prefixes: ReadonlyArray<readonly [name: string, symbol: string, exponent: number]> = [
  ["tera", "T", 12],
  ["giga", "G", 9],
  ["mega", "M", 6],
  ["kilo", "k", 3],
  ["", "", 0],
  ["deci", "d", -1],
  ["centi", "c", -2],
  ["milli", "m", -3],
  ["micro", "µ", -6],
  ["nano", "n", -9],
  ["pico", "p", -12]
]

const scaleOf = (text: string, exponent = 0): Rational.Rational => {
  const [top, bottom] = text.split("/")
  const value = Rational.divide(Rational.fromDecimal(top!)!, Rational.fromDecimal(bottom ?? "1")!)!
  return Rational.multiply(value, Rational.power(Rational.integer(10), Rational.integer(exponent))!)!
}

const plural = (word: string) => [word, `${word}s`]

/** Units keyed by lowercase name. */
const byName = new Map<string, Unit>([
  ...words.flatMap(([spellings, name, scale]) =>
    spellings.split(" ").flatMap((word) => plural(word).map((form) => [form, { name, scale: scaleOf(scale) }] as const))
  ),
  ...prefixed.flatMap(([names, , name, scale]) =>
    prefixes.flatMap(([prefix, , exponent]) =>
      names
        .split(" ")
        .flatMap((word) => plural(prefix + word))
        .map((form) => [form, { name, scale: scaleOf(scale, exponent) }] as const)
    )
  )
])

/** Units keyed by symbol. Symbols are case-sensitive: `mW` is not `MW`. */
const bySymbol = new Map<string, Unit>([
  ...prefixed.flatMap(([, symbols, name, scale]) =>
    symbols
      .split(" ")
      .filter((symbol) => symbol !== "")
      .flatMap((symbol) =>
        prefixes.map(([, prefix, exponent]) => [prefix + symbol, { name, scale: scaleOf(scale, exponent) }] as const)
      )
  ),
  ["in", byName.get("inch")!],
  ["h", byName.get("hour")!],
  ["min", byName.get("minute")!],
  ["Å", { name: "metre", scale: scaleOf("1", -10) }]
])

/** Symbols that are often written in capitals. */
const anyCase = new Set("cm mm km kg mg ml kw kwh hz in".split(" "))

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const singular = (word: string) =>
  word.length > 3 ? word.replace(/ies$/, "y").replace(/(?<=x|ch|sh|ss)es$|(?<!s)s$/, "") : word

/** Returns the unit with a name or symbol, or `undefined` if it is unknown. */
const known = (word: string): Unit | undefined =>
  bySymbol.get(word) ??
  byName.get(word.toLowerCase()) ??
  (anyCase.has(word.toLowerCase()) ? bySymbol.get(word.toLowerCase()) : undefined)

const fillers = new Set(["of", "the"])

const pieces = /(?<power>\^\s*\{?\s*(?<exponent>-?\d+)\s*\}?|²|³)|(?<word>[\p{L}°€£¢¥₹µ_]+)|(?<per>\/)/gu

const powerWords: Readonly<Record<string, number>> = { square: 2, sq: 2, cubic: 3, cu: 3 }

const superscript: Readonly<Record<string, number>> = { "²": 2, "³": 3 }

interface Factor {
  readonly unit: Unit
  readonly power: number
}

const factorsOf = (text: string): ReadonlyArray<Factor> => {
  const found: Array<Factor> = []
  let [sign, next] = [1, 1]
  const raise = (power: number) => {
    const last = found.pop()
    if (last !== undefined) found.push({ ...last, power: last.power * power })
  }
  for (const { groups = {} } of text.replace(/\bper cent\b/gi, "percent").matchAll(pieces)) {
    const word = groups.word?.toLowerCase() ?? ""
    if (groups.power !== undefined) raise(superscript[groups.power] ?? Number(groups.exponent))
    else if (groups.per !== undefined || word === "per") sign = -1
    else if (powerWords[word] !== undefined) next = powerWords[word]!
    else if (word === "squared" || word === "cubed") raise(word === "squared" ? 2 : 3)
    else if (!fillers.has(word)) {
      found.push({ unit: known(groups.word!) ?? { name: singular(word), scale: one }, power: sign * next })
      next = 1
    }
  }
  return found
}

const cache = new Map<string, Unit>()

const read = (text: string): Unit => {
  const powers = new Map<string, number>()
  let scale = one
  for (const { power, unit } of factorsOf(text)) {
    scale = Rational.multiply(scale, Rational.power(unit.scale, Rational.integer(power)) ?? one) ?? one
    for (const part of unit.name.split(" ")) {
      const [name, exponent] = part.split("^")
      powers.set(name!, (powers.get(name!) ?? 0) + Number(exponent ?? 1) * power)
    }
  }
  const name = [...powers]
    .filter(([, power]) => power !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([part, power]) => (power === 1 ? part : `${part}^${power}`))
    .join(" ")
  if (name === "celsius degree") return { name: "celsius", scale }
  if (name === "degree fahrenheit") return { name: "fahrenheit", scale }
  return { name, scale }
}

/** Parses a unit with its powers. */
export const unitOf = (text: string): Unit => {
  const found = cache.get(text)
  if (found !== undefined) return found
  const unit = read(text)
  if (cache.size < 1000) cache.set(text, unit)
  return unit
}

/** Words after a number that modify, doubt or deny it, and are therefore not units. */
const noUnit =
  /\b(?:and|or|if|for|where|when|with|without|not|no|is|are|was|mod|modulo|plus|minus|times|over|to|from|at|than|million|billion|thousand|hundred|trillion|dozen|squared|cubed|factorial|choose|remainder|root|half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|hundredths?|thousandths?|below|above|under|less|more|fewer|greater|most|least|negative|positive|maybe|perhaps|probably|possibly|likely|approx|approximately|roughly|about|around|nearly|almost|wrong|false|incorrect|invalid|impossible|fails?|failed|tried|never|unless|but|base|digits?|off|by)\b/i

/** Whether the text after a value can be a unit: at most four words, all without an effect on the value. */
export const isUnit = (text: string): boolean =>
  /^[\p{L}°€£¢¥₹][\p{L}°€£¢¥₹./ ²³^{}\d-]*$/u.test(text) &&
  !/(?<![\^{-])\d/.test(text) &&
  text.trim().split(/\s+/).length <= 4 &&
  !/^(?:arc)?(?:sin|cos|tan|cot|sec(?!onds?\b|s?\b)|csc|log|ln|exp|sqrt)/i.test(text) &&
  !noUnit.test(text.replace(/(?<=\p{L} ?)\b(?:squared|cubed)\b/giu, ""))

const length = /^metre(?:\^(\d+))?$/

const plainUnit = /^unit(?:\^(\d+))?$/

/** Whether two dimensions match. "Square units" match any unit of area. */
const isSameKind = (a: string, b: string): boolean => {
  const [some, unit] = [length.exec(a), plainUnit.exec(b)]
  return some !== null && unit !== null && some[1] === unit[1]
}

/** Whether a unit is a prime mark, which may mean minutes or feet and must never be omitted. */
const isPrime = ({ name }: Unit): boolean => name.startsWith("prime")

/** Whether two units have the same dimension, or one of them is omitted. */
export const isSameUnit = (a: Unit, b: Unit): boolean =>
  ((a.name === "" || b.name === "") && !isPrime(a) && !isPrime(b)) ||
  a.name === b.name ||
  isSameKind(a.name, b.name) ||
  isSameKind(b.name, a.name)

/** Returns the conversion factor between two units. It is 1 if one of them is omitted. */
export const factor = (from: Unit, to: Unit): Rational.Rational =>
  from.name === to.name ? (Rational.divide(from.scale, to.scale) ?? one) : one

/** Whether a word is the name or symbol of a known unit. */
export const isKnown = (word: string): boolean => known(word) !== undefined

/** Symbols that are more likely a unit than a product of variables, even directly after a number: `5cm`. */
const clear = new Set(
  "pct cm mm km nm kg mg ml mL dL kL ft yd hr min sec mph kph lb lbs oz Hz kHz MHz GHz kJ kW MW mW kPa Pa kN mol".split(
    " "
  )
)

/** Whether letters are the symbol of a unit, such as `cm`. More symbols are accepted after a space. */
export const isShortUnit = (text: string, isSpaced: boolean): boolean =>
  text.length > 1 && (clear.has(text) || (isSpaced && (bySymbol.has(text) || /^(?:mi|gal|deg|rad|yrs?)$/.test(text))))
