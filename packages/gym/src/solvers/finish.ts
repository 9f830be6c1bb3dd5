/**
 * Operations that a question applies to an answer: "rounded to two decimals", "in binary", "and multiply it by 3",
 * "without the l's". They are removed from the start or end of a question, so that a solver receives only the remaining
 * question.
 */
import * as Exact from "./exact.ts"
import * as Letters from "./letters.ts"
import { inFigures } from "./numerals.ts"

/** An operation on an answer. */
export interface Finish {
  /** The type of its operand: a number or a word. */
  readonly on: "number" | "word"
  readonly change: (value: string) => string | undefined
  /** The same operation on exact numbers. */
  readonly exact?: ((value: Exact.Exact) => Exact.Exact | undefined) | undefined
  /**
   * Whether the operation could also apply to the text directly before it. "squared" after a list is ambiguous unless a
   * comma separates them; "plus 2" is ambiguous even then.
   */
  readonly isLoose?: "without a comma" | "anywhere" | undefined
  /** Whether the operation rounds. Rounding twice is rejected as ambiguous. */
  readonly isRounding?: boolean | undefined
  /** Whether no further operation can be applied to the result. */
  readonly isLast?: boolean | undefined
}

/** A question without its final operations, and those operations in order of application. */
export interface Peeled {
  readonly core: string
  readonly finishes: ReadonlyArray<Finish>
}

// -------------------------------------------------------------------------------------------------------------------
// Changes
// -------------------------------------------------------------------------------------------------------------------

const onNumber = (exact: (value: Exact.Exact) => Exact.Exact | undefined): Finish => ({
  on: "number",
  exact,
  change: (value) => {
    const number = Exact.parse(value)
    const changed = number === undefined ? undefined : exact(number)
    return changed === undefined ? undefined : Exact.shown(changed)
  }
})

const onWord = (change: Finish["change"]): Finish => ({ on: "word", change })

const toMultiple = (step: Exact.Exact | undefined, direction: Exact.Direction = "nearest"): Finish => ({
  ...onNumber((value) => (step === undefined ? undefined : Exact.toMultiple(value, step, direction))),
  isRounding: true
})

const inBase = (base: number): Finish => ({
  on: "number",
  isLast: true,
  change: (value) => (/^-?\d+$/.test(value) && base >= 2 && base <= 36 ? BigInt(value).toString(base) : undefined)
})

const number = (text: string): Exact.Exact => Exact.parse(text)!

const percentMore = (percent: string, sign: 1 | -1) => {
  const change = Exact.divide(number(percent), Exact.whole(100 * sign))!
  return onNumber((value) => Exact.multiply(value, Exact.add(Exact.whole(1), change)!))
}

// -------------------------------------------------------------------------------------------------------------------
// Clauses
// -------------------------------------------------------------------------------------------------------------------

const N = "(-?\\d+(?:\\.\\d+)?)"
const it =
  "(?:it|this|that|your answer|that (?:number|result)|the (?:final )?(?:answer|count|number|outcome|product|quotient|result|sum|total|value))"
const maybeIt = `(?: ${it})?`

type Clause = readonly [pattern: RegExp, finish: (...groups: ReadonlyArray<string>) => Finish]

const clause = (pattern: string, finish: Clause[1]): Clause => [new RegExp(`^${pattern}$`, "i"), finish]

const named: Readonly<Record<string, string>> = {
  ten: "10",
  hundred: "100",
  thousand: "1000",
  million: "1000000",
  tenth: "0.1",
  hundredth: "0.01",
  thousandth: "0.001",
  cent: "0.01",
  half: "0.5",
  quarter: "0.25"
}
const step = (name: string) => number(named[name.toLowerCase().replace(/s$/, "")] ?? name)
const places = (count: string) => toMultiple(Exact.power(Exact.whole(10), number(`-${count}`)))

