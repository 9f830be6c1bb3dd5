/**
 * File format for rollouts: one line per group (the question and its pool), followed by one line per completion.
 *
 * Rollouts with recursive rounds have one line per round. Dropped rollouts are included, without an advantage.
 */
import type { Grader, Workflow } from "@divisi/core"
import type { Message } from "@divisi/core/Message"

/** One question of an iteration, with its pool. */
export interface GroupRecord {
  readonly type: "group"
  readonly iteration: number
  readonly phase: string
  /** Index within the iteration, from 0. */
  readonly group: number
  /** Position of the question in the task source. */
  readonly index: number
  readonly task: string
  readonly kind: string
  readonly messages: ReadonlyArray<Message>
  readonly reference?: string | undefined
  /** Ids of the workers in the question's pool, in pool order. */
  readonly pool: ReadonlyArray<string>
  /** Maximum number of rounds per rollout. */
  readonly rounds: number
  /** Number of optimizer steps that produced the sampler's weights. */
  readonly samplerVersion: number
  /** Whether the group was dropped because all rewards of the first round were equal. */
  readonly zeroVariance: boolean
}

/** One completion, with its result and reward. */
export interface CompletionRecord {
  readonly type: "completion"
  readonly iteration: number
  readonly phase: string
  readonly group: number
  /** Index of the rollout within the group, from 0. */
  readonly rollout: number
  /** Index of the round, from 0. */
  readonly round: number
  readonly task: string
  readonly kind: string
  /** Length of the prompt in tokens. */
  readonly promptTokens: number
  readonly completion: string
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  /** `length` if the completion reached the token limit; it was then not parsed. */
  readonly reason: "stop" | "length"
  readonly result: "unreadable" | "wrong" | "correct"
  /** Reward after penalties. Omitted if the rollout was dropped. */
  readonly reward?: number | undefined
  /** Omitted if the rollout or its group was dropped. */
  readonly advantage?: number | undefined
  /** Why the rollout was dropped, or why the completion could not be parsed. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  /** Worker id of each step. */
  readonly workers?: ReadonlyArray<string> | undefined
  readonly answer?: string | undefined
  /** Whether the completion confirmed the previous answer. */
  readonly confirmed: boolean
  readonly grade?: Grader.Grade | undefined
  /** Cost of the worker calls in this round, in USD. */
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** Duration of the critical path through this round's steps, in milliseconds. Not reproducible. */
  readonly criticalPathMillis: number
}

/** One line of a rollout file. */
export type RolloutRecord = GroupRecord | CompletionRecord
