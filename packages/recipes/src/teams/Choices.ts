/** How the head of a reading Conductor learns to choose from the oracle of drawn teams. */
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { type FamilyName, names } from "@divisi/gym/Family"
import * as Gym from "@divisi/gym/Gym"
import * as Teams from "@divisi/gym/Teams"
import * as TeamsOracle from "@divisi/gym/TeamsOracle"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import type * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Lots from "./Lots.ts"
import { syllables } from "./wordsOfBreadth.ts"

// -------------------------------------------------------------------------------------------------------------------
// Teams
// -------------------------------------------------------------------------------------------------------------------

/** A team whose descriptions have words for kinds that nobody knows: then the rest of them has to do. */
const inStrangeWords = (team: Teams.Team, index: number): Teams.Team => {
  const wordOf = (kind: FamilyName) => {
    const at = 31 * index + 7 * names.indexOf(kind)
    return [at, 3 * at + 1, 5 * at + 2].map((one) => syllables[one % syllables.length]!).join("")
  }
  const told = ({ pieces }: Teams.Member) =>
    pieces.map(({ kinds = [], text }) => (kinds.length === 0 ? text : wordOf(kinds[0]!))).join("")
  const workers = team.pool.workers.map((worker, at) => ({ ...worker, description: told(team.members[at]!) }))
  return { ...team, pool: WorkerPool.makeUnsafe(workers) }
}

/** How many words of a blurred team are not what they were. */
const blurredWords = 0.5

/** A team whose descriptions are hard to read: a reader is then as unsure as with words that it has not met. */
const blurred = (team: Teams.Team, index: number): Teams.Team => {
  const of = Lots.make(index)
  const told = (text = "") => text.replace(/[a-z]+/gi, (word) => Lots.blurred(of, word, blurredWords))
  const workers = team.pool.workers.map((worker) => ({ ...worker, description: told(worker.description) }))
  return { ...team, pool: WorkerPool.makeUnsafe(workers) }
}

const mixture: ReadonlyArray<
  Partial<Teams.Options> & { readonly as?: (team: Teams.Team, index: number) => Teams.Team }
> = [
  {},
  { as: inStrangeWords },
  { as: blurred },
  { workers: [2, 4] },
  { truth: "doubtful", record: 20 },
  { truth: "doubtful" },
  { careless: true },
  { careless: true, truth: "doubtful", record: 20 }
]

/** Training teams, as many of each kind. */
export const teamsOf = (seed: number, count: number): ReadonlyArray<Teams.Team> =>
  mixture.flatMap(({ as, ...options }, index) => {
    const teams = Teams.draw({
      workers: [2, 14],
      ...options,
      split: "train",
      seed: 5_000_011 + 97 * seed + index,
      count: Math.ceil(count / mixture.length)
    })
    return as === undefined ? teams : teams.map(as)
  })

// -------------------------------------------------------------------------------------------------------------------
// From the oracle
// -------------------------------------------------------------------------------------------------------------------

/** What the oracle would choose where the reader stands. */
export interface Lesson {
  readonly features: ChoiceHead.Features
  readonly wanted: ChoiceHead.Wanted
  readonly values: Values
}

/** What choices are worth: the share of right answers less the price. */
interface Values {
  /** For each worker, of each checker, and last of none. */
  readonly asked: ReadonlyArray<ReadonlyArray<number>>
  readonly refused: number
}

/** What a call takes off the reward, and what ten times the cost does: five times what it does for the oracle. */
const prices = { call: 0.01, tenfold: 0.15 } as const

/** Of any worker of a drawn team. */
const leastPrice = 0.2

/** The worth of calls at these prices, of which a share of answers is right. */
const worth = (right: number, calls: ReadonlyArray<number>): number =>
  right -
  prices.call * calls.length -
  prices.tenfold * Math.log10(calls.reduce((sum, one) => sum + one, 0) / leastPrice)

/** Where nobody can answer, whoever is asked says so: to ask is right, and dearer than to refuse. */
const valuesOf = ({ members }: Teams.Team, family: FamilyName, isAnswerable: boolean): Values => ({
  asked: members.map(({ profile }) => {
    const price = profile.pricing.outputPerMillion
    const right = isAnswerable ? Teams.expected(profile, family) : 1
    const checked = members.map(({ profile: checker }) => {
      // A checker finds a right attempt among two; who is no checker answers by itself.
      const isChecker = checker.checksOnly === true && checker.skills[family] !== undefined
      const found = !isAnswerable ? 1 : isChecker ? 1 - (1 - right) ** 2 : Teams.expected(checker, family)
      return worth(found, [price, price, checker.pricing.outputPerMillion])
    })
    return [...checked, worth(right, [price])]
  }),
  refused: isAnswerable ? 0 : 1
})

