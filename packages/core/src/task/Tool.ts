/**
 * What a worker is told of the tools that it may ask for, and of the shape that its answer is to have.
 *
 * A definition is plain data: who runs a tool stands elsewhere (`Toolbox`), so that workers and vendors know nothing of it.
 */

/** A JSON Schema (draft 2020-12, as the vendors read it). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A tool as a worker is told of it. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description?: string | undefined
  /** The schema of its arguments, an object. */
  readonly input: JsonSchema
  /** Whether the vendor is to hold arguments to the schema, where it can. The vendor's own default when absent. */
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
  /** Whether the vendor is to hold the answer to the schema exactly; true when absent. */
  readonly strict?: boolean | undefined
}

/** The shape of the text that is asked for; plain text when absent. */
export type OutputFormat = { readonly type: "text" } | JsonFormat | JsonSchemaFormat
