/**
 * Questions of the gym with an addition that changes them. The right answer is computed here from the generator's
 * answer, independently of the solvers. If there is no right answer, a worker has to decline.
 */
import type { AnyFamilyName, Problem } from "../src/Family.ts"
import type { Draw } from "../src/internal/draw.ts"

/** A changed question, and the answers that are right: none where only declining is. */
export interface Modified {
  readonly question: string
  readonly right: ReadonlyArray<string>
}

/** A way to change a question; `undefined` where it does not fit. */
type Modifier = (draw: Draw, problem: Problem, family: AnyFamilyName) => Modified | undefined

const bare = (question: string) => question.replace(/[.?]\s*$/, "")
const behind = (question: string, words: string, mark = "?") => `${bare(question)}${words}${mark}`

/** Whether a question ends in its program or says already how to round or write its answer. */
const isClosed = (question: string) => /```$|\bRound to\b|Give the date|lower case/.test(question)

const numeric = ({ answer, kind }: Problem): number | undefined => {
  const value = Number(answer)
  return (kind === "integer" || kind === "decimal") && Number.isFinite(value) && Math.abs(value) < 1e9
    ? value
    : undefined
}

/** A decimal without the noise of doubles. */
const written = (value: number): string => String(Number(value.toPrecision(12)))

/** Both neighbours where a value is half way between them. */
const nearest = (value: number, step: number): ReadonlyArray<string> => {
  const low = Math.floor(value / step + 1e-9) * step
  const rest = value - low
  const [below, above] = [written(low), written(low + step)]
  return Math.abs(rest - step / 2) < step * 1e-6 ? [below, above] : [rest < step / 2 ? below : above]
}

// -------------------------------------------------------------------------------------------------------------------
// Answers that are changed
// -------------------------------------------------------------------------------------------------------------------

const rounding: Modifier = (draw, problem) => {
  const value = numeric(problem)
  if (value === undefined || isClosed(problem.question)) return undefined
  const [step, names] = draw.pick<readonly [number, ReadonlyArray<string>]>([
    [10, ["to the nearest ten", "to tens", "to the nearest 10"]],
    [100, ["to the nearest hundred", "to hundreds"]],
    [1000, ["to the nearest thousand", "to thousands"]],
    [0.1, ["to one decimal place", "to 1 decimal", "to one decimal"]],
    [0.01, ["to two decimals", "to 2 decimal places"]],
    [1, ["to the nearest whole number", "to an integer"]]
  ])
  const name = draw.pick(names)
  const question = draw.pick([
    behind(problem.question, `, rounded ${name}`),
    behind(problem.question, ` rounded ${name}`),
    `${problem.question} Round ${name}.`,
    `${problem.question} Round the result ${name}.`,
    `${problem.question} Please round your answer ${name}.`,
    `Rounded ${name}, ${problem.question.charAt(0).toLowerCase()}${problem.question.slice(1)}`
  ])
  return { question, right: nearest(value, step) }
}

const operation: Modifier = (draw, problem) => {
  const value = numeric(problem)
  if (value === undefined || isClosed(problem.question)) return undefined
  const by = draw.int(2, 30)
  const [result, phrases] = draw.pick<readonly [number, ReadonlyArray<string>]>([
    [value + by, [`, and add ${by}`, `, then add ${by}`, `? Then add ${by} to it`, `? Add ${by} to the result`]],
    [value - by, [`, and subtract ${by}`, `, then subtract ${by} from it`, `? Subtract ${by} from that`]],
    [
      value * by,
      [`, multiplied by ${by}`, `, times ${by}`, `? Multiply the result by ${by}`, `? Then multiply that by ${by}`]
    ],
    [value / by, [`, divided by ${by}`, `? Divide it by ${by}`, `, then divide that by ${by}`]],
    [value * 2, [", doubled", "? Then double it", ", then double the result"]],
    [value * value, [", squared", "? Square the result"]]
  ])
  if (Math.abs(result) > 1e11) return undefined
  return { question: behind(problem.question, draw.pick(phrases), "."), right: [written(result)] }
}

/** "plus 5" without a comma: it may belong to the question or to its answer. */
const looseOperation: Modifier = (draw, problem, family) => {
  const value = numeric(problem)
  if (value === undefined || isClosed(problem.question) || ["arithmetic", "algebra"].includes(family)) return undefined
  const by = draw.int(2, 30)
  const [result, phrase] = draw.pick<readonly [number, string]>([
    [value + by, ` plus ${by}`],
    [value - by, ` minus ${by}`],
    [value * by, ` times ${by}`]
  ])
  // Of a list, the last number may be meant, and of an amount, the amount.
  return { question: behind(problem.question, phrase), right: [written(result)] }
}

const base: Modifier = (draw, problem) => {
  const value = numeric(problem)
  if (value === undefined || problem.kind !== "integer" || isClosed(problem.question)) return undefined
  const [radix, name] = draw.pick<readonly [number, string]>([
    [2, "in binary"],
    [16, "in hexadecimal"],
    [8, "in base 8"],
    [7, "in base 7"]
  ])
  const question = draw.pick([
    behind(problem.question, ` ${name}`),
    behind(problem.question, `, ${name}`),
    `${problem.question} Give the answer ${name}.`
  ])
  return { question, right: [value.toString(radix)] }
}

// -------------------------------------------------------------------------------------------------------------------
// Questions that are changed
// -------------------------------------------------------------------------------------------------------------------

const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")

const inWords = (value: number): string =>
  value < 20 ? small[value]! : `${tens[Math.floor(value / 10) - 2]}${value % 10 === 0 ? "" : `-${small[value % 10]}`}`

/** One of the small numbers of a question, in words. */
const numberInWords: Modifier = (draw, { answer, question }, family) => {
  if (family === "program" || family === "logic") return undefined
  const outside = question.replace(/"[^"]*"/g, (quotation) => "_".repeat(quotation.length))
  const places = [...outside.matchAll(/(?<![\w.,/^-]|[-−] ?)\d{1,2}(?![\w/^(]|[.,]\d|-\d)/g)]
  if (places.length === 0) return undefined
  const { 0: figures, index } = draw.pick(places)
  if (figures.startsWith("0")) return undefined
  const changed = `${question.slice(0, index)}${inWords(Number(figures))}${question.slice(index + figures.length)}`
  return { question: changed, right: [answer] }
}

const quotationIn = (question: string) => /"([^"]{2,})"[^"]*$/.exec(question)

const counterIn = (question: string): ((text: string) => number) | undefined => {
  const letter = /the letter "(.)"/.exec(question)?.[1]
  if (letter !== undefined)
    return (text) => [...text.toLowerCase()].filter((one) => one === letter.toLowerCase()).length
  if (/vowels/.test(question)) return (text) => [...text.toLowerCase()].filter((one) => "aeiou".includes(one)).length
  if (/How many letters/.test(question)) return (text) => [...text].filter((one) => /[a-z]/i.test(one)).length
  return undefined
}

const secondQuotation: Modifier = (draw, { question }, family) => {
  const found = family === "text" ? quotationIn(question) : null
  if (found === null) return undefined
  const other = draw.pick(["green tea", "Window", "open the door", "Banana split", "zebra"])
  const counter = counterIn(question)
  const [joint, isSum] = draw.pick<readonly [string, boolean]>([
    [` and "${other}"`, true],
    [` and in "${other}"`, true],
    [` or "${other}"`, false],
    [` but not in "${other}"`, false],
    [`, compared with "${other}",`, false]
  ])
  const at = found.index + found[0].length
  const right = isSum && counter !== undefined ? [String(counter(found[1]!) + counter(other))] : []
  return { question: `${question.slice(0, at)}${joint}${question.slice(at)}`, right }
}

const exclusion: Modifier = (draw, { question }, family) => {
  const found = family === "text" ? quotationIn(question) : null
  const counter = counterIn(question)
  if (found === null || counter === undefined || /not counting/.test(question)) return undefined
  const letter = draw.pick([..."aeinorst"])
  const [phrase, left] = draw.pick<readonly [string, string]>([
    [`, not counting the letter "${letter}"`, found[1]!.replace(new RegExp(letter, "gi"), "")],
    [`, without the ${letter}'s`, found[1]!.replace(new RegExp(letter, "gi"), "")],
    [`, excluding the vowels`, found[1]!.replace(/[aeiou]/gi, "")],
    [`, not counting consonants`, found[1]!.replace(/[^aeiou]/gi, "")],
    [", except in the first word", found[1]!.split(" ").slice(1).join(" ")],
    [", leaving out the last word", found[1]!.split(" ").slice(0, -1).join(" ")]
  ])
  return { question: behind(question, phrase), right: [String(counter(left))] }
}