const names = Object.keys(named).join("|")
const written = `(?:(?:round(?:ed)?|correct|accurate|given?|express(?:ed)?|shown?|writ(?:e|ten))${maybeIt}(?: off)? )?`
const rounded = `(?:round(?:ed)?|correct|accurate)${maybeIt}(?: off)? `

const rounding: ReadonlyArray<Clause> = [
  clause(
    `${written}(?:to|with|at|using) (?:just |only |exactly )?(\\d) (?:decimals?|decimal (?:places?|digits?|points?)|places|digits? (?:after|behind) the (?:decimal )?(?:point|comma))`,
    places
  ),
  clause(`${written}(?:to|with|at|using) (?:just |only |exactly )?no (?:decimals?|decimal places)`, () => places("0")),
  clause(`${written}to the (?:nearest|closest) (?:whole (?:number)?|whole|integer|unit|one)`, () => places("0")),
  clause(`${rounded}to (?:(?:an?|the) )?(?:whole numbers?|integers?)`, () => places("0")),
  clause(`${written}to the (?:nearest|closest) (?:multiple of )?(${names}|\\d+(?:\\.\\d+)?)`, (name) =>
    toMultiple(step(name!))
  ),
  clause(`${rounded}to (?:the )?(?:full )?((?:${names})s)(?: place)?`, (name) => toMultiple(step(name!))),
  clause(`${rounded}to (\\d+)s`, (name) => toMultiple(step(name!))),
  clause(`${written}(?:to|with|at) (\\d{1,2}) (?:significant|sig\\.?) (?:figures?|digits?|figs?)`, (digits) => ({
    ...onNumber((value) => Exact.toDigits(value, Number(digits))),
    isRounding: true
  })),
  clause(`round(?:ed)?${maybeIt} (up|down)(?: to the (?:next |nearest )?(?:whole number|integer))?`, (direction) =>
    toMultiple(Exact.whole(1), direction!.toLowerCase() as Exact.Direction)
  ),
  clause(
    `round(?:ed)?${maybeIt} (up|down) to (?:just |only |exactly )?(\\d) (?:decimals?|decimal (?:places?|digits?|points?)|places)`,
    (direction, count) =>
      toMultiple(Exact.power(Exact.whole(10), number(`-${count}`)), direction!.toLowerCase() as Exact.Direction)
  ),
  clause(`round(?:ed)?${maybeIt} (up|down) to the (?:next |nearest )?(${names}|\\d+)`, (direction, name) =>
    toMultiple(step(name!), direction!.toLowerCase() as Exact.Direction)
  ),
  clause(`round(?:ed)?${maybeIt}`, () => places("0"))
]

const bases = { binary: 2, octal: 8, hex: 16, hexadecimal: 16 }

const expressed = `(?:(?:convert|express(?:ed)?|give|given|put|show|shown|write|written)${maybeIt} )?`
const baseClauses: ReadonlyArray<Clause> = [
  clause(
    `${expressed}(?:in|to|into|as) (?:an? )?(binary|octal|hex|hexadecimal)(?: (?:digits|form|format|notation|number|numbers|numeral|system))?`,
    (name) => inBase(bases[name!.toLowerCase() as keyof typeof bases])
  ),
  clause(`${expressed}(?:in|to|into) base (\\d{1,2})`, (base) => inBase(Number(base)))
]

const loose = (finish: Finish): Finish => ({ ...finish, isLoose: "anywhere" })
const light = (finish: Finish): Finish => ({ ...finish, isLoose: "without a comma" })
const plus = (value: string) => onNumber((one) => Exact.add(one, number(value)))
const minus = (value: string) => onNumber((one) => Exact.subtract(one, number(value)))
const times = (value: string) => onNumber((one) => Exact.multiply(one, number(value)))
const over = (value: string) => onNumber((one) => Exact.divide(one, number(value)))
const power = (exponent: number) => onNumber((one) => Exact.power(one, Exact.whole(exponent)))

