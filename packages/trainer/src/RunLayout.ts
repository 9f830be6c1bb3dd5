/**
 * The layout of a run's folder: what lies where.
 *
 * ```
 * config.json              the whole TrainingConfig
 * run.lock                 held while a process trains the run
 * metrics.jsonl            one Metrics per line
 * rollouts/000000.jsonl.gz one file per iteration of reinforcement learning, RolloutRecord lines
 * checkpoints/000010/      what the engine saved, and
 *   trainer.json           a TrainerState
 * best.json                which checkpoint is best, and by what score
 * spent.json               USD spent in all, so that a limit holds whatever happens
 * reference/               the weights with which a phase began, where its objective needs them
 * ```
 *
 * Iterations count from 0 over all phases; checkpoint `n` is the state after `n` iterations, so 0 is the start.
 */
import type { Saved } from "./Engine.ts"

/** The best checkpoint by the held-out score. */
export interface Best {
  readonly iteration: number
  readonly score: number
}

/** Where a run stands: what a checkpoint holds besides what the engine saved. */
export interface TrainerState {
  readonly version: 1
  readonly engine: Saved
  /** Iterations that are done. */
  readonly iteration: number
  /** Index of the phase that goes on, and iterations of it that are done. */
  readonly phase: number
  readonly phaseIteration: number
  /** Position in the phase's source: the index of the next question or example. */
  readonly position: number
  /** The engine's state when the phase began, where the objective needs it. */
  readonly reference?: Saved
  /** USD of the work that stands. */
  readonly costUsd: number
  readonly best?: Best
  /** Bytes of `metrics.jsonl` that belong to these iterations; what lies behind is not counted. */
  readonly metricsBytes: number
}

/** The name of an iteration's or checkpoint's file: six digits. */
export const number = (iteration: number): string => String(iteration).padStart(6, "0")

export const config = "config.json"
export const lock = "run.lock"
export const metrics = "metrics.jsonl"
export const best = "best.json"
export const spent = "spent.json"
export const reference = "reference"
export const checkpoints = "checkpoints"
export const rollouts = "rollouts"
/** Within a checkpoint's folder. */
export const state = "trainer.json"

/** The rollouts of one iteration. */
export const rolloutsOf = (iteration: number): string => `${rollouts}/${number(iteration)}.jsonl.gz`

/** The folder of one checkpoint. */
export const checkpointOf = (iteration: number): string => `${checkpoints}/${number(iteration)}`
