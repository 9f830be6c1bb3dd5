/** How the head of a reading Conductor learns to choose: from the oracle of drawn teams, and then from whole runs. */
import * as Conductor from "@divisi/core/Conductor"
import * as Task from "@divisi/core/Task"
import * as Gym from "@divisi/gym/Gym"
import * as GymGrader from "@divisi/gym/GymGrader"
import * as Teams from "@divisi/gym/Teams"
import * as TeamsOracle from "@divisi/gym/TeamsOracle"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Effect from "effect/Effect"
import { retry } from "../gym/ComparedPolicies.ts"

// -------------------------------------------------------------------------------------------------------------------
// Teams
// -------------------------------------------------------------------------------------------------------------------

const mixture: ReadonlyArray<Partial<Teams.Options>> = [
  {},
  { workers: [2, 4] },
  { truth: "doubtful", record: 20 },
  { truth: "doubtful" },
  { careless: true },
  { careless: true, truth: "doubtful", record: 20 }
]

/** Training teams, as many of each kind. */
export const teamsOf = (seed: number, count: number): ReadonlyArray<Teams.Team> =>
  mixture.flatMap((options, index) =>
    Teams.draw({
      workers: [2, 14],
      ...options,
      split: "train",
      seed: 5_000_011 + 97 * seed + index,
      count: Math.ceil(count / mixture.length)
    })
  )

// -------------------------------------------------------------------------------------------------------------------
// From the oracle
// -------------------------------------------------------------------------------------------------------------------

/** What the oracle would choose where the reader stands. */
export interface Lesson {
  readonly features: ChoiceHead.Features
  readonly wanted: ChoiceHead.Wanted
}

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
      const { checkers, workers } = TeamsOracle.choose(team, parts[index]!.family)
      const worker = evenly(workers, count)
      const [given] = workers
      return {
        features,
        wanted: given === undefined ? { worker } : { worker, checker: { given, shares: evenly(checkers, count) } }
      }
    })
  })

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

// -------------------------------------------------------------------------------------------------------------------
// From whole runs
// -------------------------------------------------------------------------------------------------------------------

/** What a call takes off the reward, and what ten times the cost does. */
const prices = { call: 0.01, tenfold: TeamsOracle.priceWeight } as const

interface Rollout {
  readonly reward: number
  readonly choices: ReadonlyArray<readonly [ReadingPolicy.Situation, ChoiceHead.Choice]>
}

/** A run with choices by lot: right or not, less what it cost. */
const rollout = Effect.fnUntraced(function* (
  model: ReadingPolicy.Model,
  { isAnswerable, pool, task }: Teams.Team,
  seed: number
) {
  const choices: Array<readonly [ReadingPolicy.Situation, ChoiceHead.Choice]> = []
  const policy = ReadingPolicy.make(model, {
    temperature: 1,
    onChoice: (situation, choice) => void choices.push([situation, choice])
  })
  let calls = 0
  const conductor = Conductor.make({ policy, pool, retry, maxSteps: 9, seed })
  const { answer, ending, spend } = yield* conductor.run(task, {
    listener: (event) => {
      if (event.type === "step-finished") calls += 1
    }
  })
  const isRight = isAnswerable
    ? ending === "answered" && GymGrader.isCorrect(answer ?? "", task.reference!)
    : ending === "refused"
  const cost = prices.call * calls + prices.tenfold * Math.log10(1000 * spend.costUsd + 0.01)
  return { reward: (isRight ? 1 : 0) - cost, choices } satisfies Rollout
})

const one = (count: number, ordinal: number): ReadonlyArray<number> =>
  Array.from({ length: count + 1 }, (_, at) => (at === ordinal ? 1 : 0))

/**
 * Adds the gradient of group-relative rewards: of several runs of each question, those that did better than their mean
 * are made likelier. Returns the mean reward.
 */
export const addRollouts = Effect.fnUntraced(function* (
  sums: ChoiceHead.Weights,
  model: ReadingPolicy.Model,
  teams: ReadonlyArray<Teams.Team>,
  group: number
) {
  let total = 0
  for (const team of teams) {
    const rollouts = yield* Effect.forEach(Array.from({ length: group }), (_, seed) => rollout(model, team, seed))
    const mean = rollouts.reduce((sum, { reward }) => sum + reward, 0) / group
    total += mean
    for (const { choices, reward } of rollouts) {
      const scale = (reward - mean) / (group * teams.length)
      for (const [{ features }, { checker, worker }] of choices) {
        const count = features.length
        const ofWorker = one(count, worker)
        const wanted =
          worker === count
            ? { worker: ofWorker }
            : { worker: ofWorker, checker: { given: worker, shares: one(count, checker) } }
        ChoiceHead.addGradient(sums, model.head, features, wanted, scale)
      }
    }
  }
  return total / teams.length
})
