/**
 * Calculates the verdict at equal tokens: compares each policy with self-consistency by the best single worker, which
 * gets as many answers per question as the policy's output tokens allow.
 *
 * Two papers from 2026 (arXiv 2604.02460, 2606.13003) report that, with equal output tokens, a single model often
 * matches a team. A team is therefore worth it only if it is better than several answers from its best member. It is
 * not worth it if it is worse, or if the interval of the difference is below a small margin.
 */
import * as Statistics from "../statistics/Statistics.ts"
import type { EqualBudget, Plan, Sample } from "./Report.ts"
import { figure, scored } from "./summary.ts"

// -------------------------------------------------------------------------------------------------------------------
// Single workers
// -------------------------------------------------------------------------------------------------------------------

/** A policy that sends the question itself to one worker, once or several times, and uses the most frequent answer. */
interface Alone {
  readonly policy: string
  readonly worker: string
  /** Number of answers per question. */
  readonly votes: number
  readonly score: number
  /** Mean output tokens per question. */
  readonly tokens: number
  readonly costUsd: number
  readonly samples: ReadonlyArray<Sample>
}

const tokensOf = (samples: ReadonlyArray<Sample>): number =>
  Statistics.mean(samples.map(({ outputTokens }) => outputTokens))

const scoreOf = (samples: ReadonlyArray<Sample>): number => Statistics.mean(samples.flatMap(({ score }) => score ?? []))

/** Returns the worker in a sample whose steps all send the question itself to one worker, without other calls. */
const workerOf = ({ calls, failedCalls, rounds, steps }: Sample): string | undefined => {
  const [first] = steps
  const isAlone = steps.every(
    ({ access, subtask = "", worker }) => worker === first!.worker && access.length === 0 && subtask === ""
  )
  return first !== undefined && rounds === 1 && isAlone && calls - failedCalls <= steps.length
    ? first.worker
    : undefined
}

const aloneOf = (policy: string, samples: ReadonlyArray<Sample>): Alone | undefined => {
  const measured = samples.filter(({ missing }) => missing === undefined)
  const [first] = measured
  const worker = first && workerOf(first)
  if (worker === undefined) return undefined
  const votes = first!.steps.length
  const isAlone = measured.every((sample) => workerOf(sample) === worker && sample.steps.length === votes)
  if (!isAlone) return undefined
  const costUsd = Statistics.mean(measured.map(({ costUsd }) => costUsd))
  return { policy, worker, votes, score: scoreOf(measured), tokens: tokensOf(measured), costUsd, samples: measured }
}

/** Returns the worker with the best single answers. If several are equal, returns the cheapest. */
const bestOf = (all: ReadonlyArray<Alone>): Alone | undefined =>
  all
    .filter(({ score, tokens, votes }) => votes === 1 && tokens > 0 && !Number.isNaN(score))
    .toSorted((a, b) => b.score - a.score || a.costUsd - b.costUsd)[0]

// -------------------------------------------------------------------------------------------------------------------
// Votes
// -------------------------------------------------------------------------------------------------------------------

/** Returns the answer that counts as a vote. `undefined` for a sample without a readable answer, which abstains. */
const keyOf = ({ answer, answerSha256, extracted, isUnparsed }: Sample): string | undefined =>
  isUnparsed === true ? undefined : (extracted ?? answer ?? answerSha256)

/** Returns the score of the most frequent answer, or the mean of the scores if several are equally frequent. */
const scoreOfVote = (answers: ReadonlyArray<Sample>): number => {
  const counts = new Map<string, { count: number; readonly score: number }>()
  for (const answer of answers) {
    const key = keyOf(answer)
    if (key === undefined) continue
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { count: 1, score: answer.score ?? 0 })
    else known.count += 1
  }
  const most = Math.max(...Array.from(counts.values(), ({ count }) => count))
  const winners = [...counts.values()].filter(({ count }) => count === most)
  return winners.length === 0 ? 0 : Statistics.mean(winners.map(({ score }) => score))
}

/**
 * Returns the mean score of votes with the given number of answers. Answers are used in rotation, so that each is the
 * first in one vote.
 */
const meanVote = (answers: ReadonlyArray<Sample>, votes: number): number =>
  Statistics.mean(
    answers.map((_, from) =>
      scoreOfVote(Array.from({ length: votes }, (_, next) => answers[(from + next) % answers.length]!))
    )
  )

/**
 * Returns the scores of votes with the given number of answers per question. A fractional number is interpolated: a
 * share of the questions gets one more answer. Questions with fewer answers are left out.
 */
const votesOf = ({ samples }: Alone, votes: number): ReadonlyArray<Statistics.Sample> =>
  [...Map.groupBy(samples, ({ task }) => task)].flatMap(([question, some]) => {
    if (some.length < votes) return []
    const answers = some.toSorted((a, b) => a.epoch - b.epoch)
    const whole = Math.floor(votes)
    const part = votes - whole
    const score = meanVote(answers, whole)
    return [{ question, score: part === 0 ? score : (1 - part) * score + part * meanVote(answers, whole + 1) }]
  })

