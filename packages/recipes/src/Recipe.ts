/**
 * Recipes: all the parts and settings of a training run, for `divisi train --recipe`.
 *
 * This module contains only types, so importing it in a config file has no runtime cost.
 */

import type { Estimate, Trainer } from "@divisi/trainer"
import type { Engine, EngineError, Tokenizer } from "@divisi/trainer/Engine"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Options passed to a recipe. A resumed run receives the same options again. */
export interface RecipeOptions {
  /** The value of `--seed`. Default: 1. */
  readonly seed: number
  /** The value of `--engine`: the name of an engine that replaces the recipe's default. */
  readonly engine?: string | undefined
  /** The value of `--base-model`: the initial model, if the recipe supports a choice. */
  readonly baseModel?: string | undefined
  /**
   * Whether the run is only estimated or exported. Inputs required only for training, such as keys, may then be
   * missing.
   */
  readonly trainsNothing?: boolean | undefined
}

/** Facts for `--dry-run` that are known in advance. If omitted, a custom engine is opened and timed. */
export interface DryRunFacts {
  /** Prices and speed of the engine. If set, the engine is not opened. */
  readonly engine?: Estimate.EngineRates | undefined
  /** Tokenizer for counting tokens if the engine is not opened. Default: an estimate of four characters per token. */
  readonly tokenizer?: Pick<Tokenizer, "render" | "encode"> | undefined
  /** Whether calling the workers is free, so that a dry run may execute a few plans. Default: `false`. */
  readonly asksWorkers?: boolean | undefined
  /** The minimum and maximum duration of a worker call, in seconds. */
  readonly secondsPerCall?: { readonly low: number; readonly high: number } | undefined
  /** Median number of tokens per answer, used if the workers are not called. Default: 400. */
  readonly answerTokens?: number | undefined
  /** Number of tasks in each held-out evaluation. */
  readonly evaluationTasks?: number | undefined
  /** Facts that the recipe could not determine or had to assume, as sentences. */
  readonly unknown?: ReadonlyArray<string> | undefined
}

/** The parts and phases of a training run. Defaults are those of `Trainer.ConfigInput`. */
export interface Training extends Omit<Trainer.Parts, "engine">, Omit<Trainer.ConfigInput, "seed"> {
  /** An engine, or an effect that opens one. The engine is closed when the run ends. */
  readonly engine: Engine | Effect.Effect<Engine, EngineError, Scope.Scope>
  readonly dryRun?: DryRunFacts | undefined
}

/** Creates the parts of a training run from the options. */
export type Recipe = (
  options: RecipeOptions
) => Training | Promise<Training> | Effect.Effect<Training, { readonly message: string }>
