/**
 * File layout of a run folder.
 *
 * ```
 * config.json              the whole TrainingConfig
 * run.lock                 held while a process trains the run
 * metrics.jsonl            one Metrics per line
 * rollouts/000000.jsonl.gz one file per iteration of reinforcement learning, RolloutRecord lines
 * checkpoints/000010/      what the engine saved, and
 *   trainer.json           a TrainerState
 * best.json                which checkpoint is best, and by what score
 * spent.json               USD spent in all, but for kept rollouts, so that a limit holds whatever happens
 * rollouts.sqlite          rollouts that no checkpoint has, where workers are paid; gone at the end
 * reference/               the weights with which a phase began, where its objective needs them
 * ```
 *
 * Each JSON file and each line of metrics has a checksum (`Sealed` from `@divisi/files`), and a `TrainerState` contains
 * the checksums of the files next to it. If a checkpoint turns out to be corrupt on resume, it is renamed (for example
 * to `000010.damaged`), and the run continues from the previous one.
 *
 * Iterations are counted from 0 over all phases. Checkpoint `n` is the state after `n` iterations, so checkpoint 0 is
 * the initial state.
 */
import type { Saved } from "./Engine.ts"

/** Checkpoint with the best held-out score. */
export interface Best {
  readonly iteration: number
  readonly score: number
}

/** Position in the source of a phase. */
export interface Mark {
  readonly phase: number
  readonly position: number
}

/** Total spend of a run. */
export interface Spent {
  /**
   * Spend in USD, excluding payments for stored rollouts after the mark, which are recorded together with their
   * answers.
   */
  readonly costUsd: number
  readonly mark: Mark
}

/** Progress of a run: the part of a checkpoint that does not depend on the engine. */
export interface TrainerState {
  readonly version: 1
  readonly engine: Saved
  /** Number of completed iterations. */
  readonly iteration: number
  /** Index of the current phase. `phaseIteration` is the number of iterations completed in it. */
  readonly phase: number
  readonly phaseIteration: number
  /** Index of the next question or example in the phase's source. */
  readonly position: number
  /** Engine state at the start of the phase. Set only if the objective needs a reference. */
  readonly reference?: Saved | undefined
  /** USD spent on the completed iterations, excluding lost work. */
  readonly costUsd: number
  readonly best?: Best | undefined
  /** SHA-256 of each file required to resume from this checkpoint, keyed by path relative to the run folder. */
  readonly files: Readonly<Record<string, string>>
}

/** Formats an iteration or checkpoint number for use in file names, with six digits. */
export const number = (iteration: number): string => String(iteration).padStart(6, "0")

export const config = "config.json"
/** @internal */
export const lock = "run.lock"
/** @internal */
export const metrics = "metrics.jsonl"
export const best = "best.json"
/** @internal */
export const spent = "spent.json"
/** @internal */
export const keptRollouts = "rollouts.sqlite"
export const reference = "reference"
export const checkpoints = "checkpoints"
export const rollouts = "rollouts"
/**
 * Name of the state file in a checkpoint folder.
 *
 * @internal
 */
export const state = "trainer.json"

/** Returns the path of the rollout file for an iteration. */
export const rolloutsOf = (iteration: number): string => `${rollouts}/${number(iteration)}.jsonl.gz`

/**
 * Returns the path of a checkpoint folder.
 *
 * @internal
 */
export const checkpointOf = (iteration: number): string => `${checkpoints}/${number(iteration)}`
