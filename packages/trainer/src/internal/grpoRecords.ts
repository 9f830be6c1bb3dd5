/** Converts the groups of an iteration to rollout records and metrics. */
import * as WorkerPool from "@divisi/core/WorkerPool"
import { moments } from "../Advantage.ts"
import type { GrpoMetrics, KindMetrics, RoundMetrics, Shapes } from "../Metrics.ts"
import type { Rollout, Round } from "../Rollout.ts"
import type { CompletionRecord, GroupRecord, RolloutRecord } from "../RolloutRecord.ts"
import type { CompletionAdvantage, GroupAdvantages } from "./grpoBatch.ts"
import { teachesNothing } from "./grpoBatch.ts"

// -------------------------------------------------------------------------------------------------------------------
// Records
// -------------------------------------------------------------------------------------------------------------------

interface Place {
  readonly iteration: number
  readonly phase: string
}

const groupRecord = (advantages: GroupAdvantages, group: number, place: Place): GroupRecord => {
  const { question, samplerVersion } = advantages.group
  const { extraRounds, index, kind, pool, task } = question
  return {
    type: "group",
    ...place,
    group,
    index,
    task: task.id,
    kind,
    messages: task.messages,
    reference: task.reference,
    pool: WorkerPool.ids(pool),
    rounds: 1 + extraRounds,
    samplerVersion,
    zeroVariance: teachesNothing(advantages)
  }
}

const completionRecord = (
  one: CompletionAdvantage,
  base: Pick<CompletionRecord, "group" | "task" | "kind"> & Place
) => {
  const { advantage, index, rollout, round } = one
  const { answer, grade, prompt, sample, text, workflow, workers, reward, detail, ...rest } = round
  const why = rollout.dropped ?? detail
  const record: CompletionRecord = {
    type: "completion",
    iteration: base.iteration,
    phase: base.phase,
    group: base.group,
    rollout: rollout.member,
    round: index,
    task: base.task,
    kind: base.kind,
    promptTokens: prompt.length,
    completion: text,
    tokens: sample.tokens,
    logProbs: sample.logProbs,
    reason: sample.reason,
    reward: rollout.dropped === undefined ? reward : undefined,
    advantage,
    detail: why,
    workflow,
    workers: workflow && workers,
    answer,
    grade,
    ...rest
  }
  return record
}

/** Returns the rollout records of an iteration. */
export const records = (groups: ReadonlyArray<GroupAdvantages>, place: Place): ReadonlyArray<RolloutRecord> =>
  groups.flatMap((advantages, group): ReadonlyArray<RolloutRecord> => {
    const { kind, task } = advantages.group.question
    const base = { ...place, group, task: task.id, kind }
    return [groupRecord(advantages, group, place), ...advantages.completions.map((one) => completionRecord(one, base))]
  })

// -------------------------------------------------------------------------------------------------------------------
// Metrics
// -------------------------------------------------------------------------------------------------------------------

const mean = (values: ReadonlyArray<number>) => moments(values).mean

const share = <A>(items: ReadonlyArray<A>, is: (item: A) => boolean) => mean(items.map((item) => (is(item) ? 1 : 0)))

const sum = <A>(items: ReadonlyArray<A>, of: (item: A) => number) => items.reduce((total, item) => total + of(item), 0)

const lastOf = ({ rounds }: Rollout): Round => rounds.at(-1)!

const stepsOf = (rounds: ReadonlyArray<Round>) =>
  rounds.flatMap(({ confirmed, workflow }) => (workflow === undefined || confirmed ? [] : [workflow.steps.length]))

const counts = (values: ReadonlyArray<string | number>): Record<string, number> => {
  const counted: Record<string, number> = {}
  for (const value of values) counted[value] = (counted[value] ?? 0) + 1
  return counted
}

const shapeOf = ({ workers, workflow }: Round): string =>
  workflow === undefined
    ? ""
    : workflow.steps
        .map(({ access }, step) => {
          const seen = access === "all" ? "all" : access.map((one) => JSON.stringify(one)).join(",")
          return seen === "" ? workers[step] : `${workers[step]}(${seen})`
        })
        .join(" > ")

/** Measures the diversity of plans. */
export const shapesOf = (rounds: ReadonlyArray<Round>): Shapes | undefined => {
  const plans = rounds.filter(({ confirmed, workflow }) => workflow !== undefined && !confirmed)
  const counted = Object.entries(counts(plans.map(shapeOf)))
  const shares = counted.map(([, count]) => count / plans.length)
  const [most] = counted.toSorted(([, left], [, right]) => right - left)
  if (most === undefined) return undefined
  const entropy = shares.reduce((total, share) => total - share * Math.log(share), 0)
  return { entropy, most: most[0], share: most[1] / plans.length }
}

