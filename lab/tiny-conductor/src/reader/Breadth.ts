/**
 * Labelled descriptions and questions with different wording and structure than the gym's grammar, so that a reader
 * learns more than the grammar: contrasts, tables, tag lists, model cards, bare names of kinds.
 */
import { Reader } from "@divisi/gguf"
import { Family } from "@divisi/gym"
import type { Example } from "@divisi/trainer-jax/ReaderTrainer"
import * as Teams from "../world/Teams.ts"
import * as Judgements from "./Judgements.ts"
import * as Lists from "./Lists.ts"
import * as Lots from "./Lots.ts"
import * as Questions from "./Questions.ts"
import * as Words from "./wordsOfBreadth.ts"

// -------------------------------------------------------------------------------------------------------------------
// Vocabularies
// -------------------------------------------------------------------------------------------------------------------

type OfKinds = { readonly [Name in Family.FamilyName]: ReadonlyArray<string> }

/** The phrases that descriptions are made of. */
interface Vocabulary {
  readonly topics: OfKinds
  readonly acts: OfKinds
  readonly good: ReadonlyArray<string>
  readonly weak: ReadonlyArray<string>
  readonly check: ReadonlyArray<string>
  readonly contrasts: ReadonlyArray<string>
  readonly flags: { readonly [Flag in NonNullable<Teams.Piece["flag"]>]: ReadonlyArray<string> }
  /** The qualifiers of a description that does not name a kind. */
  readonly limits: ReadonlyArray<string>
  /** Remarks that are not about skills: prices, speed, and filler. */
  readonly asides: ReadonlyArray<string>
  readonly fillers: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  readonly sequels: Questions.Sequels
  /** How many words for kinds are those of the gym, and how many statements are composed from words and shapes. */
  readonly ofGym: number
  readonly composed: number
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** The phrases of a part. For training, they include the first lists of this vocabulary. */
const vocabulary = (part: Lists.Part): Vocabulary => {
  const isTraining = part === "training"
  const praise = (mark: string) => Lists.of("praise", mark, part)
  const manner = (mark: string) => Lists.of("manner", mark, part)
  const first = (list: ReadonlyArray<string>) => (isTraining ? list : [])
  const ofKinds = (file: "topics" | "acts", old: OfKinds) =>
    Object.fromEntries(
      Family.names.map((kind) => [kind, [...Lists.of(file, kind, part), ...first(old[kind])]])
    ) as unknown as OfKinds
  return {
    topics: ofKinds("topics", Words.topics),
    acts: ofKinds("acts", Words.acts),
    good: [...praise("good"), ...first(Words.good)],
    weak: [...praise("weak"), ...first(Words.weak)],
    check: [...manner("check"), ...first(Words.check)],
    contrasts: [...praise("contrast"), ...first(Words.contrasts)],
    flags: {
      careless: [...manner("careless"), ...first(Words.flags.careless)],
      exact: [...manner("exact"), ...first(Words.flags.exact)],
      general: [...manner("general"), ...first(Words.flags.general)]
    },
    limits: manner("limit"),
    asides: ["cheap", "dear", "quick", "slow", "boast", "vague"].flatMap(manner),
    fillers: [...["noise", "boast", "vague"].flatMap(manner).map(sentence), ...first(Words.filler)],
    others: [...Lists.of("others", "", part), ...first(Words.distractors)],
    sequels: { needs: Lists.of("sequels", "needs", part), alone: Lists.of("sequels", "alone", part) },
    ofGym: isTraining ? 0.35 : 0,
    composed: isTraining ? 0.3 : 0
  }
}

const vocabularies = { training: vocabulary("training"), development: vocabulary("development") } as const

/** Draws with a vocabulary. */
interface Source extends Lots.Lots {
  readonly words: Vocabulary
}

// -------------------------------------------------------------------------------------------------------------------
// Descriptions
// -------------------------------------------------------------------------------------------------------------------

/** A piece of a description. */
interface Piece extends Teams.Piece {
  /** Whether it says several things, so that none of its words has a single label. */
  readonly isMixed?: boolean | undefined
}

type Pieces = ReadonlyArray<Piece>

const plain = (text: string, flag?: Teams.Piece["flag"]): Pieces => [{ text, flag }]

const between = (parts: ReadonlyArray<Pieces>, separator: string): Pieces =>
  parts.flatMap((part, index) => (index === 0 ? part : [{ text: separator }, ...part]))

/** A word for a kind, of this vocabulary or of the gym's training grammar, in one of several forms. */
const topic = ({ chance, pick, words }: Source, kind: Family.FamilyName, mark: Teams.Piece["mark"]): Pieces => {
  const text = pick(
    chance(words.ofGym) ? Teams.knownWords.get(kind)!.filter((one) => !joint.has(one)) : words.topics[kind]
  )
  const opened = chance(0.08) ? `${pick(["any", "all", "simple", "hard", "complex", "everyday", "basic"])} ` : ""
  const closed = chance(0.06) ? ` ${pick(["questions", "tasks", "work", "problems", "of every kind"])}` : ""
  return [{ text: `${opened}${text}${closed}`, kinds: [kind], mark }]
}

/** Words of the gym that stand for several kinds. */
const joint: ReadonlySet<string> = new Set(
  Family.names.flatMap((kind) =>
    Teams.knownWords
      .get(kind)!
      .filter((one) => Family.names.some((other) => other !== kind && Teams.knownWords.get(other)!.includes(one)))
  )
)

/** An unknown word, or a field that no question is about, of which the description still says something. */
const stranger = ({ chance, int, pick, words }: Source, mark: Teams.Piece["mark"]): Pieces => {
  const invented = () => Array.from({ length: int(2, 4) }, () => pick(Words.syllables)).join("")
  return [{ text: chance(0.5) ? pick(words.others) : invented(), kinds: [], mark }]
}

/** Words for kinds; sometimes one for several kinds, and sometimes among unknown words. */
const topics = (
  of: Source,
  some: ReadonlyArray<Family.FamilyName>,
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

/** The position where a phrase between praise and criticism changes from one to the other. */
const turn = /[,;.:?!\n]|(?=\b(?:but|and|while|whereas|yet|not|never|unlike)\b)/

/** A phrase about something good and something bad. Each of its words belongs to the nearer one in the same clause. */
const contrast = (phrase: string, x: Pieces, y: Pieces): Pieces => {
  const [before, first, middle, , after] = phrase.split(/\b([XY])\b/) as [string, "X" | "Y", string, string, string]
  const [left, right] = first === "X" ? (["good", "weak"] as const) : (["weak", "good"] as const)
  const at = middle.search(turn)
  const between: Pieces =
    at < 0
      ? [{ text: middle, isMixed: true }]
      : [
          { text: middle.slice(0, at), mark: left },
          { text: middle.slice(at), mark: right }
        ]
  const [one, other] = first === "X" ? [x, y] : [y, x]
  return [{ text: before, mark: left }, ...one, ...between, ...other, { text: after, mark: right }]
}

/** The facts about a worker in a description. */
export interface Facts {
  readonly good: ReadonlyArray<Family.FamilyName>
  readonly weak: ReadonlyArray<Family.FamilyName>
  readonly checks: ReadonlyArray<Family.FamilyName>
  readonly flag: Teams.Piece["flag"]
}

const factsOf = ({ chance, int, pick, some }: Lots.Lots): Facts => {
  const all = some(Family.names, Family.names.length)
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

/** An activity of a worker, done well or badly, as a verb phrase. */
const act = ({ pick, words }: Source, kind: Family.FamilyName, mark: "good" | "weak"): Pieces =>
  pick(mark === "good" ? Words.actsGood : Words.actsWeak)
    .split(/\b(V)\b/)
    .flatMap((part) =>
      part === "V" ? [{ text: pick(words.acts[kind]), kinds: [kind], mark }] : part === "" ? [] : [{ text: part, mark }]
    )

/** A phrase around X: what is said of X by the mark. */
const phrase = (of: Source, mark: NonNullable<Teams.Piece["mark"]>): string => {
  if (!of.chance(of.words.composed)) return of.pick(of.words[mark])
  return mark === "check" ? Judgements.checks(of) : Judgements.said(of, mark)
}

const flagged = (of: Source, flag: NonNullable<Teams.Piece["flag"]>): string =>
  of.chance(of.words.composed) ? Judgements.flagged(of, flag) : of.pick(of.words.flags[flag])

const statements = (of: Source, { checks, flag, good, weak }: Facts): ReadonlyArray<Pieces> => {
  const { chance, pick, some } = of
  const found: Array<Pieces> = []
  if (chance(0.15)) {
    for (const kind of good) found.push(act(of, kind, "good"))
    for (const kind of weak) found.push(act(of, kind, "weak"))
  } else if (good.length > 0 && weak.length > 0 && chance(0.5)) {
    found.push(contrast(pick(of.words.contrasts), topics(of, good, "good"), topics(of, weak, "weak")))
  } else {
    const apart = good.length > 1 && chance(0.4) ? good.map((one) => [one]) : [good]
    for (const one of apart) if (one.length > 0) found.push(filled(phrase(of, "good"), topics(of, one, "good"), "good"))
    if (weak.length > 0) found.push(filled(phrase(of, "weak"), topics(of, weak, "weak"), "weak"))
  }
  if (checks.length > 0) found.push(filled(phrase(of, "check"), topics(of, checks, "check"), "check"))
  if (flag !== undefined) found.push(plain(flagged(of, flag), flag))
  if (chance(0.2)) found.push(plain(pick(of.words.asides)))
  if (chance(0.1)) found.push(plain(pick(of.words.limits)))
  if (chance(0.2)) {
    const mark = chance(0.5) ? "good" : "weak"
    found.push(filled(phrase(of, mark), stranger(of, mark), mark))
  }
  return some(found, found.length)
}

const subjects = ["It is ", "It ", "This model: ", "The assistant is ", "We find it ", "Description: ", "Note: "]

/** Sentences one after another, now and then with a subject. */
const sentences = (of: Source, facts: Facts): Pieces => {
  const { chance, pick } = of
  const separator = pick([". ", ". ", ". ", "; ", ", ", " - ", "\n", "\n* ", ", but ", ", and ", "... "])
  return between(
    statements(of, facts).map((one) => (chance(0.25) ? [...plain(pick(subjects)), ...one] : one)),
    separator
  )
}

/** A table, a list of fields, or tags. */
const rows = (of: Source, { flag, good, weak }: Facts): Pieces => {
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
  const row = (kind: Family.FamilyName, mark: "good" | "weak"): Pieces => [
    { text: open },
    ...topic(of, kind, mark),
    { text: `${middle}${mark === "good" ? high : low}${close}`, mark }
  ]
  const other: Pieces = plain(`${open}${pick(of.words.others)}${middle}${pick([high, low])}${close}`)
  const all = [...good.map((kind) => row(kind, "good")), ...weak.map((kind) => row(kind, "weak"))]
  const said = some(int(0, 3) === 0 ? [...all, other] : all, all.length + 1).flat()
  return flag === undefined ? said : [...said, ...plain(flagged(of, flag), flag)]
}

const tags = (of: Source, { flag, good }: Facts): Pieces => {
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

/** In a text of unrelated statements, the labels of each statement follow from its own words. */
const unrelated = (of: Source): Pieces => {
  const { chance, int, pick } = of
  const one = (): Pieces => {
    const about = (mark: "good" | "weak" | "check"): Pieces =>
      chance(0.15) ? stranger(of, mark) : topic(of, pick(Family.names), mark)
    const what = pick([
      "good",
      "weak",
      "check",
      "contrast",
      "act",
      "careless",
      "exact",
      "general",
      "aside",
      "limit"
    ] as const)
    switch (what) {
      case "good":
      case "weak":
      case "check":
        return filled(phrase(of, what), about(what), what)
      case "contrast":
        return contrast(pick(of.words.contrasts), about("good"), about("weak"))
      case "act":
        return act(of, pick(Family.names), pick(["good", "weak"]))
      case "aside":
        return plain(pick(of.words.asides))
      case "limit":
        return plain(pick(of.words.limits))
      default:
        return plain(flagged(of, what), what)
    }
  }
  return between(Array.from({ length: int(1, 5) }, one), pick([". ", ". ", "; ", ", ", "\n", " - "]))
}

/** The share of texts with unrelated statements. */
const unrelatedTexts = 0.5

const describe = (of: Source): Pieces => (of.chance(unrelatedTexts) ? unrelated(of) : telling(of, factsOf(of)))

/** A description that states these facts. */
const telling = (of: Source, facts: Facts): Pieces => {
  const { chance, int, pick } = of
  const shape = facts.good.length === 0 ? 0 : int(0, 9)
  const body = shape < 6 ? sentences(of, facts) : shape < 8 ? rows(of, facts) : tags(of, facts)
  const fillers = () => (chance(0.35) ? [plain(`${pick(of.words.fillers)} `)] : [])
  const before = chance(0.2) ? [...fillers(), ...fillers(), ...fillers()] : fillers()
  const after = chance(0.2) ? [...fillers(), ...fillers(), ...fillers()] : fillers()
  const limit = chance(0.1) ? plain(`${pick([". ", ", ", "; ", " - "])}${pick(of.words.limits)}`) : []
  const end = plain(chance(0.7) ? ". " : " ")
  return [...before, body, limit, end, ...after].flat()
}

const marks: ReadonlyArray<string> = Reader.marks

/** A text with a label for each of its words, except words that say several things. */
export const labelled = (pieces: Pieces): Example => {
  const words = pieces.flatMap(({ flag, isMixed, kinds: own = [], mark = flag ?? "none", text }) =>
    Reader.wordsOf(text).map((word) => ({
      word,
      label: isMixed
        ? undefined
        : { mark: marks.indexOf(mark), subjects: own.map((kind) => Family.names.indexOf(kind)) }
    }))
  )
  return {
    words: words.map(({ word }) => word),
    said: words.map(({ label }) => label),
    flags: Reader.flags.map((flag) => pieces.some((piece) => piece.flag === flag))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Texts by lot
// -------------------------------------------------------------------------------------------------------------------

/** The numbers of texts of each sort. */
interface Counts {
  readonly descriptions: number
  readonly questions?: number | undefined
  /** Parts of questions that need an earlier answer, and such that only look like it. */
  readonly sequels?: number | undefined
}

/** Draws texts: the same seed gives the same texts. Questions have no development part. */
export const draw = (
  seed: number,
  { descriptions, questions = 0, sequels = 0 }: Counts,
  part: Lists.Part = "training"
): ReadonlyArray<Example> => {
  const of: Source = { ...Lots.make(seed), words: vocabularies[part] }
  return [
    ...Array.from({ length: questions }, () => Questions.question(of)),
    ...Array.from({ length: descriptions }, () => labelled(describe(of))),
    ...Array.from({ length: sequels }, () => Questions.sequel(of, of.words.sequels))
  ]
}

/** A random description of a worker: the same seed gives the same description. */
export const told = (seed: number, facts: Facts, part: Lists.Part): string =>
  telling({ ...Lots.make(seed), words: vocabularies[part] }, facts)
    .map(({ text }) => text)
    .join("")