const calculation: ReadonlyArray<Clause> = [
  clause(`plus ${N}`, (value) => loose(plus(value!))),
  clause(`(?:minus|less) ${N}`, (value) => loose(minus(value!))),
  clause(`(?:add|plus) ${N}(?: more)?(?: to ${it})?`, (value) => plus(value!)),
  clause(`(?:increase|raise)${maybeIt} by ${N}`, (value) => plus(value!)),
  clause(`(?:subtract|minus|deduct|take away|take) ${N}(?: (?:from|off|away from) ${it})`, (value) => minus(value!)),
  clause(`(?:subtract|deduct|take away) ${N}`, (value) => minus(value!)),
  clause(`(?:decrease|reduce|lower)${maybeIt} by ${N}`, (value) => minus(value!)),
  clause(`multiply${maybeIt} (?:by|with) ${N}`, (value) => times(value!)),
  clause(`(?:multiplied by|times) ${N}`, (value) => light(times(value!))),
  clause(`divide${maybeIt} by ${N}`, (value) => over(value!)),
  clause(`divided by ${N}`, (value) => light(over(value!))),
  clause(`increased?${maybeIt} by ${N} ?(?:%|percent)`, (value) => light(percentMore(value!, 1))),
  clause(`(?:decrease|reduce)d?${maybeIt} by ${N} ?(?:%|percent)`, (value) => light(percentMore(value!, -1))),
  clause(`doubled?${maybeIt}`, () => light(times("2"))),
  clause(`(?:tripled?|trebled?)${maybeIt}`, () => light(times("3"))),
  clause(`halved?${maybeIt}`, () => light(over("2"))),
  clause(`squared?${maybeIt}`, () => light(power(2))),
  clause(`cubed?${maybeIt}`, () => light(power(3))),
  clause(`negated?${maybeIt}`, () => light(times("-1"))),
  clause(`take the square root(?: of ${it})?`, () => onNumber((value) => Exact.rootOf(value, 2)))
]

const removed: Readonly<Record<string, Letters.Kind>> = {
  vowels: Letters.isVowel,
  consonants: Letters.isConsonant,
  spaces: Letters.isSpace
}
const removing =
  "(?:remov(?:e|ing)|drop(?:ping)?|delet(?:e|ing)|omit(?:ting)?|strip|leav(?:e|ing) out|take out|without)"
const every = "(?: all| every| any| each)?(?: of)?(?: the)?"
const from = `(?: from ${it})?`

const spelling: ReadonlyArray<Clause> = [
  clause(`${removing}${every} (vowels|consonants|spaces)${from}`, (what) =>
    onWord((word) => Letters.without(word, removed[what!.toLowerCase()]!))
  ),
  clause(`${removing}${every} (?:letters? )?"?([a-z])"?(?:'s)?${from}`, (letter) =>
    onWord((word) => Letters.without(word, Letters.is(letter!)))
  ),
  clause(`(?:remove|drop|delete) the first letter${from}`, () =>
    onWord((word) => Letters.characters(word).slice(1).join(""))
  ),
  clause(`(?:remove|drop|delete) the last letter${from}`, () =>
    onWord((word) => Letters.characters(word).slice(0, -1).join(""))
  ),
  clause(`${expressed}(?:in|to) (?:all )?(?:caps|capitals|capital letters|upper ?-?case(?: letters)?)`, () =>
    onWord((word) => word.toUpperCase())
  ),
  clause(`${expressed}(?:in|to) (?:all )?lower ?-?case(?: letters)?`, () => onWord((word) => word.toLowerCase()))
]

