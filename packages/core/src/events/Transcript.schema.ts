/** Schemas for the parts of a transcript. */
import * as Schema from "effect/Schema"
import { planDecision } from "./approval.schema.ts"
import { version } from "./RunEvent.ts"
import { Ending, ForkOf, Parent, PartialAnswer, PoolMember } from "./run.schema.ts"
import {
  answerSource,
  attempt,
  FinishReason,
  Grade,
  origin,
  Paid,
  paid,
  Spend,
  WorkerErrorReason,
  WorkerErrorTag
} from "./schemas/calls.ts"
import { type Of, schemaOf } from "./schemas/schemaOf.ts"
import { Content, EarlierStep, Task, ToolCall, Workflow } from "./schemas/tasks.ts"
import { WaitingCall } from "./suspension.schema.ts"
import type * as TranscriptModels from "./Transcript.ts"

/** Schema for a call that failed or was interrupted. */
export const LostCall = schemaOf<TranscriptModels.LostCall>()(
  Schema.Struct({
    worker: Schema.String,
    turn: Schema.optionalKey(Schema.Int),
    at: Schema.Finite,
    reason: Schema.optionalKey(WorkerErrorReason),
    message: Schema.optionalKey(Schema.String),
    retryInMillis: Schema.optionalKey(Schema.Finite),
    unasked: Schema.optionalKey(Schema.Literal(true)),
    isInDoubt: Schema.optionalKey(Schema.Literal(true)),
    isAfterPlan: Schema.optionalKey(Schema.Literal(true)),
    isBeforeCompletion: Schema.optionalKey(Schema.Literal(true)),
    by: Schema.optionalKey(Schema.Literals(["check", "critic"])),
    ...attempt,
    ...paid
  })
)

/** Schema for the result of a check. */
export const CheckRecord = schemaOf<TranscriptModels.CheckRecord>()(
  Schema.Struct({
    turn: Schema.Int,
    at: Schema.Finite,
    check: Schema.String,
    worker: Schema.String,
    passed: Schema.Boolean,
    objection: Schema.optionalKey(Schema.String),
    couldNotRun: Schema.optionalKey(Schema.Literal(true)),
    durationMillis: Schema.Finite
  })
)

/** Schema for an answer by a worker that a check called. */
export const CheckAnswer = schemaOf<TranscriptModels.CheckAnswer>()(
  Schema.Struct({
    turn: Schema.Int,
    at: Schema.Finite,
    check: Schema.String,
    worker: Schema.String,
    text: Schema.String,
    ...answerSource,
    request: Schema.optionalKey(Schema.String),
    ...paid
  })
)

/** Schema for a policy's decision about answers that failed their checks. */
export const RevisionRecord = schemaOf<TranscriptModels.RevisionRecord>()(
  Schema.Struct({
    at: Schema.Finite,
    policy: Schema.String,
    decision: Schema.Literals(["go-on", "stop", "re-plan"]),
    answer: Schema.optionalKey(EarlierStep),
    notes: Schema.Array(Schema.String),
    durationMillis: Schema.Finite
  })
)

/** Schema for a tool call. */
export const ToolRecord = schemaOf<TranscriptModels.ToolRecord>()(
  Schema.Struct({
    call: ToolCall,
    startedAt: Schema.optionalKey(Schema.Finite),
    progress: Schema.optionalKey(
      Schema.Struct({
        progress: Schema.optionalKey(Schema.Finite),
        total: Schema.optionalKey(Schema.Finite),
        message: Schema.optionalKey(Schema.String)
      })
    ),
    endedAt: Schema.optionalKey(Schema.Finite),
    durationMillis: Schema.optionalKey(Schema.Finite),
    content: Schema.optionalKey(Content),
    isError: Schema.optionalKey(Schema.Boolean)
  })
)

/** Schema for a turn of a step's worker other than the last one. */
export const TurnRecord = schemaOf<TranscriptModels.TurnRecord>()(
  Schema.Struct({
    turn: Schema.Int,
    worker: Schema.String,
    endedAt: Schema.Finite,
    durationMillis: Schema.Finite,
    text: Schema.String,
    reasoning: Schema.String,
    tools: Schema.Array(ToolRecord),
    echo: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String),
    ...answerSource,
    paid: Paid
  })
)

