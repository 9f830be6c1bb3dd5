/** Reads arithmetic in symbols, words, instructions and stories, and evaluates it exactly. */
import type { Habits } from "../Habits.ts"
import * as Exact from "./exact.ts"
import * as Expression from "./expression.ts"
import { withoutEnd } from "./finish.ts"
import { Ambiguous, solver, type Text } from "./reading.ts"

// -------------------------------------------------------------------------------------------------------------------
// Expressions
// -------------------------------------------------------------------------------------------------------------------

/** Matches phrases before and after an expression. */
const beginning =
  /^(?:(?:a|and|answer|calculate|can|compute|convert|could|determine|do|evaluate|exact|exactly|express|expression|find|following|for|get|give|hello|hey|hi|how|i|is|just|know|let|many|me|much|need|now|number|of|ok|please|pls|quick|question|result|round|see|show|simplify|so|solve|tell|the|then|this|to|us|value|want|we|what's|whats|what|work|write|would|you|is|was|are|out|make|makes|give|gives|does|like)\b[,:]? *|[:,]\s*)*/i

const closing =
  /(?:(?:[\s,.;?!=]|\b(?:please|pls|thanks|thank you|exactly|for me|equals?(?: to)?|is|makes?|gives?|come to|what do (?:you|we|i) get|what|do you get|in total|altogether|all together)(?=[\s,.;?!=]|$))+)$/i

/** Returns candidate expressions in a text, with the surrounding phrases removed. */
const inside = (text: string): ReadonlyArray<string> => {
  const bare = text.trim()
  const end = bare.length - (closing.exec(bare)?.[0].length ?? 0)
  // In "Is 5 plus 3?" and "the sum of 3 and 5", words matched by `beginning` may belong to the expression.
  const start = beginning.exec(bare)?.[0].length ?? 0
  const first = bare.slice(start, end)
  return [first, bare.slice(start).replace(/(?<![\s=?.,])[\s=?.,]+$/, "")]
}

const isNumber = /^-?\d+(?:\.\d+)?$/

const expressionIn = (text: string): Expression.Expression | undefined => {
  const found = inside(text).flatMap((candidate) => Expression.read(candidate) ?? [])
  const sums = found.filter((read) => !isNumber.test(read.text))
  // "2 + 3!" may or may not end in a factorial, so it is ambiguous.
  const [first, second] = sums
  return first !== undefined && second !== undefined && first.text !== second.text ? undefined : (first ?? found[0])
}

const N = "(-?\\d+(?:\\.\\d+)?)"

const money = `[$€£]?${N}(?: (?:dollars|euros|pounds))?`
const percent = `${N} ?(?:%|percent)`

/** Idioms, such as "A 15% tip on 80", "20% off 45" and "Split 90 between 3 people". */
const sayings: ReadonlyArray<readonly [RegExp, (a: string, b: string) => string]> = [
  [
    new RegExp(
      `\\b(?:how much (?:is|would be) |what(?:'s| is) )?(?:a |the )?${percent} (?:tip|tax|vat|discount|commission|fee) (?:on|of|for)(?: a bill of)? ${money}`,
      "i"
    ),
    (rate, of) => `${rate} / 100 * ${of}`
  ],
  [new RegExp(`\\b(?:take )?${percent} off(?: of)? ${money}`, "i"), (rate, of) => `(100 - ${rate}) / 100 * ${of}`],
  [new RegExp(`\\b${N} ?/ ?${N} (?:as|in|to) (?:a )?percent(?:age)?`, "i"), (part, of) => `${part} / ${of} * 100`],
  [new RegExp(`\\b${N} ?/ ?${N} (?:as|to) (?:a )?decimal(?: number)?`, "i"), (part, of) => `${part} / ${of}`],
  [new RegExp(`\\badd ${percent} to ${money}`, "i"), (rate, of) => `(100 + ${rate}) / 100 * ${of}`],
  [new RegExp(`\\bwhat (?:percent|percentage) of ${N} is ${N}`, "i"), (of, part) => `${part} / ${of} * 100`],
  [new RegExp(`\\b${N} is what (?:percent|percentage) of ${N}`, "i"), (part, of) => `${part} / ${of} * 100`],
  [new RegExp(`\\b${N} is ${percent} of (?:what|which)(?: number)?`, "i"), (part, rate) => `${part} / ${rate} * 100`],
  [
    new RegExp(
      `\\b(?:split|share|divide) ${money} (?:equally |evenly )?(?:between|among|amongst) ${N} (?:people|persons|friends|children)`,
      "i"
    ),
    (all, shares) => `${all} / ${shares}`
  ],
  [new RegExp(`\\b${N} less than ${N}`, "i"), (less, than) => `${than} - ${less}`],
  [new RegExp(`\\b${N} more than ${N}`, "i"), (more, than) => `${than} + ${more}`],
  [new RegExp(`\\bwhat(?: number)? comes (?:right |directly )?after ${N}`, "i"), (before) => `${before} + 1`],
  [new RegExp(`\\bwhat(?: number)? comes (?:right |directly )?before ${N}`, "i"), (after) => `${after} - 1`],
  [new RegExp(`\\barea of an? ${N} (?:by|x) ${N} rectangle`, "i"), (width, height) => `${width} * ${height}`],
  [
    new RegExp(`\\bperimeter of an? ${N} (?:by|x) ${N} rectangle`, "i"),
    (width, height) => `2 * (${width} + ${height})`
  ],
  [
    new RegExp(`\\b${N} (?:increased|raised|plus) by ${N} ?(?:%|percent)`, "i"),
    (of, rate) => `(100 + ${rate}) / 100 * ${of}`
  ],
  [
    new RegExp(`\\b${N} (?:decreased|reduced|lowered) by ${N} ?(?:%|percent)`, "i"),
    (of, rate) => `(100 - ${rate}) / 100 * ${of}`
  ]
]

/** "The sum of the even numbers from 1 to 10", or of the first numbers. */
const series =
  /\bsum of (?:all )?(?:the )?(?:(even |odd )?(?:whole |natural )?(?:numbers|integers)(?: from| between)? |from )?(\d{1,9}) (?:to|through) (\d{1,9})(?:,? inclusive)?|\bsum of (?:all )?the first (\d{1,9}) (?:positive integers|natural numbers|positive whole numbers)/i

/** Returns the sum of the arithmetic progression as an expression. */
const progression = (first: number, last: number, step: number): string | undefined => {
  const count = Math.floor((last - first) / step) + 1
  return count < 1 ? undefined : `${count} * (${first} + ${first + (count - 1) * step}) / 2`
}

const ofSeries = (text: Text): string | undefined => {
  const match = text.take(series)
  if (match === undefined) return undefined
  const [, parity, from, to, count] = match
  if (count !== undefined) return progression(1, Number(count), 1)
  const start = Number(from)
  if (parity === undefined) return progression(start, Number(to), 1)
  const isEven = /even/i.test(parity)
  return progression(start + ((start % 2 === 0) === isEven ? 0 : 1), Number(to), 2)
}

const saying = (text: Text): string | undefined => {
  const sum = ofSeries(text)
  if (sum !== undefined) return sum
  for (const [pattern, build] of sayings) {
    const match = text.take(pattern)
    if (match !== undefined) return build(match[1]!, match[2]!)
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Instructions
// -------------------------------------------------------------------------------------------------------------------

interface Opening {
  readonly pattern: RegExp
  /** Returns the expression, or `undefined` if it is ambiguous. */
  readonly build: (a: string, b: string) => string | undefined
  /** Whether "plus 4" directly after it could also apply to its last number alone, as in "double 3 plus 4". */
  readonly isOpen: boolean
}

const opening = (phrase: string, build: Opening["build"], isOpen = false): Opening => ({
  pattern: new RegExp(`\\b${phrase}`, "i"),
  build,
  isOpen
})

const openings: ReadonlyArray<Opening> = [
  opening(`add (?:up )?${N} (?:to|and) ${N}`, (a, b) => `(${a} + ${b})`),
  opening(`subtract ${N} from ${N}`, (a, b) => `(${b} - ${a})`),
  opening(`multiply ${N} (?:by|and|with) ${N}`, (a, b) => `(${a} * ${b})`, true),
  opening(`divide ${N} by ${N}`, (a, b) => `(${a} / ${b})`, true),
  opening(`sum of ${N} and ${N}`, (a, b) => `(${a} + ${b})`),
  opening(
    `difference (?:of|between) ${N} and ${N}`,
    (a, b) => (Number(a) < Number(b) ? undefined : `(${a} - ${b})`),
    true
  ),
  opening(`product of ${N} and ${N}`, (a, b) => `(${a} * ${b})`, true),
  opening(`quotient of ${N} and ${N}`, (a, b) => `(${a} / ${b})`, true),
  opening(`double ${N}`, (a) => `(${a} * 2)`, true),
  opening(`halve ${N}`, (a) => `(${a} / 2)`, true),
  opening(`triple ${N}`, (a) => `(${a} * 3)`, true),
  opening(`square ${N}`, (a) => `(${a})^2`, true),
  opening(`cube ${N}`, (a) => `(${a})^3`, true),
  opening(`(?:start|begin) with ${N}`, (a) => a),
  opening(`take ${N}`, (a) => a)
]

/** Matches a continuation that may apply to the number directly before it. */
const loose = /^ (?:plus|minus) /i

const before = "(?:it|this|that|the (?:answer|difference|number|product|quotient|result|sum|total))"

/** Matches phrases that continue from the number directly before them. */
const continuation = new RegExp(
  `^[,.;:]? ?(?:(?:and|then|next|finally|please|now),? )*(?:(multiply|divide)(?: ${before})? by|(add|plus)|(subtract|minus|take away)) ${N}(?: (?:to|from) ${before})?(?![\\w%(]|\\.\\d)|^[,.;:]? ?(?:(?:and|then|next|finally|please|now),? )*(double|halve|square)(?: ${before})?\\b`,
  "i"
)

const apply = (expression: string, [, factor, more, less, value, alone]: RegExpExecArray): string => {
  if (factor !== undefined) return `(${expression} ${factor.toLowerCase() === "multiply" ? "*" : "/"} ${value})`
  if (more !== undefined) return `(${expression} + ${value})`
  if (less !== undefined) return `(${expression} - ${value})`
  if (alone?.toLowerCase() === "double") return `(${expression} * 2)`
  return alone?.toLowerCase() === "halve" ? `(${expression} / 2)` : `(${expression})^2`
}

const instructions = (text: Text): string | Ambiguous | undefined => {
  const first = openings
    .flatMap((opening) => {
      const match = opening.pattern.exec(text.left)
      return match === null ? [] : [{ match, ...opening }]
    })
    .sort((left, right) => left.match.index - right.match.index)[0]
  if (first === undefined) return undefined
  const { build, isOpen, match, pattern } = first
  const at = match.index
  text.take(pattern, "")
  const start = build(match[1]!, match[2] ?? "")
  if (start === undefined || (isOpen && loose.test(text.left.slice(at)))) {
    const all = `${match[0]}${text.left.slice(at)}`
    text.cut(0, text.left.length)
    return new Ambiguous(withoutEnd(all))
  }
  let expression = start
  const rest = () => text.left.slice(at)
  for (let change = continuation.exec(rest()); change !== null; change = continuation.exec(rest())) {
    text.cut(at, at + change[0].length)
    expression = apply(expression, change)
  }
  text.take(
    /\b(?:what do (?:you|we|i) get|what is the (?:final )?(?:result|answer|total|number)|give the final number)\b/i
  )
  return expression === start && start === match[1] ? `(${expression})` : expression
}

// -------------------------------------------------------------------------------------------------------------------
// Stories
// -------------------------------------------------------------------------------------------------------------------

const gone =
  "(?:broken|cancelled|canceled|called off|cut down|damaged|eaten|gone|left out|lent out|lost|missing|removed|returned|sold|spoiled|stolen|taken away|taken out|thrown away|used)"
const come =
  "(?:added|arrive|arrived|baked|booked|bought|brought in|brought|come|delivered|driven|found|planted|put in)"

const group = "(\\d+) ([a-z]+) (?:with|of|holding|containing) (\\d+) ([a-z]+) each"

const stories: ReadonlyArray<readonly [RegExp, sign: "+" | "-" | undefined]> = [
  [
    new RegExp(
      `^an? [a-z]+ (?:has|holds|fills|plans|contains|keeps|owns) ${group},? and (\\d+) of (?:the|them|these)(?: ([a-z]+))? (?:are|were|is|was|get|got) ${gone}[.,] ?how many ([a-z]+) (?:are|remain|is)(?: still)?(?: left| there| there now| now)?[\\s?.!]*$`,
      "i"
    ),
    "-"
  ],
  [
    new RegExp(
      `^an? [a-z]+ (?:has|holds|fills|plans|contains|keeps|owns) ${group},? and (?:then )?(\\d+) more( )(?:are |were )?${come}[.,] ?how many ([a-z]+) are (?:there|there now|there in total)[\\s?.!]*$`,
      "i"
    ),
    "+"
  ],
  [
    new RegExp(
      `^(?:(?:there are|i have|we have|an? [a-z]+ (?:has|holds|contains)) )?${group}[.,] ?how many ([a-z]+) are there(?: in total| altogether| in all)?[\\s?.!]*$`,
      "i"
    ),
    undefined
  ]
]

const gains = "buys?|bought|gets?|got|finds?|found|receives?|received|picks?|picked|wins?|won|collects?|collected"
const losses =
  "gives? away|gave away|loses?|lost|eats?|ate|sells?|sold|uses?|used|breaks?|broke|drops?|dropped|spends?|spent"
const person = "(?:i|we|you|he|she|they|[a-z]+)"

/** A person who has some things, and gets more of them or loses some: "Tom has 12 sweets and gives away 5." */
const change = new RegExp(
  `^${person} (?:have|has|had) (\\d+) ([a-z]+)(?:,? (?:and|but)(?: then)?|[.,]) (?:${person} )?(?:(${gains})|(${losses})) (\\d+)(?: more)?(?: of (?:them|the ([a-z]+))| ([a-z]+))?[.,;] ?how many(?: of them| ([a-z]+))? (?:(?:does|do|did) ${person} (?:still )?have(?: now| left)?|(?:are|is) (?:there |still )?left(?: over)?|remain)[\\s?.!]*$`,
  "i"
)

const changed = (text: Text): string | undefined => {
  const match = change.exec(text.left)
  if (match === null) return undefined
  const [, had, item, gain, , count, ...nouns] = match
  if (nouns.some((noun) => noun !== undefined && !/^more$/i.test(noun) && noun.toLowerCase() !== item!.toLowerCase()))
    return undefined
  text.cut(0, text.left.length)
  return `${had} ${gain === undefined ? "-" : "+"} ${count}`
}

const story = (text: Text): string | undefined => {
  for (const [pattern, sign] of stories) {
    const match = pattern.exec(text.left)
    if (match === null) continue
    const [, groups, , each, item, ...rest] = match
    const total = `${groups} * ${each}`
    const [change, of, asked] = sign === undefined ? [undefined, undefined, rest[0]] : rest
    const isSame =
      asked?.toLowerCase() === item!.toLowerCase() &&
      (of === undefined || of === " " || of.toLowerCase() === item!.toLowerCase())
    if (!isSame) return undefined
    text.cut(0, text.left.length)
    return sign === undefined ? total : `${total} ${sign} ${change}`
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Yes or no
// -------------------------------------------------------------------------------------------------------------------

type Check = (value: Exact.Exact, other: Exact.Exact) => boolean | undefined

const isMultiple: Check = (value, other) => {
  const rest = Exact.divide(value, other)
  const [whole, by] = [Exact.integer(value), Exact.integer(other)]
  return rest === undefined || whole === undefined || by === undefined ? undefined : rest.denominator === 1n
}

const compares =
  (signs: ReadonlyArray<number>): Check =>
  (value, other) => {
    const sign = Exact.compare(value, other)
    return sign === undefined ? undefined : signs.includes(sign)
  }

const two = Exact.whole(2)

const checks: ReadonlyArray<readonly [RegExp, Check]> = [
  [/^is (.+?) (?:an? )?prime(?: number)?$/i, (value) => Exact.isPrime(value)],
  [/^is (.+?) (?:an? )?even(?: number)?$/i, (value) => isMultiple(value, two)],
  [
    /^is (.+?) (?:an? )?odd(?: number)?$/i,
    (value) => {
      const isEven = isMultiple(value, two)
      return isEven === undefined ? undefined : !isEven
    }
  ],
  [
    /^is (.+?) a (?:perfect )?square(?: number)?$/i,
    (value) => {
      const root = Exact.integer(value) === undefined ? undefined : Exact.rootOf(value, 2)
      return root === undefined ? undefined : Exact.integer(root) !== undefined
    }
  ],
  [/^is (.+?) (?:evenly )?divisible by (.+)$/i, isMultiple],
  [/^is (.+?) a multiple of (.+)$/i, isMultiple],
  [/^is (.+?) a (?:factor|divisor) of (.+)$/i, (value, other) => isMultiple(other, value)],
  [/^is (.+?) (?:greater|larger|bigger|more|higher) than (.+)$/i, compares([1])],
  [/^is (.+?) (?:less|smaller|lower|fewer) than (.+)$/i, compares([-1])],
  [/^is (.+?) (?:equal to|the same as) (.+)$/i, compares([0])]
]

interface YesOrNo {
  readonly type: "check"
  readonly holds: boolean | undefined
}

const yesOrNo = (text: Text): YesOrNo | undefined => {
  const asked = text.left.trim().replace(/(?<![\s?.!])[\s?.!]+$/, "")
  for (const [pattern, check] of checks) {
    const match = pattern.exec(asked)
    if (match === null) continue
    const [value, other] = match.slice(1).map((operand) => Expression.read(operand))
    if (value === undefined || (match[2] !== undefined && other === undefined)) continue
    text.cut(0, text.left.length)
    const isKnown = value.value !== undefined && (match[2] === undefined || other?.value !== undefined)
    return { type: "check", holds: isKnown ? check(value.value!, other?.value ?? two) : undefined }
  }
  return undefined
}

const larger =
  /^(?:which|what)(?: number| one)? is (?:the )?(larger|greater|bigger|higher|larger one|smaller|less|lower)(?: one| number)?[,:]? (-?\d[\d.]*) or (-?\d[\d.]*)[\s?.]*$/i

const choice = (text: Text): string | undefined => {
  const match = larger.exec(text.left.trim())
  if (match === null) return undefined
  text.cut(0, text.left.length)
  return `${/^(?:larger|greater|bigger|higher)/i.test(match[1]!) ? "largest" : "smallest"} of ${match[2]} and ${match[3]}`
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

interface Sum {
  readonly type: "sum"
  readonly expression: string
  readonly value: Exact.Exact | undefined
}

const longestSum = 600

const ambiguityIn = (text: Text): Ambiguous | undefined => {
  const found = inside(text.left).find(Expression.isAmbiguous)
  if (found === undefined) return undefined
  text.cut(0, text.left.length)
  return new Ambiguous(found)
}

const read = (text: Text): Sum | YesOrNo | Ambiguous | undefined => {
  if (text.left.length > longestSum || text.has(/```|"/)) return undefined
  const expression = expressionIn(text.left)
  if (expression !== undefined) {
    text.cut(0, text.left.length)
    return { type: "sum", expression: expression.text, value: expression.value }
  }
  const check = yesOrNo(text)
  if (check !== undefined) return check
  const written = choice(text) ?? story(text) ?? changed(text) ?? saying(text) ?? instructions(text)
  if (typeof written === "string") return { type: "sum", expression: written, value: Expression.evaluate(written) }
  return written ?? ambiguityIn(text)
}

const keepDigits = (value: string, digits: number | undefined): string => {
  if (digits === undefined || !/^-?\d+$/.test(value)) return value
  const size = value.replace("-", "").length
  if (size <= digits) return value
  const unit = 10n ** BigInt(size - digits)
  return String((BigInt(value) / unit) * unit)
}

const levels = (leftToRight: boolean | undefined): ReadonlyArray<string> =>
  leftToRight ? ["\\^", "[-+*/]"] : ["\\^", "[*/]", "[-+]"]

/** Evaluates an expression step by step, one operation at a time, with the worker's habits. */
const stepByStep = (expression: string, habits: Habits): string | undefined => {
  let text = expression
  for (let inner = /\(([^()]*)\)/.exec(text); inner !== null; inner = /\(([^()]*)\)/.exec(text)) {
    const value = stepByStep(inner[1]!, habits)
    if (value === undefined) return undefined
    text = `${text.slice(0, inner.index)}${value}${text.slice(inner.index + inner[0].length)}`
  }
  for (const operators of levels(habits.leftToRight)) {
    const operation = new RegExp(`(?<![\\d.])(-?\\d+(?:\\.\\d+)?)\\s*(${operators})\\s*(-?\\d+(?:\\.\\d+)?)`)
    for (let match = operation.exec(text); match !== null; match = operation.exec(text)) {
      const exact = Expression.evaluate(`(${match[1]})${match[2]}(${match[3]})`)
      const written = exact === undefined ? undefined : Exact.rough(exact)
      if (written === undefined || !isNumber.test(written)) return undefined
      const value = keepDigits(written, habits.significantDigits)
      text = `${text.slice(0, match.index)}${value}${text.slice(match.index + match[0].length)}`
    }
  }
  return isNumber.test(text.trim()) ? text.trim() : undefined
}

export const arithmetic = solver<Sum | YesOrNo>({
  words: "",
  read,
  unread: (text) =>
    /\d\)? ?[-+*/^%] ?\(?\d|\d ?% of|\d (?:plus|minus|times|divided by) \d/i.test(text)
      ? Expression.unknownWords(inside(text)[0]!)
      : [],
  // "Take 2" on its own is not a question.
  isIncomplete: (found) => found.type === "sum" && isNumber.test(found.expression.replace(/^\((.*)\)$/, "$1")),
  kind: ({ type }) => (type === "sum" ? "number" : undefined),
  solve: (found, { habits }) => {
    if (found.type === "check") return found.holds === undefined ? undefined : found.holds ? "yes" : "no"
    const byHand = habits.leftToRight || habits.significantDigits !== undefined
    return byHand ? stepByStep(found.expression, habits) : found.value
  }
})
