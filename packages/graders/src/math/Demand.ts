/**
 * Reads from a question what form its answer must have: the unit that it asks for, lowest terms, a single number. An
 * answer with the right value in another unit or in a form that the question rules out is wrong.
 */
import { isEnglish, patternsIn } from "../internal/assertion/languages.ts"
import { matches } from "../internal/matches.ts"
import { measured } from "./Measured.ts"
import { normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import { factor, isKnown, isSameUnit, type Unit, unitOf } from "./Units.ts"

/** A unit that a question asks for: "How many metres …", "in dollars". */
const asked =
  /\b(?:how (?:many|much)(?: in)?|(?:in|number of|total|as)(?: (?:whole|full))?)\s+((?:square |cubic )?\p{L}{2,})/giu

/** Requests for a reduced fraction, and for a number that is not a calculation. */
const lowest =
  /\b(?:lowest|reduced) (?:terms|form)\b|\bsimplest form\b|\bfully (?:reduced|simplified)\b|\birreducible\b/i
const single =
  /\b(?:single (?:integer|number|whole number|decimal)|as (?:an? )?(?:integer|whole number)\b|in decimal (?:notation|form))/i

const currencies: Readonly<Record<string, string>> = {
  $: "dollar",
  "€": "euro",
  "£": "pound",
  "¥": "yen",
  "₹": "rupee",
  "₽": "ruble",
  "₩": "won"
}

const currency =
  /(?<!\p{L})(dollar|euro|pound|yen|rupee|ruble|franc|peso|yuan|won|zloty|cent|penn[yi])(?:s|es)?(?!\p{L})|(?<!\p{L})(usd|eur|gbp|jpy|inr|chf|cny)(?!\p{L})|([$€£¥₹₽₩])(?=\s?\d)|(?<=\d\s?)([€£¥₹₽₩])/giu

const codes: Readonly<Record<string, string>> = {
  usd: "dollar",
  eur: "euro",
  gbp: "pound",
  jpy: "yen",
  inr: "rupee",
  chf: "franc",
  cny: "yuan"
}

/** Returns the currencies that a text names. */
const currenciesIn = (text: string): ReadonlySet<string> =>
  new Set(
    matches(text.replace(/^\$+|\$+$/g, ""), currency).map(([, name, code, sign, after]) => {
      const word = name?.toLowerCase() ?? codes[code?.toLowerCase() ?? ""] ?? currencies[sign ?? after ?? ""]!
      return /^penn/.test(word) ? "cent" : word
    })
  )

const numberWith = (answer: string): Unit | undefined => {
  const expression = answer.length > 80 ? undefined : parse(normalise(answer))
  if (expression === undefined) return undefined
  const { unit } = measured(expression)
  return unit.name === "" ? undefined : unit
}

/** Returns the unit that a question asks for. */
const unitIn = (question: string): Unit | undefined => {
  const sentence = question.slice(-300)
  const words = Array.from(sentence.matchAll(asked), ([, word]) => word!).filter((word) =>
    word.split(" ").every((one) => /^(?:square|cubic)$/i.test(one) || isKnown(one))
  )
  return words.length === 0 ? undefined : unitOf(words.at(-1)!)
}

const greatest = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatest(b, a % b))

/** Whether an answer is a fraction of integers that can be reduced. */
const isReducible = (answer: string): boolean => {
  const [, top, bottom] =
    /^\s*\$?\s*[-−]?\\?[dt]?(?:frac)?\s*\{?\s*(\d{1,15})\s*\}?\s*(?:\/|\}?\s*\{)\s*(\d{1,15})\s*\}?\s*\$?\s*$/.exec(
      answer
    ) ?? []
  return top !== undefined && greatest(BigInt(top), BigInt(bottom!)) > 1n
}