const evenly = (ordinals: ReadonlyArray<number>, count: number): ReadonlyArray<number> => {
  const chosen = ordinals.length === 0 ? [count] : ordinals
  return Array.from({ length: count + 1 }, (_, ordinal) => (chosen.includes(ordinal) ? 1 / chosen.length : 0))
}

/** Lessons from teams whose questions the reader cuts into as many parts as they have. */
export const lessons = (
  teams: ReadonlyArray<Teams.Team>,
  situationsOf: ReturnType<typeof ReadingPolicy.read>
): ReadonlyArray<Lesson> =>
  teams.flatMap((team): ReadonlyArray<Lesson> => {
    const { parts } = Gym.metadata(team.task)!
    const situations = situationsOf(Task.question(team.task), team.pool)
    if (situations.length !== parts.length) return []
    const count = team.members.length
    return situations.map(({ features }, index) => {
      const { family } = parts[index]!
      const { checkers, workers } = TeamsOracle.choose(team, family)
      const worker = evenly(workers, count)
      const [given] = workers
      return {
        features,
        values: valuesOf(team, family, workers.length > 0),
        wanted: given === undefined ? { worker } : { worker, checker: { given, shares: evenly(checkers, count) } }
      }
    })
  })

/** How often a lesson has workers of whom nothing was read, and how many these are. */
const [unreadLessons, unreadWorkers] = [0.1, 0.5]

/** Where in the features stands what was read of a worker's skills. */
const ofSkills = [0, 1, 12]

/**
 * A lesson in which nothing was read of some workers: a reader is surer of the words that it has learned from than of
 * others, and what to go by without it has to be learned, too.
 */
export const partlyUnread = (lesson: Lesson, uniform: () => number): Lesson => {
  if (uniform() >= unreadLessons) return lesson
  const features = lesson.features.map((own) =>
    uniform() < unreadWorkers ? own.map((value, at) => (ofSkills.includes(at) ? 0 : value)) : own
  )
  return { ...lesson, features }
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Adam, upwards. */
export const ascent = (weights: ChoiceHead.Weights) => {
  const [first, second] = [new Float64Array(weights.length), new Float64Array(weights.length)]
  let steps = 0
  return (gradient: ChoiceHead.Weights, rate: number): void => {
    steps += 1
    for (let at = 0; at < weights.length; at++) {
      first[at] = 0.9 * first[at]! + 0.1 * gradient[at]!
      second[at] = 0.99 * second[at]! + 0.01 * gradient[at]! ** 2
      const mean = first[at]! / (1 - 0.9 ** steps)
      const square = second[at]! / (1 - 0.99 ** steps)
      weights[at]! += (rate * mean) / (Math.sqrt(square) + 1e-8)
    }
  }
}

/** Adds the mean gradient of lessons. */
export const addLessons = (
  sums: ChoiceHead.Weights,
  weights: ChoiceHead.Weights,
  some: ReadonlyArray<Lesson>,
  share = 1
): void => {
  for (const { features, wanted } of some) {
    ChoiceHead.addGradient(sums, weights, features, wanted, share / some.length)
  }
}

/** Shares that differ from these odds by what is worth more than their mean, and the mean. */
const towards = (odds: ReadonlyArray<number>, values: ReadonlyArray<number>) => {
  const shares = odds.map(Math.exp)
  const mean = shares.reduce((sum, share, at) => sum + share * values[at]!, 0)
  return { mean, shares: shares.map((share, at) => share + share * (values[at]! - mean)) }
}

/** Whom a worker so unlikely is checked by is not looked at. */
const leastShare = 0.01

/**
 * Adds the mean gradient of what choices are worth: a worker who is nearly as good is nearly as good a choice, a
 * careless one is worth more where a checker is chosen, and to refuse what somebody might have answered costs more than
 * to ask in vain.
 */
export const addValues = (
  sums: ChoiceHead.Weights,
  weights: ChoiceHead.Weights,
  some: ReadonlyArray<Lesson>,
  share = 1
): void => {
  for (const { features, values } of some) {
    const odds = ChoiceHead.odds(weights, features)
    const checked = values.asked.map((own, given) => ({ given, ...towards(odds.checker(given), own) }))
    const worker = towards(odds.worker, [...checked.map(({ mean }) => mean), values.refused]).shares
    ChoiceHead.addGradient(sums, weights, features, { worker }, share / some.length)
    for (const { given, shares } of checked) {
      const likely = Math.exp(odds.worker[given]!)
      if (likely < leastShare) continue
      ChoiceHead.addGradient(sums, weights, features, { checker: { given, shares } }, (likely * share) / some.length)
    }
  }
}