const kindMetrics = (rollouts: ReadonlyArray<Rollout>): KindMetrics => {
  const rounds = rollouts.flatMap((rollout) => rollout.rounds)
  const last = rollouts.map(lastOf)
  return {
    rollouts: rollouts.length,
    rewardMean: mean(last.map(({ reward }) => reward)),
    parsed: share(last, ({ result }) => result !== "unreadable"),
    correct: share(last, ({ result }) => result === "correct"),
    steps: mean(stepsOf(rounds)),
    stepCounts: counts(stepsOf(rounds)),
    workers: counts(rounds.flatMap(({ workers, workflow }) => (workflow === undefined ? [] : workers)))
  }
}

const roundMetrics = (round: number, of: ReadonlyArray<Round>): RoundMetrics => {
  const { mean: rewardMean, std: rewardStd } = moments(of.map(({ reward }) => reward))
  return {
    round,
    completions: of.length,
    rewardMean,
    rewardStd,
    parsed: share(of, ({ result }) => result !== "unreadable"),
    correct: share(of, ({ result }) => result === "correct"),
    confirmed: share(of, ({ confirmed }) => confirmed)
  }
}

/** Returns the rollout metrics of an iteration, excluding optimizer metrics. */
export const rolloutMetrics = (groups: ReadonlyArray<GroupAdvantages>, asked: number) => {
  const all = groups.flatMap(({ group }) => group.rollouts)
  const rollouts = all.filter(({ dropped }) => dropped === undefined)
  const rounds = rollouts.flatMap((rollout) => rollout.rounds)
  const last = rollouts.map(lastOf)
  const most = Math.max(0, ...rollouts.map((rollout) => rollout.rounds.length))
  const kinds = new Map<string, Array<Rollout>>()
  for (const { group } of groups) {
    const of = kinds.get(group.question.kind) ?? []
    of.push(...group.rollouts.filter(({ dropped }) => dropped === undefined))
    kinds.set(group.question.kind, of)
  }
  const { mean: rewardMean, std: rewardStd } = moments(last.map(({ reward }) => reward))
  const paid = all.flatMap((rollout) => rollout.rounds)
  const lostTo = all.flatMap(({ lostTo }) => lostTo ?? [])
  const samples = paid.map(({ sample }) => sample)
  return {
    groups: groups.length,
    rollouts: all.length,
    dropped: all.length - rollouts.length,
    lost: lostTo.length,
    lostTo: counts(lostTo),
    taught: groups.filter((group) => !teachesNothing(group)).length,
    rewardMean,
    rewardStd,
    parsed: share(last, ({ result }) => result !== "unreadable"),
    correct: share(last, ({ result }) => result === "correct"),
    rounds: Array.from({ length: most }, (_, round) =>
      roundMetrics(
        round,
        rollouts.flatMap(({ rounds }) => rounds.slice(round, round + 1))
      )
    ),
    steps: mean(stepsOf(rounds)),
    kinds: Object.fromEntries(
      [...kinds].sort(([left], [right]) => (left < right ? -1 : 1)).map(([kind, of]) => [kind, kindMetrics(of)])
    ),
    shapes: shapesOf(rounds),
    surprisal: mean(samples.flatMap(({ logProbs }) => logProbs.map((logProb) => -logProb))),
    zeroVariance: sum(groups, ({ isZeroVariance_R }) => isZeroVariance_R.filter(Boolean).length),
    resampled: groups.length - asked,
    completionTokens: mean(samples.map(({ tokens }) => tokens.length)),
    truncated: share(samples, ({ reason }) => reason === "length"),
    calls: {
      total: sum(paid, ({ calls }) => calls),
      failed: sum(paid, ({ failedCalls }) => failedCalls),
      cached: sum(paid, ({ cachedCalls }) => cachedCalls)
    },
    workerTokens: {
      input: sum(paid, ({ workerTokens }) => workerTokens.input),
      output: sum(paid, ({ workerTokens }) => workerTokens.output)
    },
    iterationCostUsd: sum(paid, ({ costUsd }) => costUsd) + sum(all, ({ abandonedCostUsd }) => abandonedCostUsd),
    criticalPathSeconds: mean(
      rollouts.map(({ rounds }) => sum(rounds, ({ criticalPathMillis }) => criticalPathMillis) / 1000)
    )
  } satisfies Partial<GrpoMetrics>
}
