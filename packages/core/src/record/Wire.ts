/**
 * The wire: the schemas of what is written to disk or sent elsewhere, and how it is read back.
 *
 * Models are plain interfaces elsewhere so that a first run need not load Effect's schemas; here stands the schema of
 * each, held equal to its interface by the compiler. What is written carries {@link version}: unknown fields are
 * ignored on reading, so fields may be added within a version; another version is refused.
 */
import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as GraderModels from "../task/Grader.ts"
import type * as TaskModels from "../task/Task.ts"
import type * as UsageModels from "../task/Usage.ts"
import type * as WorkerModels from "../task/Worker.ts"
import type * as WorkflowModels from "../workflow/Workflow.ts"
import * as RunEventModels from "./RunEvent.ts"
import type * as TranscriptModels from "./Transcript.ts"

/** The version that is written, and the only one that is read. */
export const version = RunEventModels.version

// -------------------------------------------------------------------------------------------------------------------
// No drift between schemas and interfaces
// -------------------------------------------------------------------------------------------------------------------

/** A type with its intersections merged at every depth, so that only its content is compared. */
type Plain<T> = T extends string | number | boolean | null | undefined ? T : { [K in keyof T]: Plain<T[K]> }

type IsSame<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

/** A schema of a model. */
export interface Of<A> extends Schema.Codec<A, unknown> {}

/** Takes a schema for a model only where both say the same, optional fields included. */
const schemaOf =
  <A>() =>
  <S extends Schema.Codec<unknown, unknown>>(
    schema: IsSame<A, S["Type"]> extends true ? S : { readonly drift: [model: Plain<A>, schema: Plain<S["Type"]>] }
  ): Of<A> =>
    schema as unknown as Of<A>

// -------------------------------------------------------------------------------------------------------------------
// Fields
// -------------------------------------------------------------------------------------------------------------------

const optional = Schema.optionalKey

/** A number that may be `undefined`. JSON has no `undefined`: the field is left out, and reads back as `undefined`. */
const NumberOrUndefined = optional(Schema.Finite).pipe(
  Schema.decodeTo(Schema.UndefinedOr(Schema.Finite), {
    decode: SchemaGetter.transformOptional((number) => Option.orElse(number, () => Option.some(undefined))),
    encode: SchemaGetter.transformOptional(Option.filter((number) => number !== undefined))
  })
)

/** The message for a value that is no member of a union. */
const oneOf = (field: string, values: ReadonlyArray<string>) =>
  `expected its ${field} to be one of ${values.join(", ")}`

const Metadata = Schema.Record(Schema.String, Schema.Unknown)

// -------------------------------------------------------------------------------------------------------------------
// Tasks and workflows
// -------------------------------------------------------------------------------------------------------------------

/** A turn of a conversation. */
export const Message = schemaOf<TaskModels.Message>()(
  Schema.Struct({ role: Schema.Literals(["system", "user", "assistant"]), content: Schema.String })
)

/** A task. Its metadata is whatever JSON holds. */
export const Task = schemaOf<TaskModels.Task>()(
  Schema.Struct({
    id: Schema.String,
    messages: Schema.NonEmptyArray(Message),
    reference: optional(Schema.String),
    metadata: optional(Metadata)
  })
)

/** An access list: `"all"` or indices. */
export const Access = schemaOf<WorkflowModels.Access>()(Schema.Union([Schema.Literal("all"), Schema.Array(Schema.Int)]))

/** A step of a workflow. */
export const Step = schemaOf<WorkflowModels.Step>()(
  Schema.Struct({ worker: Schema.Int, subtask: Schema.String, access: Access })
)

/** A workflow, by its form alone: `Workflow.check` holds it to its rules. */
export const Workflow = schemaOf<WorkflowModels.Workflow>()(
  Schema.Struct({ steps: Schema.Array(Step), answer: optional(Schema.Literal("majority")) })
)

// -------------------------------------------------------------------------------------------------------------------
// Calls and what they take
// -------------------------------------------------------------------------------------------------------------------

/** Why a worker stopped. */
export const FinishReason = schemaOf<WorkerModels.FinishReason>()(
  Schema.Literals(["stop", "length", "content-filter", "other"])
)

/** The tokens of a call. */
export const Usage = schemaOf<UsageModels.Usage>()(
  Schema.Struct({
    inputTokens: Schema.Finite,
    outputTokens: Schema.Finite,
    cachedInputTokens: optional(Schema.Finite),
    cacheWriteTokens: optional(Schema.Finite),
    reasoningTokens: optional(Schema.Finite),
    estimated: optional(Schema.Boolean)
  })
)

const detail = { detail: optional(Schema.String) }

const retryAfter = { retryAfterMillis: optional(Schema.Finite), ...detail }

const reason = <Tag extends string, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(tag), ...fields })

