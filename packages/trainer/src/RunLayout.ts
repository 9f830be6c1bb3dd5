/**
 * The layout of a run's folder.
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
 * Each of the JSON files and each line of metrics has its own checksum (`Sealed` of `@divisi/files`), and a
 * `TrainerState` has those of the files next to it. If a checkpoint does not match, it is renamed to `000010.damaged`
 * when the run is resumed, and the run continues from the one before.
 *
 * Iterations count from 0 over all phases; checkpoint `n` is the state after `n` iterations, so 0 is the start.
 */
import type { Saved } from "./Engine.ts"

/** The best checkpoint by the held-out score. */
export interface Best {
  readonly iteration: number
  readonly score: number
}

/** A place in the source of a phase, by the phase's index. */
export interface Mark {
  readonly phase: number
  readonly position: number
}

/** The spending of a run. */
export interface Spent {
  /** USD, without payments for stored rollouts after the mark: those are recorded with their answers. */
  readonly costUsd: number
  readonly mark: Mark
}

/** The progress of a run: the part of a checkpoint that is not the engine's. */
export interface TrainerState {
  readonly version: 1
  readonly engine: Saved
  /** Iterations that are done. */
  readonly iteration: number
  /** The index of the current phase, and the number of its iterations that are done. */
  readonly phase: number
  readonly phaseIteration: number
  /** Position in the phase's source: the index of the next question or example. */
  readonly position: number
  /** The engine's state at the start of the phase, if the objective needs it. */
  readonly reference?: Saved | undefined
  /** USD spent on these iterations, without work that was lost. */
  readonly costUsd: number
  readonly best?: Best | undefined
  /** The SHA-256 of each file needed to resume from here, by its path within the run's folder. */
  readonly files: Readonly<Record<string, string>>
}

/** The name of an iteration's or checkpoint's file: six digits. */
export const number = (iteration: number): string => String(iteration).padStart(6, "0")

export const config = "config.json"
export const lock = "run.lock"
export const metrics = "metrics.jsonl"
export const best = "best.json"
export const spent = "spent.json"
export const keptRollouts = "rollouts.sqlite"
export const reference = "reference"
export const checkpoints = "checkpoints"
export const rollouts = "rollouts"
/** Within a checkpoint's folder. */
export const state = "trainer.json"

/** The rollouts of one iteration. */
export const rolloutsOf = (iteration: number): string => `${rollouts}/${number(iteration)}.jsonl.gz`

/** The folder of one checkpoint. */
export const checkpointOf = (iteration: number): string => `${checkpoints}/${number(iteration)}`
