/** Prepares a run's tools and output format once, and executes individual tool calls. */

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { settle } from "../Callback.ts"
import * as Elapsed from "../Elapsed.ts"
import { onDemand } from "../OnDemand.ts"
import { messageOf } from "../Thrown.ts"
import { problemOf } from "../task/ContentProblem.ts"
import type { Compiled, ShapeError } from "../task/compileShape.ts"
import { jsonText } from "../task/jsonText.ts"
import type { ContentPart } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import {
  isName,
  type JsonSchema,
  nameRule,
  type Output,
  type OutputFormat,
  type Tool,
  type ToolCallContext,
  type ToolChoice,
  type ToolDefinition,
  type ToolResult
} from "../task/Tool.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as Warning from "../Warning.ts"
import { mediaOf, missing } from "./Capabilities.ts"
import type { Equipment } from "./Equipment.ts"
import { failed } from "./failedResult.ts"
import { type Format, isFormat } from "./tables.ts"
import type { read as readResult } from "./toolResult.ts"

/**
 * Returns an error message for input that type-checks but that every vendor would reject: invalid content parts, or a
 * `toolChoice` that names an unknown tool.
 */
const wrongIn = (task: Task, tools: ReadonlyArray<Tool>, choice: ToolChoice | undefined): string | undefined => {
  for (const [at, { content }] of task.messages.entries()) {
    if (typeof content === "string") continue
    const problem = problemOf(content)
    if (problem !== undefined) return `Message ${at + 1} cannot be sent: ${problem}.`
  }
  if (typeof choice !== "object") return undefined
  const names = tools.map(({ name }) => name)
  if (names.includes(choice.name)) return undefined
  return `toolChoice names the tool "${choice.name}", which does not exist. Tools: ${names.join(", ") || "none"}.`
}

/**
 * Returns an error message if the question or the tools cannot be sent to any worker of the pool, or `undefined` if
 * they can. `given` includes tools that no step may call.
 */
export const unsuitable = (
  { toolChoice, unsupported }: Equipment,
  task: Task,
  pool: WorkerPool,
  given: ReadonlyArray<Tool>,
  tools: ReadonlyArray<Tool>
): string | undefined => {
  const wrong = wrongIn(task, given, toolChoice)
  if (wrong !== undefined || unsupported !== "error") return wrong
  const needed: Set<"images" | "files" | "tools"> = new Set(mediaOf(task.messages))
  if (tools.length > 0) needed.add("tools")
  return missing(pool.workers, needed)
}

/** A tool with its compiled argument validator. */
interface Ready {
  readonly tool: Tool
  readonly check: Compiled["check"]
  readonly readResult: typeof readResult
}

/** The tools available to a run. */
export interface Toolbox {
  readonly definitions: ReadonlyArray<ToolDefinition>
  readonly names: ReadonlyArray<string>
  readonly get: (name: string) => Ready | undefined
}

/** The output format of an answer. */
export interface AnswerShape {
  readonly format: OutputFormat
  /** Parses an answer. Returns its JSON text and decoded value, or a description of the problem. */
  readonly read: (text: string) => Read
}

/** The result of parsing an answer. */
export type Read =
  | { readonly isRight: true; readonly text: string; readonly value: unknown }
  | { readonly isRight: false; readonly why: string; readonly remedy?: string }

/**
 * Maximum total number of schemas across all tools of a run. A referenced schema counts once for each time it is
 * followed.
 */
const maxSchemas = 50_000

/** Number of schemas to process before yielding to other fibers. */
const schemasPerTurn = 2_000

const withShapes = onDemand(() => import("../task/compileShape.ts"))

const withResults = onDemand(() => import("./toolResult.ts"))

/** Sets `type: "object"` on argument schemas without a type, such as `{}`. Vendors reject them otherwise. */
const ofObject = (schema: JsonSchema): JsonSchema =>
  schema.type === undefined && schema.$ref === undefined ? { type: "object", ...schema } : schema

