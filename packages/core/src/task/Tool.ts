/**
 * Tools that workers may call, and output formats.
 *
 * A worker sees only the name, description and schema of a tool ({@link ToolDefinition}). A tool with `execute` runs
 * within the step. A tool without `execute` suspends the run until the caller returns the result.
 */
import type * as Effect from "effect/Effect"
import type { Content, ToolCall } from "./Message.ts"
import type { Shape, TypeOf } from "./Shape.ts"

// -------------------------------------------------------------------------------------------------------------------
// Definitions
// -------------------------------------------------------------------------------------------------------------------

/** A JSON Schema (draft 2020-12, as supported by the vendors). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The rule for names of tools and output formats, as set by the vendors. */
export const nameRule = "letters, digits, _ and -, at most 64"

/** Whether a name is valid for a tool or output format. */
export const isName = (name: unknown): name is string => typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** The part of a tool that a worker sees. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  readonly description?: string | undefined
  /** The schema of its arguments, an object. */
  readonly input: JsonSchema
  /** Whether the vendor must enforce the schema of arguments, if it can. Default: the vendor's own. */
  readonly strict?: boolean | undefined
}

/**
 * Whether a worker may or must call tools: `auto` (the worker decides), `none`, `required` (at least one), or a
 * specific one.
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string }

/** An output format: JSON of any shape. */
export interface JsonFormat {
  readonly type: "json"
}

/** An output format: JSON that matches a schema. */
export interface JsonSchemaFormat {
  readonly type: "json-schema"
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema
  /** Whether the vendor must enforce the schema strictly. Default: `true` if the vendor supports it for this schema. */
  readonly strict?: boolean | undefined
}

/** The requested output format. Default: plain text. */
export type OutputFormat = { readonly type: "text" } | JsonFormat | JsonSchemaFormat

/** A schema of any kind with a name and a description for the vendor. */
export interface NamedShape<A = unknown> extends Omit<JsonSchemaFormat, "schema"> {
  readonly schema: Shape<A>
}

/**
 * The shape that a caller requests for a run's answer: a schema of any kind, a named schema, or JSON of any form. `A`
 * is the decoded type.
 */
export type Output<A = unknown> = Shape<A> | NamedShape<A> | JsonFormat | { readonly type: "text" }

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** Information about a tool call. */
export interface ToolContext {
  readonly runId: string
  readonly round: number
  readonly step: number
  /** The item that the step runs for, as indices into the lists: `"3.1"`. Absent if the step runs once. */
  readonly item?: string | undefined
  /** The worker that made the call. */
  readonly worker: string
  readonly call: ToolCall
}

/** The progress of a tool: the completed amount and the total in any unit, a message, or both. */
export interface ToolProgress {
  readonly progress?: number
  readonly total?: number
  /** A message for display. At most 500 characters are shown. */
  readonly message?: string
}

/** The context that `execute` receives. */
export interface ToolCallContext extends ToolContext {
  /**
   * Reports progress as a `tool-progress` event of the run. At most one event per 100 ms and 1,000 events per call are
   * emitted; the latest report is emitted when the tool ends. Never throws, and does not extend the time limit.
   */
  readonly progress: (
    update: string | { readonly [Field in keyof ToolProgress]?: ToolProgress[Field] | undefined }
  ) => void
}

/** A tool that workers may call. `A` is the type of its decoded arguments. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has a type of arguments for each.
export interface Tool<A = any> {
  /** Letters, digits, `_` and `-`, at most 64 characters; unique in a run. */
  readonly name: string
  /** The purpose of the tool and when to use it. Besides the name and schema, this is all that a model sees. */
  readonly description?: string | undefined
  /** The schema of its arguments, an object: an Effect schema, a Standard Schema (zod, valibot, arktype), or JSON Schema. */
  readonly input: Shape<A>
  /** Whether the vendor must enforce the schema of arguments, if it can. Default: the vendor's own. */
  readonly strict?: boolean | undefined
  /**
   * Runs the tool. Text and {@link Content} with pictures are returned unchanged; any other value is converted to JSON.
   * A failure is reported to the worker and does not end the run. Without `execute`, the run is suspended until it
   * receives the result.
   */
  readonly execute?: ((input: A, context: ToolCallContext) => Effect.Effect<unknown, unknown>) | undefined
  /**
   * Whether a person must approve each call. Default: `false`. The run is suspended if `RunOptions.approve` does not
   * decide.
   */
  readonly needsApproval?: boolean | ((input: A) => boolean | PromiseLike<boolean>) | undefined
  /**
   * Whether a call can be repeated safely, for example because it only reads. Default: `false`. If a run is stopped or
   * killed during a call that is not repeatable, the worker receives an error as its result.
   */
  readonly isRepeatable?: boolean | undefined
  /** The time limit in milliseconds. Default: 60,000. */
  readonly timeoutMillis?: number | undefined
  /**
   * The maximum length of its result, in characters. Default: 100,000. A longer result is truncated, and the worker is
   * notified.
   */
  readonly maxResultCharacters?: number | undefined
}

/**
 * Makes a tool whose `execute` returns an Effect and receives the decoded arguments.
 *
 * **Example**
 *
 * ```ts
 * import { Tool } from "@divisi/core"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const weather = Tool.make({
 *   name: "weather",
 *   description: "The weather of a city",
 *   input: Schema.Struct({ city: Schema.String }),
 *   execute: ({ city }) => Effect.succeed(`It is sunny in ${city}.`)
 * })
 * weather.name // => "weather"
 * ```
 */
export const make = <const S extends Shape>(
  tool: Omit<Tool<TypeOf<S>>, "input"> & { readonly input: S }
): Tool<TypeOf<S>> => tool as unknown as Tool<TypeOf<S>>

/** The result of a tool, as sent to the worker. */
export interface ToolResult {
  readonly content: Content
  /** Whether it failed. The content is then the reason. */
  readonly isError?: boolean
}

/** The caller's response to a pending call: its result, or the approval decision. */
export type Given = string | ToolResult | { readonly approved: boolean; readonly reason?: string | undefined }
