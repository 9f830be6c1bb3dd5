/** Replays policies over recorded calls. No calls are made, and questions that lack a required record are omitted. */

import * as Statistics from "@divisi/evals/Statistics"
import * as Calculator from "./Calculator.ts"
import * as Choosers from "./Choosers.ts"
import { type Answers, all, type Chooser, nameOf, type Outcome, samples, usdOf, workers } from "./Policies.ts"
import * as Questions from "./Questions.ts"
import type { Recorded } from "./Records.ts"

/** One policy on one kind. */
export interface Line {
  readonly policy: string
  readonly kind: Questions.Kind
  readonly isSeen: boolean
  /** Questions with all records that the policy needs. */
  readonly questions: number
  readonly accuracy: number | null
  /** Generated tokens per question. */
  readonly tokens: number | null
  readonly usd: number | null
  /** The single worker and way with the highest accuracy on these questions, among those with a record of each. */
  readonly best: string | null
  /** The comparison with self-consistency of the best worker at an equal number of generated tokens. */
  readonly atEqualTokens: Comparison | null
  /** The same comparison at equal cost, including prompts. */
  readonly atEqualMoney: Comparison | null
}

/** A policy compared with votes of the best worker. */
export interface Comparison {
  /** The answers of the best worker that the policy's budget pays for. */
  readonly votesPaid: number
  /** The answers of the best worker that were recorded and voted on; if fewer than `votesPaid`, budgets differ. */
  readonly votes: number
  /** The stronger one on these questions: the votes, or one greedy answer of the best worker. */
  readonly opponent: "votes" | "greedy"
  /** Accuracy minus that of the opponent, on the same questions, with its 95 % interval and p-value. */
  readonly difference: number | null
  readonly low: number | null
  readonly high: number | null
  readonly p: number | null
}

/** The records of each question, by the question's id. */
export const answersOf = (records: ReadonlyArray<Recorded>): ReadonlyMap<string, Answers> =>
  new Map(
    [...Map.groupBy(records, ({ question }) => question)].map(([id, some]) => [
      id,
      new Map(some.map((record) => [nameOf(record), record]))
    ])
  )

// -------------------------------------------------------------------------------------------------------------------
// The best worker
// -------------------------------------------------------------------------------------------------------------------

const mean = (values: ReadonlyArray<number>): number | null => (values.length === 0 ? null : Statistics.mean(values))

/** The worker and way with the highest accuracy among those with a record of every one of these questions. */
const bestOf = (some: ReadonlyArray<Answers>, sampled: ReadonlyArray<string>): string | undefined => {
  const accuracyOf = (name: string) => Statistics.mean(some.map((answers) => Number(answers.get(name)!.correct)))
  return workers
    .filter((name) => some.length > 0 && some.every((answers) => answers.has(name)))
    .map((name) => ({ name, accuracy: accuracyOf(name), isSampled: sampled.includes(name) }))
    .toSorted((a, b) => b.accuracy - a.accuracy || Number(b.isSampled) - Number(a.isSampled))
    .at(0)?.name
}

/** The workers of which samples are recorded. */
const sampledOf = (records: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const sampled = new Set(records.flatMap(({ model, sample, way }) => (sample === 0 ? [] : [`${model}/${way}`])))
  return workers.filter((name) => sampled.has(name))
}

// -------------------------------------------------------------------------------------------------------------------
// Votes
// -------------------------------------------------------------------------------------------------------------------

/** The samples of a worker, or its greedy answer if it was not sampled. */
const drawsOf = (answers: Answers, name: string): ReadonlyArray<Recorded> => {
  const sampled = Array.from({ length: samples }, (_, at) => answers.get(`${name}#${at + 1}`) ?? []).flat()
  return sampled.length > 0 ? sampled : [answers.get(name) ?? []].flat()
}

const scoreOfVote = (draws: ReadonlyArray<Recorded>): number => {
  const groups = [
    ...Map.groupBy(
      draws.filter(({ extracted }) => extracted !== undefined),
      ({ extracted }) => extracted
    ).values()
  ]
  const most = Math.max(...groups.map(({ length }) => length))
  return mean(groups.filter(({ length }) => length === most).map(([first]) => Number(first!.correct))) ?? 0
}

/** The mean score of votes of so many draws, taken in turn. */
const scoreOf = (draws: ReadonlyArray<Recorded>, votes: number): number =>
  Statistics.mean(
    draws.map((_, from) =>
      scoreOfVote(Array.from({ length: votes }, (_, next) => draws[(from + next) % draws.length]!))
    )
  )

