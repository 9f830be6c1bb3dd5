/** Reads orders, statements with truth values, and knights and knaves, and works out what follows. */
import type { Habits } from "../Habits.ts"
import { plain, solver } from "./reading.ts"

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

const readOrder = (text: string): Read | undefined => {
  for (const [more, less, most, least] of scales) {
    const clues = [...text.matchAll(new RegExp(`([A-Z]\\w+) is (${more}|${less}) than ([A-Z]\\w+)`, "g"))].map(
      ([, left, word, right]) => (word === more ? ([left!, right!] as const) : ([right!, left!] as const))
    )
    const asked = new RegExp(`who is (?:the )?(?:(second|third|fourth|fifth)[- ])?(${most}|${least})`, "i").exec(text)
    if (clues.length === 0 || asked === null) continue
    return { type: "order", clues, rank: nthNames.indexOf((asked[1] ?? "").toLowerCase()), top: asked[2] === most }
  }
  return undefined
}

/** The names from the top down; if the clues leave a choice, the one named first. */
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

const readStatement = (text: string): Read | undefined => {
  const bare = /\btrue or false: (.+?)\?/i.exec(text)?.[1]
  if (bare !== undefined) return { type: "statement", facts: new Map(), statement: bare }
  const statement = /"([^"]+)" true or false/i.exec(text)?.[1]
  if (statement === undefined) return undefined
  const facts = [...text.matchAll(/\b([A-Z]) is (true|false)\b/g)].map(
    ([, name, value]) => [name!, value === "true"] as const
  )
  return facts.length === 0 ? undefined : { type: "statement", facts: new Map(facts), statement }
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

/** Recursive descent: statements joined by connectives, loosest first; what cannot be read makes it `undefined`. */
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
  /([A-Z]\w+) (?:says|claims) (?:that )?([A-Z]\w+)(?: and ([A-Z]\w+))? (?:is|are)(?: both)? (?:a |of (?:the )?)?(knight|knave|same|different)/g

const readKnights = (text: string): Read | undefined => {
  const wanted = /\bis ([A-Z]\w+) a (?:knight or a knave|knave or a knight)/i.exec(text)?.[1]
  const claims = [...text.matchAll(claim)].map(([, speaker, one, two, says]) => ({
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

/** The first assignment that fits the claims, more knights first. */
const assignment = (claims: ReadonlyArray<Claim>, read: ReadonlyArray<Claim>): Kinds | undefined => {
  const names = [...new Set(claims.flatMap(({ about, speaker }) => [speaker, ...about]))]
  for (let bits = 2 ** names.length - 1; bits >= 0; bits--) {
    const kinds = new Map(names.map((name, index) => [name, ((bits >> index) & 1) === 1]))
    if (read.every((one) => isTrue(one, kinds) === kinds.get(one.speaker))) return kinds
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const read = (question: string): Read | undefined => {
  const text = plain(question).replace(/\s+/g, " ")
  if (text.includes("```")) return undefined
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
    return wanted === undefined ? undefined : wanted ? "knight" : "knave"
  }
  const names = [...new Set(read.clues.flat())]
  const ranked = ranking(names, read.clues.slice(0, habits.cluesRead))
  return ranked.at(read.top ? read.rank : -1 - read.rank)
}

export const logic = solver(read, answer)
