/**
 * The wire format: schemas, encoders and decoders of data that is written to disk or sent over a network.
 *
 * The models themselves are plain interfaces, so that a run does not load Effect's schemas. The schema of each model is
 * in a separate file, and the compiler checks that it matches the interface. Encoded data contains {@link version}.
 * Decoders ignore unknown fields, so fields may be added within a version, and reject other versions.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as TaskModels from "../task/Task.ts"
import type * as WorkflowModels from "../workflow/Workflow.ts"
import { RunEvent } from "./RunEvent.schema.ts"
import * as RunEventModels from "./RunEvent.ts"
import type { Of } from "./schemas/schemaOf.ts"
import { Task, Workflow } from "./schemas/tasks.ts"
import { Transcript } from "./Transcript.schema.ts"
import type * as TranscriptModels from "./Transcript.ts"

export { RunEvent } from "./RunEvent.schema.ts"
export { Ending, Parent, PoolMember } from "./run.schema.ts"
export { FinishReason, Grade, Paid, Spend, Usage, WorkerErrorReason } from "./schemas/calls.ts"
export type { Of } from "./schemas/schemaOf.ts"
export { Access, Message, Step, Task, Workflow } from "./schemas/tasks.ts"
export { CompletionRecord, LostCall, RoundRecord, StepRecord, Transcript } from "./Transcript.schema.ts"

/** The version of the format. Data of any other version is rejected. */
export const version = RunEventModels.version

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The error for data that cannot be decoded. */
export class WireError extends Data.TaggedError("WireError")<{
  /** The kind of value that was expected, e.g. `transcript`. */
  readonly what: string
  readonly reason:
    | { readonly _tag: "Syntax"; readonly detail: string }
    | { readonly _tag: "Version"; readonly found: unknown }
    /** The first invalid field. The path is empty if the value itself is invalid. */
    | { readonly _tag: "Shape"; readonly path: string; readonly detail: string }
  /** The line in an NDJSON file, from 1. */
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

/** Formats a path as in code: `task.messages[0].role`. */
const showPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path.reduce<string>((shown, segment) => {
    const key = typeof segment === "object" ? segment.key : segment
    return typeof key === "number" ? `${shown}[${key}]` : shown === "" ? String(key) : `${shown}.${String(key)}`
  }, "")

const shapeError = (what: string, issue: SchemaIssue.Issue) => {
  const [first] = issuesOf(issue).issues
  const detail = (first?.message ?? "it has a different format").replace(/^./, (letter) => letter.toLowerCase())
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

/** Like {@link valueReader}, for data that begins with its version. */
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

/** Reads a workflow from parsed JSON. Use `Workflow.check` to check its rules. */
export const readWorkflow = valueReader("workflow", Workflow)

/** Reads an event of a run from parsed JSON. */
export const readRunEvent = versionedReader("run event", RunEvent)

/** Reads a transcript from parsed JSON. */
export const readTranscript = versionedReader("transcript", Transcript)

/** Reads a task from its JSON text. */
export const decodeTask = textReader("task", valueReader("task", Task))

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

/** Reads the events of an NDJSON file, in order. Blank lines are skipped. The error contains the line number. */
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

// Models are plain JSON values, and the schemas read the fields that JSON omits (`undefined`) as absent. No separate
// encoder is needed, which matters for events that are emitted with every token.

/** Writes a task as JSON text. */
export const encodeTask = (task: TaskModels.Task): string => JSON.stringify(task)

/** Writes a workflow as JSON text. */
export const encodeWorkflow = (workflow: WorkflowModels.Workflow): string => JSON.stringify(workflow)

/** Writes an event as one line of NDJSON, without its line feed. */
export const encodeRunEvent = (event: RunEventModels.RunEvent): string => JSON.stringify(event)

/** Writes a transcript as JSON text, on one line. */
export const encodeTranscript = (transcript: TranscriptModels.Transcript): string => JSON.stringify(transcript)
