/**
 * Rollouts as they are written down: one line for each group (the question and its pool), then one for each completion.
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
  /** Counts from 0 within the iteration. */
  readonly group: number
  /** Position in the source of tasks. */
  readonly index: number
  readonly task: string
  readonly kind: string
  readonly messages: ReadonlyArray<Message>
  readonly reference?: string | undefined
  /** The ids of the workers that this question had, by ordinal. */
  readonly pool: ReadonlyArray<string>
  /** Rounds that its rollouts may have. */
  readonly rounds: number
  /** Optimiser steps that the sampler had seen. */
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
  /** The member of the group, from 0. */
  readonly rollout: number
  /** 0 for the first round. */
  readonly round: number
  readonly task: string
  readonly kind: string
  /** Tokens of the prompt. */
  readonly promptTokens: number
  readonly completion: string
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  /** `length` when the completion reached the limit, and was not read. */
  readonly reason: "stop" | "length"
  readonly result: "unreadable" | "wrong" | "correct"
  /** Penalties included. Absent when the rollout was dropped. */
  readonly reward?: number | undefined
  /** Absent when the rollout or its group was dropped. */
  readonly advantage?: number | undefined
  /** Why it was dropped, or why it could not be read. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  /** The ids of the workers of the steps, in their order. */
  readonly workers?: ReadonlyArray<string> | undefined
  readonly answer?: string | undefined
  /** Whether it accepted the previous answer. */
  readonly confirmed: boolean
  readonly grade?: Grader.Grade | undefined
  /** USD of this round's worker calls. */
  readonly costUsd: number
  readonly calls: number
  readonly failedCalls: number
  readonly cachedCalls: number
  readonly workerTokens: { readonly input: number; readonly output: number }
  /** The longest chain of this round's steps, in milliseconds. Differs from run to run, as clocks do. */
  readonly criticalPathMillis: number
}

/** A line of the rollouts of a run. */
export type RolloutRecord = GroupRecord | CompletionRecord
