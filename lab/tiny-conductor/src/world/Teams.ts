/**
 * Generated teams: each question has a different team. The strengths of its members must be read from their
 * descriptions or, where these are missing or wrong, learned from a record of past answers.
 *
 * A team is generated from a seed: 2 to 24 workers with different skills, prices and error rates, and descriptions from
 * a grammar or, for held-out teams, written by hand. The gym's questions are reworded. All workers understand every
 * wording, so the task is to learn which worker to ask. Some words, sentence patterns, sets of skills and wordings are
 * excluded from training.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Family, GymWorker } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as Draw from "../../../../packages/gym/src/internal/draw.ts"
import { ask, surround } from "./ask.ts"
import * as Describe from "./describe.ts"
import * as HandWritten from "./HandWritten.ts"
import * as Lexicon from "./lexicon.ts"
import * as Drawn from "./member.ts"

export type { Piece } from "./describe.ts"
export { expected, isHeldOutSet } from "./member.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The reliability of a team's descriptions. */
export type Truth =
  /** They state correctly who is good at what. */
  | "right"
  /** Half of them are vague, missing or those of another worker. */
  | "doubtful"

/** Options for the teams and questions to draw. */
export interface Options {
  readonly split: Gym.Split
  readonly count: number
  /** The start position in the split. Default: 0. */
  readonly seed?: number | undefined
  /** The smallest and largest number of workers. Default: 2 and 16. */
  readonly workers?: readonly [number, number] | undefined
  /** The words of descriptions for kinds of question. Default: known words. */
  readonly words?: Lexicon.Words | undefined
  /** Whether sentences and cues are held out from training. Default: false. */
  readonly heldOutShapes?: boolean | undefined
  /** Whether every worker has a set of skills that no training team has. With false, the default, no worker has one. */
  readonly heldOutSkills?: boolean | undefined
  /** Whether questions use wordings that are not in training. Default: false. */
  readonly heldOutQuestions?: boolean | undefined
  /** Whether descriptions are hand-written, with the skills that they state. By default, the grammar generates them. */
  readonly handWritten?: boolean | undefined
  /** Whether questions are hand-written. By default, they are reworded questions of the gym. */
  readonly handWrittenQuestions?: boolean | undefined
  /** Default: `"right"`. */
  readonly truth?: Truth | undefined
  /**
   * Whether workers with more skills cost more, which is information if descriptions are doubtful. Default: `"by lot"`.
   */
  readonly prices?: "by lot" | "by skill" | undefined
  /** The number of past answers of each worker in the record at the end of its description. Default: 0. */
  readonly record?: number | undefined
  /** Whether the only workers for some kinds are careless and another worker checks them. Default: false. */
  readonly careless?: boolean | undefined
  /** The share of questions that no worker of the team can answer. Default: 0.1. */
  readonly unanswerable?: number | undefined
  /** The share of composite questions. Default: 0.4. */
  readonly composites?: number | undefined
}

const table = Tables.table(
  {
    split: Tables.oneOf("train", "validation", "test"),
    count: Tables.whole(0),
    seed: Tables.expects("a whole number", Number.isSafeInteger),
    workers: Tables.expects(
      "the least and the most workers, [2, 16]",
      (value) =>
        Array.isArray(value) &&
        value.length === 2 &&
        value.every((count) => Number.isInteger(count) && count >= 1) &&
        value[0] <= value[1]
    ),
    words: Tables.oneOf("known", "related", "unrelated"),
    heldOutShapes: Tables.flag,
    heldOutSkills: Tables.flag,
    heldOutQuestions: Tables.flag,
    handWritten: Tables.flag,
    handWrittenQuestions: Tables.flag,
    careless: Tables.flag,
    truth: Tables.oneOf("right", "doubtful"),
    prices: Tables.oneOf("by lot", "by skill"),
    record: Tables.whole(0),
    unanswerable: Tables.number(0, 1),
    composites: Tables.number(0, 1)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["split", "count"] }
)

/** A worker of a team, and the labelled pieces of its description. */
export interface Member {
  readonly profile: GymWorker.Profile
  readonly pieces: ReadonlyArray<Describe.Piece>
}

