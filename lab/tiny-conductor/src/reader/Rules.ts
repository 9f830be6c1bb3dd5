/**
 * Baselines for generated teams: the best single worker, the lexical rule, a rule that knows the grammar's words and
 * cues, a router that learns from past answers, and the oracle.
 */
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import { Family } from "@divisi/gym"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import { PartsPlan } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"
import * as Teams from "../world/Teams.ts"
import * as TeamsOracle from "../world/TeamsOracle.ts"
import type { Guess } from "./Kinds.ts"

// -------------------------------------------------------------------------------------------------------------------
// Who knows the workers
// -------------------------------------------------------------------------------------------------------------------

type Known = ReadonlyMap<string, Teams.Team>

const ask = (worker: number) => ({ workflow: { steps: [{ worker, subtask: "", access: [] }] } })

/** The index of the greatest value. */
const greatest = (values: ReadonlyArray<number>): number => values.indexOf(Math.max(...values))

/** Asks only the worker that is the best of the team over all kinds. */
const bestSingle = (teams: Known): Policy.Policy => ({
  name: "best single",
  propose: ({ task }) => {
    const { members } = teams.get(task.id)!
    const means = members.map(({ profile }) =>
      Family.names.reduce((sum, name) => sum + Teams.expected(profile, name), 0)
    )
    return Effect.succeed(ask(greatest(means)))
  }
})

/** Past answers of each worker that the router learns from. */
const pastAnswers = 20

/** Asks one worker: the one that was most often right in past answers to the guessed kind of question. */
const router = (teams: Known, guess: Guess): Policy.Policy => ({
  name: "router",
  propose: ({ task }) => {
    const kind = guess(Task.question(task))
    const shares = Teams.pastAnswers(teams.get(task.id)!, pastAnswers).map((tallies) => {
      const { asked, right } = tallies.get(kind) ?? { right: 0, asked: 0 }
      return (right + 1) / (asked + 2)
    })
    return Effect.succeed(ask(greatest(shares)))
  }
})

// -------------------------------------------------------------------------------------------------------------------
// Who knows the grammar
// -------------------------------------------------------------------------------------------------------------------

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

const anyOf = (phrases: ReadonlyArray<string>): RegExp =>
  new RegExp(
    `(?<![a-z])(?:${[...phrases]
      .sort((left, right) => right.length - left.length)
      .map(escaped)
      .join("|")})(?![a-z])`,
    "i"
  )

const patterns = {
  kinds: new Map(Family.names.map((name) => [name, anyOf(Teams.knownWords.get(name)!)])),
  weak: anyOf([...Teams.knownCues.weak, "weaknesses", "bad", "not"]),
  careless: anyOf(Teams.knownCues.careless),
  checks: anyOf(Teams.knownCues.checks),
  general: anyOf(Teams.knownCues.general)
}

const cueWords = { good: 1, weak: -1, none: 0 } as const

/** The value for a kind in the record of a worker. */
const recorded = (description: string, kind: Family.FamilyName): number | undefined => {
  const level = new RegExp(`${Teams.recordName[kind]} \\d+/\\d+ (high|low)`).exec(description)?.[1]
  return level === undefined ? undefined : level === "high" ? cueWords.good : cueWords.weak
}

/** Whether a description says that a worker is good at a kind (1), weak at it (-1), or nothing about it. */
const says = (description: string, kind: Family.FamilyName): number => {
  const known = recorded(description, kind)
  if (known !== undefined) return known
  const clauses = description.split(/[.;|\n]|, but | - /)
  const named = clauses.filter((clause) => patterns.kinds.get(kind)!.test(clause))
  if (named.length === 0) return cueWords.none
  return named.some((clause) => patterns.weak.test(clause)) ? cueWords.weak : cueWords.good
}

/** The worker to ask for a kind, by the cues: the cheapest of those that are good at it, or a generalist. */
const chosen = (workers: ReadonlyArray<Worker>, kind: Family.FamilyName) => {
  const rated = workers.map(({ description = "", pricing }, ordinal) => ({
    ordinal,
    says: says(description, kind),
    isChecker: patterns.checks.test(description),
    isCareless: patterns.careless.test(description),
    isGeneral: patterns.general.test(description),
    price: pricing?.outputPerMillion ?? 0
  }))
  const score = (one: (typeof rated)[number]) =>
    one.says + (one.isGeneral ? 0.6 : 0) - (one.isCareless ? 0.3 : 0) - 0.03 * Math.log10(one.price + 0.01)
  const able = rated.filter((one) => !one.isChecker && (one.says > 0 || one.isGeneral))
  if (able.length === 0) return undefined
  const best = able.reduce((found, one) => (score(one) > score(found) ? one : found))
  const checker = best.isCareless ? rated.find((one) => one.isChecker && one.says > 0) : undefined
  return { worker: best.ordinal, checker: checker?.ordinal }
}

/** The rule that knows the lexicon and the cues. */
const cues = (guess: Guess): Policy.Policy => ({
  name: "lexicon and cues",
  propose: ({ maxSteps, pool, task }) => {
    const parts = LexicalPolicy.split(Task.question(task)).map((part) => ({
      ...part,
      choice: chosen(pool.workers, guess(part.text))
    }))
    const found = parts.flatMap(({ choice, ...part }) => (choice === undefined ? [] : [{ ...part, ...choice }]))
    if (found.length < parts.length) {
      const detail = "Nobody on the team can answer this."
      return Effect.fail(new Policy.PolicyError({ policy: "lexicon and cues", detail, isRefusal: true }))
    }
    return Effect.succeed({ workflow: PartsPlan.make(found, maxSteps) })
  }
})

/** All of them. */
export const policies = (teams: ReadonlyArray<Teams.Team>, guess: Guess): ReadonlyArray<Policy.Policy> => {
  const known = new Map(teams.map((team) => [team.task.id, team]))
  return [bestSingle(known), LexicalPolicy.make(), cues(guess), router(known, guess), TeamsOracle.make(teams)]
}
