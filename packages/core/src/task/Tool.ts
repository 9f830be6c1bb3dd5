/**
 * Tools that workers may call during an answer, and the shape of the answer.
 *
 * A worker sees only the name, description and schema of a tool ({@link ToolDefinition}). A tool with `execute` is run
 * by the executor, within its step. A tool without it suspends the run until its caller returns the result.
 */
import type * as Effect from "effect/Effect"
import type { Content, ToolCall } from "./Message.ts"
import type { Shape, TypeOf } from "./Shape.ts"

// -------------------------------------------------------------------------------------------------------------------
// Definitions
// -------------------------------------------------------------------------------------------------------------------

/** A JSON Schema (draft 2020-12, as the vendors read it). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The rule of the names of tools and of answers, which is that of the vendors. */
export const nameRule = "letters, digits, _ and -, at most 64"

/** Whether a tool or an answer may have this name. */
export const isName = (name: unknown): name is string => typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** A tool as a worker sees it. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description?: string | undefined
  /** The schema of its arguments, an object. */
  readonly input: JsonSchema
  /** Whether the vendor must enforce the schema of arguments, if it can. Default: the vendor's own. */
  readonly strict?: boolean | undefined
}

/** Which tools a worker is to use: as it likes, none, at least one, or the one that is named. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string }

/** An answer that is JSON, of any shape. */
export interface JsonFormat {
  readonly type: "json"
}

/** An answer that is JSON of a schema. */
export interface JsonSchemaFormat {
  readonly type: "json-schema"
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema
  /**
   * Whether the vendor must enforce the schema of the answer exactly. Default: `true` if the vendor can do so with
   * this schema.
   */
  readonly strict?: boolean | undefined
}

/** The requested shape of the text. Default: plain text. */
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

/** Information about the call that a tool is run for. */
export interface ToolContext {
  readonly runId: string
  readonly round: number
  readonly step: number
  /** The item that the step runs for, as its indexes in the lists: `"3.1"`. Absent if the step runs once. */
  readonly item?: string | undefined
  /** The worker that made the call. */
  readonly worker: string
  readonly call: ToolCall
}

/**
 * The progress of a tool: the completed amount and the total in any unit, a description of its current activity, or
 * both.
 */
export interface ToolProgress {
  readonly progress?: number
  readonly total?: number
  /** For people; at most 500 characters are shown. */
  readonly message?: string
}

/** The context that a tool is run with. */
export interface ToolCallContext extends ToolContext {
  /**
   * Reports how far the tool is, which becomes a `tool-progress` event of the run. At most one event is emitted in 100 ms,
   * and 1,000 for one call; the latest report is emitted when the tool ends. It never throws, and extends no time limit.
   */
  readonly progress: (
    update: string | { readonly [Field in keyof ToolProgress]?: ToolProgress[Field] | undefined }
  ) => void
}

/** A tool that workers may call. `A` is the type of its decoded arguments. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has a type of arguments for each.
export interface Tool<A = any> {
  /** Letters, digits, `_` and `-`, at most 64; unique in a run. */
  readonly name: string
  /** The purpose of the tool and when to use it: the only information that a model has besides its schema. */
  readonly description?: string | undefined
  /** The schema of its arguments, an object: an Effect schema, a Standard Schema (zod, valibot, arktype), or JSON Schema. */
  readonly input: Shape<A>
  /** Whether the vendor must enforce the schema of arguments, if it can. Default: the vendor's own. */
  readonly strict?: boolean | undefined
  /**
   * Runs the tool. A text is its result, and so is {@link Content} with pictures; any other value is shown as JSON. A
   * failure is reported to the worker and does not end the run. Without `execute`, the run is suspended and waits for
   * the result.
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
  /** How long it may take, in milliseconds; 60,000 by default. */
  readonly timeoutMillis?: number | undefined
  /**
   * The maximum length of its result, in characters. Default: 100,000. A longer result is cut, and the worker is
   * notified.
   */
  readonly maxResultCharacters?: number | undefined
}

/**
 * Makes a tool from an Effect. `execute` receives the decoded arguments.
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

/** The result of a tool, for its worker. */
export interface ToolResult {
  readonly content: Content
  /** Whether it failed; the content then has the reason. */
  readonly isError?: boolean
}

/** The input for a waiting call: its result, or whether it may be run. */
export type Given = string | ToolResult | { readonly approved: boolean; readonly reason?: string | undefined }
