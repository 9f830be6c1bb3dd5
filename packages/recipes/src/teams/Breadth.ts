/**
 * Labelled descriptions and questions in other words and shapes than the gym's grammar has, so that a reader learns to
 * read rather than that grammar: contrasts, tables, lists of tags, model cards, bare names of kinds.
 */
import * as Reader from "@divisi/gguf/Reader"
import { type FamilyName, names as kinds } from "@divisi/gym/Family"
import * as Teams from "@divisi/gym/Teams"
import type { Example } from "@divisi/trainer-jax/ReaderTrainer"
import * as Judgements from "./Judgements.ts"
import * as Lots from "./Lots.ts"
import * as Words from "./wordsOfBreadth.ts"

// -------------------------------------------------------------------------------------------------------------------
// Descriptions
// -------------------------------------------------------------------------------------------------------------------

/** A piece of a description. */
interface Piece extends Teams.Piece {
  /** Whether it says several things at once, so that no word of it has one label. */
  readonly isMixed?: boolean | undefined
}

type Pieces = ReadonlyArray<Piece>

/** How many statements are put together from words and shapes; the others have a phrase of the list. */
const composed = 0.5

const plain = (text: string, flag?: Teams.Piece["flag"]): Pieces => [{ text, flag }]

const between = (parts: ReadonlyArray<Pieces>, separator: string): Pieces =>
  parts.flatMap((part, index) => (index === 0 ? part : [{ text: separator }, ...part]))

/** A word for a kind, of this vocabulary or of the gym's training grammar, in one of several forms. */
const topic = ({ chance, pick }: Lots.Lots, kind: FamilyName, mark: Teams.Piece["mark"]): Pieces => {
  const text = pick(chance(0.5) ? Words.topics[kind] : Teams.knownWords.get(kind)!.filter((one) => !joint.has(one)))
  const opened = chance(0.08) ? `${pick(["any", "all", "simple", "hard", "complex", "everyday", "basic"])} ` : ""
  const closed = chance(0.06) ? ` ${pick(["questions", "tasks", "work", "problems", "of every kind"])}` : ""
  return [{ text: `${opened}${text}${closed}`, kinds: [kind], mark }]
}

/** Words of the gym for several kinds at once. */
const joint: ReadonlySet<string> = new Set(
  kinds.flatMap((kind) =>
    Teams.knownWords
      .get(kind)!
      .filter((one) => kinds.some((other) => other !== kind && Teams.knownWords.get(other)!.includes(one)))
  )
)

/** A word that nobody knows, or a field that no question is about: something is said of it all the same. */
const stranger = ({ chance, int, pick }: Lots.Lots, mark: Teams.Piece["mark"]): Pieces => {
  const invented = () => Array.from({ length: int(2, 4) }, () => pick(Words.syllables)).join("")
  return [{ text: chance(0.5) ? pick(Words.distractors) : invented(), kinds: [], mark }]
}

/** Words for kinds, now and then one for several of them at once, and among strangers. */
const topics = (
  of: Lots.Lots,
  some: ReadonlyArray<FamilyName>,
  mark: Teams.Piece["mark"],
  separator?: string
): Pieces => {
  const { chance, pick } = of
  const joints = Words.jointTopics.filter((one) => one.kinds.every((kind) => some.includes(kind)))
  const one = joints.length > 0 && chance(0.7) ? pick(joints) : undefined
  const alone = some.filter((kind) => one?.kinds.includes(kind) !== true).map((kind) => topic(of, kind, mark))
  const named: Pieces | undefined = one && [{ text: pick(one.words), kinds: one.kinds, mark }]
  const known = named === undefined ? alone : [named, ...alone]
  const all = chance(0.08) ? [...known, stranger(of, mark)] : known
  return between(of.some(all, all.length), separator ?? pick([", ", " and ", " & ", " or ", "; ", " as well as "]))
}

/** A phrase around what it is about. */
const filled = (phrase: string, x: Pieces, mark: Piece["mark"]): Pieces =>
  phrase.split(/\b(X)\b/).flatMap((part) => (part === "X" ? x : part === "" ? [] : [{ text: part, mark }]))

/** A phrase around what it praises and what it blames. */
const contrast = (phrase: string, x: Pieces, y: Pieces): Pieces =>
  phrase
    .split(/\b([XY])\b/)
    .flatMap((part) => (part === "X" ? x : part === "Y" ? y : part === "" ? [] : [{ text: part, isMixed: true }]))

interface Facts {
  readonly good: ReadonlyArray<FamilyName>
  readonly weak: ReadonlyArray<FamilyName>
  readonly checks: ReadonlyArray<FamilyName>
  readonly flag: Teams.Piece["flag"]
}