/** Operators of a calculation that is not carried out. */
const operator =
  /[*×·+^!√]|(?<=[\d)}\s])[/÷−-](?=[\s\d({])|\\(?:times|cdot|frac|dfrac|tfrac|div|sqrt|binom|sum|prod)(?![a-zA-Z])/

const scientific = /\bscientific notation\b|\bstandard form\b[^.]*\bpower of (?:ten|10)\b/i
const power = /10\s*(?:\^|\*\*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])|\de[-+]?\d/i
const factoring = /\bfactor(?:i[sz]e)?\b(?! of\b)/i
const rounding = /\bround(?:ed)?\b|\bto the nearest (?:tenth|hundredth|thousandth)\b/i

/** Whether an expression is a sum, although the reference is a product. */
const isExpanded = (gold: string, answer: string): boolean => {
  const [product, sum] = [gold, answer].map((one) => (one.length > 200 ? undefined : parse(normalise(one))?.type))
  return sum === "add" && product !== undefined && product !== "add" && /[()]/.test(gold)
}

/** Questions whose answer may be a percentage. */
const ofShare =
  /percent|%|probabilit|chance|likelihood|\brate|proportion|\bshare|fraction|\bratio|interest|increase|decrease|discount|\bodds|\bpart\b/i

/** Questions for a number that is not a share of something. */
const counting =
  /\bhow many\b|\b(?:what is|find|compute|calculate|determine) the (?:sum|product|number|area|volume|length|perimeter|total|remainder)\b/i

const radical = /\bsimplest radical form\b|\bsimplif(?:y|ied)\b[^.]*\bradical/i

/** Whether an answer is the root of an integer with a square factor. */
const isReducibleRoot = (answer: string): boolean => {
  const inside = /^[\s$]*(?:\\sqrt\s*\{?|√\(?|sqrt\()(\d{1,9})[})]?[\s$.]*$/.exec(answer)?.[1]
  if (inside === undefined) return false
  for (let root = 2; root * root <= Number(inside); root++) if (Number(inside) % (root * root) === 0) return true
  return false
}

/** Returns the reason why an answer with the correct value does not have the form that the question demands. */
export const unmet = (question: string, gold: string, answer: string): string | undefined => {
  if (lowest.test(question) && isReducible(answer)) return "the question asks for lowest terms"
  if (radical.test(question) && gold.includes("sqrt") && isReducibleRoot(answer))
    return "the question asks for the simplest radical form"
  const isCount = counting.test(question) && !ofShare.test(question)
  if (isCount && /%|percent/i.test(answer) && !/%|percent/i.test(gold))
    return "the question does not ask for a percentage"
  if (single.test(question) && !operator.test(gold) && operator.test(answer))
    return "the question asks for a single number"
  if (scientific.test(question) && power.test(gold) && !power.test(answer))
    return "the question asks for scientific notation"
  if (factoring.test(question) && isExpanded(gold, answer)) return "the question asks for factors"
  if (
    rounding.test(question) &&
    /^[-$\\ ]*\d+\.\d+\$?$/.test(gold.trim()) &&
    /\\[dt]?frac|\/|\\sqrt/.test(answer) &&
    !/[=≈]|\\approx/.test(answer)
  )
    return "the question asks for a rounded number"
  const named = currenciesIn(answer)
  if (named.size > 0 && currenciesIn(gold).size === 0) {
    const known = currenciesIn(question)
    const wanted = [...currenciesIn(question.slice(-200).replace(/[\s\S]*[.!]\s(?=\S)/, ""))]
    const isOther = known.size > 0 && ![...named].some((one) => known.has(one))
    const isPart =
      /^(?:how many|what)/i.test(question.slice(question.search(/[^.!?]*\?\s*$/)).trim()) &&
      wanted.length === 1 &&
      named.size === 1 &&
      !named.has(wanted[0]!)
    if (isOther || isPart) return "the question asks for another currency"
    return undefined
  }
  const wanted = unitIn(question)
  const unit = wanted === undefined || numberWith(gold) !== undefined ? undefined : numberWith(answer)
  if (wanted === undefined || unit === undefined || unit.name === "percent" || wanted.name === "") return undefined
  const { denominator, numerator } = factor(wanted, unit)
  return isSameUnit(wanted, unit) && numerator === denominator ? undefined : "the question asks for another unit"
}

const unordered =
  /\b(?:all|both|every|each of)\b[^.?]{0,60}\b(?:solutions?|roots?|zeros?|zeroes|values?|integers?|numbers?|primes?|factors?|divisors?|points?|[a-z]\b)|\b(?:solutions|roots|zeros|zeroes|divisors|eigenvalues|intercepts)\b|\bsolve\b[^.?]{0,80}=/i

const ordered =
  /\border(?:ed)?\b|\b(?:increasing|decreasing|ascending|descending|respectively|system|first|smallest|largest|pairs?|triples?|tuples?|coordinates|sequence|terms)\b|\bfor \$?[a-z]\$?(?:, \$?[a-z]\$?,?)? and \$?[a-z]\b/i

/** Whether a question asks for several values whose order does not matter: "Find all solutions of". */
export const isUnordered = (question: string, gold: string): boolean =>
  gold.includes(",") && unordered.test(question) && !ordered.test(question)

/** A definition of a function or of the terms of a sequence: "f(x) = 3x + 1", "a_n = 2n". */
const definition = /^\$?\s*(([a-zA-Z])(?:\s*\(\s*([a-zA-Z])\s*\)|_\{?[a-z]\}?))\s*=(?!=)([^=]*)$/

/** Completes a formula with the name of the function that the question asks for. */
const withFunction = (question: string, gold: string, answer: string): string => {
  const [, name, letter] = definition.exec(gold.trim()) ?? []
  if (name === undefined || !new RegExp(`(?<![a-zA-Z])${letter}(?![a-zA-Z])`).test(question)) return answer
  const formula = answer.replace(/^[\s$]+|[\s$.]+$/g, "").replace(/^(?:y|[fghpq])\s*=(?!=)\s*/, "")
  return /[=<>≤≥]|\\[lg]e/.test(formula) || /\p{L}{4}/u.test(formula.replace(/\\[a-z]+/g, ""))
    ? answer
    : `${name} = ${formula}`
}

const nothing =
  /^[\s$*]*(?:\\emptyset|∅|no(?:ne| \p{L}[\p{L} ]*)|there (?:are|is) no(?:ne| \p{L}[\p{L} ]*)|\\text\{\s*no(?:ne)?[^{}]*\})[\s$*.]*$/iu

/** Returns 0 for the answer that there are none, if the question asks how many there are. */
const asCount = (question: string, gold: string, answer: string): string =>
  gold.trim() === "0" && /\b(?:how many|number of)\b/i.test(question) && nothing.test(answer) ? "0" : answer

const withBase =
  /^[\s$]*([0-9a-fA-F]+)\s*(?:_\{?(?:\\text\{)?\s*(\d{1,2})\s*\}{0,2}|(?:\\text\s*\{\s*)?\(?(?:in )?base[\s-](\d{1,2})\)?\s*\}?)[\s$]*$/i

/** Removes the base of a numeral whose base the question names, if the reference omits it. */
const inBase = (question: string, gold: string, answer: string): string => {
  const [, digits, below, behind] = withBase.exec(answer) ?? []
  const base = below ?? behind
  if (digits === undefined || !/^\$?[0-9a-fA-F]+\$?$/.test(gold.trim())) return answer
  return new RegExp(`\\b(?:in|to|into|as a) base[\\s-]?\\$?${base}\\b`, "i").test(question) ? digits : answer
}

/** Scripts of languages whose numbers have decimal points. */
const withPoints =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Hebrew}\p{Script=Arabic}]/u

/** Reads dots between thousands, and a decimal comma, in the answer to a question in a language that writes them. */
const inLanguage = (question: string, gold: string, answer: string): string => {
  const bare = answer.replace(/^[\s$]+|[\s$]+$/g, "")
  const isGrouped = /^-?\d{1,3}(?:\.\d{3})+$/.test(bare) && /^\$?-?\d{4,}\$?$/.test(gold.trim())
  const isDecimal = /^-?\d+(?:,|\{,\})\d{3}$/.test(bare) && /^\$?-?\d+\.\d{3}\$?$/.test(gold.trim())
  if (!(isGrouped || isDecimal) || withPoints.test(question) || isEnglish(question)) return answer
  if (patternsIn(question, false).length === 0) return answer
  return isGrouped ? bare.replaceAll(".", "") : bare.replace(/\{?,\}?/, ".")
}

/** A question for a point or a vector, whose brackets are not those of an interval. */
const point = /\b(?:ordered (?:pair|triple)|pair|triple|point|coordinates|vector|vertex|midpoint|centroid|system)\b/i

/** Replaces square brackets around the coordinates of a point with parentheses. */
const withPoint = (question: string, gold: string, answer: string): string =>
  point.test(question) && /^\$?\s*(?:\\left)?\s*(?:\(|\\begin)/.test(gold)
    ? answer.replace(/^\s*\[([^[\]]*)\]\s*$/, "($1)")
    : answer

/**
 * Completes an answer with information from its question: the base, if the reference has one, and the unit, if its
 * symbol is a letter directly after a number, as in "384m".
 */
export const completed = (question: string, gold: string, given: string): string => {
  const answer = withPoint(
    question,
    gold,
    withFunction(question, gold, inBase(question, gold, inLanguage(question, gold, asCount(question, gold, given))))
  )
  const base = /^\$?[0-9a-fA-F]+_\{?(\d{1,2})\}?\$?$/.exec(gold.trim())?.[1]
  const isBare = /^\$?[0-9a-fA-F]+\$?$/.test(answer.trim())
  if (base !== undefined && isBare && new RegExp(`\\bbase[\\s-]?\\$?${base}\\b`).test(question))
    return `${answer.replaceAll("$", "").trim()}_{${base}}`
  const bare = answer.replace(/^\$|\$$/g, "").trim()
  const binary = /^0b([01]+)$|^([01]+) \((?:in )?binary\)$|^([01]+)$/.exec(bare)
  const digits = binary?.[1] ?? binary?.[2] ?? (/\bbinary\b/i.test(question) ? binary?.[3] : undefined)
  if (base === "2" && digits !== undefined) return `${digits}_{2}`
  const [, number, letter] = /^(\d[\d.,]*)([a-zA-Z])$/.exec(answer) ?? []
  const wanted = letter === undefined || !isKnown(letter) ? undefined : unitIn(question)
  return wanted !== undefined && wanted.name === unitOf(letter!).name ? `${number} \\text{ ${letter}}` : answer
}
