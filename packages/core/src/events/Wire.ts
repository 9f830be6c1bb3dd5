/**
 * The wire format: schemas, encoders and decoders for data that is written to disk or sent over a network.
 *
 * The models themselves are plain interfaces, so that a run does not load Effect's schemas. The schema for each model
 * is in a separate file, and the compiler verifies that it matches the interface. Encoded data includes
 * {@link version}. Decoders ignore unknown fields, so fields can be added without changing the version, and reject any
 * other version.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
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

/** Version of the format. Data with any other version is rejected. */
export const version = RunEventModels.version

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when data cannot be decoded. */
export class WireError extends Data.TaggedError("WireError")<{
  /** The kind of value that was expected, e.g. `transcript`. */
  readonly what: string
  readonly reason:
    | { readonly _tag: "Syntax"; readonly detail: string }
    | { readonly _tag: "Version"; readonly found: unknown }
    /** The first invalid field. `path` is empty if the value itself is invalid. */
    | { readonly _tag: "Shape"; readonly path: string; readonly detail: string }
  /** One-based line number in an NDJSON file. */
  readonly line?: number | undefined
}> {
  override get message(): string {
    const { line, reason, what } = this
    const subject = line === undefined ? `The ${what}` : `The ${what} on line ${line}`
    switch (reason._tag) {
      case "Syntax":
        return `${subject} is not JSON: ${reason.detail}.`
      case "Version":
        return `${subject} has version ${JSON.stringify(reason.found)}, but only version ${version} is supported. Use the release of Divisi that wrote it, or a newer one.`
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

/** Formats a path in code notation, e.g. `task.messages[0].role`. */
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

/** Creates a decoder for parsed JSON. */
const valueReader = <A>(what: string, schema: Of<A>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): Result.Result<A, WireError> =>
    Result.mapError(decode(value), (error) => shapeError(what, error.issue))
}

/** Like {@link valueReader}, but also verifies the version. */
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

/** Decodes a transcript from parsed JSON. */
export const readTranscript = versionedReader("transcript", Transcript)

/** Decodes a task from JSON text. */
export const decodeTask = textReader("task", valueReader("task", Task))

/** Decodes a workflow from JSON text. Does not validate its rules; use `Workflow.check` for that. */
export const decodeWorkflow = textReader("workflow", valueReader("workflow", Workflow))

/**
 * Decodes a run event from a line of NDJSON.
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
export const decodeRunEvent = textReader("run event", versionedReader("run event", RunEvent))

/** Decodes a transcript from JSON text. */
export const decodeTranscript = textReader("transcript", readTranscript)

/** Decodes all events from an NDJSON file, in order. Blank lines are skipped. Errors include the line number. */
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

// The models are plain JSON, and the schemas treat fields that JSON omits as `undefined`. Therefore, no separate
// encoders are needed, which matters for events that are emitted with every token.

/** Encodes an event as a line of NDJSON, without the line feed. */
export const encodeRunEvent = (event: RunEventModels.RunEvent): string => JSON.stringify(event)

/** Encodes a transcript as a single line of JSON. */
export const encodeTranscript = (transcript: TranscriptModels.Transcript): string => JSON.stringify(transcript)
