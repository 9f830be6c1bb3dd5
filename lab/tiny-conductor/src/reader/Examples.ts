/** Training data for readers: descriptions of and questions for generated teams, with labels from the grammar. */
import * as Task from "@divisi/core/Task"
import { Reader } from "@divisi/gguf"
import { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import type { Example, Shape } from "@divisi/trainer-jax/ReaderTrainer"
import * as Teams from "../world/Teams.ts"
import * as Breadth from "./Breadth.ts"
import * as Lots from "./Lots.ts"

/** The sizes of a batch: a third from teams of the gym, the rest in other words and shapes. */
export const shape = { texts: 56, words: 48 } as const

const broad = { descriptions: 28, questions: 5, sequels: 4 } as const
const teamsInBatch = 3
const workersInTeam = 5
const partsOfTeam = 2

/** Teams of a training: with true descriptions, with doubtful ones and records, with careless workers. */
const mixture: ReadonlyArray<Partial<Teams.Options>> = [{}, {}, { truth: "doubtful", record: 20 }, { careless: true }]

/** A description without the record at its end, and the record, which is empty if there is none. */
export const halves = ({
  pieces
}: Teams.Member): readonly [said: ReadonlyArray<Teams.Piece>, record: ReadonlyArray<Teams.Piece>] => {
  const at = pieces.findIndex(({ text }) => text.startsWith("\nRecord:"))
  return at < 0 ? [pieces, []] : [pieces.slice(0, at), pieces.slice(at)]
}

/** A description and the record at its end as separate texts, because they are read separately. */
const description = (member: Teams.Member): ReadonlyArray<Example> => {
  const [said, record] = halves(member)
  return [said, ...(record.length > 0 ? [record] : [])].map(Breadth.labelled)
}

/** Of a long question its beginning and its end. */
const shortened = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.length <= shape.words ? words : [...words.slice(0, shape.words - 12), ...words.slice(-12)]

const questionsOf = ({ task }: Teams.Team): ReadonlyArray<Example> => {
  const { parts } = Gym.metadata(task)!
  // A question of one part includes the text around it.
  const texts = parts.length === 1 ? [Task.question(task)] : parts.map(({ question }) => question)
  const asked = parts.map(({ family, needs }, index) => ({
    words: shortened(Reader.wordsOf(texts[index]!)),
    about: Family.names.indexOf(family),
    refers: needs.length > 0
  }))
  // The last ones, since what needs an earlier answer is among them.
  return asked.slice(-partsOfTeam)
}

/**
 * The share of words of a batch with a missing letter or another ending, and the share that is read from word vectors
 * only.
 */
const [blurredWords, unspeltWords] = [0.1, 0.2]

/** The batch of a step: the same seed and step give the same batch. */
export const batch = (seed: number, step: number, { texts }: Shape = shape): ReadonlyArray<Example> => {
  const options = mixture[step % mixture.length]!
  const teams = Teams.draw({
    ...options,
    split: "train",
    seed: 1 + seed * 1_000_003 + step,
    count: teamsInBatch,
    workers: [workersInTeam, workersInTeam]
  })
  const others = Breadth.draw(7 + seed * 1_000_003 + step, broad)
  const own = teams.flatMap((team) => [...questionsOf(team), ...team.members.flatMap(description)])
  const of = Lots.make(13 + seed * 1_000_003 + step)
  return [...others, ...own].slice(0, texts).map((example) => ({
    ...example,
    words: example.words.map((word) => Lots.blurred(of, word, blurredWords)),
    isUnspelt: example.words.map(() => of.chance(unspeltWords))
  }))
}