const word: Modifier = (draw, { answer, kind, question }, family) => {
  if (family !== "text" || kind !== "word" || !/\bbackwards|in reverse/.test(question)) return undefined
  const letter = draw.pick([...answer])
  const [phrase, result] = draw.pick<readonly [string, string]>([
    [` and remove the ${letter}'s`, answer.replaceAll(letter, "")],
    [` without the letter ${letter}`, answer.replaceAll(letter, "")],
    [" in capitals", answer.toUpperCase()],
    [" and drop the vowels", answer.replace(/[aeiou]/g, "")],
    [" and keep every second letter", [...answer].filter((_, index) => index % 2 === 1).join("")],
    [" twice", answer + answer]
  ])
  return { question: behind(question, phrase, "."), right: [result] }
}

const days: Modifier = (draw, { answer, question }, family) => {
  if (family !== "calendar" || !/^How many days/.test(question)) return undefined
  const value = Number(answer)
  const isAway = /^How many days after/.test(question)
  const [phrase, right] = draw.pick<readonly [string, ReadonlyArray<string>]>([
    [", both days included", isAway ? [] : [String(value + 1)]],
    [", inclusive", isAway ? [] : [String(value + 1)]],
    [", counting both ends", isAway ? [] : [String(value + 1)]],
    [", excluding both the first and the last day", isAway ? [] : [String(value - 1)]],
    [", not counting Sundays", []],
    [", excluding weekends", []],
    [" in weeks", [written(value / 7)]],
    [", in hours", [String(value * 24)]],
    [" if every month had 30 days", []]
  ])
  return { question: behind(question, phrase), right }
}

