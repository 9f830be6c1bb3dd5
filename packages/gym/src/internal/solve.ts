/** How a worker carries out its assignment, given its skills. */
import { type AnyFamilyName, toolNames } from "../Family.ts"
import { normalise } from "../GymGrader.ts"
import { stock } from "../GymTools.ts"
import type { Profile } from "../GymWorker.ts"
import { solvers } from "../solvers/index.ts"
import { type LookUp, withoutInstruction } from "../solvers/reading.ts"
import { type Assignment, assign, isDecline, type Reading, type Turn, valueOf } from "./assignment.ts"
import * as Draw from "./draw.ts"
import type { Lookups } from "./lookups.ts"
import { namesIn, type Part, type Reference, split, substitute } from "./parts.ts"
import { slip } from "./slip.ts"

/** A worker's reply: its answer or the items to look up first, and its reasoning. */
export interface Reply {
  readonly text: string
  /** Items to look up with the tool. The answer follows in a later turn. */
  readonly articles: ReadonlyArray<string>
  /** Whether the worker declines. The text gives the reason. */
  readonly isRefusal: boolean
  readonly thoughts: ReadonlyArray<string>
}

/** A value, or the reason why it is missing. */
type Found = { readonly value: string } | { readonly because: string }

const entries = Object.entries(solvers) as ReadonlyArray<readonly [AnyFamilyName, (typeof solvers)[AnyFamilyName]]>

type Names = ReadonlyMap<string, number>

/** Joins two answers in the form that questions use. */
const paired = (left?: string, right?: string): string | undefined =>
  left === undefined || right === undefined ? undefined : `${left} and ${right}`

/** Cache of families by question text, because workers on a team read the same texts. */
const families = new Map<string, AnyFamilyName | undefined>()
const mostFamilies = 2_000

const familyOfText = (text: string): AnyFamilyName | undefined => {
  if (families.has(text)) return families.get(text)
  const found = entries.find(([, solver]) => solver.reads(text))?.[0]
  if (families.size === mostFamilies) families.clear()
  families.set(text, found)
  return found
}

/**
 * Returns a function that determines the family of a question. References to earlier answers are replaced by
 * placeholder numbers or words.
 */
const familyOf =
  (names: Names) =>
  (text: string): AnyFamilyName | undefined => {
    for (const stand of ["7", "seven"]) {
      const filled = substitute(text, (reference) => (reference === "both" ? paired(stand, stand) : stand), names)
      const found = familyOfText(filled)
      if (found !== undefined) return found
    }
    return undefined
  }

/** The state of a single call to a worker. */
interface Call {
  readonly profile: Profile
  readonly reading: Reading
  readonly parts: ReadonlyArray<Part>
  readonly names: Names
  readonly seed: number
  readonly thoughts: Array<string>
  /** Answers by part, from earlier turns or computed in this call. */
  readonly known: Map<number, string>
  /** Earlier turns with their assignments. */
  readonly seen: ReadonlyArray<{ readonly turn: Turn; readonly assignment: Assignment }>
  readonly lookups: Lookups
  /** Items that are required and not looked up yet. */
  readonly wanted: Set<string>
}

// -------------------------------------------------------------------------------------------------------------------
// One question
// -------------------------------------------------------------------------------------------------------------------

/** Returns the tool's result for an item. If there is no result yet, records the item for lookup. */
const lookUp =
  ({ lookups: { results: told }, wanted }: Call): LookUp =>
  (article) => {
    const known = told.get(article)
    if (known === undefined) wanted.add(article)
    return known === undefined || "because" in known ? undefined : known
  }

/** Returns the reason why a question from a supported family could not be answered. */
const obstacle = ({ lookups: { results: told }, wanted }: Call): string => {
  if (wanted.size > 0) return `I was not given the tool "${stock.name}", which knows ${[...wanted].join(" and ")}`
  const [failure] = [...told.values()].flatMap((one) => ("because" in one ? [one.because] : []))
  return failure === undefined ? "this is too hard for me" : failure.replace(/\.$/, "")
}

/** Whether a worker's profile causes any mistakes. */
const isErrorProne = ({ carriedDigits, partsRead, skills }: Profile): boolean =>
  carriedDigits !== undefined ||
  partsRead !== undefined ||
  Object.values(skills).some((skill) => skill?.habits !== undefined || (skill?.slips ?? 0) > 0)

