/** Schemas for `run-started` and `run-finished`, and for the models that they contain. */
import * as Schema from "effect/Schema"
import * as RunEventModels from "./RunEvent.ts"
import type * as StepFailureModels from "./StepFailure.ts"
import { Spend, WorkerErrorTag } from "./schemas/calls.ts"
import { event } from "./schemas/eventFields.ts"
import { schemaOf } from "./schemas/schemaOf.ts"
import { Task } from "./schemas/tasks.ts"
import type * as TranscriptModels from "./Transcript.ts"

/** Schema for a worker in the pool, as listed in a transcript. */
export const PoolMember = schemaOf<RunEventModels.PoolMember>()(
  Schema.Struct({
    id: Schema.String,
    description: Schema.optionalKey(Schema.String),
    isPlay: Schema.optionalKey(Schema.Literal(true))
  })
)

/** Schema for the step that a nested run belongs to. */
export const Parent = schemaOf<RunEventModels.Parent>()(
  Schema.Struct({ runId: Schema.String, round: Schema.Int, step: Schema.Int, item: Schema.optionalKey(Schema.String) })
)

type Place = Omit<RunEventModels.ForkOf, "runId">

const place = {
  round: Schema.Int,
  step: Schema.Int,
  item: Schema.optionalKey(Schema.String),
  nested: Schema.optionalKey(Schema.suspend((): Schema.Codec<Place> => Place))
}

const Place = Schema.Struct(place)

/** Schema for the step at which a run was forked. */
export const ForkOf = schemaOf<RunEventModels.ForkOf>()(Schema.Struct({ runId: Schema.String, ...place }))

/** Schema for how a run ended. */
export const Ending = schemaOf<RunEventModels.Ending>()(
  Schema.Literals(["answered", "refused", "budget", "failed", "interrupted", "suspended"])
)

/** Schema for a step or plan whose worker failed after all retries. */
const StepFailure = schemaOf<StepFailureModels.StepFailure>()(
  Schema.Struct({
    runId: Schema.String,
    round: Schema.Int,
    step: Schema.optionalKey(Schema.Int),
    item: Schema.optionalKey(Schema.String),
    by: Schema.optionalKey(Schema.Literals(["check", "critic"])),
    worker: Schema.String,
    reason: Schema.optionalKey(WorkerErrorTag),
    message: Schema.String,
    reassignedTo: Schema.optionalKey(Schema.String)
  })
)

export const PartialAnswer = schemaOf<TranscriptModels.PartialAnswer>()(
  Schema.Struct({
    round: Schema.Int,
    step: Schema.optionalKey(Schema.Int),
    worker: Schema.optionalKey(Schema.String),
    subtask: Schema.optionalKey(Schema.String),
    text: Schema.String
  })
)

export const RunStarted = event(
  "run-started",
  "A run begins. It is the first event of each run, including nested runs.",
  {
    version: Schema.Literal(RunEventModels.version),
    task: Task,
    pool: Schema.Array(PoolMember),
    policy: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    seed: Schema.Finite,
    parent: Schema.optionalKey(Parent),
    forkOf: Schema.optionalKey(ForkOf)
  }
)

export const RunFinished = event("run-finished", "A run has ended, for any reason. It is the last event of each run.", {
  ending: Ending,
  answer: Schema.optionalKey(Schema.String),
  partial: Schema.optionalKey(PartialAnswer),
  detail: Schema.optionalKey(Schema.String),
  failures: Schema.optionalKey(Schema.Array(StepFailure)),
  spend: Spend,
  durationMillis: Schema.Finite
})
