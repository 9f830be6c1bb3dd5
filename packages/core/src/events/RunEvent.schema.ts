/** The schemas of the events of a run. */
import * as Schema from "effect/Schema"
import * as RunEventModels from "./RunEvent.ts"
import type * as StepFailureModels from "./StepFailure.ts"
import { attempt, FinishReason, Grade, paid, Spend, WorkerErrorReason, WorkerErrorTag } from "./schemas/calls.ts"
import { oneOf, schemaOf } from "./schemas/schemaOf.ts"
import { Content, EarlierStep, Task, ToolCall, Workflow } from "./schemas/tasks.ts"

/** A worker as a transcript names it. */
export const PoolMember = schemaOf<RunEventModels.PoolMember>()(
  Schema.Struct({
    id: Schema.String,
    description: Schema.optionalKey(Schema.String),
    isPlay: Schema.optionalKey(Schema.Literal(true))
  })
)

/** Where a nested run belongs. */
export const Parent = schemaOf<RunEventModels.Parent>()(
  Schema.Struct({ runId: Schema.String, round: Schema.Int, step: Schema.Int })
)

/** A worker that failed a step or a plan for good. */
const StepFailure = schemaOf<StepFailureModels.StepFailure>()(
  Schema.Struct({
    runId: Schema.String,
    round: Schema.Int,
    step: Schema.optionalKey(Schema.Int),
    by: Schema.optionalKey(Schema.Literals(["check", "critic"])),
    worker: Schema.String,
    reason: Schema.optionalKey(WorkerErrorTag),
    message: Schema.String,
    reassignedTo: Schema.optionalKey(Schema.String)
  })
)

/** A tool call that waits for the caller. */
export const WaitingCall = schemaOf<RunEventModels.WaitingCall>()(
  Schema.Struct({
    id: Schema.String,
    round: Schema.Int,
    step: Schema.Int,
    worker: Schema.String,
    for: Schema.Literals(["result", "approval"]),
    call: ToolCall
  })
)

/** Why a run ended. */
export const Ending = schemaOf<RunEventModels.Ending>()(
  Schema.Literals(["answered", "refused", "budget", "failed", "interrupted", "suspended"])
)

const event = <Type extends string, Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), runId: Schema.String, at: Schema.Finite, ...fields })

const inRound = { round: Schema.Int }
const inStep = { round: Schema.Int, step: Schema.Int }
const inTurn = { ...inStep, turn: Schema.Int }
const ofCall = {
  ...inRound,
  step: Schema.optionalKey(Schema.Int),
  turn: Schema.optionalKey(Schema.Int),
  by: Schema.optionalKey(Schema.Literals(["check", "critic"])),
  worker: Schema.String,
  ...attempt
}
const delta = { kind: Schema.Literals(["text", "reasoning"]), text: Schema.String }

