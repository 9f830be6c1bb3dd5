/** Converts groups of rollouts to training data for the engine. */
import { WorkflowText } from "@divisi/core"
import * as Result from "effect/Result"
import * as Advantage from "../Advantage.ts"
import type { Datum, PerToken, Tokenizer } from "../Engine.ts"
import { offsets } from "../ExampleSource.ts"
import * as Objective from "../Objective.ts"
import type { Group, Rollout, Round } from "../Rollout.ts"
import type { AdvantageConfig, GrpoConfig, ObjectiveConfig } from "../TrainingConfig.ts"

/** Completion with its advantage. */
export interface CompletionAdvantage {
  readonly rollout: Rollout
  readonly index: number
  readonly round: Round
  /** Omitted if the completion is not trained on. */
  readonly advantage: number | undefined
}

/** Group with the advantages of its completions. */
export interface GroupAdvantages {
  readonly group: Group
  readonly completions: ReadonlyArray<CompletionAdvantage>
  /** For each round, whether it has no training signal. */
  readonly isZeroVariance_R: ReadonlyArray<boolean>
}

/** Completion to train on, with one advantage for all its tokens. */
export interface LearnedCompletion extends Pick<Datum, "prompt" | "completion"> {
  readonly weights: PerToken
  readonly logProbs: PerToken
  readonly advantage: number
}

/** Whether the rollouts that reached this round were either all correct or all wrong. */
const isUndecided = (rollouts: ReadonlyArray<Rollout>, round: number): boolean => {
  const isCorrect_G = rollouts.flatMap(({ rounds }) =>
    round < rounds.length ? [rounds[round]!.result === "correct"] : []
  )
  return new Set(isCorrect_G).size < 2
}

/** Calculates the advantage of each completion in a group. */
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

/** Whether a group has no training signal. */
export const teachesNothing = ({ isZeroVariance_R }: GroupAdvantages): boolean => isZeroVariance_R.every((is) => is)

/** Returns the first token of the three lists, or `undefined` if thought and lists have the same weight. */
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

/** Returns the completions to train on in one optimizer step. */
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

/**
 * Returns the training data for one optimizer step. If `reference` is given, the KL penalty is subtracted from the
 * advantages.
 */
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
