/** Trains the head of a reading Conductor on the true properties of generated teams and the values of choices. */
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Teams from "../world/Teams.ts"
import * as Breadth from "./Breadth.ts"
import * as Examples from "./Examples.ts"
import * as Lots from "./Lots.ts"
import { syllables } from "./wordsOfBreadth.ts"

// -------------------------------------------------------------------------------------------------------------------
// Teams
// -------------------------------------------------------------------------------------------------------------------

/** A team with other descriptions. */
const described = (team: Teams.Team, told: (ordinal: number) => string | undefined): Teams.Team => {
  const workers = team.pool.workers.map((worker, ordinal) => ({ ...worker, description: told(ordinal) }))
  return { ...team, pool: WorkerPool.makeUnsafe(workers) }
}

const joined = (pieces: ReadonlyArray<Teams.Piece>): string => pieces.map(({ text }) => text).join("")

/** A team whose descriptions have unknown words for kinds, so that a reader must use the rest. */
const inStrangeWords = (team: Teams.Team, index: number): Teams.Team => {
  const wordOf = (kind: Family.FamilyName) => {
    const at = 31 * index + 7 * Family.names.indexOf(kind)
    return [at, 3 * at + 1, 5 * at + 2].map((one) => syllables[one % syllables.length]!).join("")
  }
  return described(team, (ordinal) =>
    team.members[ordinal]!.pieces.map(({ kinds = [], text }) => (kinds.length === 0 ? text : wordOf(kinds[0]!))).join(
      ""
    )
  )
}

/** The share of changed words in a blurred team. */
const blurredWords = 0.5

/** A team whose descriptions are hard to read, so that a reader is as unsure as with unknown words. */
const blurred = (team: Teams.Team, index: number): Teams.Team => {
  const of = Lots.make(index)
  return described(team, (ordinal) =>
    (team.pool.workers[ordinal]!.description ?? "").replace(/[a-z]+/gi, (word) => Lots.blurred(of, word, blurredWords))
  )
}

/** The text of a description, without the record at its end. */
const factsOf = (pieces: ReadonlyArray<Teams.Piece>): Breadth.Facts => {
  const of = (mark: Teams.Piece["mark"]) => [
    ...new Set(pieces.flatMap((piece) => (piece.mark === mark ? (piece.kinds ?? []) : [])))
  ]
  const flag = pieces.find((piece) => piece.flag !== undefined)?.flag
  return { good: of("good"), weak: of("weak"), checks: of("check"), flag }
}

/**
 * A team that is described in phrases which were kept from the reader: it is as unsure of them as of what it will meet,
 * so here the head learns how far it can be trusted.
 */
const inKeptPhrases = (team: Teams.Team, index: number): Teams.Team =>
  described(team, (ordinal) => {
    const [said, record] = Examples.halves(team.members[ordinal]!)
    return `${Breadth.told(101 * index + ordinal, factsOf(said), "development")}${joined(record)}`
  })

/** A team in which every second worker with weaknesses mentions only those. */
const modest = (team: Teams.Team, index: number): Teams.Team =>
  described(team, (ordinal) => {
    const [said, record] = Examples.halves(team.members[ordinal]!)
    const facts = factsOf(said)
    if (facts.weak.length === 0 || (index + ordinal) % 2 === 1) return team.pool.workers[ordinal]!.description
    return `${Breadth.told(103 * index + ordinal, { ...facts, good: [] }, "development")}${joined(record)}`
  })

/** A team in which the dearest and the cheapest worker have each other's descriptions. */
const exchanged = (team: Teams.Team): Teams.Team => {
  const { workers } = team.pool
  const byPrice = [...workers.keys()].sort(
    (left, right) =>
      team.members[left]!.profile.pricing.outputPerMillion - team.members[right]!.profile.pricing.outputPerMillion
  )
  const [cheapest, dearest] = [byPrice[0]!, byPrice.at(-1)!]
  return described(
    team,
    (ordinal) => workers[ordinal === cheapest ? dearest : ordinal === dearest ? cheapest : ordinal]!.description
  )
}

const mixture: ReadonlyArray<
  Partial<Teams.Options> & { readonly as?: (team: Teams.Team, index: number) => Teams.Team }
> = [
  {},
  { as: inStrangeWords },
  { as: blurred },
  // Most of what it will meet are phrases that the readers have not met.
  { as: inKeptPhrases },
  { as: inKeptPhrases },
  { as: inKeptPhrases },
  { as: inKeptPhrases, careless: true },
  { as: inKeptPhrases, careless: true },
  { as: inKeptPhrases, careless: true, prices: "by skill" },
  { as: inKeptPhrases, workers: [2, 4] },
  { as: inKeptPhrases, truth: "doubtful", record: 20 },
  { as: inKeptPhrases, prices: "by skill" },
  { as: inKeptPhrases, prices: "by skill" },
  { as: modest },
  { as: modest, prices: "by skill" },
  { workers: [2, 4] },
  { truth: "doubtful", record: 20 },
  { truth: "doubtful" },
  { careless: true },
  { prices: "by skill" },
  { prices: "by skill", as: inKeptPhrases },
  { prices: "by skill", as: blurred },
  { prices: "by skill", careless: true, truth: "doubtful", record: 20 },
  { prices: "by skill", as: exchanged },
  { prices: "by skill", as: exchanged },
  { prices: "by skill", as: exchanged },
  { prices: "by skill", as: exchanged }
]