/** A question and its team. */
export interface Team {
  readonly task: Task.Task
  readonly pool: WorkerPool.WorkerPool
  /** In the order of the pool. */
  readonly members: ReadonlyArray<Member>
  /** False if a part of the question has a kind that no worker does. */
  readonly isAnswerable: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

/** The text of a question, and the text that the workers understand. */
type Meaning = readonly [said: string, meant: string]

interface Asked {
  readonly question: string
  readonly parts: ReadonlyArray<Gym.Part>
  readonly meanings: ReadonlyArray<Meaning>
}

/** Rewords a task of the gym. Parts that need an earlier answer keep their wording. */
const asked = (draw: Draw.Draw, task: Task.Task, options: Options): Asked => {
  const question = Task.question(task)
  const { parts } = Gym.metadata(task)!
  const isHeldOut = options.heldOutQuestions ?? false
  const isSingle = parts.length === 1
  const said = parts.map((part) => {
    if (part.needs.length > 0) return part
    if (options.handWrittenQuestions === true)
      return { ...part, question: draw.pick(HandWritten.questions[part.family]) }
    return isSingle ? { ...part, question: ask(draw, part.family, part.question, isHeldOut) } : part
  })
  const written = isSingle
    ? said[0]!.question
    : said.reduce((text, part, index) => replaced(text, parts[index]!.question, part.question), question)
  const whole = options.handWrittenQuestions === true ? written : surround(draw, written, isHeldOut)
  const meanings = said.map((part, index): Meaning => [part.question, parts[index]!.question])
  return { question: whole, parts: said, meanings: [[whole, question], ...meanings.filter(([a, b]) => a !== b)] }
}

/** A text in which one phrase is replaced by another, also if its first letter is in lower case there. */
const replaced = (text: string, from: string, to: string): string => {
  const lower = (one: string) => one.charAt(0).toLowerCase() + one.slice(1)
  const upper = (one: string) => one.charAt(0).toUpperCase() + one.slice(1)
  const form = [from, lower(from), upper(from)].find((one) => text.includes(one))
  return form === undefined ? text : text.replace(form, () => to)
}

/** A worker that understands the reworded questions. */
const understanding = (worker: Worker, meanings: ReadonlyArray<Meaning>): Worker => {
  const meant = (text: string) => meanings.reduce((found, [said, meaning]) => replaced(found, said, meaning), text)
  return {
    ...worker,
    generate: (request) =>
      worker.generate({
        ...request,
        messages: request.messages.map((message) =>
          typeof message.content === "string" ? { ...message, content: meant(message.content) } : message
        )
      })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Teams
// -------------------------------------------------------------------------------------------------------------------

/** A worker with a higher skill at a kind can answer questions of it. */
const leastSkill = 0.2

const best = (profiles: ReadonlyArray<GymWorker.Profile>, family: Family.FamilyName): number =>
  Math.max(0, ...profiles.map((profile) => Drawn.expected(profile, family)))

const drawTeam = (seed: number, task: Task.Task, options: Options): Team => {
  const draw = Draw.make(Draw.derive("teams", seed))
  const [least, most] = options.workers ?? [2, 16]
  const count = draw.int(least, most)
  const kinds = Gym.metadata(task)!.parts.map(({ family }) => family)
  const missing = draw.chance(options.unanswerable ?? 0.1) ? draw.pick(kinds) : undefined
  const members = Drawn.draw(draw, { ...options, count, kinds, missing })
  const { meanings, parts, question } = asked(draw, task, options)
  const workers = members.map(({ pieces, profile }) => {
    const worker = GymWorker.make(profile, { latencyMillis: 0 })
    return understanding({ ...worker, description: Describe.textOf(pieces) }, meanings)
  })
  return {
    task: Task.make({
      id: `teams-${options.split}-${seed}`,
      question,
      reference: task.reference,
      metadata: { ...task.metadata, parts, seed }
    }),
    pool: WorkerPool.makeUnsafe(workers),
    members,
    isAnswerable: kinds.every(
      (kind) =>
        best(
          members.map(({ profile }) => profile),
          kind
        ) > leastSkill
    )
  }
}

/**
 * Draws teams with one question each. The same options give the same teams, and a smaller count gives the first of
 * them.
 *
 * **Details**
 *
 * A worker's answer to a question of its kinds is right as often as its skill says. A record, if requested, is the last
 * line of a description: `Record: dates 3/4 high, logic 0/2 low.` A hand-written question replaces a question of the
 * gym of the same kind; workers answer the gym's question.
 *
 * **Gotchas**
 *
 * Workers belong to their question: they do not understand reworded forms of other questions.
 */
export const draw = (options: Options): ReadonlyArray<Team> => {
  Tables.check("Teams.draw", options, table)
  const { composites, count, seed, split } = options
  const tasks = Gym.tasks({ split, count, seed, composites })
  return tasks.map((task) => drawTeam(Gym.metadata(task)!.seed, task, options))
}

/**
 * Past answers of each worker of a team to questions of all kinds, equally many per worker: the training data of a
 * router.
 */
export const pastAnswers = (
  { members, task }: Team,
  count: number
): ReadonlyArray<ReadonlyMap<Family.FamilyName, Drawn.Tally>> => {
  const draw = Draw.make(Draw.derive("past", task.id))
  return members.map(({ profile }) => Drawn.past(draw, profile, count))
}

// -------------------------------------------------------------------------------------------------------------------
// What a rule may know
// -------------------------------------------------------------------------------------------------------------------

/** The words of training descriptions for each kind of question, for a rule that knows the grammar. */
export const knownWords: ReadonlyMap<Family.FamilyName, ReadonlyArray<string>> = new Map(
  Family.names.map((name) => [
    name,
    [...Lexicon.single, ...Lexicon.several].flatMap(({ kinds, known }) => (kinds.includes(name) ? known : []))
  ])
)

/** The phrases of training descriptions for weak, careless and checking workers. */
export const knownCues = Describe.cues

/** Words, phrases, descriptions and questions that must not be used in training. */
export const heldOutTexts: ReadonlyArray<string> = [
  ...Lexicon.single.flatMap(({ known, related, unrelated }) =>
    [...related, ...unrelated].filter((word) => !known.includes(word))
  ),
  ...Describe.heldOut,
  ...HandWritten.descriptions.map(({ text }) => text),
  ...Object.values(HandWritten.questions).flat()
]

/** The name of a kind of question in records. */
export const recordName = Lexicon.recordName