/** Schema for the record of a step, including its nested run. */
export const StepRecord: Of<TranscriptModels.StepRecord> = schemaOf<TranscriptModels.StepRecord>()(
  Schema.Struct({
    step: Schema.Int,
    item: Schema.optionalKey(Schema.String),
    items: Schema.optionalKey(Schema.Array(Schema.suspend((): Of<TranscriptModels.StepRecord> => StepRecord))),
    unfolded: Schema.optionalKey(Schema.Int),
    without: Schema.optionalKey(Schema.Array(Schema.String)),
    worker: Schema.String,
    state: Schema.Literals(["waiting", "running", "suspended", "answered", "failed", "skipped"]),
    startedAt: Schema.optionalKey(Schema.Finite),
    endedAt: Schema.optionalKey(Schema.Finite),
    durationMillis: Schema.optionalKey(Schema.Finite),
    text: Schema.String,
    reasoning: Schema.String,
    finishReason: Schema.optionalKey(FinishReason),
    model: Schema.optionalKey(Schema.String),
    cached: Schema.optionalKey(Schema.Boolean),
    ...origin,
    paid: Schema.optionalKey(Paid),
    turns: Schema.optionalKey(Schema.Array(TurnRecord)),
    waitingFor: Schema.optionalKey(Schema.Array(WaitingCall)),
    notices: Schema.optionalKey(Schema.Array(Schema.String)),
    checks: Schema.optionalKey(Schema.Array(CheckRecord)),
    checkAnswers: Schema.optionalKey(Schema.Array(CheckAnswer)),
    lost: Schema.Array(LostCall),
    reassigned: Schema.Array(
      Schema.Struct({
        from: Schema.String,
        at: Schema.Finite,
        reason: Schema.optionalKey(WorkerErrorTag),
        message: Schema.optionalKey(Schema.String)
      })
    ),
    detail: Schema.optionalKey(Schema.String),
    reason: Schema.optionalKey(WorkerErrorTag),
    nested: Schema.optionalKey(Schema.suspend((): Of<TranscriptModels.Transcript> => Transcript))
  })
)

/** Schema for a language policy's completion. */
export const CompletionRecord = schemaOf<TranscriptModels.CompletionRecord>()(
  Schema.Struct({
    attempt: Schema.Int,
    endedAt: Schema.optionalKey(Schema.Finite),
    text: Schema.String,
    reasoning: Schema.String,
    toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
    finishReason: Schema.optionalKey(FinishReason),
    echo: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String),
    cached: Schema.optionalKey(Schema.Boolean),
    ...origin,
    request: Schema.optionalKey(Schema.String),
    paid: Schema.optionalKey(Paid)
  })
)

/** Schema for the record of a round. */
export const RoundRecord = schemaOf<TranscriptModels.RoundRecord>()(
  Schema.Struct({
    round: Schema.Int,
    startedAt: Schema.Finite,
    completions: Schema.Array(CompletionRecord),
    lost: Schema.Array(LostCall),
    policy: Schema.optionalKey(Schema.String),
    plannedAt: Schema.optionalKey(Schema.Finite),
    planningMillis: Schema.optionalKey(Schema.Finite),
    workflow: Schema.optionalKey(Workflow),
    waitingFor: Schema.optionalKey(Schema.Array(WaitingCall)),
    decision: Schema.optionalKey(
      Schema.Struct({
        decision: planDecision,
        reason: Schema.optionalKey(Schema.String),
        text: Schema.optionalKey(Schema.String)
      })
    ),
    notes: Schema.Array(Schema.String),
    probability: Schema.optionalKey(Schema.Finite),
    steps: Schema.Array(StepRecord),
    revisions: Schema.optionalKey(Schema.Array(RevisionRecord)),
    grade: Schema.optionalKey(Schema.Struct({ at: Schema.Finite, critic: Schema.String, grade: Grade })),
    criticAnswers: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          at: Schema.Finite,
          critic: Schema.String,
          worker: Schema.String,
          text: Schema.String,
          ...answerSource,
          turn: Schema.optionalKey(Schema.Int),
          request: Schema.optionalKey(Schema.String),
          ...paid
        })
      )
    ),
    endedAt: Schema.optionalKey(Schema.Finite),
    answer: Schema.optionalKey(Schema.String),
    isOwn: Schema.optionalKey(Schema.Literal(true)),
    isLast: Schema.optionalKey(Schema.Boolean),
    confirmed: Schema.Boolean
  })
)

/** Schema for the record of a run. */
export const Transcript: Of<TranscriptModels.Transcript> = schemaOf<TranscriptModels.Transcript>()(
  Schema.Struct({
    version: Schema.Literal(version),
    runId: Schema.String,
    task: Task,
    pool: Schema.Array(PoolMember),
    policy: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    seed: Schema.Finite,
    startedAt: Schema.Finite,
    parent: Schema.optionalKey(Parent),
    forkOf: Schema.optionalKey(ForkOf),
    rounds: Schema.Array(RoundRecord),
    ending: Schema.optionalKey(Ending),
    answer: Schema.optionalKey(Schema.String),
    partial: Schema.optionalKey(PartialAnswer),
    detail: Schema.optionalKey(Schema.String),
    spend: Schema.optionalKey(Spend),
    durationMillis: Schema.optionalKey(Schema.Finite)
  })
)
