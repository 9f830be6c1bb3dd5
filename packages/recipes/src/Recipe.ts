/**
 * Recipes: everything that a training run needs, for `divisi train --recipe`.
 *
 * This module contains only types, so importing it in a config has no cost.
 */

import type { Estimate, Trainer } from "@divisi/trainer"
import type { Engine, EngineError, Tokenizer } from "@divisi/trainer/Engine"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Options of a recipe. A resumed run receives the same options again. */
export interface RecipeOptions {
  /** `--seed`. Default: 1. */
  readonly seed: number
  /** `--engine`: the name of an engine that replaces the recipe's own. */
  readonly engine?: string | undefined
  /** `--base-model`: the initial model, if the recipe allows a choice. */
  readonly baseModel?: string | undefined
  /** Whether a run is only estimated or exported. Inputs that only a run needs, such as keys, may then be missing. */
  readonly trainsNothing?: boolean | undefined
}

/** Facts for `--dry-run` that are known before the run. Without them, a custom engine is opened and timed. */
export interface DryRunFacts {
  /** The engine's prices and speed. If set, the engine is not opened. */
  readonly engine?: Estimate.EngineRates | undefined
  /** Counts tokens if the engine is not opened. Default: an estimate of four characters per token. */
  readonly tokenizer?: Pick<Tokenizer, "render" | "encode"> | undefined
  /** Whether calls to the workers are free, so that a few plans can be tried on them. Default: `false`. */
  readonly asksWorkers?: boolean | undefined
  /** The minimum and maximum seconds per worker call. */
  readonly secondsPerCall?: { readonly low: number; readonly high: number } | undefined
  /** The median number of tokens per answer, if the workers are not called. Default: 400. */
  readonly answerTokens?: number | undefined
  /** The number of tasks in each held-out evaluation. */
  readonly evaluationTasks?: number | undefined
  /** Facts that the recipe could not determine or had to assume, as sentences. */
  readonly unknown?: ReadonlyArray<string> | undefined
}

/** The parts and phases of a training run. The defaults are those of `Trainer.ConfigInput`. */
export interface Training extends Omit<Trainer.Parts, "engine">, Omit<Trainer.ConfigInput, "seed"> {
  /** An engine, or an effect that opens one. It is closed when the run ends. */
  readonly engine: Engine | Effect.Effect<Engine, EngineError, Scope.Scope>
  readonly dryRun?: DryRunFacts | undefined
}

/** Makes the parts of a training run. */
export type Recipe = (
  options: RecipeOptions
) => Training | Promise<Training> | Effect.Effect<Training, { readonly message: string }>
