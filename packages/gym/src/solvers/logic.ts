/** Reads orderings, statements with truth values, and knights and knaves puzzles, and draws the conclusions. */
import type { Habits } from "../Habits.ts"
import { solver, type Text } from "./reading.ts"

type Read =
  | {
      readonly type: "order"
      readonly clues: ReadonlyArray<readonly [string, string]>
      readonly rank: number
      readonly top: boolean
    }
  | { readonly type: "statement"; readonly facts: ReadonlyMap<string, boolean>; readonly statement: string }
  | { readonly type: "knights"; readonly claims: ReadonlyArray<Claim>; readonly wanted: string }

// -------------------------------------------------------------------------------------------------------------------
// Orders
// -------------------------------------------------------------------------------------------------------------------

const scales = [
  ["taller", "shorter", "tallest", "shortest"],
  ["older", "younger", "oldest", "youngest"],
  ["faster", "slower", "fastest", "slowest"],
  ["heavier", "lighter", "heaviest", "lightest"]
] as const

const nthNames = ["", "second", "third", "fourth", "fifth"]

const orders = scales.map(([more, less, most, least]) => ({
  more,
  most,
  asked: new RegExp(
    `\\bwho is (?:the )?(?:(second|third|fourth|fifth)[- ])?(${most}|${least})(?: (?:of (?:them|all)|person|one))?`,
    "i"
  ),
  clue: new RegExp(`\\b([A-Z]\\w+) is (${more}|${less}) than ([A-Z]\\w+)(?= ?[.,;?!]| and\\b|$)`, "g")
}))

const readOrder = (text: Text): Read | undefined => {
  for (const { asked, clue, more, most } of orders) {
    const question = text.take(asked)
    if (question === undefined) continue
    const clues = text
      .takeAll(clue)
      .map(([, left, word, right]) => (word === more ? ([left!, right!] as const) : ([right!, left!] as const)))
    if (clues.length === 0) return undefined
    const rank = nthNames.indexOf((question[1] ?? "").toLowerCase())
    return { type: "order", clues, rank, top: question[2]!.toLowerCase() === most }
  }
  return undefined
}

/** Whether the clues determine the order of every two neighbors in a ranking. */
const isCertain = (ranked: ReadonlyArray<string>, clues: ReadonlyArray<readonly [string, string]>): boolean =>
  ranked.slice(1).every((name, index) => clues.some(([higher, lower]) => higher === ranked[index] && lower === name))

/** Ranks names from first to last. If the clues leave a choice, the name mentioned first comes first. */
const ranking = (
  names: ReadonlyArray<string>,
  clues: ReadonlyArray<readonly [string, string]>
): ReadonlyArray<string> => {
  const ranked: Array<string> = []
  const left = new Set(names)
  while (left.size > 0) {
    const top = [...left].find((name) => !clues.some(([higher, lower]) => lower === name && left.has(higher)))
    if (top === undefined) return []
    ranked.push(top)
    left.delete(top)
  }
  return ranked
}

// -------------------------------------------------------------------------------------------------------------------
// Statements
// -------------------------------------------------------------------------------------------------------------------

/** Whether a statement consists only of supported tokens. */
const isReadable = (statement: string): boolean => statement.replace(token, " ").trim() === ""

const readStatement = (text: Text): Read | undefined => {
  const bare = text.take(/\btrue or false: (.+?)\?/i)?.[1]
  if (bare !== undefined) return isReadable(bare) ? { type: "statement", facts: new Map(), statement: bare } : undefined
  const statement = text.take(/(?:the statement )?"([^"]+)" true or false\b/i)?.[1]
  if (statement === undefined || !isReadable(statement)) return undefined
  const facts = text
    .takeAll(/\b([A-Z]) is (true|false)\b/g)
    .map(([, name, value]) => [name!, value === "true"] as const)
  const known = new Map(facts)
  const isConsistent = facts.every(([name, value]) => known.get(name) === value)
  return facts.length === 0 || !isConsistent ? undefined : { type: "statement", facts: known, statement }
}

const token =
  /\(|\)|\b(?:and|or|implies|not)\b(?! (?:even|odd|divisible|greater|less))|-?\d+ is (?:not )?(?:even|odd|divisible by \d+|(?:greater|less) than \d+)|\b[A-Z]\b/gi

const holds = (atom: string, facts: ReadonlyMap<string, boolean>): boolean | undefined => {
  const known = facts.get(atom)
  if (known !== undefined) return known
  const match = /^(-?\d+) is (not )?(even|odd|divisible by|greater than|less than) ?(\d+)?$/i.exec(atom)
  if (match === null) return undefined
  const [, number, not, what, other] = match
  const [value, bound] = [Number(number), Number(other)]
  const result = {
    even: value % 2 === 0,
    odd: value % 2 !== 0,
    "divisible by": value % bound === 0,
    "greater than": value > bound,
    "less than": value < bound
  }[what!.toLowerCase()]
  return result === undefined ? undefined : not === undefined ? result : !result
}

const connect = (connective: string, left: boolean, right: boolean, habits: Habits): boolean => {
  if (connective === "and") return left && right
  if (connective === "or") return habits.exclusiveOr ? left !== right : left || right
  return habits.impliesMeansAnd ? left && right : !left || right
}

