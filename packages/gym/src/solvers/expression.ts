/**
 * Parses a text as a single expression in symbols or words: "12 × (3 + 4)", "three plus ten squared", "the square root
 * of 1764", "the sum of 3, 4 and 5, times 2". Operator precedence follows mathematical notation. Phrases that people
 * interpret differently ("half of 10 plus 4") are rejected.
 */
import * as Exact from "./exact.ts"

/** A parsed expression. */
export interface Expression {
  /** The expression in symbols, with its original parentheses. */
  readonly text: string
  readonly value: Exact.Exact | undefined
}

type Value = Exact.Exact | undefined

/** An operand. Records whether an operator may follow it without ambiguity. */
interface Operand extends Expression {
  readonly isOpen?: boolean | undefined
  /**
   * Whether it ends in words that may also apply to the text before it, as in "plus 3 squared" and "plus 3 times 4".
   */
  readonly isSpoken?: boolean | undefined
}

const token = /\d+(?:\.\d+)?|\.\d+|\*\*|[a-z]+(?:'[a-z]+)?|\S/g

const both = (operate: (left: Exact.Exact, right: Exact.Exact) => Value) => (left: Value, right: Value) =>
  left === undefined || right === undefined ? undefined : operate(left, right)

const operations = {
  "+": both(Exact.add),
  "-": both(Exact.subtract),
  "*": both(Exact.multiply),
  "/": both(Exact.divide),
  "^": both(Exact.power),
  mod: both(Exact.modulo)
}

type Sign = keyof typeof operations

/** Spellings of operators, longer phrases first. */
const infix: ReadonlyArray<readonly [phrase: string, sign: Sign]> = [
  ["+", "+"],
  ["plus", "+"],
  ["-", "-"],
  ["minus", "-"],
  ["*", "*"],
  ["multiplied by", "*"],
  ["times", "*"],
  ["x", "*"],
  ["/", "/"],
  ["divided by", "/"],
  ["modulo", "mod"],
  ["mod", "mod"],
  ["%", "mod"],
  ["^", "^"],
  ["**", "^"],
  ["to the power of", "^"],
  ["to the power", "^"],
  ["raised to the power of", "^"],
  ["raised to the power", "^"]
]

const levels: ReadonlyArray<ReadonlyArray<Sign>> = [
  ["+", "-"],
  ["*", "/", "mod"]
]

const listed = (name: string, operate: (left: Exact.Exact, right: Exact.Exact) => Value) => ({
  name,
  operate: both(operate)
})

const pick = (sign: number) => (left: Exact.Exact, right: Exact.Exact) =>
  Exact.compare(left, right) === sign ? left : right

/** Phrases that apply to a list, such as "The sum of 3, 4 and 5". */
const ofLists: ReadonlyArray<readonly [pattern: string, ReturnType<typeof listed>]> = [
  ["sum of", listed("+", Exact.add)],
  ["total of", listed("+", Exact.add)],
  ["add up", listed("+", Exact.add)],
  ["add", listed("+", Exact.add)],
  ["multiply", listed("*", Exact.multiply)],
  ["product of", listed("*", Exact.multiply)],
  ["greatest common divisor of", listed("gcd", Exact.greatestDivisor)],
  ["greatest common factor of", listed("gcd", Exact.greatestDivisor)],
  ["highest common factor of", listed("gcd", Exact.greatestDivisor)],
  ["gcd of", listed("gcd", Exact.greatestDivisor)],
  ["hcf of", listed("gcd", Exact.greatestDivisor)],
  ["gcf of", listed("gcd", Exact.greatestDivisor)],
  ["least common multiple of", listed("lcm", Exact.leastMultiple)],
  ["lowest common multiple of", listed("lcm", Exact.leastMultiple)],
  ["lcm of", listed("lcm", Exact.leastMultiple)],
  ...["maximum", "max", "largest", "greatest", "biggest", "highest"].flatMap((word) =>
    ["", " number", " value"].map((noun) => [`${word}${noun} of`, listed("max", pick(1))] as const)
  ),
  ...["minimum", "min", "smallest", "least", "lowest"].flatMap((word) =>
    ["", " number", " value"].map((noun) => [`${word}${noun} of`, listed("min", pick(-1))] as const)
  )
]

/** Phrases that apply to two numbers, such as "The difference between 9 and 4". */
const ofPairs: ReadonlyArray<readonly [pattern: string, between: string, sign: Sign]> = [
  ["difference between", "and", "-"],
  ["difference of", "and", "-"],
  ["quotient of", "and", "/"],
  ["remainder of", "divided by", "mod"],
  ["remainder when", "is divided by", "mod"],
  ["remainder when", "divided by", "mod"],
  ["remainder when dividing", "by", "mod"],
  ["remainder when you divide", "by", "mod"],
  ["remainder of dividing", "by", "mod"],
  ["remainder if you divide", "by", "mod"]
]

/** Whether a difference is ambiguous: that between 4 and 15 may mean 11 or -11. */
const isOpenDifference = (left: Value, right: Value): boolean =>
  left !== undefined && right !== undefined && Exact.compare(left, right) === -1

const times = (factor: Exact.Exact) => (value: Exact.Exact) => Exact.multiply(value, factor)
const share = (parts: bigint): Exact.Exact => ({ numerator: 1n, denominator: parts })

interface Prefix {
  readonly text: (operand: string) => string
  readonly operate: (value: Exact.Exact) => Value
}

const scaled = (factor: number): Prefix => ({
  text: (operand) => `(${operand} * ${factor})`,
  operate: times(Exact.whole(factor))
})
const divided = (parts: number): Prefix => ({
  text: (operand) => `(${operand} / ${parts})`,
  operate: times(share(BigInt(parts)))
})
const raised = (exponent: number): Prefix => ({
  text: (operand) => `(${operand})^${exponent}`,
  operate: (value) => Exact.power(value, Exact.whole(exponent))
})
const root = (degree: 2 | 3): Prefix => ({
  text: (operand) => `root${degree}(${operand})`,
  operate: (value) => Exact.rootOf(value, degree)
})
const absolute: Prefix = {
  text: (operand) => `abs(${operand})`,
  operate: (value) => ((Exact.compare(value, Exact.whole(0)) ?? 0) < 0 ? Exact.negate(value) : value)
}
const reciprocal: Prefix = {
  text: (operand) => `(1 / ${operand})`,
  operate: (value) => Exact.divide(Exact.whole(1), value)
}
const product: Prefix = { text: (operand) => `${operand}!`, operate: Exact.factorial }

/** Phrases that precede their operand. */
const prefixes: ReadonlyArray<readonly [phrase: string, Prefix]> = [
  ["square root of", root(2)],
  ["square root", root(2)],
  ["cube root of", root(3)],
  ["sqrt of", root(2)],
  ["sqrt", root(2)],
  ["√", root(2)],
  ["square of", raised(2)],
  ["cube of", raised(3)],
  ["absolute value of", absolute],
  ["factorial of", product],
  ["reciprocal of", reciprocal],
  ["twice", scaled(2)],
  ["double of", scaled(2)],
  ["double", scaled(2)],
  ["thrice", scaled(3)],
  ["triple", scaled(3)],
  ["treble", scaled(3)],
  ["half of", divided(2)],
  ["half", divided(2)],
  ...(
    [
      ["third", 3],
      ["quarter", 4],
      ["fifth", 5],
      ["tenth", 10]
    ] as const
  ).flatMap(([name, parts]) =>
    ["a ", "one ", "1 ", ""].map((article) => [`${article}${name} of`, divided(parts)] as const)
  )
]

/** Phrases that follow their operand. */
const postfixes: ReadonlyArray<readonly [phrase: string, Prefix]> = [
  ["squared", raised(2)],
  ["cubed", raised(3)],
  ["factorial", product],
  ["!", product]
]

const percent = ["%", "percent", "per cent"]

const partNames: ReadonlyArray<readonly [phrase: string, parts: number]> = [
  ["halves", 2],
  ["thirds", 3],
  ["quarters", 4],
  ["fourths", 4],
  ["fifths", 5],
  ["sixths", 6],
  ["sevenths", 7],
  ["eighths", 8],
  ["ninths", 9],
  ["tenths", 10]
]

/** Thrown if a text is not an expression. Only used within this module. */
const unread = new Error("This is not an expression.")

/** Thrown if a text is an expression that people understand differently. Only used within this module. */
const ambiguous = new Error("This expression is ambiguous.")

const wordsOf = new Map<string, ReadonlyArray<string>>()

const splitPhrase = (phrase: string): ReadonlyArray<string> => {
  const words = wordsOf.get(phrase) ?? phrase.split(" ")
  wordsOf.set(phrase, words)
  return words
}

/** A left-to-right parser. Throws `unread` on any token that does not fit, and `ambiguous` on an ambiguous phrase. */
class Parser {
  private readonly tokens: ReadonlyArray<string>
  private at = 0

  constructor(text: string) {
    this.tokens = text.toLowerCase().match(token) ?? []
  }

  private takes(phrase: string): boolean {
    const words = splitPhrase(phrase)
    for (let index = 0; index < words.length; index++) {
      if (this.tokens[this.at + index] !== words[index]) return false
    }
    this.at += words.length
    return true
  }

  private peeks(phrase: string): boolean {
    const at = this.at
    const found = this.takes(phrase)
    this.at = at
    return found
  }

  private expect(phrase: string): void {
    if (!this.takes(phrase)) throw unread
  }

  private sign(among: ReadonlyArray<Sign>): Sign | undefined {
    return infix.find(([phrase, sign]) => among.includes(sign) && this.takes(phrase))?.[1]
  }

  /** Parses the whole text as one expression. A suffix such as ", times 2" applies to everything before it. */
  whole(): Expression {
    let left: Operand = this.joined(0)
    while (this.at < this.tokens.length) {
      if (!this.takes(",")) throw unread
      this.takes("then")
      const sign = this.sign(["+", "-", "*", "/", "mod"])
      if (sign === undefined) throw unread
      const right = this.joined(1)
      if (right.isSpoken) throw ambiguous
      left = { text: `(${left.text}) ${sign} ${right.text}`, value: operations[sign](left.value, right.value) }
    }
    return left
  }

  private joined(level: number): Operand {
    if (level === levels.length) return this.signed()
    let left = this.joined(level + 1)
    let start = this.at
    for (let sign = this.sign(levels[level]!); sign !== undefined; sign = this.sign(levels[level]!)) {
      const isSpoken = level > 0 && /^[a-wyz]/.test(this.tokens[start]!)
      const right = this.joined(level + 1)
      if (left.isOpen || right.isSpoken) throw ambiguous
      left = {
        text: `${left.text} ${sign} ${right.text}`,
        value: operations[sign](left.value, right.value),
        isOpen: right.isOpen,
        isSpoken: left.isSpoken || isSpoken
      }
      start = this.at
    }
    return left
  }

  private signed(): Operand {
    if (!this.takes("-") && !this.takes("minus") && !this.takes("negative")) return this.powered()
    const { isOpen, isSpoken, text, value } = this.signed()
    if (isSpoken) throw ambiguous
    return { text: `-${text}`, value: value === undefined ? undefined : Exact.negate(value), isOpen }
  }

  private powered(): Operand {
    let base = this.operand()
    for (let found = this.postfix(); found !== undefined; found = this.postfix()) {
      const isRepeated = found === product && this.tokens[this.at - 2] === "!"
      if (base.isOpen || isRepeated) throw ambiguous
      base = { ...apply(found, base), isSpoken: /^[a-z]/.test(this.tokens[this.at - 1]!) }
    }
    const start = this.at
    if (this.sign(["^"]) === undefined) return base
    const isSpoken = /^[a-z]/.test(this.tokens[start]!)
    const exponent = this.signed()
    if (base.isOpen || exponent.isOpen) throw ambiguous
    const value = operations["^"](base.value, exponent.value)
    return { text: `${base.text}^${exponent.text}`, value, isSpoken, isOpen: isSpoken }
  }

  private postfix(): Prefix | undefined {
    return postfixes.find(([phrase]) => this.takes(phrase))?.[1]
  }

  private operand(): Operand {
    const isNamed = this.takes("the")
    const named = this.ofList() ?? this.ofPair() ?? this.prefixed()
    if (named !== undefined) return named
    if (isNamed) this.takes("number")
    if (this.takes("(")) {
      const { text, value } = this.joined(0)
      this.expect(")")
      return { text: `(${text})`, value }
    }
    return this.share() ?? this.number()
  }

  /** Parses a share such as "15% of 80", "2 thirds of 60" or "3/8 of 40". */
  private share(): Operand | undefined {
    const start = this.at
    const rate = this.number()
    const parts = this.parts()
    if (parts === undefined || !this.takes("of")) {
      this.at = start
      return undefined
    }
    const of = this.powered()
    const portion = operations["/"](rate.value, parts.value)
    return {
      text: `${rate.text} / ${parts.text} * ${of.text}`,
      value: operations["*"](portion, of.value),
      // "Half of 10 plus 4" is ambiguous, and so is "2 thirds of 12 plus 3".
      isOpen: of.isOpen || parts.isFraction
    }
  }

  /** Parses the divisor of a share: "%", "thirds" or "/ 8". */
  private parts(): (Expression & { readonly isFraction: boolean }) | undefined {
    if (percent.some((phrase) => this.takes(phrase))) return { text: "100", value: Exact.whole(100), isFraction: false }
    const name = partNames.find(([phrase]) => this.takes(phrase))
    if (name !== undefined) return { text: String(name[1]), value: Exact.whole(name[1]), isFraction: true }
    return this.takes("/") && /^\d/.test(this.tokens[this.at] ?? "")
      ? { ...this.number(), isFraction: true }
      : undefined
  }

  private number(): Operand {
    if (this.takes("pi") || this.takes("π")) return { text: "pi", value: Exact.pi }
    const currency = ["$", "€", "£"].find((sign) => this.takes(sign))
    const text = this.tokens[this.at]
    if (text === undefined || !/^[\d.]/.test(text) || (currency !== undefined && this.hasOther(currency))) throw unread
    this.at += 1
    // "3 4" and "3(4)" are not numbers.
    if (/^[\d(.]/.test(this.tokens[this.at] ?? "")) throw unread
    return { text, value: Exact.parse(text) }
  }

  private hasOther(currency: string): boolean {
    return ["$", "€", "£"].some((sign) => sign !== currency && this.tokens.includes(sign))
  }

  private prefixed(): Operand | undefined {
    const found = prefixes.find(([phrase]) => this.takes(phrase))
    if (found === undefined) return undefined
    const isClear = this.peeks("(") || found[0] === "√"
    const operand = found[1] === absolute ? this.signed() : this.operand()
    return { ...apply(found[1], operand), isOpen: !isClear }
  }

  private ofPair(): Operand | undefined {
    const start = this.at
    for (const [phrase, between, sign] of ofPairs) {
      if (!this.takes(phrase)) continue
      const left = this.signedNumber()
      if (this.takes(between)) {
        const right = this.signedNumber()
        if (sign === "-" && isOpenDifference(left.value, right.value)) throw ambiguous
        return {
          text: `(${left.text} ${sign} ${right.text})`,
          value: operations[sign](left.value, right.value),
          isOpen: true
        }
      }
      this.at = start
    }
    return undefined
  }

  private ofList(): Operand | undefined {
    const found = ofLists.find(([phrase]) => this.takes(phrase))
    if (found === undefined) return undefined
    for (const phrase of ["these numbers :", "the numbers :", "the numbers", "numbers", ":"]) this.takes(phrase)
    const items = this.list()
    if (items.length < 2) throw unread
    const { name, operate } = found[1]
    const value = items.map((item) => item.value).reduce(operate)
    const isSymbol = name === "+" || name === "*"
    const text = items.map((item) => item.text).join(isSymbol ? ` ${name} ` : ", ")
    return { text: isSymbol ? `(${text})` : `${name}(${text})`, value, isOpen: true }
  }

  private list(): ReadonlyArray<Operand> {
    const items = [this.signedNumber()]
    for (;;) {
      const start = this.at
      const isNext = [", and", ",", "and"].some((between) => this.takes(between))
      if (!isNext || !/^[-\d.$€£]/.test(this.tokens[this.at] ?? "")) {
        this.at = start
        return items
      }
      items.push(this.signedNumber())
    }
  }

  private signedNumber(): Operand {
    const isNegative = this.takes("-") || this.takes("minus") || this.takes("negative")
    const { text, value } = this.number()
    return isNegative
      ? { text: `-${text}`, value: value === undefined ? undefined : Exact.negate(value) }
      : { text, value }
  }
}

const apply = ({ operate, text }: Prefix, operand: Operand): Operand => ({
  text: text(operand.text),
  value: operand.value === undefined ? undefined : operate(operand.value)
})

const vocabulary = new Set(
  [...infix, ...ofLists, ...ofPairs.flatMap(([phrase, between]) => [[phrase], [between]]), ...prefixes, ...postfixes]
    .flatMap(([phrase]) => phrase!.split(" "))
    .concat(
      percent,
      partNames.map(([phrase]) => phrase),
      [
        "pi",
        "π",
        "per",
        "cent",
        "the",
        "and",
        "then",
        "of",
        "these",
        "numbers",
        "number",
        ":",
        ",",
        "(",
        ")",
        "negative",
        "$",
        "€",
        "£"
      ]
    )
)

/** Returns the words and symbols in a text that cannot occur in an expression. */
export const unknownWords = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(token) ?? []).filter((found) => !vocabulary.has(found) && !/^[\d.]/.test(found))

/** Maximum nesting depth of parentheses. */
const mostBrackets = 100

const parse = (text: string): Expression | "ambiguous" | undefined => {
  if (unknownWords(text).length > 0 || text.split("(").length > mostBrackets) return undefined
  try {
    return new Parser(text).whole()
  } catch (error) {
    if (error === unread) return undefined
    if (error === ambiguous) return "ambiguous"
    throw error
  }
}

/** Parses a text that consists entirely of one expression with one meaning. Returns `undefined` otherwise. */
export const read = (text: string): Expression | undefined => {
  const found = parse(text)
  return found === "ambiguous" ? undefined : found
}

/** Whether a text consists entirely of one expression that people understand differently. */
export const isAmbiguous = (text: string): boolean => parse(text) === "ambiguous"

/** Evaluates an expression in symbols. */
export const evaluate = (text: string): Exact.Exact | undefined => read(text)?.value