// -------------------------------------------------------------------------------------------------------------------
// Verdicts
// -------------------------------------------------------------------------------------------------------------------

type Uncorrected = Omit<EqualBudget, "pAdjusted" | "verdict"> & { readonly p: number | null }

/**
 * Returns the votes to compare a policy with: as many answers by the best worker as the policy's tokens allow, or as
 * many as exist, but at least one. A measured self-consistency policy may exceed the budget by less than one answer.
 */
const opponentOf = (best: Alone, all: ReadonlyArray<Alone>, paid: number) => {
  const epochs = Math.max(
    ...Map.groupBy(best.samples, ({ task }) => task)
      .values()
      .map(({ length }) => length)
  )
  const measured = all
    .filter(({ votes, worker }) => worker === best.worker && votes > 1 && votes <= Math.ceil(paid))
    .toSorted((a, b) => b.votes - a.votes)[0]
  const resampled = Math.min(Math.max(1, paid), epochs)
  return measured !== undefined && measured.votes > resampled
    ? { votes: measured.votes, scores: measured.samples.map(scored) }
    : { votes: resampled, scores: votesOf(best, resampled) }
}

const against = (
  { benchmark, policy }: Pick<EqualBudget, "benchmark" | "policy">,
  samples: ReadonlyArray<Sample>,
  best: Alone,
  all: ReadonlyArray<Alone>,
  { confidence, seed }: { readonly confidence: number; readonly seed: number }
): Uncorrected => {
  const tokens = tokensOf(samples.filter(({ missing }) => missing === undefined))
  const paid = Number((tokens / best.tokens).toFixed(2))
  const { scores, votes } = opponentOf(best, all, paid)
  const { interval, mean, minimumDetectable, p, questions } = Statistics.difference(samples.map(scored), scores, {
    confidence,
    seed
  })
  return {
    benchmark,
    policy,
    worker: best.worker,
    tokens: figure(tokens),
    workerTokens: figure(best.tokens),
    paid,
    votes,
    score: figure(Statistics.mean(scores.flatMap(({ score }) => score ?? []))),
    mean: figure(mean),
    low: figure(interval.low),
    high: figure(interval.high),
    confidence,
    margin: equalBudgetMargin,
    questions,
    minimumDetectable: figure(minimumDetectable),
    p: questions === 0 ? null : figure(p)
  }
}

/** Score difference up to which a policy is not worth it, even if it may be better. */
const equalBudgetMargin = 0.02

/** Budgets that differ by at most this number of answers are equal. */
const tolerance = 0.05

const verdictOf = (one: Uncorrected, pAdjusted: number | null): EqualBudget["verdict"] => {
  const { confidence, high, mean, paid, votes } = one
  const isSure = pAdjusted !== null && pAdjusted < 1 - confidence && mean !== null
  // A worker with fewer answers than the tokens allow may lose for that reason, and one with more may win because of
  // it.
  if (isSure && mean > 0) return votes >= paid - tolerance ? "worth-it" : "undecided"
  const isNoBetter = (isSure && mean < 0) || (high !== null && high < equalBudgetMargin)
  return isNoBetter && votes <= paid + tolerance ? "not-worth-it" : "undecided"
}

/**
 * Returns the verdict for every policy that is not a single worker, on each benchmark where a worker was measured
 * alone.
 */
export const equalBudgetOf = (
  { benchmarks, config }: Plan,
  samples: ReadonlyArray<Sample>
): ReadonlyArray<EqualBudget> => {
  const found = benchmarks.flatMap(({ benchmark }) => {
    const bySample = Map.groupBy(
      samples.filter((sample) => sample.benchmark === benchmark),
      ({ policy }) => policy
    )
    const alone = config.policies.flatMap(({ name }) => aloneOf(name, bySample.get(name) ?? []) ?? [])
    const best = bestOf(alone)
    if (best === undefined) return []
    const isAlone = new Set(alone.map(({ policy }) => policy))
    return config.policies
      .filter(({ name }) => !isAlone.has(name) && bySample.get(name)?.some(({ missing }) => missing === undefined))
      .map(({ name }) => against({ benchmark, policy: name }, bySample.get(name)!, best, alone, config))
  })
  const known = found.filter(({ p }) => p !== null)
  const adjusted = Statistics.holm(known.map(({ p }) => p!))
  return found.map((one) => {
    const { p, ...rest } = one
    const pAdjusted = p === null ? null : adjusted[known.indexOf(one)]!
    return { ...rest, pAdjusted, verdict: verdictOf(one, pAdjusted) }
  })
}