/** Compiles the tools of a run. Schema and parsing code is loaded only if there are tools. */
export const toolbox = Effect.fnUntraced(function* (tools: ReadonlyArray<Tool>): Effect.fn.Return<Toolbox, ShapeError> {
  const { compileShape, ShapeError } = yield* withShapes(Effect.succeed)
  const { read } = yield* withResults(Effect.succeed)
  const ready = new Map<string, Ready>()
  const definitions: Array<ToolDefinition> = []
  let size = 0
  let turn = 0
  for (const tool of tools) {
    const { description, name, strict } = tool
    const what = `the tool "${name}"`
    if (!isName(name)) {
      return yield* new ShapeError({ what, part: "name", detail: `use only ${nameRule} characters` })
    }
    if (ready.has(name)) return yield* new ShapeError({ what, part: "name", detail: "another tool has the same name" })
    const { check, schema, size: schemas } = yield* compileShape(what, tool.input)
    size += schemas
    if (size > maxSchemas) {
      const detail = `with it the tools have more than ${maxSchemas} schemas; offer fewer tools, or simpler ones`
      return yield* new ShapeError({ what, detail })
    }
    if (Math.floor(size / schemasPerTurn) > turn) {
      turn = Math.floor(size / schemasPerTurn)
      yield* Effect.yieldNow
    }
    ready.set(name, { tool, check, readResult: read })
    definitions.push({ name, description, input: ofObject(schema), strict })
  }
  return { definitions, names: [...ready.keys()], get: (name) => ready.get(name) }
})

/** Returns a toolbox restricted to the named tools. */
export const only = ({ definitions, get, names }: Toolbox, wanted: ReadonlyArray<string>): Toolbox => ({
  definitions: definitions.filter(({ name }) => wanted.includes(name)),
  names: names.filter((name) => wanted.includes(name)),
  get: (name) => (wanted.includes(name) ? get(name) : undefined)
})

// -------------------------------------------------------------------------------------------------------------------
// Answers of a shape
// -------------------------------------------------------------------------------------------------------------------

const parsed = (text: string): Read => {
  const json = jsonText(text)
  try {
    return { isRight: true, text: json, value: JSON.parse(json) }
  } catch (error) {
    return { isRight: false, why: `it is not JSON: ${messageOf(error)}` }
  }
}

/** Default name for output schemas. */
const defaultName = "answer"

const named = (output: Output): Format =>
  isFormat(output) ? output : { type: "json-schema", name: defaultName, schema: output }

/** Prepares the output format for an answer. */
export const answerShape = Effect.fnUntraced(function* (
  given: Output
): Effect.fn.Return<AnswerShape | undefined, ShapeError> {
  const output = named(given)
  if (output.type === "text") return undefined
  if (output.type === "json") return { format: output, read: parsed }
  const { compileShape } = yield* withShapes(Effect.succeed)
  const { check, schema } = yield* compileShape(`the output "${output.name}"`, output.schema)
  const read = (text: string): Read => {
    const json = parsed(text)
    if (!json.isRight) return json
    // Must be synchronous, because the answer is validated in the same tick in which it is charged.
    const exit = Effect.runSyncExit(check(json.value))
    if (Exit.isSuccess(exit)) return { isRight: true, text: json.text, value: exit.value }
    const failure = exit.cause.reasons.find(Cause.isFailReason)
    if (failure !== undefined) return { isRight: false, why: failure.error }
    const why = "its schema has asynchronous checks, which are not supported"
    return { isRight: false, why, remedy: "make the checks synchronous" }
  }
  return { format: { ...output, schema }, read }
})

// -------------------------------------------------------------------------------------------------------------------
// One call of a tool
// -------------------------------------------------------------------------------------------------------------------

/** A prepared tool call: already finished, waiting for an external result, or ready to run. */
export type Prepared =
  | { readonly type: "done"; readonly result: ToolResult }
  | { readonly type: "waiting"; readonly for: "result" }
  | {
      readonly type: "ready"
      readonly needsApproval: boolean
      readonly isRepeatable: boolean
      readonly run: Effect.Effect<ToolResult>
    }

/** Returns the result to report to the worker if a person rejected the tool call. */
export const declined = (reason: string | undefined): ToolResult =>
  failed(`The user rejected this call${reason === undefined ? "." : `: ${reason}`}`)

/** The result of a tool call that was interrupted, or whose result was lost when its process ended. */
export const lost: ToolResult = failed(
  "The call was started, but its result was lost. It may have had its effect, so it was not repeated."
)

const defaultTimeoutMillis = 60_000
const defaultMaxCharacters = 100_000

const argumentsOf = (text: string): unknown => (text.trim() === "" ? {} : JSON.parse(text))

