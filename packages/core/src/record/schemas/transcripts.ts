/** The schemas of the record of a run. */
import * as Schema from "effect/Schema"
import { version } from "../RunEvent.ts"
import type * as TranscriptModels from "../Transcript.ts"
import { FinishReason, Grade, Paid, paid, Spend, WorkerErrorReason } from "./calls.ts"
import { Outcome, Parent, PoolMember } from "./events.ts"
import { type Of, optional, schemaOf } from "./schemaOf.ts"
import { Task, Workflow } from "./tasks.ts"

/** A call that failed or was interrupted. */
export const LostCall = schemaOf<TranscriptModels.LostCall>()(
  Schema.Struct({
    worker: Schema.String,
    at: Schema.Finite,
    reason: optional(WorkerErrorReason),
    message: optional(Schema.String),
    retryInMillis: optional(Schema.Finite),
    ...paid
  })
)

/** The record of a step, with the run nested in it. */
export const StepRecord = schemaOf<TranscriptModels.StepRecord>()(
  Schema.Struct({
    step: Schema.Int,
    worker: Schema.String,
    state: Schema.Literals(["waiting", "running", "answered", "failed", "skipped"]),
    startedAt: optional(Schema.Finite),
    endedAt: optional(Schema.Finite),
    durationMillis: optional(Schema.Finite),
    text: Schema.String,
    reasoning: Schema.String,
    finishReason: optional(FinishReason),
    cached: optional(Schema.Boolean),
    paid: optional(Paid),
    lost: Schema.Array(LostCall),
    reassigned: Schema.Array(Schema.Struct({ from: Schema.String, at: Schema.Finite })),
    detail: optional(Schema.String),
    nested: optional(Schema.suspend((): Of<TranscriptModels.Transcript> => Transcript))
  })
)

/** A completion of a language policy. */
export const CompletionRecord = schemaOf<TranscriptModels.CompletionRecord>()(
  Schema.Struct({
    attempt: Schema.Int,
    endedAt: optional(Schema.Finite),
    text: Schema.String,
    reasoning: Schema.String,
    error: optional(Schema.String),
    cached: optional(Schema.Boolean),
    paid: optional(Paid)
  })
)

/** The record of a round. */
export const RoundRecord = schemaOf<TranscriptModels.RoundRecord>()(
  Schema.Struct({
    round: Schema.Int,
    startedAt: Schema.Finite,
    completions: Schema.Array(CompletionRecord),
    lost: Schema.Array(LostCall),
    policy: optional(Schema.String),
    plannedAt: optional(Schema.Finite),
    planningMillis: optional(Schema.Finite),
    workflow: optional(Workflow),
    notes: Schema.Array(Schema.String),
    steps: Schema.Array(StepRecord),
    grade: optional(Schema.Struct({ at: Schema.Finite, critic: Schema.String, grade: Grade, paid: optional(Paid) })),
    endedAt: optional(Schema.Finite),
    answer: optional(Schema.String),
    confirmed: Schema.Boolean
  })
)

/** The record of a run. */
export const Transcript: Of<TranscriptModels.Transcript> = schemaOf<TranscriptModels.Transcript>()(
  Schema.Struct({
    version: Schema.Literal(version),
    runId: Schema.String,
    task: Task,
    pool: Schema.Array(PoolMember),
    policy: Schema.String,
    seed: Schema.Finite,
    startedAt: Schema.Finite,
    parent: optional(Parent),
    rounds: Schema.Array(RoundRecord),
    outcome: optional(Outcome),
    answer: optional(Schema.String),
    detail: optional(Schema.String),
    spend: optional(Spend),
    durationMillis: optional(Schema.Finite)
  })
)