const amounts: Modifier = (draw, { question }, family) => {
  const found =
    family === "units"
      ? /^How many (minutes|seconds|hours) are there in (\d+) (weeks|days|hours|minutes)\?$/.exec(question)
      : null
  if (found === null) return undefined
  const size = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800 }
  const [target, unit] = [found[1], found[3]] as [keyof typeof size, keyof typeof size]
  const other = draw.pick(["days", "hours", "minutes", "seconds"] as const)
  const more = draw.int(2, 9)
  const [joint, sign] = draw.pick<readonly [string, number]>([
    [" minus ", -1],
    [" plus ", 1],
    [" less ", -1],
    [" and ", 1]
  ])
  const value = (Number(found[2]) * size[unit] + sign * more * size[other]) / size[target]
  return { question: behind(question, `${joint}${more} ${other}`), right: [written(value)] }
}

const list: Modifier = (draw, { question }, family) => {
  const found = family === "statistics" && !isClosed(question) ? /\d+(?:, \d+){3,}/.exec(question) : null
  if (found === null || !/\b(?:mean|average|median|range)\b/.test(question) || /Add|group/.test(question))
    return undefined
  const values = found[0].split(", ").map(Number)
  const measure = (numbers: ReadonlyArray<number>) => {
    const order = numbers.toSorted((left, right) => left - right)
    const middle = order.length >> 1
    if (/median/.test(question))
      return order.length % 2 === 1 ? order[middle]! : (order[middle - 1]! + order[middle]!) / 2
    if (/range/.test(question)) return order.at(-1)! - order[0]!
    return numbers.reduce((sum, value) => sum + value, 0) / numbers.length
  }
  const added = draw.int(2, 19)
  const [changed, numbers] = draw.pick<readonly [string, ReadonlyArray<number>]>([
    [`${found[0]} and ${small[added]}`, [...values, added]],
    [`${found[0]} and ${added}`, [...values, added]],
    [`${values.slice(0, -1).join(", ")} and ${values.at(-1)}`, values]
  ])
  return { question: question.replace(found[0], changed), right: [written(measure(numbers))] }
}

