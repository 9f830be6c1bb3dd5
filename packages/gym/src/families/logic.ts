/**
 * Logic: orderings, truth values of statements, and puzzles about knights (who never lie) and knaves (who always lie).
 */
import type { Difficulty, Given, Problem } from "../Family.ts"
import type { Draw } from "../internal/draw.ts"
import { integerWithin } from "../internal/wording.ts"
import { people } from "../internal/words.ts"

const word = (question: string, answer: string): Problem => ({ question, answer, kind: "word" })
const truth = (question: string, answer: boolean): Problem => ({ question, answer: String(answer), kind: "boolean" })

const scales = [
  { more: "taller", less: "shorter", most: "tallest", least: "shortest" },
  { more: "older", less: "younger", most: "oldest", least: "youngest" },
  { more: "faster", less: "slower", most: "fastest", least: "slowest" },
  { more: "heavier", less: "lighter", most: "heaviest", least: "lightest" }
]

const order = (draw: Draw, difficulty: Difficulty): Problem => {
  const scale = draw.pick(scales)
  const ranked = draw.some(people, [3, 5, 7][difficulty - 1]!)
  const clue = (higher: string, lower: string) =>
    draw.chance(0.5) ? `${higher} is ${scale.more} than ${lower}.` : `${lower} is ${scale.less} than ${higher}.`
  const clues = ranked.slice(1).map((lower, index) => clue(ranked[index]!, lower))
  const place = draw.int(0, ranked.length - 1)
  const fromTop = place < ranked.length / 2
  const rank = fromTop ? place : ranked.length - 1 - place
  const nth = ["", "second ", "third ", "fourth "][rank]!
  const question = `Who is the ${nth}${fromTop ? scale.most : scale.least}?`
  return word(`${draw.some(clues, clues.length).join(" ")} ${question}`, ranked[place]!)
}

interface Statement {
  readonly text: string
  readonly value: boolean
}

const combine = (draw: Draw, left: Statement, right: Statement): Statement =>
  draw.pick<Statement>([
    { text: `${left.text} and ${right.text}`, value: left.value && right.value },
    { text: `${left.text} or ${right.text}`, value: left.value || right.value },
    { text: `${left.text} implies ${right.text}`, value: !left.value || right.value }
  ])

const grouped = ({ text, value }: Statement): Statement => ({ text: text.includes(" ") ? `(${text})` : text, value })

const negated = ({ text, value }: Statement): Statement => ({ text: `not ${text}`, value: !value })

/**
 * Generates a statement over the given atoms. Every group is parenthesized, so the meaning does not depend on
 * precedence.
 */
const statement = (draw: Draw, atoms: ReadonlyArray<Statement>): Statement => {
  if (atoms.length === 1) return draw.chance(0.35) ? negated(atoms[0]!) : atoms[0]!
  const cut = draw.int(1, atoms.length - 1)
  const sides = [statement(draw, atoms.slice(0, cut)), statement(draw, atoms.slice(cut))] as const
  const side = (part: Statement) => (/^not \S+$/.test(part.text) ? part : grouped(part))
  return combine(draw, side(sides[0]), side(sides[1]))
}

const statements = (draw: Draw, difficulty: Difficulty): Problem => {
  const names = ["P", "Q", "R", "S", "T"].slice(0, [2, 3, 5][difficulty - 1]!)
  const atoms = names.map((text) => ({ text, value: draw.chance(0.5) }))
  const facts = atoms.map(({ text, value }) => `${text} is ${value}`)
  const known = `${facts.slice(0, -1).join(", ")} and ${facts.at(-1)}`
  const { text, value } = statement(draw, draw.some(atoms, atoms.length))
  return truth(
    draw.pick([
      `Suppose ${known}. Is the statement "${text}" true or false?`,
      `Given that ${known}, is "${text}" true or false?`
    ]),
    value
  )
}

const predicate = (draw: Draw, subject: string, value: number): Statement => {
  const divisor = draw.int(3, 9)
  const bound = Math.max(2, Math.round(value * (0.5 + draw.int(0, 10) / 10)))
  return draw.pick<Statement>([
    { text: `${subject} is even`, value: value % 2 === 0 },
    { text: `${subject} is odd`, value: value % 2 === 1 },
    { text: `${subject} is divisible by ${divisor}`, value: value % divisor === 0 },
    { text: `${subject} is greater than ${bound}`, value: value > bound },
    { text: `${subject} is less than ${bound}`, value: value < bound }
  ])
}

const aboutNumber = (draw: Draw, difficulty: Difficulty, subject: string, value: number): Problem => {
  const atoms = Array.from({ length: [2, 3, 4][difficulty - 1]! }, () => {
    const { text, value: holds } = predicate(draw, subject, value)
    return { text: `(${text})`, value: holds }
  })
  const made = statement(draw, atoms)
  return truth(`True or false: ${made.text.replace(/\(\(([^()]*)\)\)/g, "($1)")}?`, made.value)
}

type Kinds = ReadonlyArray<boolean>

interface Claim {
  readonly text: string
  readonly holds: (kinds: Kinds) => boolean
}

const claims = (draw: Draw, names: ReadonlyArray<string>): ReadonlyArray<Claim> =>
  names.map((_, speaker) => {
    const others = names.flatMap((_, index) => (index === speaker ? [] : [index]))
    const [one, two] = draw.some(others, 2) as [number, number]
    return draw.pick<Claim>([
      { text: `${names[one]} is a knave`, holds: (kinds) => !kinds[one] },
      { text: `${names[one]} is a knight`, holds: (kinds) => kinds[one]! },
      { text: `${names[one]} and ${names[two]} are of the same kind`, holds: (kinds) => kinds[one] === kinds[two] },
      { text: `${names[one]} and ${names[two]} are of different kinds`, holds: (kinds) => kinds[one] !== kinds[two] }
    ])
  })

const solutions = (made: ReadonlyArray<Claim>): ReadonlyArray<Kinds> =>
  Array.from({ length: 2 ** made.length }, (_, bits) => made.map((_, index) => ((bits >> index) & 1) === 1)).filter(
    (kinds) => made.every(({ holds }, speaker) => holds(kinds) === kinds[speaker])
  )

const knights = (draw: Draw, difficulty: Difficulty): Problem => {
  const names = draw.some(people, difficulty === 3 ? 4 : 3)
  const made = claims(draw, names)
  const [only, another] = solutions(made)
  if (only === undefined || another !== undefined) return knights(draw, difficulty)
  const wanted = draw.int(0, names.length - 1)
  const said = made.map(({ text }, speaker) => `${names[speaker]} says that ${text}.`).join(" ")
  return word(
    `Everyone here is either a knight, who always tells the truth, or a knave, who always lies. ${said} ` +
      `Is ${names[wanted]} a knight or a knave?`,
    only[wanted] ? "knight" : "knave"
  )
}

export const generate = (draw: Draw, difficulty: Difficulty): Problem => {
  const number = (draw: Draw, difficulty: Difficulty) => {
    const value = draw.int(10, 10 ** (difficulty + 1))
    return aboutNumber(draw, difficulty, String(value), value)
  }
  const shapes = {
    1: [order, statements, number],
    2: [order, order, statements, number, knights],
    3: [order, order, statements, knights, knights]
  }
  return draw.pick(shapes[difficulty])(draw, difficulty)
}

export const continueFrom = (draw: Draw, difficulty: Difficulty, given: Given): Problem | undefined => {
  const value = integerWithin(given, 2, 10_000_000)
  return value === undefined ? undefined : aboutNumber(draw, difficulty, given.noun, value)
}
