/** From groups of rollouts to data of an engine. */
import { WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"
import * as Advantage from "../Advantage.ts"
import type { Datum, PerToken, Tokenizer } from "../Engine.ts"
import { offsets } from "../ExampleSource.ts"
import * as Objective from "../Objective.ts"
import type { Group, Rollout, Round } from "../Rollout.ts"
import type { AdvantageConfig, GrpoConfig, ObjectiveConfig } from "../TrainingConfig.ts"

/** A completion with its advantage. */
export interface CompletionAdvantage {
  readonly rollout: Rollout
  readonly index: number
  readonly round: Round
  /** Absent when the completion is not learned from. */
  readonly advantage: number | undefined
}

/** A group with the advantages of its completions. */
export interface GroupAdvantages {
  readonly group: Group
  readonly completions: ReadonlyArray<CompletionAdvantage>
  /** For each round, whether it teaches nothing. */
  readonly isZeroVariance_R: ReadonlyArray<boolean>
}

/** A completion to learn from, with one advantage for all of its tokens. */
export interface LearnedCompletion extends Pick<Datum, "prompt" | "completion"> {
  readonly weights: PerToken
  readonly logProbs: PerToken
  readonly advantage: number
}

/** Whether the rollouts that have this round were all right in it, or all wrong. */
const isUndecided = (rollouts: ReadonlyArray<Rollout>, round: number): boolean => {
  const isCorrect_G = rollouts.flatMap(({ rounds }) =>
    round < rounds.length ? [rounds[round]!.result === "correct"] : []
  )
  return new Set(isCorrect_G).size < 2
}

/** Gives each completion of a group its advantage. */
export const advantages = (group: Group, config: AdvantageConfig): GroupAdvantages => {
  const counted = group.rollouts.filter(({ dropped }) => dropped === undefined)
  const found = Advantage.ofRounds(
    counted.map(({ rounds }) => rounds.map(({ reward }) => reward)),
    group.question.extraRounds > 0,
    config
  )
  const { advantages_G_R } = found
  const isZeroVariance_R = found.isZeroVariance_R.map(
    (isEqual, round) => isEqual || (config.equalBy === "correctness" && isUndecided(counted, round))
  )
  const isKept = (round: number) => config.zeroVariance.type === "keep" || isZeroVariance_R[round] === false
  const completions = group.rollouts.flatMap((rollout) => {
    const advantages_R = advantages_G_R[counted.indexOf(rollout)]
    return rollout.rounds.map((round, index) => ({
      rollout,
      index,
      round,
      advantage: advantages_R !== undefined && isKept(index) ? advantages_R[index] : undefined
    }))
  })
  return { group, completions, isZeroVariance_R }
}

/** Whether there is nothing in a group to learn from. */
export const teachesNothing = ({ isZeroVariance_R }: GroupAdvantages): boolean => isZeroVariance_R.every((is) => is)

/** The first token of the three lists, where the parts of a completion are to have weights of their own. */
const listsFrom = (round: Round, config: GrpoConfig, poolSize: number, tokenizer: Tokenizer): number | undefined => {
  const { lists, thought } = config.objective.weights
  if (lists === thought || round.result === "unreadable") return undefined
  const size = poolSize + (config.rollouts.self ? 1 : 0)
  const reading = WorkflowText.read(round.text, {
    poolSize: size,
    maxSteps: config.rollouts.run.maxSteps,
    allowEmpty: true,
    how: config.rollouts.prompt.how,
    shapes: Object.keys(config.rollouts.run.shapes ?? {}),
    tools: config.rollouts.run.tools?.map(({ name }) => name),
    mayAnswer: config.rollouts.prompt.mayAnswer
  })
  if (Result.isFailure(reading)) return undefined
  const { start } = reading.success.span
  const at = offsets(tokenizer, round.sample.tokens).findLastIndex((offset) => offset <= start)
  return Math.max(0, at)
}

/** The completions of one optimiser step. */
export const learnedCompletions = (
  groups: ReadonlyArray<GroupAdvantages>,
  config: GrpoConfig,
  tokenizer: Tokenizer
): ReadonlyArray<LearnedCompletion> => {
  const learned = groups.flatMap(({ completions, group }) =>
    completions.flatMap(({ advantage, round }) =>
      advantage === undefined ? [] : [{ advantage, round, poolSize: group.question.pool.workers.length }]
    )
  )
  const weights_N = Objective.weights(
    learned.map(({ poolSize, round }) => ({
      length: round.sample.tokens.length,
      listsFrom: listsFrom(round, config, poolSize, tokenizer)
    })),
    config.objective
  )
  return learned.map(({ advantage, round }, index) => ({
    prompt: round.prompt,
    completion: round.sample.tokens,
    weights: weights_N[index]!,
    logProbs: round.sample.logProbs,
    advantage
  }))
}

/** The data of one optimiser step. With a `reference`, advantages pay the penalty for leaving it. */
export const data = (
  completions: ReadonlyArray<LearnedCompletion>,
  { kl }: Pick<ObjectiveConfig, "kl">,
  reference?: ReadonlyArray<PerToken> | undefined
): ReadonlyArray<Datum> =>
  completions.map(({ advantage, ...datum }, index) => ({
    ...datum,
    advantages: Objective.tokenAdvantages(
      advantage,
      datum.completion.length,
      reference && { kl, logProbs: datum.logProbs, reference: reference[index]! }
    )
  }))