const factsOf = ({ chance, int, pick, some }: Lots.Lots): Facts => {
  const all = some(kinds, kinds.length)
  const kind = int(0, 9)
  const flag = chance(0.3) ? pick(["careless", "exact"] as const) : undefined
  if (kind === 0) return { good: [], weak: [], checks: all.slice(0, int(1, 3)), flag: undefined }
  if (kind === 1) return { good: [], weak: all.slice(0, int(0, 2)), checks: [], flag: "general" }
  if (kind === 2 && chance(0.5)) {
    const joint = pick(Words.jointTopics).kinds
    const left = all.filter((one) => !joint.includes(one)).slice(0, int(0, 2))
    return chance(0.5) ? { good: joint, weak: left, checks: [], flag } : { good: left, weak: joint, checks: [], flag }
  }
  const count = int(1, 3)
  return { good: all.slice(0, count), weak: chance(0.55) ? all.slice(count, count + int(1, 2)) : [], checks: [], flag }
}

/** What somebody does, well or badly, as verbs. */
const act = ({ pick }: Lots.Lots, kind: FamilyName, mark: "good" | "weak"): Pieces =>
  pick(mark === "good" ? Words.actsGood : Words.actsWeak)
    .split(/\b(V)\b/)
    .flatMap((part) =>
      part === "V" ? [{ text: pick(Words.acts[kind]), kinds: [kind], mark }] : part === "" ? [] : [{ text: part, mark }]
    )

const phrases = { good: Words.good, weak: Words.weak, check: Words.check } as const

/** A phrase around X: what is said of X by the mark. */
const phrase = (of: Lots.Lots, mark: NonNullable<Teams.Piece["mark"]>): string => {
  if (!of.chance(composed)) return of.pick(phrases[mark])
  return mark === "check" ? Judgements.checks(of) : Judgements.said(of, mark)
}

const flagged = (of: Lots.Lots, flag: NonNullable<Teams.Piece["flag"]>): string =>
  of.chance(composed) ? Judgements.flagged(of, flag) : of.pick(Words.flags[flag])

const statements = (of: Lots.Lots, { checks, flag, good, weak }: Facts): ReadonlyArray<Pieces> => {
  const { chance, pick, some } = of
  const found: Array<Pieces> = []
  if (chance(0.15)) {
    for (const kind of good) found.push(act(of, kind, "good"))
    for (const kind of weak) found.push(act(of, kind, "weak"))
  } else if (good.length > 0 && weak.length > 0 && chance(0.5)) {
    found.push(contrast(pick(Words.contrasts), topics(of, good, "good"), topics(of, weak, "weak")))
  } else {
    const apart = good.length > 1 && chance(0.4) ? good.map((one) => [one]) : [good]
    for (const one of apart) if (one.length > 0) found.push(filled(phrase(of, "good"), topics(of, one, "good"), "good"))
    if (weak.length > 0) found.push(filled(phrase(of, "weak"), topics(of, weak, "weak"), "weak"))
  }
  if (checks.length > 0) found.push(filled(phrase(of, "check"), topics(of, checks, "check"), "check"))
  if (flag !== undefined) found.push(plain(flagged(of, flag), flag))
  if (chance(0.2)) {
    const mark = chance(0.5) ? "good" : "weak"
    found.push(filled(phrase(of, mark), stranger(of, mark), mark))
  }
  return some(found, found.length)
}

const subjects = ["It is ", "It ", "This model: ", "The assistant is ", "We find it ", "Description: ", "Note: "]

/** Sentences one after another, now and then with a subject. */
const sentences = (of: Lots.Lots, facts: Facts): Pieces => {
  const { chance, pick } = of
  const separator = pick([". ", ". ", ". ", "; ", ", ", " - ", "\n", "\n* ", ", but ", ", and ", "... "])
  return between(
    statements(of, facts).map((one) => (chance(0.25) ? [...plain(pick(subjects)), ...one] : one)),
    separator
  )
}

/** A table, a list of fields, or tags. */
const rows = (of: Lots.Lots, { flag, good, weak }: Facts): Pieces => {
  const { int, pick, some } = of
  const [high, low] = pick(Words.levels)
  const [open, middle, close] = pick([
    ["| ", " | ", " |\n"],
    ["", ": ", "\n"],
    ["- ", ": ", "\n"],
    ["", " = ", ", "],
    ["", " ", "; "],
    ["", "\t", "\n"],
    ["", " (", "), "]
  ] as const)
  const row = (kind: FamilyName, mark: "good" | "weak"): Pieces => [
    { text: open },
    ...topic(of, kind, mark),
    { text: `${middle}${mark === "good" ? high : low}${close}`, mark }
  ]
  const other: Pieces = plain(`${open}${pick(Words.distractors)}${middle}${pick([high, low])}${close}`)
  const all = [...good.map((kind) => row(kind, "good")), ...weak.map((kind) => row(kind, "weak"))]
  const said = some(int(0, 3) === 0 ? [...all, other] : all, all.length + 1).flat()
  return flag === undefined ? said : [...said, ...plain(flagged(of, flag), flag)]
}