/** Clauses grouped by the words that they start with. */
const groups: ReadonlyArray<readonly [RegExp, ReadonlyArray<Clause>]> = [
  [/^(?:round|correct|accurate|give|express|show|writ|to|with|at|using)/i, rounding],
  [/^(?:convert|express|give|put|show|writ|in|to|as)/i, baseClauses],
  [
    /^(?:plus|minus|less|add|increase|raise|subtract|deduct|take|decrease|reduce|lower|multipl|times|divide|double|tripl|treble|halve|square|cube|negate)/i,
    calculation
  ],
  [/^(?:remov|drop|delet|omit|strip|leav|take|without|express|give|put|show|writ|convert|in|to)/i, spelling]
]

/** Optional words before a clause, such as "and then" and "please". */
const lead = /^(?:(?:and|but|then|next|after that|afterwards|finally|lastly|now|please),? )*/i

/** Maximum length of a clause, in characters. */
const longestClause = 90

const clauseOf = (text: string): Finish | undefined => {
  const bare = text.replace(lead, "").trim()
  const clauses = groups.flatMap(([start, clauses]) => (start.test(bare) ? clauses : []))
  if (clauses.length === 0) return undefined
  const figures = inFigures(bare)
  for (const [pattern, finish] of clauses) {
    const match = pattern.exec(figures)
    if (match !== null) return finish(...match.slice(1))
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Peeling
// -------------------------------------------------------------------------------------------------------------------

const isBalanced = (text: string): boolean => text.split('"').length % 2 === 1 && text.split("```").length % 2 === 1

/** Matches words that end such a clause. A question without any of them has no operations to remove. */
const hint =
  /\d|["')]|\b(?:decimals?|places?|digits?|figures?|figs?|point|comma|number|integer|unit|whole|one|tens?|hundreds?|thousands?|millions?|tenths?|hundredths?|thousandths?|cents?|half|quarter|up|down|round(?:ed)?|it|this|that|answer|count|outcome|product|quotient|result|sum|total|value|binary|octal|hex\w*|form|format|notation|numerals?|system|doubled?|tripled?|trebled?|halved?|squared?|cubed?|negated?|root|percent|vowels|consonants|spaces|letters?|caps|capitals|case|[a-z]|zero|two|three|four|five|six|seven|eight|nine|eleven|twelve|\w+teen|\w+ty)$/i

/** Trims spaces and punctuation from the end of a text. */
export const withoutEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && /[\s.?!,;:]/.test(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** Whether "plus 2" after this text can only apply to all of it, as after a sentence, a quotation or a date. */
const isClosed =
  /[.?!]\s*$|["')]\s*,?\s*$|(?:\d{4}-\d\d-\d\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2},?)? \d{4}),?\s*$/i

const isApart = (core: string, rest: string, { isLoose }: Finish): boolean =>
  isClosed.test(`${core.slice(-longestClause)}${/^\s*[.?!]/.exec(rest)?.[0].trim() ?? ""}`) ||
  (isLoose === "without a comma" && /^\s*(?:[,;:]|(?:and|then)\b)/i.test(rest))

const peelEnd = (question: string): { readonly core: string; readonly finish: Finish } | undefined => {
  const text = withoutEnd(question)
  if (!hint.test(text.slice(-longestClause))) return undefined
  const from = Math.max(0, text.length - longestClause)
  for (const { index } of text.slice(from).matchAll(/[\s,.;:?!]+/g)) {
    const core = text.slice(0, from + index)
    const rest = text.slice(from + index)
    const finish = clauseOf(rest.replace(/^[\s,.;:?!]+/, ""))
    if (finish === undefined || core === "" || !isBalanced(core)) continue
    return { core, finish: isApart(core, rest, finish) ? { ...finish, isLoose: undefined } : finish }
  }
  return undefined
}

const asking = "(?:what(?:'s| is| was| are)|calculate|compute|find|give me|tell me|how much is|work out)"
const noun = "(?=the (?!difference|quotient|sum|product|number (?:that|which))[a-z])"

/** Phrases between the question words and the requested value, as in "What is twice the median of ...". */
const wrappers: ReadonlyArray<readonly [RegExp, (...groups: ReadonlyArray<string>) => Finish]> = (
  [
    ["(?:twice|double)", () => times("2")],
    ["(?:triple|thrice)", () => times("3")],
    ["half(?: of)?", () => over("2")],
    [`${N} times`, (value: string) => times(value)],
    [
      `${N} ?(?:%|percent) of`,
      (value: string) => onNumber((one) => Exact.multiply(one, Exact.divide(number(value), Exact.whole(100))!))
    ],
    [`${N} more than`, (value: string) => plus(value)],
    [`${N} less than`, (value: string) => minus(value)],
    ["the square of", () => power(2)],
    ["the square root of", () => onNumber((value) => Exact.rootOf(value, 2))]
  ] as const
).map(([phrase, finish]) => [
  new RegExp(`^(${asking}) ${phrase} ${noun}`, "i"),
  (_: string, ...groups: ReadonlyArray<string>) => (finish as (...groups: ReadonlyArray<string>) => Finish)(...groups)
])

const first =
  /^([^,:"`]{4,60})[,:] (?=(?:what|how|which|on which|convert|calculate|compute|find|express|evaluate|work out|give|tell|count|write|reverse|spell|solve|is)\b)/i

const peelStart = (question: string): { readonly core: string; readonly finish: Finish } | undefined => {
  const text = question.trim()
  const opening = first.exec(text)
  const finish = opening === null ? undefined : clauseOf(opening[1]!)
  if (finish !== undefined) return { core: text.slice(opening![0].length), finish }
  const imperative =
    text.length > longestClause
      ? null
      : /^round(?: off)? (?:(?!(?:it|that|the|your)\b)(.+?) ((?:up |down )?(?:to|with) [^,]+)|(-?\d+(?:\.\d+)?)( up| down)?)$/i.exec(
          withoutEnd(text)
        )
  const [, given = imperative?.[3], to = (imperative?.[4] ?? "").trim()] = imperative ?? []
  const wanted = given === undefined ? undefined : clauseOf(`round it ${to}`)
  if (wanted !== undefined) return { core: `What is ${given}?`, finish: wanted }
  const figures = inFigures(text.slice(0, longestClause))
  for (const [pattern, make] of wrappers) {
    const match = pattern.exec(figures)
    if (match === null) continue
    return {
      core: `${match[1]} ${figures.slice(match[0].length)}${text.slice(longestClause)}`,
      finish: make(...match.slice(1))
    }
  }
  return undefined
}

const mostFinishes = 4

/** Returns a question unchanged, followed by versions with one more operation removed each time. */
export const peelings = (question: string): ReadonlyArray<Peeled> => {
  const found: Array<Peeled> = [{ core: question, finishes: [] }]
  while (found.length <= mostFinishes) {
    const { core, finishes } = found.at(-1)!
    const peeled = peelEnd(core) ?? peelStart(core)
    if (peeled === undefined || (peeled.finish.isLast && finishes.length > 0)) break
    if (peeled.finish.isRounding && finishes[0]?.isRounding) break
    found.push({ core: peeled.core, finishes: [peeled.finish, ...finishes] })
  }
  return found
}

/** Applies operations to an answer. Returns `undefined` if an operation cannot be applied. */
export const finish = (value: string | Exact.Exact, finishes: ReadonlyArray<Finish>): string | undefined => {
  let current: string | Exact.Exact | undefined = value
  for (const { change, exact } of finishes) {
    if (current === undefined) return undefined
    if (exact !== undefined) {
      const number: Exact.Exact | undefined = typeof current === "string" ? Exact.parse(current) : current
      current = number === undefined ? undefined : exact(number)
    } else {
      const text: string | undefined = typeof current === "string" ? current : Exact.shown(current)
      current = text === undefined ? undefined : change(text)
    }
  }
  return typeof current === "object" ? Exact.shown(current) : current
}
