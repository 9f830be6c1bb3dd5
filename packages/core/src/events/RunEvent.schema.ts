/** Schema for all run events. The compiler verifies that it matches `RunEvent`. */
import * as Schema from "effect/Schema"
import { PlanDecided, PlanWaiting } from "./approval.schema.ts"
import { CallFailed, CallInterrupted, CallLost } from "./call.schema.ts"
import { CheckAnswered, StepChecked } from "./check.schema.ts"
import { CompletionDelta, CompletionFinished } from "./completion.schema.ts"
import { AnswerGraded, CriticAnswered } from "./critic.schema.ts"
import { WorkflowProposed } from "./plan.schema.ts"
import type * as RunEventModels from "./RunEvent.ts"
import { StepReassigned } from "./reassignment.schema.ts"
import { RoundRevised } from "./revision.schema.ts"
import { RoundFinished, RoundStarted } from "./round.schema.ts"
import { RunFinished, RunStarted } from "./run.schema.ts"
import { oneOf, schemaOf } from "./schemas/schemaOf.ts"
import {
  StepDelta,
  StepFailed,
  StepFinished,
  StepJoined,
  StepNotice,
  StepSkipped,
  StepStarted,
  StepUnfolded
} from "./step.schema.ts"
import { StepWaiting } from "./suspension.schema.ts"
import { ToolFinished, ToolProgressed, ToolStarted } from "./tool.schema.ts"
import { TurnFinished } from "./turn.schema.ts"

/** The schema of each event type. */
export const events = [
  RunStarted,
  RoundStarted,
  CompletionDelta,
  CompletionFinished,
  WorkflowProposed,
  PlanWaiting,
  PlanDecided,
  StepStarted,
  StepUnfolded,
  StepJoined,
  StepDelta,
  TurnFinished,
  ToolStarted,
  ToolProgressed,
  ToolFinished,
  StepWaiting,
  StepNotice,
  CallFailed,
  CallInterrupted,
  CallLost,
  StepReassigned,
  StepFinished,
  StepFailed,
  StepSkipped,
  CheckAnswered,
  StepChecked,
  RoundRevised,
  CriticAnswered,
  AnswerGraded,
  RoundFinished,
  RunFinished
] as const

/** Schema for a run event of any type. */
export const RunEvent = schemaOf<RunEventModels.RunEvent>()(
  Schema.Union(events).annotate({
    message: oneOf(
      "type",
      events.map(({ fields }) => fields.type.literal)
    )
  })
)
