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
 * Each JSON file and each line of metrics has a checksum (`Sealed` of `@divisi/files`), and a `TrainerState` contains
 * the checksums of the files next to it. If a checkpoint is damaged when the run is resumed, it is renamed, e.g. to
 * `000010.damaged`, and the run continues from the previous one.
 *
 * Iterations count from 0 over all phases; checkpoint `n` is the state after `n` iterations, so 0 is the start.
 */
import type { Saved } from "./Engine.ts"

/** The best checkpoint by the held-out score. */
export interface Best {
  readonly iteration: number
  readonly score: number
}

/** A position in the source of a phase. */
export interface Mark {
  readonly phase: number
  readonly position: number
}

/** The spend of a run. */
export interface Spent {
  /** USD, without payments for stored rollouts after the mark: those are recorded with their answers. */
  readonly costUsd: number
  readonly mark: Mark
}

/** The progress of a run: the part of a checkpoint that is independent of the engine. */
export interface TrainerState {
  readonly version: 1
  readonly engine: Saved
  /** The number of completed iterations. */
  readonly iteration: number
  /** The index of the current phase. `phaseIteration` is the number of its completed iterations. */
  readonly phase: number
  readonly phaseIteration: number
  /** Position in the phase's source: the index of the next question or example. */
  readonly position: number
  /** The engine's state at the start of the phase, if the objective needs it. */
  readonly reference?: Saved | undefined
  /** USD spent on these iterations, without lost work. */
  readonly costUsd: number
  readonly best?: Best | undefined
  /** The SHA-256 of each file needed to resume from here, by its path within the run's folder. */
  readonly files: Readonly<Record<string, string>>
}

/** Returns the name of an iteration's or checkpoint's file: six digits. */
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
/** The name of the state file in a checkpoint's folder. */
export const state = "trainer.json"

/** Returns the path of the rollouts of an iteration. */
export const rolloutsOf = (iteration: number): string => `${rollouts}/${number(iteration)}.jsonl.gz`

/** Returns the path of a checkpoint's folder. */
export const checkpointOf = (iteration: number): string => `${checkpoints}/${number(iteration)}`