/**
 * Simulates a misreading by an error-prone worker whose own earlier answer does not fit the question: it reads 1.5 days
 * as 5, and a program's 1.5 as 1.
 */
const misread = (text: string, carried: ReadonlySet<string>): string =>
  [...carried].reduce((read, value) => {
    const seen = text.includes("```") ? /^-?\d+/.exec(value)?.[0] : /\d+$/.exec(value)?.[0]
    return seen === undefined ? read : read.replaceAll(value, seen)
  }, text)

/**
 * Answers a self-contained question within the worker's abilities. `carried` has the earlier answers that were
 * substituted into it.
 */
const solveText = async (call: Call, text: string, carried: ReadonlySet<string> = new Set()): Promise<Found> => {
  const { names, profile, seed, thoughts } = call
  const isRead = familyOf(names)(text) !== undefined || !isErrorProne(profile)
  const read = isRead ? text : misread(text, carried)
  const family = familyOf(names)(read)
  if (family === undefined) return { because: "I do not understand the question" }
  const skill = profile.skills[family]
  if (skill === undefined)
    return { because: `this is ${family}, and I only do ${Object.keys(profile.skills).join(" and ")}` }
  const exact = await solvers[family].solve(read, skill.habits ?? {}, lookUp(call))
  if (exact === undefined) return { because: obstacle(call) }
  const draw = Draw.make(Draw.derive(seed, text))
  const value = draw.chance(skill.slips ?? 0) ? slip(draw, exact, text) : exact
  thoughts.push(`${text.replace(/\s+/g, " ")} This is ${family}: ${value}.`)
  return { value }
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** Returns the answers of earlier turns. */
const answersSeen = ({ seen }: Call): ReadonlyArray<string> =>
  seen.flatMap(({ turn }) => (isDecline(turn.answer) ? [] : [valueOf(turn.answer)]))

const latestTwo = (call: Call): string | undefined => paired(...answersSeen(call).slice(-2))

const rounded = (value: string, digits: number | undefined): string =>
  digits === undefined || !/^-?\d+(?:\.\d+)?$/.test(value) ? value : String(Number(Number(value).toPrecision(digits)))

/** Records the worker's own answer to a part, rounded to `carriedDigits`. */
const remember = ({ known, profile }: Call, index: number, value: string): string => {
  const kept = rounded(value, profile.carriedDigits)
  known.set(index, kept)
  return kept
}

const solvePart = async (call: Call, index: number): Promise<Found> => {
  const { text, needs } = call.parts[index]!
  for (const need of needs) {
    if (call.known.has(need)) continue
    const found = await solvePart(call, need)
    if ("because" in found) return { because: `it needs the answer to part ${need + 1}, and ${found.because}` }
    remember(call, need, found.value)
  }
  const knownAnswer = (need: number) => call.known.get(need)
  const value = (reference: Reference): string | undefined => {
    if (reference === "both") return needs.length === 0 ? latestTwo(call) : paired(...needs.map(knownAnswer))
    const at = reference === "previous" ? (needs.at(-1) ?? index - 1) : reference
    return needs.includes(at) ? knownAnswer(at) : undefined
  }
  const carried = new Set<string>()
  const noted = (reference: Reference) => {
    const found = value(reference)
    if (found !== undefined) carried.add(found)
    return found
  }
  return solveText(call, substitute(text, noted, call.names), carried)
}

/** Solves the assigned parts in order, up to the number that the worker reads. */
const solveParts = async (call: Call, assigned: ReadonlyArray<number>): Promise<Found> => {
  let found: Found = { because: "there is nothing to do" }
  let read = 0
  for (const index of assigned) {
    const known = call.known.get(index)
    if (known === undefined && read === (call.profile.partsRead ?? Number.POSITIVE_INFINITY)) break
    if (known === undefined) read += 1
    found = known === undefined ? await solvePart(call, index) : { value: known }
    if ("because" in found) return found
    if (known === undefined) remember(call, index, found.value)
  }
  return found
}

// -------------------------------------------------------------------------------------------------------------------
// Other workers' answers
// -------------------------------------------------------------------------------------------------------------------

const last = (assignment: Assignment): number | undefined => assignment.parts.at(-1)

/** Returns earlier answers to the current assignment. */
const rivals = ({ seen }: Call, assignment: Assignment): ReadonlyArray<string> =>
  seen.flatMap(({ assignment: earlier, turn }) =>
    !earlier.plan && !isDecline(turn.answer) && last(earlier) === last(assignment) ? [valueOf(turn.answer)] : []
  )

/**
 * Returns the most common answer. In a tie, the worker's own answer wins if it is among the leaders, otherwise the
 * latest.
 */
const mostCommon = (answers: ReadonlyArray<string>, own: string | undefined): string | undefined => {
  const votes = new Map<string, number>()
  const all = own === undefined ? answers : [...answers, own]
  for (const answer of all) votes.set(normalise(answer), (votes.get(normalise(answer)) ?? 0) + 1)
  const most = Math.max(...votes.values())
  const leading = all.filter((answer) => votes.get(normalise(answer)) === most)
  return own !== undefined && leading.includes(own) ? own : leading.at(-1)
}

const weigh = (call: Call, assignment: Assignment, own: Found): Found => {
  const answers = rivals(call, assignment)
  if (answers.length === 0) return own
  const value = mostCommon(answers, "value" in own ? own.value : undefined)
  call.thoughts.push(`Others say ${[...new Set(answers)].join(", ")}; I go with ${value}.`)
  return value === undefined ? own : { value }
}

/**
 * Solves a part to check it, and returns the visible answer that agrees. The checker's own result is never returned.
 */
const check = async (call: Call, assignment: Assignment): Promise<Found> => {
  const answers = rivals(call, assignment)
  if (answers.length === 0) return { because: "I only check the answers of others, and there is none to check" }
  const index = last(assignment)
  const own = index === undefined ? await solveText(call, assignment.own ?? "") : await solvePart(call, index)
  if ("because" in own) return own
  const right = answers.find((answer) => normalise(answer) === normalise(own.value))
  return right === undefined ? { because: "none of the answers above is right" } : { value: right }
}

// -------------------------------------------------------------------------------------------------------------------
// Replies
// -------------------------------------------------------------------------------------------------------------------

const planOf = ({ names, parts }: Call): string =>
  parts.map(({ text }, index) => `${index + 1}. (${familyOf(names)(text) ?? "unclear"}) ${text}`).join("\n")

/** Answers a separate question in a subtask, which may refer to parts or to the most recent answer. */
const solveOwn = (call: Call, text: string): Promise<Found> => {
  const value = (reference: Reference): string | undefined => {
    if (reference === "both") return latestTwo(call)
    return reference === "previous" ? answersSeen(call).at(-1) : call.known.get(reference)
  }
  return solveText(call, substitute(text, value, call.names))
}

const start = (profile: Profile, reading: Reading, seed: number, lookups: Lookups): Call => {
  const parts = split(reading.question)
  const names = namesIn(reading.question)
  const known = new Map<number, string>()
  const seen = reading.turns.map((turn) => ({ turn, assignment: assign(parts, turn.subtask, familyOf(names)) }))
  for (const { assignment, turn } of seen) {
    const [only, more] = assignment.parts
    const single = only !== undefined && more === undefined && parts.length > 1
    if (single && !assignment.plan && !isDecline(turn.answer)) known.set(only, valueOf(turn.answer))
  }
  return { profile, reading, parts, names, seed, thoughts: [], known, seen, lookups, wanted: new Set() }
}

/**
 * Turns a subtask such as "Add 50" into a question about the previous answer, if the previous subtask asked a separate
 * question.
 */
const followUp = (call: Call): string | undefined => {
  const before = call.seen.at(-1)?.assignment.own
  const subtask = withoutInstruction(call.reading.subtask)
  if (before === undefined || subtask === "") return undefined
  const question = `Take that number, ${subtask.charAt(0).toLowerCase()}${subtask.slice(1)}`
  return familyOf(call.names)(question) === undefined ? undefined : question
}

const work = async (call: Call, assignment: Assignment): Promise<Found> => {
  if (call.profile.checksOnly) return check(call, assignment)
  if (assignment.own !== undefined) return solveOwn(call, assignment.own)
  // An assigned part is solved again even if an answer to it is visible. The parts that it depends on are not.
  if (assignment.parts.length === 1) call.known.delete(assignment.parts[0]!)
  const own = await solveParts(call, assignment.parts)
  const following = "because" in own ? followUp(call) : undefined
  if (following !== undefined) return solveOwn(call, following)
  const trusted = !call.profile.generalist
  return assignment.weigh && !trusted ? weigh(call, assignment, own) : own
}

/** Whether the last part of a question depends on all others, in which case only its answer is given. */
const isChain = (parts: ReadonlyArray<Part>): boolean => {
  const needed = new Set([parts.length - 1])
  for (let index = parts.length - 1; index >= 0; index--) {
    if (needed.has(index)) for (const need of parts[index]!.needs) needed.add(need)
  }
  return needed.size === parts.length
}

/** The reason why no worker can answer a question. */
export type Obstacle =
  /** `texts` are words, or sentences whose words are understood. Empty if nothing in the question is understood. */
  | { readonly type: "unread"; readonly texts: ReadonlyArray<string> }
  /** `texts` can be understood in several ways. */
  | { readonly type: "ambiguous"; readonly texts: ReadonlyArray<string> }
  | { readonly type: "several questions" }

/** Returns a part with numbers instead of references to other parts. */
const filled = (part: string): string =>
  substitute(part, (reference) => (reference === "both" ? paired("7", "7") : "7"))

/** Returns the texts in a part that can be understood in several ways. */
const ambiguitiesIn = (part: string): ReadonlyArray<string> =>
  entries.flatMap(([, solver]) => solver.ambiguous(filled(part)) ?? [])

/** Returns the words of a part that no solver understands. Empty if the part does not resemble any family. */
const unreadIn = (part: string): ReadonlyArray<string> => {
  const found = entries.flatMap(([, solver]) => {
    const unread = solver.unread(filled(part))
    return unread === undefined || unread.length === 0 ? [] : [unread]
  })
  return found.sort((left, right) => left.length - right.length)[0] ?? []
}

const sentencesIn = (text: string): ReadonlyArray<string> => text.split(/(?<=[.?!])\s+(?=[A-Z(\d])/)

/** Returns the sentences that are of no family, if others are. */
const unreadSentences = (question: string, family: ReturnType<typeof familyOf>): ReadonlyArray<string> => {
  const sentences = sentencesIn(question.trim())
  const unread = sentences.filter((sentence) => family(sentence.replace(/^first,?\s+/i, "")) === undefined)
  return unread.length < sentences.length ? unread : []
}

/**
 * Returns the reason why no worker can answer a question, or `undefined` if every part is of a supported family. Does
 * not load any libraries.
 */
export const obstacleOf = (question: string): Obstacle | undefined => {
  const family = familyOf(namesIn(question))
  const parts = split(question)
  const unread = parts.filter(({ text }) => family(text) === undefined)
  const areSeveral = unread.some(({ text }) => {
    const sentences = sentencesIn(text)
    return sentences.length > 1 && sentences.every((sentence) => family(sentence) !== undefined)
  })
  if (areSeveral) return { type: "several questions" }
  const ambiguous = unread.flatMap(({ text }) => ambiguitiesIn(text))
  if (ambiguous.length > 0) return { type: "ambiguous", texts: ambiguous }
  if (unread.length > 0 || parts.length === 0) {
    const words = new Set(unread.flatMap(({ text }) => unreadIn(text)))
    return { type: "unread", texts: words.size > 0 ? [...words] : unreadSentences(question, family) }
  }
  return isChain(parts) ? undefined : { type: "several questions" }
}

/** Whether a part of a question requires a tool. Does not load any libraries. */
export const needsTool = (question: string): boolean => {
  const family = familyOf(namesIn(question))
  return split(question).some(({ text }) => toolNames.some((name) => name === family(text)))
}

/** Computes a worker's reply to its messages. The same seed and messages produce the same reply. */
export const reply = async (profile: Profile, reading: Reading, seed: number, lookups: Lookups): Promise<Reply> => {
  const call = start(profile, reading, seed, lookups)
  const { thoughts, wanted } = call
  const assignment = assign(call.parts, reading.subtask, familyOf(call.names))
  if (assignment.plan && profile.generalist) return { text: planOf(call), articles: [], isRefusal: false, thoughts }
  const found = await work(call, assignment)
  if (lookups.canAsk && wanted.size > 0) {
    thoughts.push(`I look up ${[...wanted].join(" and ")}.`)
    return { text: "", articles: [...wanted], isRefusal: false, thoughts }
  }
  const isRefusal = "because" in found
  const text = isRefusal ? `I cannot do this: ${found.because}.` : found.value
  return { text, articles: [], isRefusal, thoughts }
}
