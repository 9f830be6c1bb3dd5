/**
 * The grammar for descriptions: sentences composed from parts, in which each word for a kind is labelled with what is
 * said about it.
 */
import type { Family } from "@divisi/gym"
import type { Draw } from "../../../../packages/gym/src/internal/draw.ts"
import * as Lexicon from "./lexicon.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a description says about a kind. */
export type Mark = "good" | "weak" | "check"

/**
 * A piece of a description. Words for kinds are labelled with what is said about them, and so are the words that say
 * it.
 */
export interface Piece {
  readonly text: string
  readonly kinds?: ReadonlyArray<Family.FamilyName> | undefined
  readonly mark?: Mark | undefined
  /** What it says about all work of the worker. */
  readonly flag?: Flag | undefined
}

/** A statement of a description about the worker as a whole. */
export type Flag = "careless" | "exact" | "general"

/** The content of a description. */
export interface Facts {
  readonly good: ReadonlyArray<Family.FamilyName>
  readonly weak: ReadonlyArray<Family.FamilyName>
  readonly checks: ReadonlyArray<Family.FamilyName>
  readonly isCareless: boolean
  readonly isExact: boolean
  readonly isGeneral: boolean
  readonly price: "cheap" | "dear" | undefined
}

/** The words and sentence patterns that are used. */
export interface Style {
  readonly words: Lexicon.Words
  /** Whether patterns and cues are held out from training. */
  readonly isHeldOut: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Phrases
// -------------------------------------------------------------------------------------------------------------------

/** In phrases, X stands for topics. The first list is for training, the second is held out. */
interface Phrases {
  readonly known: ReadonlyArray<string>
  readonly heldOut: ReadonlyArray<string>
}

const phrases = (known: string, heldOut: string): Phrases => ({
  known: known.split("|"),
  heldOut: heldOut.split("|")
})

const good = phrases(
  "good at X|strong in X|excels at X|expert in X|specialises in X|reliable with X|knows X inside out|made for X|first choice for X|handles X with ease|shines at X|solid on X|trained on X|not bad at X|no trouble with X|hard to beat at X|trusted for X|does X|great with X|confident with X|a master of X|skilled in X|rarely wrong about X|not afraid of X|never fails at X|built for X|X is its strong suit|X: excellent|X is what it does best|X poses no problem|for X, ask this one|X: yes|X is easy for it|X wizard|X specialist|X expert|proficient in X|is best used for X|loves X and gets it right|far from weak at X|cannot be faulted on X",
  "a safe pair of hands for X|at home in X|has a gift for X|X comes naturally to it|count on it for X|well versed in X|second to none in X|X is no match for it|bring it your X|X without tears|has a nose for X|seldom errs in X"
)

const weak = phrases(
  "weak at X|poor at X|bad at X|struggles with X|not good at X|no good at X|unreliable with X|do not ask it about X|avoid for X|gets X wrong|never learned X|clueless about X|hopeless at X|cannot do X|fails at X|not made for X|shaky on X|out of its depth with X|far from good at X|less sure with X|less strong in X|not an expert in X|not strong in X|X is its weak spot|X: poor|X is beyond it|leave X to others|X: no|X confuses it|not to be trusted with X|has trouble with X|useless for X|often wrong about X|careless with X|no help with X|everything but X|not for X|rarely right about X|X is hard for it",
  "X is not its thing|stumbles over X|better not trusted with X|X tends to go wrong|has no head for X|ask somebody else for X|X leaves it cold and wrong|gets lost in X|at sea with X|X should go elsewhere|out of place in X|falls short on X"
)

const check = phrases(
  "checks answers to X|verifies answers about X|reviews X that others did|says which answer to X is right|proofreads answers in X|only checks X|compares answers about X and picks the right one|a checker for X|audits X done by others|confirms or rejects answers to X",
  "second pair of eyes for X|looks over others' X|signs off X|referee for X"
)

const careless = phrases(
  "careless|wrong about one time in four|brilliant but sloppy, so have its answers checked|hasty|makes slips|now and then careless|sloppy under pressure|ask it twice|one answer in four is wrong|not careful",
  "three times in four it is lucky|quick and slapdash|double-check what it says|error-prone"
)

const exact = phrases(
  "exact|never slips|careful|precise|always right in its field|without mistakes|accurate",
  "meticulous|to the letter|spotless record|unerring"
)

const general = phrases(
  "generalist|all-rounder|tries everything|answers anything|a bit of everything",
  "jack of all trades|takes any question|broad rather than deep"
)

const cheap = phrases(
  "cheap|costs next to nothing|a bargain|low price|inexpensive|nearly free",
  "easy on the purse|budget tier|pennies a call"
)

const dear = phrases(
  "expensive|dear|premium price|costly|high price|not cheap",
  "top tier pricing|hits the budget hard|luxury rates"
)

const boasts = phrases(
  "The best model ever made.|State of the art!|Voted number one by its makers.|A genius, it says.|Users love it.|Simply brilliant.|World class.|Beats the competition.|You will never need another.",
  "Ten out of ten would recommend.|The future is here.|Loved by teams everywhere."
)

const noise = phrases(
  "Version 3 of the model.|Runs in the cloud.|Released last spring.|Made by a small team in Oslo.|Speaks politely.|Answers in a second.|Context of 32k tokens.|Fine-tuned twice.|Open weights.|Likes short questions.|Hosted in Europe.|Replaces the older model.|Beta.|Needs no warm-up.",
  "Served from two regions.|Latency under a second.|Weights on request.|Supersedes v1."
)

const vague = phrases(
  "A helpful assistant.|A model.|General purpose.|An AI for your team.|Ask me anything!|Helpful, harmless and honest.|Newest member of the team.|Assistant number seven.|No description yet.|Your friendly helper.|To be written.",
  "Does what it can.|Details to follow.|See documentation.|Ready when you are."
)

/** The phrases of training descriptions, without topics. */
export const cues = {
  weak: weak.known.flatMap((phrase) => phrase.split("X").map((part) => part.trim())).filter((part) => part !== ""),
  careless: careless.known,
  checks: check.known.flatMap((phrase) => phrase.split("X").map((part) => part.trim())).filter((part) => part !== ""),
  general: general.known
}

/** Phrases that are not in training descriptions. */
export const heldOut: ReadonlyArray<string> = [
  ...[good, weak, check, careless, exact, general],
  ...[cheap, dear, boasts, noise, vague]
].flatMap((of) => of.heldOut)

/** A held-out phrase, or one for training. */
const pick = (draw: Draw, { heldOut, known }: Phrases, { isHeldOut }: Style): string =>
  draw.pick(isHeldOut ? heldOut : known)

// -------------------------------------------------------------------------------------------------------------------
// Sentences
// -------------------------------------------------------------------------------------------------------------------

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const topicPiece = (draw: Draw, topic: Lexicon.Topic, mark: Mark, { words }: Style): Piece => ({
  text: draw.pick(topic[words]),
  kinds: topic.kinds,
  mark
})

/** Topics for kinds, sometimes with one word for several kinds. */
const topicsFor = (draw: Draw, kinds: ReadonlyArray<Family.FamilyName>, style: Style): ReadonlyArray<Lexicon.Topic> => {
  const joint = Lexicon.several.filter((topic) => topic.kinds.every((kind) => kinds.includes(kind)))
  const taken = style.words === "known" && joint.length > 0 && draw.chance(0.3) ? draw.pick(joint) : undefined
  const left = kinds.filter((kind) => taken?.kinds.includes(kind) !== true)
  const topics = left.map((kind) => Lexicon.single.find((topic) => topic.kinds[0] === kind)!)
  return draw.some(taken === undefined ? topics : [taken, ...topics], topics.length + 1)
}

/** "a, b and c", in one of several forms. */
const list = (draw: Draw, pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> => {
  const [comma, last] = draw.pick([
    [", ", " and "],
    [", ", ", "],
    [" / ", " / "],
    [", ", " or "],
    ["; ", "; "]
  ] as const)
  return pieces.flatMap((piece, index) =>
    index === 0 ? [piece] : [{ text: index === pieces.length - 1 ? last : comma }, piece]
  )
}

/** A phrase with X replaced by topics. */
const filled = (phrase: string, topics: ReadonlyArray<Piece>, mark: Mark): ReadonlyArray<Piece> => {
  const [before = "", after = ""] = phrase.split("X")
  return [{ text: before, mark }, ...topics, { text: after, mark }].filter(({ text }) => text !== "")
}

const said = (draw: Draw, kinds: ReadonlyArray<Family.FamilyName>, of: Phrases, mark: Mark, style: Style) =>
  filled(
    pick(draw, of, style),
    list(
      draw,
      topicsFor(draw, kinds, style).map((topic) => topicPiece(draw, topic, mark, style))
    ),
    mark
  )

/** Several statements as one text: sentences, a list, a contrast. */
const joined = (draw: Draw, statements: ReadonlyArray<ReadonlyArray<Piece>>): ReadonlyArray<Piece> => {
  const between = draw.pick([". ", ". ", ", but ", "; ", ", ", " | ", " - ", "\n- "])
  return statements.flatMap((statement, index) => {
    if (index === 0 && between !== "\n- ") return statement
    const [first, ...rest] = statement
    const opening = between === ". " ? capital(first!.text) : first!.text
    return [{ text: index === 0 ? "- " : between }, { ...first!, text: opening }, ...rest]
  })
}

const plain = (text: string, flag?: Flag): ReadonlyArray<Piece> => [{ text, flag }]

/** The statements of a description, in random order. */
const statements = (draw: Draw, facts: Facts, style: Style): ReadonlyArray<ReadonlyArray<Piece>> => {
  const found: Array<ReadonlyArray<Piece>> = []
  const split = facts.good.length > 1 && draw.chance(0.3)
  const halves = split ? [facts.good.slice(0, 1), facts.good.slice(1)] : [facts.good]
  for (const half of halves) if (half.length > 0) found.push(said(draw, half, good, "good", style))
  if (facts.weak.length > 0) found.push(said(draw, facts.weak, weak, "weak", style))
  if (facts.checks.length > 0) found.push(said(draw, facts.checks, check, "check", style))
  if (facts.isGeneral && draw.chance(0.7)) found.push(plain(pick(draw, general, style), "general"))
  if (facts.isCareless) found.push(plain(pick(draw, careless, style), "careless"))
  if (facts.isExact && draw.chance(0.6)) found.push(plain(pick(draw, exact, style), "exact"))
  if (facts.price !== undefined && draw.chance(0.5)) {
    found.push(plain(pick(draw, facts.price === "cheap" ? cheap : dear, style)))
  }
  if (draw.chance(0.15)) found.push(plain(`${draw.pick(["likes", "also enjoys"])} ${draw.pick(Lexicon.distractors)}`))
  return draw.some(found, found.length)
}

/** A table or a list of fields: strengths and weaknesses. */
const fields = (draw: Draw, facts: Facts, style: Style): ReadonlyArray<Piece> => {
  const [strong, poor] = style.isHeldOut
    ? draw.pick([
        ["Pros: ", "Cons: "],
        ["Hire it for ", "Not for "],
        ["Think ", "Do not think "]
      ])
    : draw.pick([
        ["Strengths: ", "Weaknesses: "],
        ["Good: ", "Bad: "],
        ["Skills: ", "Not: "],
        ["+ ", "- "]
      ])
  const field = (name: string, kinds: ReadonlyArray<Family.FamilyName>, mark: Mark) => [
    { text: name, mark },
    ...list(
      draw,
      topicsFor(draw, kinds, style).map((topic) => topicPiece(draw, topic, mark, style))
    )
  ]
  const rows = [
    ...(facts.good.length > 0 ? [field(strong!, facts.good, "good")] : []),
    ...(facts.weak.length > 0 ? [field(poor!, facts.weak, "weak")] : []),
    ...(facts.isCareless ? [plain(`Care: ${pick(draw, careless, style)}`, "careless")] : [])
  ]
  const between = draw.pick([". ", " | ", "\n", "; "])
  return draw.some(rows, rows.length).flatMap((row, index) => (index === 0 ? row : [{ text: between }, ...row]))
}

/** Writes a description of the given facts. */
export const describe = (draw: Draw, facts: Facts, style: Style): ReadonlyArray<Piece> => {
  const isTable = facts.checks.length === 0 && facts.good.length > 0 && draw.chance(0.2)
  const body = isTable ? fields(draw, facts, style) : joined(draw, statements(draw, facts, style))
  const pieces = [...body, { text: "." }]
  const before = draw.chance(0.2) ? [{ text: `${pick(draw, draw.chance(0.5) ? boasts : noise, style)} ` }] : []
  const after = draw.chance(0.2) ? [{ text: ` ${pick(draw, draw.chance(0.4) ? boasts : noise, style)}` }] : []
  return [...before, ...pieces, ...after]
}

/** A description that says nothing. */
export const describeVaguely = (draw: Draw, style: Style): ReadonlyArray<Piece> => [{ text: pick(draw, vague, style) }]

/** A description as text. */
export const textOf = (pieces: ReadonlyArray<Piece>): string => capital(pieces.map(({ text }) => text).join(""))
