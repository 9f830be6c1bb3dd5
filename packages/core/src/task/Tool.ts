/**
 * Tools that workers can call, and output formats.
 *
 * A worker receives only the name, description and schema of a tool ({@link ToolDefinition}). A tool with `execute`
 * runs as part of the step that calls it. A call to a tool without `execute` suspends the run until the caller provides
 * the result.
 */
import type * as Effect from "effect/Effect"
import type { Content, ToolCall } from "./Message.ts"
import type { Shape, TypeOf } from "./Shape.ts"

// -------------------------------------------------------------------------------------------------------------------
// Definitions
// -------------------------------------------------------------------------------------------------------------------

/** A JSON Schema (draft 2020-12, to the extent that vendors support it). */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Description of the rule for tool and output format names, which is common to all vendors. Used in error messages.
 *
 * @internal
 */
export const nameRule = "letters, digits, _ and -, at most 64"

/** Whether a name is valid for a tool or an output format. */
export const isName = (name: unknown): name is string => typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** The part of a tool that is sent to a worker. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema for the arguments. Must describe an object. */
  readonly input: JsonSchema
  /** Whether the vendor should strictly enforce the argument schema, if supported. Defaults to the vendor's setting. */
  readonly strict?: boolean | undefined
}

/**
 * Whether the worker may call tools: `auto` lets it decide, `none` disallows tool calls, `required` demands at least
 * one, and `{ name }` demands a specific tool.
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string }

/** Output format: any JSON value. */
export interface JsonFormat {
  readonly type: "json"
}

/** Output format: JSON that matches a schema. */
export interface JsonSchemaFormat {
  readonly type: "json-schema"
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema
  /**
   * Whether the vendor should strictly enforce the schema. Defaults to `true` if the vendor supports this for the
   * schema.
   */
  readonly strict?: boolean | undefined
}

/** The requested output format. Default: plain text. */
export type OutputFormat = { readonly type: "text" } | JsonFormat | JsonSchemaFormat

/** A schema of any supported kind, with a name and a description for the vendor. */
export interface NamedShape<A = unknown> extends Omit<JsonSchemaFormat, "schema"> {
  readonly schema: Shape<A>
}

/**
 * Accepted as the `output` of a run: a schema of any supported kind, a named schema, or any JSON. `A` is the decoded
 * type.
 */
export type Output<A = unknown> = Shape<A> | NamedShape<A> | JsonFormat | { readonly type: "text" }

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

/** Describes a tool call and where it was made. */
export interface ToolContext {
  readonly runId: string
  readonly round: number
  readonly step: number
  /**
   * The item that the step runs for, as indices into the lists, e.g. `"3.1"`. Undefined if the step does not run for
   * items.
   */
  readonly item?: string | undefined
  /** Id of the worker that made the call. */
  readonly worker: string
  readonly call: ToolCall
}

/** Progress of a running tool: the completed amount and the total in any unit, a message, or both. */
export interface ToolProgress {
  readonly progress?: number
  readonly total?: number
  /** Human-readable message, truncated to 500 characters. */
  readonly message?: string
}

/** The second argument of `execute`. */
export interface ToolCallContext extends ToolContext {
  /**
   * Reports progress, which the run emits as a `tool-progress` event. Reports are throttled to one event per 100 ms and
   * 1,000 events per call; the latest report is always emitted before the tool finishes. Never throws. Does not extend
   * the time limit.
   */
  readonly progress: (
    update: string | { readonly [Field in keyof ToolProgress]?: ToolProgress[Field] | undefined }
  ) => void
}

/** A tool that workers can call. `A` is the type of the decoded arguments. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has a type of arguments for each.
export interface Tool<A = any> {
  /** Letters, digits, `_` and `-`, at most 64 characters. Must be unique within a run. */
  readonly name: string
  /** Explains to the model what the tool does and when to use it. The model sees only this, the name and the schema. */
  readonly description?: string | undefined
  /**
   * Schema for the arguments: an Effect schema, a Standard Schema (zod, valibot, arktype), or JSON Schema. Must
   * describe an object.
   */
  readonly input: Shape<A>
  /** Whether the vendor should strictly enforce the argument schema, if supported. Defaults to the vendor's setting. */
  readonly strict?: boolean | undefined
  /**
   * Executes the tool. Strings and {@link Content} are returned to the model unchanged; any other result is serialized
   * as JSON. If the effect fails, the model receives the error message and the run continues. If omitted, a call
   * suspends the run until its result is provided.
   */
  readonly execute?: ((input: A, context: ToolCallContext) => Effect.Effect<unknown, unknown>) | undefined
  /**
   * Whether each call requires human approval. Unless `RunOptions.approve` is set, the run is suspended at the call.
   * Default: `false`.
   */
  readonly needsApproval?: boolean | ((input: A) => boolean | PromiseLike<boolean>) | undefined
  /**
   * Whether a call can be repeated safely, e.g. because it only reads data. If a run is stopped or killed during a call
   * that is not repeatable, the worker receives an error as the result. Default: `false`.
   */
  readonly isRepeatable?: boolean | undefined
  /** Time limit in milliseconds. Default: 60,000. */
  readonly timeoutMillis?: number | undefined
  /**
   * Maximum length of the result in characters. Longer results are truncated, with a note to the worker. Default:
   * 100,000.
   */
  readonly maxResultCharacters?: number | undefined
}

/**
 * Creates a tool whose `execute` receives the decoded arguments and returns an Effect.
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

/** The result of a tool call, as sent to the worker. */
export interface ToolResult {
  readonly content: Content
  /** Whether the tool failed. If so, `content` is the error message. */
  readonly isError?: boolean
}

/** A response to a pending call: the tool's result, or an approval decision. */
export type Given = string | ToolResult | { readonly approved: boolean; readonly reason?: string | undefined }
