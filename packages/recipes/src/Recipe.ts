/**
 * Recipes: everything that a training run is made of, as `divisi train --recipe` takes it.
 *
 * This module holds types alone, so that a config that imports it costs nothing.
 */

import type { Estimate, Trainer } from "@divisi/trainer"
import type { Engine, EngineError, Tokenizer } from "@divisi/trainer/Engine"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Options of a recipe. A resumed run receives the same options again. */
export interface RecipeOptions {
  /** `--seed`; 1 by default. */
  readonly seed: number
  /** `--engine`: the name of another engine than the recipe's own. */
  readonly engine?: string | undefined
  /** `--base-model`: the initial model, if the recipe allows a choice. */
  readonly baseModel?: string | undefined
  /** Whether a run is only estimated or exported. Inputs that only a run needs, such as keys, may then be missing. */
  readonly trainsNothing?: boolean | undefined
}

/**
 * Facts for `--dry-run` that are known before the run. Without them, the engine is opened and timed if it is a custom
 * one.
 */
export interface DryRunFacts {
  /** The engine's prices and speed. If set, the engine is not opened. */
  readonly engine?: Estimate.EngineRates | undefined
  /** Counts tokens where the engine is not opened; four characters to a token without it. */
  readonly tokenizer?: Pick<Tokenizer, "render" | "encode"> | undefined
  /** Whether asking the workers costs nothing, so that a few plans may be tried on them; false by default. */
  readonly asksWorkers?: boolean | undefined
  /** Seconds per worker call, at best and at worst. */
  readonly secondsPerCall?: { readonly low: number; readonly high: number } | undefined
  /** The median tokens of an answer where workers are not asked; 400 by default. */
  readonly answerTokens?: number | undefined
  /** Tasks of each held-out evaluation. */
  readonly evaluationTasks?: number | undefined
  /** Facts that the recipe could not determine, or replaced by an assumption, in sentences. */
  readonly unknown?: ReadonlyArray<string> | undefined
}

/** The parts and the phases of a run in one value. Defaults are those of `Trainer.ConfigInput`. */
export interface Training extends Omit<Trainer.Parts, "engine">, Omit<Trainer.ConfigInput, "seed"> {
  /** An engine, or how to open one; it is closed when the run ends. */
  readonly engine: Engine | Effect.Effect<Engine, EngineError, Scope.Scope>
  readonly dryRun?: DryRunFacts | undefined
}

/** Makes what a run is made of. */
export type Recipe = (
  options: RecipeOptions
) => Training | Promise<Training> | Effect.Effect<Training, { readonly message: string }>