/** "Twice the median of ...", where the question says "the". */
const wrapped: Modifier = (draw, problem, family) => {
  const value = numeric(problem)
  const found = /^(What is|Find) (the (?:mean|median|mode|average|range)\b.*)$/.exec(problem.question)
  if (value === undefined || found === null || isClosed(problem.question) || family !== "statistics") return undefined
  const [phrase, result] = draw.pick<readonly [string, number]>([
    ["twice", value * 2],
    ["half of", value / 2],
    ["three times", value * 3],
    ["ten more than", value + 10]
  ])
  return { question: `What is ${phrase} ${bare(found[2]!)}?`, right: [written(result)] }
}

// -------------------------------------------------------------------------------------------------------------------
// Questions without an answer
// -------------------------------------------------------------------------------------------------------------------

/** Additions that no worker here understands; some of them mean nothing. */
const riders =
  " per person, at most| for each of them|, except on Sundays|, unless it rains|, ignoring every third one|, if the first number is negated| without using any sevens|, not counting duplicates| as a Roman numeral| in words| in French|, with a margin of 5%| give or take 3|, assuming inflation of 2%|, starting from zero| but only the even ones| or not|, and why| in the Julian calendar|, written as a fraction|, skipping the second one|, in alphabetical order of digits| on average per week|, read from the right|, if 7 means 8|, in total per box| minus whatever is left| to the power of the last one| compared with last year|, as a percentage".split(
    "|"
  )

const rider: Modifier = (draw, { question }) =>
  isClosed(question) ? undefined : { question: behind(question, draw.pick(riders)), right: [] }

const insertions =
  "not nearly without except weekdays each unless roughly neither minus half negative approximately thrice almost alternate".split(
    " "
  )

const insertion: Modifier = (draw, { question }, family) => {
  if (family === "program" || family === "logic") return undefined
  const outside = question.replace(/"[^"]*"/g, (quotation) => "_".repeat(quotation.length))
  const places = [...outside.matchAll(/(?<=[a-z0-9]) (?=[a-z0-9"])/g)].map(({ index }) => index)
  if (places.length === 0) return undefined
  const at = draw.pick(places)
  const added = draw.pick(insertions)
  // These belong to numbers.
  if (["minus", "half", "negative", "thrice"].includes(added) && /^ \d|^ the /.test(question.slice(at)))
    return undefined
  return { question: `${question.slice(0, at)} ${added}${question.slice(at)}`, right: [] }
}

const secondQuestion: Modifier = (draw, { question }) =>
  isClosed(question)
    ? undefined
    : {
        question: draw.pick([
          `${question} And what is 12 + 30?`,
          `${question} How many hours are there in 3 days?`,
          `What is 7 × 8? ${question}`,
          `${behind(question, "")} Also, what day of the week is 20 July 1969?`
        ]),
        right: []
      }

/** All ways, each with how often it is drawn. */
export const modifiers: { readonly [name: string]: readonly [share: number, modifier: Modifier] } = {
  rounding: [5, rounding],
  operation: [5, operation],
  "loose operation": [2, looseOperation],
  base: [4, base],
  "number in words": [6, numberInWords],
  "second quotation": [3, secondQuotation],
  exclusion: [4, exclusion],
  word: [4, word],
  days: [4, days],
  amounts: [4, amounts],
  list: [4, list],
  wrapped: [4, wrapped],
  rider: [2, rider],
  insertion: [2, insertion],
  "second question": [1, secondQuestion]
}
