/** Why a training run went wrong. What it had saved is there, and it can be resumed. */
import * as Data from "effect/Data"
import type { CurriculumError } from "./Curriculum.ts"
import type { EngineError } from "./Engine.ts"
import type { RolloutError } from "./Rollout.ts"
import type { RunFolderError } from "./RunFolder.ts"

/** The configuration and the parts do not go together. */
export class ConfigError extends Data.TaggedError("ConfigError")<{ readonly detail: string }> {
  override get message(): string {
    return `The run cannot be trained as it is configured: ${this.detail}.`
  }
}

/** The held-out evaluation failed. */
export class EvaluationError extends Data.TaggedError("EvaluationError")<{
  readonly iteration: number
  readonly detail: string
}> {
  override get message(): string {
    return `The evaluation after iteration ${this.iteration} failed: ${this.detail}`
  }
}

/** Any of the reasons. */
export type TrainingError =
  | ConfigError
  | EngineError
  | RunFolderError
  | CurriculumError
  | RolloutError
  | EvaluationError