const reasons = [
  reason("RateLimited", retryAfter),
  reason("Overloaded", retryAfter),
  reason("Timeout", { afterMillis: optional(Schema.Finite), ...detail }),
  reason("Network", detail),
  reason("Malformed", detail),
  reason("InvalidRequest", detail),
  reason("Authentication", detail),
  reason("Quota", detail),
  reason("ContentFiltered", detail),
  reason("ContextTooLong", {
    contextTokens: optional(Schema.Finite),
    neededTokens: optional(Schema.Finite),
    ...detail
  })
] as const

/** Why a call failed. */
export const WorkerErrorReason = schemaOf<WorkerModels.WorkerErrorReason>()(
  Schema.Union(reasons).annotate({
    message: oneOf(
      "_tag",
      reasons.map(({ fields }) => fields._tag.literal)
    )
  })
)

/** What a run spent. */
export const Spend = schemaOf<UsageModels.Spend>()(
  Schema.Struct({ usage: Usage, costUsd: Schema.Finite, calls: Schema.Finite, unpricedCalls: Schema.Finite })
)

const paid = { usage: Usage, costUsd: NumberOrUndefined }

/** What a call used and cost. */
export const Paid = schemaOf<UsageModels.Paid>()(Schema.Struct(paid))

/** A verdict on an answer. */
export const Grade = schemaOf<GraderModels.Grade>()(
  Schema.Struct({ correct: Schema.Boolean, score: Schema.Finite, explanation: optional(Schema.String) })
)

// -------------------------------------------------------------------------------------------------------------------
// Run events
// -------------------------------------------------------------------------------------------------------------------

/** A worker as a transcript names it. */
export const PoolMember = schemaOf<RunEventModels.PoolMember>()(
  Schema.Struct({ id: Schema.String, description: optional(Schema.String) })
)

/** Where a nested run belongs. */
export const Parent = schemaOf<RunEventModels.Parent>()(
  Schema.Struct({ runId: Schema.String, round: Schema.Int, step: Schema.Int })
)

/** Why a run ended. */
export const Outcome = schemaOf<RunEventModels.Outcome>()(
  Schema.Literals(["answered", "budget", "failed", "interrupted"])
)

const event = <Type extends string, Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), runId: Schema.String, at: Schema.Finite, ...fields })

const inRound = { round: Schema.Int }
const inStep = { round: Schema.Int, step: Schema.Int }
const delta = { kind: Schema.Literals(["text", "reasoning"]), text: Schema.String }