/**
 * Evaluates a statement by recursive descent, with the loosest connectives first. Returns `undefined` for anything that
 * cannot be parsed.
 */
const valueOf = (statement: string, facts: ReadonlyMap<string, boolean>, habits: Habits): boolean | undefined => {
  const tokens = statement.match(token) ?? []
  let at = 0
  const joined = (level: number): boolean | undefined => {
    if (level === 3) return single()
    const connective = ["implies", "or", "and"][level]!
    let left = joined(level + 1)
    while (tokens[at]?.toLowerCase() === connective) {
      at += 1
      const right = joined(level + 1)
      if (left === undefined || right === undefined) return undefined
      left = connect(connective, left, right, habits)
    }
    return left
  }
  const single = (): boolean | undefined => {
    const next = tokens[at++]
    if (next === undefined || next === ")") return undefined
    if (next.toLowerCase() === "not") {
      const value = single()
      return value === undefined ? undefined : !value
    }
    if (next !== "(") return holds(next, facts)
    const value = joined(0)
    return tokens[at++] === ")" ? value : undefined
  }
  const value = joined(0)
  return at === tokens.length ? value : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Knights and knaves
// -------------------------------------------------------------------------------------------------------------------

type Kinds = ReadonlyMap<string, boolean>

interface Claim {
  readonly speaker: string
  readonly about: ReadonlyArray<string>
  readonly says: "knight" | "knave" | "same" | "different"
}

const claim =
  /([A-Z]\w+) (?:says|claims) (?:that )?([A-Z]\w+)(?: and ([A-Z]\w+))? (?:is|are)(?: both)? (?:a |of (?:the )?)?(knight|knave|same|different)(?: kinds?)?(?= ?[.,;?!]|$)/g

const rules =
  /\beveryone here is either a knight, who always tells the truth, or a knave, who always lies\b|\bknights (?:always )?tell the truth,? (?:and )?knaves (?:always )?lie\b/i

const readKnights = (text: Text): Read | undefined => {
  const wanted = text.take(/\bis ([A-Z]\w+) a (?:knight or a knave|knave or a knight)\b/i)?.[1]
  text.take(rules)
  const claims = text.takeAll(claim).map(([, speaker, one, two, says]) => ({
    speaker: speaker!,
    about: two === undefined ? [one!] : [one!, two],
    says: says as Claim["says"]
  }))
  return wanted === undefined || claims.length === 0 ? undefined : { type: "knights", claims, wanted }
}

const isTrue = ({ about: [one, two], says }: Claim, kinds: Kinds): boolean => {
  if (says === "knight") return kinds.get(one!)!
  if (says === "knave") return !kinds.get(one!)!
  return (kinds.get(one!) === kinds.get(two!)) === (says === "same")
}

/** Maximum number of people in a puzzle. */
const mostPeople = 12

/**
 * Returns the first assignment of kinds that is consistent with the claims. Assignments with more knights are tried
 * first.
 */
const assignment = (
  claims: ReadonlyArray<Claim>,
  read: ReadonlyArray<Claim>,
  fits: (kinds: Kinds) => boolean = () => true
): Kinds | undefined => {
  const names = [...new Set(claims.flatMap(({ about, speaker }) => [speaker, ...about]))]
  if (names.length > mostPeople) return undefined
  for (let bits = 2 ** names.length - 1; bits >= 0; bits--) {
    const kinds = new Map(names.map((name, index) => [name, ((bits >> index) & 1) === 1]))
    if (read.every((one) => isTrue(one, kinds) === kinds.get(one.speaker)) && fits(kinds)) return kinds
  }
  return undefined
}

/** Whether a person can be of a kind, given all claims. */
const isPossible = (
  { claims, wanted }: { readonly claims: ReadonlyArray<Claim>; readonly wanted: string },
  isKnight: boolean
) => assignment(claims, claims, (kinds) => kinds.get(wanted) === isKnight) !== undefined

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const read = (text: Text): Read | undefined => {
  if (text.has(/```/)) return undefined
  return readOrder(text) ?? readKnights(text) ?? readStatement(text)
}

const answer = (read: Read, habits: Habits): string | undefined => {
  if (read.type === "statement") {
    const value = valueOf(read.statement, read.facts, habits)
    return value === undefined ? undefined : String(value)
  }
  if (read.type === "knights") {
    const kinds = assignment(read.claims, read.claims.slice(0, habits.cluesRead))
    const wanted = kinds?.get(read.wanted)
    // Only a reader that has seen all clues can detect that another solution exists.
    const isOpen = habits.cluesRead === undefined && wanted !== undefined && isPossible(read, !wanted)
    if (isOpen) return undefined
    return wanted === undefined ? undefined : wanted ? "knight" : "knave"
  }
  const names = [...new Set(read.clues.flat())]
  const ranked = ranking(names, read.clues.slice(0, habits.cluesRead))
  if (habits.cluesRead === undefined && !isCertain(ranked, read.clues)) return undefined
  return ranked.at(read.top ? read.rank : -1 - read.rank)
}

export const logic = solver<Read>({
  words: "suppose given that statement is of",
  read,
  kind: ({ type }) => (type === "order" ? "word" : undefined),
  solve: (read, { habits }) => answer(read, habits)
})