/** Prepares a tool call: looks up the tool and validates the arguments. */
export const prepare = Effect.fnUntraced(function* (
  box: Toolbox,
  context: ToolCallContext
): Effect.fn.Return<Prepared> {
  const { call } = context
  const found = box.get(call.name)
  if (found === undefined) {
    return { type: "done", result: failed(`There is no tool "${call.name}". Tools: ${box.names.join(", ")}.`) }
  }
  const input = yield* Effect.exit(
    Effect.flatMap(
      Effect.try({
        try: () => argumentsOf(call.arguments),
        catch: (error) => `They are not JSON: ${messageOf(error)}`
      }),
      found.check
    )
  )
  if (Exit.isFailure(input)) {
    const why = messageOf(Cause.squash(input.cause))
    return { type: "done", result: failed(`The arguments do not match the tool's schema. ${why}`) }
  }
  const { tool } = found
  if (tool.execute === undefined) return { type: "waiting", for: "result" }
  const { isRepeatable = false, needsApproval = false } = tool
  return {
    type: "ready",
    isRepeatable,
    needsApproval:
      typeof needsApproval === "boolean" ? needsApproval : yield* isAsked(tool, needsApproval, input.value),
    run: execute(found, input.value, context)
  }
})

const unfinished = (timeoutMillis: number) => `it did not finish within ${Elapsed.inSeconds(timeoutMillis)}`

/**
 * Whether a call requires approval. Approval is required unless `needsApproval` returns `false` within the tool's time
 * limit.
 */
const isAsked = (
  { name, timeoutMillis = defaultTimeoutMillis }: Tool,
  needsApproval: Exclude<Tool["needsApproval"], boolean | undefined>,
  input: unknown
): Effect.Effect<boolean> =>
  Effect.timeoutOrElse(
    settle(() => needsApproval(input)),
    { duration: timeoutMillis, orElse: () => Effect.fail(unfinished(timeoutMillis)) }
  ).pipe(
    Effect.map((isNeeded) => isNeeded !== false),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.as(
            Warning.log(
              `needsApproval of the tool "${name}" failed, so approval is required: ${messageOf(Cause.squash(cause))}`
            ),
            true
          )
    )
  )

/** Runs a tool. Failures, defects, timeouts and oversized output are all converted to a result. */
const execute = ({ readResult, tool }: Ready, input: unknown, context: ToolCallContext): Effect.Effect<ToolResult> => {
  const { maxResultCharacters = defaultMaxCharacters, timeoutMillis = defaultTimeoutMillis } = tool
  const running = Effect.timeoutOrElse(
    Effect.flatMap(
      settle<unknown>(() => tool.execute!(input, context)),
      readResult
    ),
    {
      duration: timeoutMillis,
      orElse: () => Effect.fail(unfinished(timeoutMillis))
    }
  )
  return Effect.matchCauseEffect(running, {
    onSuccess: (result) => Effect.succeed(limited(result, maxResultCharacters)),
    onFailure: (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.succeed(limited(failed(`The tool failed: ${messageOf(Cause.squash(cause))}`), maxResultCharacters))
  })
}

const sizeOf = (part: ContentPart): number =>
  part.type === "text" ? part.text.length : "data" in part ? part.data.length : part.url.length

const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most)}\n[Cut: the result has ${text.length} characters, and ${most} are shown.]`

/**
 * Enforces the size limit for a result. Text is truncated. An oversized result with images or files is replaced with an
 * error, because a truncated image is useless.
 */
const limited = (result: ToolResult, most: number): ToolResult => {
  const { content } = result
  if (typeof content === "string") return content.length <= most ? result : { ...result, content: cut(content, most) }
  const [only] = content
  if (content.length === 1 && only.type === "text") return limited({ ...result, content: only.text }, most)
  const pictures = content.filter((part) => part.type !== "text").length
  const size = content.reduce((sum, part) => sum + sizeOf(part), 0)
  // Images use few tokens relative to their size in bytes, so they have a separate limit.
  const allowed = most + pictures * mostPartCharacters
  return size <= allowed
    ? result
    : failed(`The tool's result is too large: ${size} characters, but at most ${allowed} are allowed.`)
}

/** About 7.5 MB in base64, which is more than vendors accept. */
const mostPartCharacters = 10_000_000