const events = [
  event("run-started", {
    version: Schema.Literal(version),
    task: Task,
    pool: Schema.Array(PoolMember),
    policy: Schema.String,
    seed: Schema.Finite,
    parent: optional(Parent)
  }),
  event("round-started", inRound),
  event("completion-delta", { ...inRound, attempt: Schema.Int, ...delta }),
  event("completion-finished", {
    ...inRound,
    attempt: Schema.Int,
    completion: Schema.String,
    error: optional(Schema.String),
    cached: Schema.Boolean,
    ...paid
  }),
  event("workflow-proposed", {
    ...inRound,
    policy: Schema.String,
    workflow: Workflow,
    notes: Schema.Array(Schema.String),
    durationMillis: Schema.Finite
  }),
  event("step-started", { ...inStep, worker: Schema.String }),
  event("step-delta", { ...inStep, ...delta }),
  event("call-failed", {
    ...inRound,
    step: optional(Schema.Int),
    worker: Schema.String,
    attempt: Schema.Int,
    reason: WorkerErrorReason,
    message: Schema.String,
    retryInMillis: optional(Schema.Finite),
    ...paid
  }),
  event("call-interrupted", { ...inRound, step: optional(Schema.Int), worker: Schema.String, ...paid }),
  event("step-reassigned", { ...inStep, from: Schema.String, to: Schema.String }),
  event("step-finished", {
    ...inStep,
    worker: Schema.String,
    answer: Schema.String,
    finishReason: FinishReason,
    durationMillis: Schema.Finite,
    cached: Schema.Boolean,
    ...paid
  }),
  event("step-failed", {
    ...inStep,
    worker: Schema.String,
    message: Schema.String,
    durationMillis: Schema.Finite
  }),
  event("step-skipped", {
    ...inStep,
    worker: Schema.String,
    reason: Schema.Literals(["unseen", "budget"])
  }),
  event("answer-graded", { ...inRound, critic: Schema.String, grade: Grade, paid: optional(Paid) }),
  event("round-finished", { ...inRound, answer: optional(Schema.String), confirmed: Schema.Boolean }),
  event("run-finished", {
    outcome: Outcome,
    answer: optional(Schema.String),
    detail: optional(Schema.String),
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

// -------------------------------------------------------------------------------------------------------------------
// Transcripts
// -------------------------------------------------------------------------------------------------------------------

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

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Something that was written cannot be read back. */
export class WireError extends Data.TaggedError("WireError")<{
  /** What was to be read, e.g. `transcript`. */
  readonly what: string
  readonly reason:
    | { readonly _tag: "Syntax"; readonly detail: string }
    | { readonly _tag: "Version"; readonly found: unknown }
    /** The first field that is wrong; the path is empty for the whole. */
    | { readonly _tag: "Shape"; readonly path: string; readonly detail: string }
  /** The line of a file of many, from 1. */
  readonly line?: number | undefined
}> {
  override get message(): string {
    const { line, reason, what } = this
    const subject = line === undefined ? `The ${what}` : `The ${what} on line ${line}`
    switch (reason._tag) {
      case "Syntax":
        return `${subject} is not JSON: ${reason.detail}.`
      case "Version":
        return `${subject} has version ${JSON.stringify(reason.found)}, but only version ${version} can be read: use the release of Divisi that wrote it, or a newer one.`
      case "Shape":
        return reason.path === ""
          ? `${subject} cannot be read: ${reason.detail}.`
          : `${subject} cannot be read at "${reason.path}": ${reason.detail}.`
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** A path as it is written in code: `task.messages[0].role`. */
const showPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path.reduce<string>((shown, segment) => {
    const key = typeof segment === "object" ? segment.key : segment
    return typeof key === "number" ? `${shown}[${key}]` : shown === "" ? String(key) : `${shown}.${String(key)}`
  }, "")

const shapeError = (what: string, issue: SchemaIssue.Issue) => {
  const [first] = issuesOf(issue).issues
  const detail = (first?.message ?? "it has another form").replace(/^./, (letter) => letter.toLowerCase())
  return new WireError({ what, reason: { _tag: "Shape", path: showPath(first?.path ?? []), detail } })
}

const versionOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "version" in value ? value.version : version

/** Reads a value that has been parsed from JSON. */
const valueReader = <A>(what: string, schema: Of<A>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): Result.Result<A, WireError> =>
    Result.mapError(decode(value), (error) => shapeError(what, error.issue))
}

/** As {@link valueReader}, for what carries its version where it begins. */
const versionedReader = <A>(what: string, schema: Of<A>) => {
  const read = valueReader(what, schema)
  return (value: unknown): Result.Result<A, WireError> => {
    const found = versionOf(value)
    return found === version ? read(value) : Result.fail(new WireError({ what, reason: { _tag: "Version", found } }))
  }
}

const parse = (what: string, text: string): Result.Result<unknown, WireError> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) =>
      new WireError({
        what,
        reason: { _tag: "Syntax", detail: error instanceof Error ? error.message : String(error) }
      })
  })

const textReader =
  <A>(what: string, read: (value: unknown) => Result.Result<A, WireError>) =>
  (text: string): Result.Result<A, WireError> =>
    Result.flatMap(parse(what, text), read)

/** Reads a task from a value that has been parsed from JSON. */
export const readTask = valueReader("task", Task)

/** Reads a workflow from a value that has been parsed from JSON. Its rules are checked by `Workflow.check`. */
export const readWorkflow = valueReader("workflow", Workflow)

/** Reads an event of a run from a value that has been parsed from JSON. */
export const readRunEvent = versionedReader("run event", RunEvent)

/** Reads a transcript from a value that has been parsed from JSON. */
export const readTranscript = versionedReader("transcript", Transcript)

/** Reads a task from its JSON text. */
export const decodeTask = textReader("task", readTask)

/** Reads a workflow from its JSON text. */
export const decodeWorkflow = textReader("workflow", readWorkflow)

/**
 * Reads an event of a run from one line of NDJSON.
 *
 * **Example**
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import * as Wire from "@divisi/core/Wire"
 *
 * const event = Wire.decodeRunEvent('{"type":"round-started","runId":"r","at":0,"round":"first"}')
 * Result.isFailure(event) && event.failure.message // => 'The run event cannot be read at "round": expected number.'
 * ```
 */
export const decodeRunEvent = textReader("run event", readRunEvent)

/** Reads a transcript from its JSON text. */
export const decodeTranscript = textReader("transcript", readTranscript)

/** Reads the events of a file of NDJSON, in their order; blank lines are skipped. The error names the line. */
export const decodeRunEvents = (text: string): Result.Result<ReadonlyArray<RunEventModels.RunEvent>, WireError> => {
  const events: Array<RunEventModels.RunEvent> = []
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const event = decodeRunEvent(line)
    if (Result.isFailure(event)) {
      const { reason, what } = event.failure
      return Result.fail(new WireError({ what, reason, line: index + 1 }))
    }
    events.push(event.success)
  }
  return Result.succeed(events)
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

// Models are plain JSON values, and what JSON leaves out (`undefined`) is what the schemas read back: no encoder of
// their own is needed, which matters for events that come with every token.

/** Writes a task as JSON text. */
export const encodeTask = (task: TaskModels.Task): string => JSON.stringify(task)

/** Writes a workflow as JSON text. */
export const encodeWorkflow = (workflow: WorkflowModels.Workflow): string => JSON.stringify(workflow)

/** Writes an event as one line of NDJSON, without its line feed. */
export const encodeRunEvent = (event: RunEventModels.RunEvent): string => JSON.stringify(event)

/** Writes a transcript as JSON text, on one line. */
export const encodeTranscript = (transcript: TranscriptModels.Transcript): string => JSON.stringify(transcript)