/** The score for a number of votes that may be fractional, interpolated between the two nearest whole numbers. */
const interpolated = (draws: ReadonlyArray<Recorded>, votes: number): number => {
  const paid = Math.min(votes, draws.length)
  const [lower, share] = [Math.floor(paid), paid % 1]
  return share === 0 ? scoreOf(draws, lower) : (1 - share) * scoreOf(draws, lower) + share * scoreOf(draws, lower + 1)
}

// -------------------------------------------------------------------------------------------------------------------
// Lines
// -------------------------------------------------------------------------------------------------------------------

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** The measure of a budget. */
interface Budget {
  readonly ofOutcome: (outcome: Outcome) => number
  readonly ofRecord: (record: Recorded) => number
}

const tokens: Budget = { ofOutcome: (outcome) => outcome.tokens, ofRecord: ({ outputTokens }) => outputTokens }

const money: Budget = { ofOutcome: ({ usd }) => usd, ofRecord: usdOf }

/** The difference to votes of the best worker for the same budget. */
const comparedOf = (
  of: ReadonlyMap<string, Outcome>,
  best: string | undefined,
  answersOf: ReadonlyMap<string, Answers>,
  { ofOutcome, ofRecord }: Budget
): Comparison | null => {
  if (best === undefined) return null
  const shared = [...of.keys()]
  const draws = new Map(shared.map((id) => [id, drawsOf(answersOf.get(id)!, best)]))
  const each = Statistics.mean(shared.map((id) => mean(draws.get(id)!.map(ofRecord))!))
  const votesPaid = Math.max(1, Statistics.mean(shared.map((id) => ofOutcome(of.get(id)!))) / each)
  const own = shared.map((question) => ({ question, score: Number(of.get(question)!.correct) }))
  const voted = shared.map((question) => ({ question, score: interpolated(draws.get(question)!, votesPaid) }))
  const greedy = shared.map((question) => ({ question, score: Number(answersOf.get(question)!.get(best)!.correct) }))
  const accuracyOf = (scores: typeof voted) => Statistics.mean(scores.map(({ score }) => score))
  // One greedy answer fits into every budget, and samples are often worse.
  const isGreedy = accuracyOf(greedy) > accuracyOf(voted)
  const opponent = isGreedy ? greedy : voted
  const { interval, mean: difference, p } = Statistics.difference(own, opponent)
  return {
    votesPaid,
    votes: Math.min(votesPaid, ...shared.map((id) => draws.get(id)!.length)),
    opponent: isGreedy ? "greedy" : "votes",
    difference: finite(difference),
    low: finite(interval.low),
    high: finite(interval.high),
    p: finite(p)
  }
}

/** Replays all policies. */
export const lines = async (records: ReadonlyArray<Recorded>): Promise<ReadonlyArray<Line>> => {
  const questions = Questions.read()
  const choosers = await Choosers.all(questions, answersOf(records))
  return linesWith(records, choosers, await Calculator.results(questions))
}

/** One line per policy and kind. */
export const linesWith = (
  records: ReadonlyArray<Recorded>,
  choosers: ReadonlyArray<Chooser>,
  calculated: ReadonlyMap<string, boolean>
): ReadonlyArray<Line> => {
  const questions = Questions.read()
  const byQuestion = answersOf(records)
  const sampled = sampledOf(records)
  const policies = all(sampled, choosers, calculated)
  return [...Questions.seen, ...Questions.unseen].flatMap((kind) => {
    const asked = questions.filter((one) => one.kind === kind && byQuestion.has(one.id))
    return policies.map(({ name, run }): Line => {
      const of = new Map(
        asked.flatMap((question) => {
          const outcome = run(byQuestion.get(question.id)!, question)
          return outcome === undefined ? [] : [[question.id, outcome] as const]
        })
      )
      const outcomes = [...of.values()]
      const best = bestOf(
        [...of.keys()].map((id) => byQuestion.get(id)!),
        sampled
      )
      return {
        policy: name,
        kind,
        isSeen: Questions.isSeen(kind),
        questions: of.size,
        accuracy: mean(outcomes.map(({ correct }) => Number(correct))),
        tokens: mean(outcomes.map(({ tokens }) => tokens)),
        usd: mean(outcomes.map(({ usd }) => usd)),
        best: best ?? null,
        atEqualTokens: comparedOf(of, best, byQuestion, tokens),
        atEqualMoney: comparedOf(of, best, byQuestion, money)
      }
    })
  })
}
