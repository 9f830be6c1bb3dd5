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

/** What the descriptions of a team are worth. */
export type Truth =
  /** They say who is good at what. */
  | "right"
  /** Half of them are vague, missing or those of another worker. */
  | "doubtful"

/** Which teams and questions to draw. */
export interface Options {
  readonly split: Gym.Split
  readonly count: number
  /** Where in the split to begin; 0 by default. */
  readonly seed?: number | undefined
  /** The least and the most workers; 2 and 16 by default. */
  readonly workers?: readonly [number, number] | undefined
  /** Which words descriptions use for kinds of question; known ones by default. */
  readonly words?: Lexicon.Words | undefined
  /** Whether sentences and cues are those that no training description has; false by default. */
  readonly heldOutShapes?: boolean | undefined
  /** Whether every worker has a set of skills that no training team has; false by default, and then nobody has. */
  readonly heldOutSkills?: boolean | undefined
  /** Whether questions are asked in ways that training does not have; false by default. */
  readonly heldOutQuestions?: boolean | undefined
  /** Descriptions that were written by hand, with the skills that they tell; by the grammar by default. */
  readonly handWritten?: boolean | undefined
  /** Questions that were written by hand; the gym's, asked in other ways, by default. */
  readonly handWrittenQuestions?: boolean | undefined
  /** `"right"` by default. */
  readonly truth?: Truth | undefined
  /** Whether who does more is dearer, which tells something where descriptions are doubtful; `"by lot"` by default. */
  readonly prices?: "by lot" | "by skill" | undefined
  /** Past answers of each worker that its description ends with; 0 by default. */
  readonly record?: number | undefined
  /** Whether the only ones for some kinds are careless, and somebody checks them; false by default. */
  readonly careless?: boolean | undefined
  /** The share of questions that nobody on the team can answer; 0.1 by default. */
  readonly unanswerable?: number | undefined
  /** The share of composite questions; 0.4 by default. */
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

/** A worker of a team, and the pieces of its description with what they say. */
export interface Member {
  readonly profile: GymWorker.Profile
  readonly pieces: ReadonlyArray<Describe.Piece>
}

/** A question with the team that is there for it. */
export interface Team {
  readonly task: Task.Task
  readonly pool: WorkerPool.WorkerPool
  /** In the order of the pool. */
  readonly members: ReadonlyArray<Member>
  /** False when a part of the question is of a kind that nobody does. */
  readonly isAnswerable: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

/** A text of the question and what the workers understand by it. */
type Meaning = readonly [said: string, meant: string]

interface Asked {
  readonly question: string
  readonly parts: ReadonlyArray<Gym.Part>
  readonly meanings: ReadonlyArray<Meaning>
}

/** Asks a task of the gym in other ways. Parts that need an earlier answer keep their wording. */
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

/** A text with another in the place of one, whose first letter may be small there. */
const replaced = (text: string, from: string, to: string): string => {
  const lower = (one: string) => one.charAt(0).toLowerCase() + one.slice(1)
  const upper = (one: string) => one.charAt(0).toUpperCase() + one.slice(1)
  const form = [from, lower(from), upper(from)].find((one) => text.includes(one))
  return form === undefined ? text : text.replace(form, () => to)
}

/** A worker that understands what is meant. */
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

/** Who is better than this at a kind can answer questions of it. */
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
 * Draws teams with a question each. The same options give the same teams, and a smaller count the first of them.
 *
 * **Details**
 *
 * A worker's answer to a question of a kind that it does is right as often as its skill says. A record, where one is
 * asked for, is the last line of a description: `Record: dates 3/4 high, logic 0/2 low.` Questions that were written by
 * hand stand for a question of the gym of the same kind, which is what the workers answer.
 *
 * **Gotchas**
 *
 * Workers belong to their question: no other is understood in its other wordings.
 */
export const draw = (options: Options): ReadonlyArray<Team> => {
  Tables.check("Teams.draw", options, table)
  const { composites, count, seed, split } = options
  const tasks = Gym.tasks({ split, count, seed, composites })
  return tasks.map((task) => drawTeam(Gym.metadata(task)!.seed, task, options))
}

/** Past answers of each worker of a team, as many for each, to questions of all kinds: what a router learns from. */
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

/** The words of training descriptions for each kind of question: what a rule that knows the grammar goes by. */
export const knownWords: ReadonlyMap<Family.FamilyName, ReadonlyArray<string>> = new Map(
  Family.names.map((name) => [
    name,
    [...Lexicon.single, ...Lexicon.several].flatMap(({ kinds, known }) => (kinds.includes(name) ? known : []))
  ])
)

/** How training descriptions say that somebody is weak at something, careless, or only checks. */
export const knownCues = Describe.cues

/** Words, phrases, descriptions and questions that no training may use. */
export const heldOutTexts: ReadonlyArray<string> = [
  ...Lexicon.single.flatMap(({ known, related, unrelated }) =>
    [...related, ...unrelated].filter((word) => !known.includes(word))
  ),
  ...Describe.heldOut,
  ...HandWritten.descriptions.map(({ text }) => text),
  ...Object.values(HandWritten.questions).flat()
]

/** What records call a kind of question. */
export const recordName = Lexicon.recordName