const tags = (of: Lots.Lots, { flag, good }: Facts): Pieces => {
  const { pick } = of
  const [open, separator] = pick([
    ["#", " #"],
    ["", ", "],
    ["", " + "],
    ["", " / "],
    ["tags: ", ", "],
    ["[", "] ["],
    ["", " | "]
  ] as const)
  const named = [plain(open), topics(of, good, "good", separator)].flat()
  return flag === undefined ? named : [...named, { text: separator }, ...plain(flagged(of, flag), flag)]
}

const describe = (of: Lots.Lots): Pieces => {
  const { chance, int, pick } = of
  const facts = factsOf(of)
  const shape = facts.good.length === 0 ? 0 : int(0, 9)
  const body = shape < 6 ? sentences(of, facts) : shape < 8 ? rows(of, facts) : tags(of, facts)
  const fillers = () => (chance(0.35) ? [plain(`${pick(Words.filler)} `)] : [])
  const before = chance(0.2) ? [...fillers(), ...fillers(), ...fillers()] : fillers()
  const after = chance(0.2) ? [...fillers(), ...fillers(), ...fillers()] : fillers()
  const end = plain(chance(0.7) ? ". " : " ")
  return [...before, body, end, ...after].flat()
}

const marks: ReadonlyArray<string> = Reader.marks

/** A text with a label for each of its words, but of those that say several things. */
export const labelled = (pieces: Pieces): Example => {
  const words = pieces.flatMap(({ flag, isMixed, kinds: own = [], mark = flag ?? "none", text }) =>
    Reader.wordsOf(text).map((word) => ({
      word,
      label: isMixed ? undefined : { mark: marks.indexOf(mark), subjects: own.map((kind) => kinds.indexOf(kind)) }
    }))
  )
  return {
    words: words.map(({ word }) => word),
    said: words.map(({ label }) => label),
    flags: Reader.flags.map((flag) => pieces.some((piece) => piece.flag === flag))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

const dateOf = ({ int, pick }: Lots.Lots): string => {
  const [day, month, year] = [int(1, 28), int(1, 12), int(1950, 2060)]
  const name = Words.months[month - 1]!
  return pick([
    `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`,
    `${day} ${name} ${year}`,
    `${name} ${day}, ${year}`,
    `${day}.${month}.${year}`,
    `the ${day}th of ${name}`,
    `${month}/${day}/${year}`
  ])
}

const question = (of: Lots.Lots, kind: FamilyName): string => {
  const { chance, int, pick, some } = of
  const [first, second] = some(pick(Words.unitPairs), 2)
  const [a, b, c] = some(Words.names, 3)
  const unknown = pick(["x", "x", "y", "n", "a", "t", "z", "k"])
  const fill: { readonly [Letter in string]: () => string } = {
    N: () => String(chance(0.7) ? int(2, 99) : int(100, 99_999)),
    L: () => Array.from({ length: int(4, 8) }, () => int(1, 99)).join(pick([", ", " ", "; "])),
    W: () => (kind === "text" && chance(0.6) ? `"${pick(Words.nouns)}"` : pick(Words.nouns)),
    D: () => dateOf(of),
    U: () => first!,
    V: () => second!,
    A: () => a!,
    B: () => b!,
    C: () => c!,
    M: () => `${pick(Words.months)} ${int(1990, 2040)}`
  }
  // A letter that stands for something is a word of its own, or a number right before a variable.
  const text = pick(Words.questions[kind])
    .replaceAll("\\n", "\n")
    .replace(/\b([NLWDUVABCM])(?=\b|x)/g, (_, letter: string) => fill[letter]!())
  return kind === "algebra" && unknown !== "x" ? text.replace(/(?<![a-z])x(?![a-z])/g, unknown) : text
}

const openings = ["Hello, ", "Question: ", "please: ", "I wonder, ", "urgent: ", "Next: ", "a customer asks: "]
const closings = [" Thank you.", " Answer with the result only.", " (short answer)", " Keep it brief.", " thx"]

/** Descriptions and questions by lot: the same seed gives the same. */
export const draw = (seed: number, descriptions: number, questions: number): ReadonlyArray<Example> => {
  const of = Lots.make(seed)
  return [
    ...Array.from({ length: questions }, () => {
      const kind = of.pick(kinds)
      const before = of.chance(0.15) ? of.pick(openings) : ""
      const after = of.chance(0.15) ? of.pick(closings) : ""
      return { words: Reader.wordsOf(`${before}${question(of, kind)}${after}`), about: kinds.indexOf(kind) }
    }),
    ...Array.from({ length: descriptions }, () => labelled(describe(of)))
  ]
}