/** Training teams, equally many of each kind. */
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
// What is true of teams
// -------------------------------------------------------------------------------------------------------------------

/** What the reader knows of a part of a question, and the true values. */
export interface Lesson {
  readonly features: ChoiceHead.Features
  /** In USD per million tokens of output. */
  readonly prices: ReadonlyArray<number>
  readonly chances: ReadonlyArray<ChoiceHead.Chances>
  /** What is known of each earlier part, and whether this part needs it. */
  readonly needs: ReadonlyArray<{ readonly features: ReadonlyArray<number>; readonly isNeeded: boolean }>
}

/** The true values of a worker. A checker finds a right answer if there is one. */
const chancesOf = ({ profile }: Teams.Team["members"][number], family: Family.FamilyName): ChoiceHead.Chances => {
  const alone = Teams.expected(profile, family)
  const isChecker = profile.checksOnly === true && profile.skills[family] !== undefined
  return { alone, twice: 1 - (1 - alone) ** 2, checks: isChecker ? 1 : 0 }
}

/** Lessons from teams whose questions the reader splits into the correct number of parts. */
export const lessons = (
  teams: ReadonlyArray<Teams.Team>,
  situationsOf: ReturnType<typeof ReadingPolicy.read>
): ReadonlyArray<Lesson> =>
  teams.flatMap((team): ReadonlyArray<Lesson> => {
    const { parts } = Gym.metadata(team.task)!
    const situations = situationsOf(Task.question(team.task), team.pool)
    if (situations.length !== parts.length) return []
    const prices = team.members.map(({ profile }) => profile.pricing.outputPerMillion)
    return situations.map(({ features, needs }, index) => {
      const part = parts[index]!
      return {
        features,
        prices,
        chances: team.members.map((member) => chancesOf(member, part.family)),
        needs: needs.map((own, earlier) => ({ features: own, isNeeded: part.needs.includes(earlier) }))
      }
    })
  })

/** The share of lessons with unread workers, and the share of these workers. */
const [unreadLessons, unreadWorkers] = [0.1, 0.5]

/** The indices of the features that describe a worker's skills. */
const ofSkills = [0, 1, 12]

/**
 * A lesson in which some workers have no read skills. A reader is more certain of words that it was trained on than of
 * others, so the head must also learn to choose without skills.
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

/** A need that is missed costs the answer, one too many a little time. */
const needed = 5

/** Adds the mean gradient of the lessons about workers and about the needs of parts. */
export const addLessons = (
  sums: ChoiceHead.Weights,
  weights: ChoiceHead.Weights,
  some: ReadonlyArray<Lesson>,
  share = 1
): void => {
  for (const { chances, features, needs } of some) {
    ChoiceHead.addChances(sums, weights, features, chances, share / some.length)
    for (const { features: own, isNeeded } of needs) {
      const [shares, scale] = isNeeded ? [[0, 1], needed] : [[1, 0], 1]
      ChoiceHead.addNeedGradient(sums, weights, own, shares, (scale * share) / some.length)
    }
  }
}

/** Shares that differ from these odds by how much more than their mean they are worth, and the mean. */
const towards = (odds: ReadonlyArray<number>, values: ReadonlyArray<number>) => {
  const shares = odds.map(Math.exp)
  const mean = shares.reduce((sum, share, at) => sum + share * values[at]!, 0)
  return { mean, shares: shares.map((share, at) => share + share * (values[at]! - mean)) }
}

/** Whom a worker so unlikely is checked by is not looked at. */
const leastShare = 0.01

/** The smallest and largest weight of prices. */
const [leastWeight, mostWeight] = [0.03, 0.6]

/** A lesson as a team, in which a drawn number determines the weight of prices. */
const priced = ({ features, prices }: Lesson, lot: number): ChoiceHead.Team => {
  const priceWeight = leastWeight * (mostWeight / leastWeight) ** lot
  return { features, costs: prices.map((price) => ReadingPolicy.callCost(price, priceWeight)) }
}

/**
 * Adds the mean gradient of the value of choices, with varying weights of prices. If the true values of a worker are
 * not known, the head learns how much is lost by trusting it.
 */
export const addValues = (
  sums: ChoiceHead.Weights,
  weights: ChoiceHead.Weights,
  some: ReadonlyArray<Lesson>,
  uniform: () => number
): void => {
  for (const lesson of some) {
    const { chances } = lesson
    const team = priced(lesson, uniform())
    const odds = ChoiceHead.odds(weights, team)
    const checked = chances.map((_, given) => {
      const values = Array.from({ length: chances.length + 1 }, (_, checker) => {
        const { right, cost } = ChoiceHead
        return right(chances, given, checker) - cost(team.costs, given, checker)
      })
      return { given, ...towards(odds.checker(given), values) }
    })
    const worker = towards(odds.worker, [...checked.map(({ mean }) => mean), 0]).shares
    ChoiceHead.addGradient(sums, weights, team, { worker }, 1 / some.length)
    for (const { given, shares } of checked) {
      const likely = Math.exp(odds.worker[given]!)
      if (likely < leastShare) continue
      ChoiceHead.addGradient(sums, weights, team, { checker: { given, shares } }, likely / some.length)
    }
  }
}
