/**
 * The file format of rollouts: one line per group (the question and its pool), then one per completion.
 *
 * A rollout with recursive rounds has one line per round. Dropped rollouts also have lines, without an advantage.
 */
import type { Grader, Workflow } from "@divisi/core"
import type { Message } from "@divisi/core/Message"

/** A question of an iteration. */
export interface GroupRecord {
  readonly type: "group"
  readonly iteration: number
  readonly phase: string
  /** The index within the iteration, from 0. */
  readonly group: number
  /** The position in the source of tasks. */
  readonly index: number
  readonly task: string
  readonly kind: string
  readonly messages: ReadonlyArray<Message>
  readonly reference?: string | undefined
  /** The ids of the question's workers, by index. */
  readonly pool: ReadonlyArray<string>
  /** The maximum number of rounds of its rollouts. */
  readonly rounds: number
  /** The number of optimizer steps of the sampler's weights. */
  readonly samplerVersion: number
  /** Whether it was dropped because all rewards of its first round were equal. */
  readonly zeroVariance: boolean
}

/** One completion with its result and reward. */
export interface CompletionRecord {
  readonly type: "completion"
  readonly iteration: number
  readonly phase: string
  readonly group: number
  /** The index within the group, from 0. */
  readonly rollout: number
  /** The index of the round, from 0. */
  readonly round: number
  readonly task: string
  readonly kind: string
  /** The number of tokens of the prompt. */
  readonly promptTokens: number
  readonly completion: string
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  /** `length` if the completion reached the limit and was not parsed. */
  readonly reason: "stop" | "length"
  readonly result: "unreadable" | "wrong" | "correct"
  /** The reward after penalties. Absent if the rollout was dropped. */
  readonly reward?: number | undefined
  /** Absent if the rollout or its group was dropped. */
  readonly advantage?: number | undefined
  /** Why it was dropped, or why it could not be parsed. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  /** The ids of the workers of the steps, in their order. */
  readonly workers?: ReadonlyArray<string> | undefined
  readonly answer?: string | undefined
  /** Whether it confirmed the previous answer. */
  readonly confirmed: boolean
  readonly grade?: Grader.Grade | undefined
  /** The cost of this round's worker calls in USD. */
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** The duration of the critical path of this round's steps, in milliseconds. Not reproducible. */
  readonly criticalPathMillis: number
}

/** A line of the rollouts of a run. */
export type RolloutRecord = GroupRecord | CompletionRecord