const events = [
  event("run-started", {
    version: Schema.Literal(RunEventModels.version),
    task: Task,
    pool: Schema.Array(PoolMember),
    policy: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    seed: Schema.Finite,
    parent: Schema.optionalKey(Parent)
  }),
  event("round-started", inRound),
  event("completion-delta", { ...inRound, attempt: Schema.Int, ...delta }),
  event("completion-finished", {
    ...inRound,
    attempt: Schema.Int,
    completion: Schema.String,
    error: Schema.optionalKey(Schema.String),
    cached: Schema.Boolean,
    ...paid
  }),
  event("workflow-proposed", {
    ...inRound,
    policy: Schema.String,
    workflow: Workflow,
    notes: Schema.Array(Schema.String),
    probability: Schema.optionalKey(Schema.Finite),
    durationMillis: Schema.Finite
  }),
  event("step-started", { ...inStep, worker: Schema.String }),
  event("step-delta", { ...inStep, ...delta }),
  event("turn-finished", {
    ...inTurn,
    worker: Schema.String,
    text: Schema.String,
    toolCalls: Schema.Array(ToolCall),
    echo: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.String),
    durationMillis: Schema.Finite,
    cached: Schema.Boolean,
    ...paid
  }),
  event("tool-started", { ...inTurn, index: Schema.Int, name: Schema.String }),
  event("tool-progress", {
    ...inTurn,
    index: Schema.Int,
    name: Schema.String,
    progress: Schema.optionalKey(Schema.Finite),
    total: Schema.optionalKey(Schema.Finite),
    message: Schema.optionalKey(Schema.String)
  }),
  event("tool-finished", {
    ...inTurn,
    index: Schema.Int,
    name: Schema.String,
    content: Content,
    isError: Schema.Boolean,
    durationMillis: Schema.Finite
  }),
  event("step-waiting", { ...inStep, worker: Schema.String, calls: Schema.Array(WaitingCall) }),
  event("step-notice", { ...inStep, worker: Schema.String, notice: Schema.String }),
  event("call-failed", {
    ...ofCall,
    attempt: Schema.Int,
    reason: WorkerErrorReason,
    message: Schema.String,
    retryInMillis: Schema.optionalKey(Schema.Finite),
    unasked: Schema.optionalKey(Schema.Literal(true)),
    ...paid
  }),
  event("call-interrupted", { ...ofCall, ...paid }),
  event("call-lost", { ...ofCall, ...paid }),
  event("step-reassigned", {
    ...inStep,
    from: Schema.String,
    to: Schema.String,
    reason: Schema.optionalKey(WorkerErrorTag),
    message: Schema.optionalKey(Schema.String)
  }),
  event("step-finished", {
    ...inStep,
    worker: Schema.String,
    answer: Schema.String,
    finishReason: FinishReason,
    model: Schema.optionalKey(Schema.String),
    durationMillis: Schema.Finite,
    cached: Schema.Boolean,
    isUnchecked: Schema.optionalKey(Schema.Literal(true)),
    ...paid
  }),
  event("step-failed", {
    ...inStep,
    worker: Schema.String,
    reason: Schema.optionalKey(WorkerErrorTag),
    message: Schema.String,
    durationMillis: Schema.Finite
  }),
  event("step-skipped", {
    ...inStep,
    worker: Schema.String,
    reason: Schema.Literals(["unseen", "budget", "revised"])
  }),
  event("check-answered", {
    ...inTurn,
    check: Schema.String,
    worker: Schema.String,
    text: Schema.String,
    cached: Schema.Boolean,
    ...paid
  }),
  event("step-checked", {
    ...inTurn,
    check: Schema.String,
    worker: Schema.String,
    passed: Schema.Boolean,
    objection: Schema.optionalKey(Schema.String),
    durationMillis: Schema.Finite
  }),
  event("round-revised", {
    ...inRound,
    index: Schema.Int,
    policy: Schema.String,
    decision: Schema.Literals(["go-on", "stop", "re-plan"]),
    answer: Schema.optionalKey(EarlierStep),
    notes: Schema.Array(Schema.String),
    durationMillis: Schema.Finite
  }),
  event("critic-answered", {
    ...inRound,
    critic: Schema.String,
    worker: Schema.String,
    text: Schema.String,
    cached: Schema.Boolean,
    ...paid
  }),
  event("answer-graded", { ...inRound, critic: Schema.String, grade: Grade }),
  event("round-finished", { ...inRound, answer: Schema.optionalKey(Schema.String), confirmed: Schema.Boolean }),
  event("run-finished", {
    ending: Ending,
    answer: Schema.optionalKey(Schema.String),
    detail: Schema.optionalKey(Schema.String),
    failures: Schema.optionalKey(Schema.Array(StepFailure)),
    spend: Spend,
    durationMillis: Schema.Finite
  })
] as const

/** An event of a run, of any type. */
export const RunEvent = schemaOf<RunEventModels.RunEvent>()(
  Schema.Union(events).annotate({
    message: oneOf(
      "type",
      events.map(({ fields }) => fields.type.literal)
    )
  })
)
