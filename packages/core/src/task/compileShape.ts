/** Compiles shapes: derives the JSON Schema to send to the vendor and creates a validator for the output. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as JsonSchemas from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import { atOnce, settle } from "../Callback.ts"
import { isObject } from "../Fields.ts"
import { messageOf } from "../Thrown.ts"
import * as JsonSchemaValidator from "./JsonSchemaValidator.ts"
import type { Shape } from "./Shape.ts"
import type { JsonSchema } from "./Tool.ts"

/**
 * Raised when a shape is not a valid schema or cannot be converted to JSON Schema, or when a tool's name is invalid.
 */
export class ShapeError extends Data.TaggedError("ShapeError")<{
  readonly what: string
  readonly detail: string
  /** The invalid part. Default: the schema. */
  readonly part?: "schema" | "name" | undefined
}> {
  override get message(): string {
    return `The ${this.part ?? "schema"} of ${this.what} cannot be used: ${this.detail}`
  }
}

/** A shape compiled for use in a run. */
export interface Compiled {
  readonly schema: JsonSchema
  /** Number of schemas in a plain JSON Schema after following references. 0 for schemas defined in code. */
  readonly size: number
  /** Decodes a value. Fails with a description of the problem that is suitable for the model that wrote the value. */
  readonly check: (value: unknown) => Effect.Effect<unknown, string>
}

const isStandard = (shape: Shape): shape is StandardSchemaV1 =>
  "~standard" in shape && isObject(shape["~standard"]) && "validate" in shape["~standard"]

const checkWith = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (value: unknown) => Effect.mapError(decode(value, { errors: "all" }), ({ message }) => message)
}

const withDefinitions = ({ definitions, schema }: JsonSchemas.Document<"draft-2020-12">): JsonSchema =>
  Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions }

const ofEffect = (schema: Schema.Codec<unknown, unknown>): Compiled => ({
  schema: withDefinitions(Schema.toJsonSchemaDocument(schema)),
  size: 0,
  check: checkWith(schema)
})

/** Removes `$schema`: vendors support a single dialect, and some reject the keyword. */
const withoutDialect = ({ $schema: _, ...schema }: JsonSchema): JsonSchema => schema

const wrapOf: Readonly<Record<string, string>> = {
  valibot: "use toStandardJsonSchema(schema) from @valibot/to-json-schema"
}

/**
 * Returns the JSON Schema for a library's schema, using the Standard JSON Schema interface or the conversion methods of
 * zod and arktype.
 */
const jsonSchemaOf = (what: string, shape: StandardSchemaV1): JsonSchema => {
  const standard: Partial<StandardJSONSchemaV1["~standard"]> = shape["~standard"]
  const { toJSONSchema, toJsonSchema } = shape as { toJSONSchema?: unknown; toJsonSchema?: unknown }
  const convert = toJSONSchema ?? toJsonSchema
  const { jsonSchema, vendor = "its library" } = standard
  if (jsonSchema !== undefined) return atOnce("jsonSchema.input", () => jsonSchema.input({ target: "draft-2020-12" }))
  if (typeof convert === "function") return atOnce("its JSON Schema", () => convert.call(shape) as JsonSchema)
  const hint = wrapOf[vendor] ?? "use a JSON Schema, or a library that provides one"
  throw new ShapeError({ what, detail: `${vendor} does not provide a JSON Schema for it; ${hint}` })
}

const verdictOf = (result: StandardSchemaV1.Result<unknown>): Effect.Effect<unknown, string> =>
  result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(result.issues.map(issueText).join("\n"))

/**
 * Validates with a Standard Schema. Synchronous validators run synchronously, because an answer is validated in the
 * same tick in which it is charged.
 */
const ofStandard = (what: string, shape: StandardSchemaV1): Compiled => ({
  schema: withoutDialect(jsonSchemaOf(what, shape)),
  size: 0,
  check: (value) =>
    Effect.flatMap(
      Effect.mapError(
        settle(() => shape["~standard"].validate(value)),
        messageOf
      ),
      verdictOf
    )
})

const issueText = ({ message, path = [] }: StandardSchemaV1.Issue): string => {
  const keys = path.map((segment) => (isObject(segment) ? segment.key : segment))
  return keys.length === 0 ? message : `${message}\n  at ${keys.map((key) => `[${JSON.stringify(key)}]`).join("")}`
}

const ofJson = (schema: JsonSchema): Compiled => {
  const { problemsOf, size } = JsonSchemaValidator.make(schema)
  const check = (value: unknown) => {
    const problems = problemsOf(value)
    return problems === undefined ? Effect.succeed(value) : Effect.fail(problems)
  }
  return { schema, size, check: (value) => Effect.suspend(() => check(value)) }
}

const compiled = new WeakMap<object, Compiled>()

const compile = (what: string, shape: Shape): Compiled => {
  if (Schema.isSchema(shape)) return ofEffect(shape as Schema.Codec<unknown, unknown>)
  if (isStandard(shape)) return ofStandard(what, shape)
  return ofJson(shape as JsonSchema)
}

/**
 * Compiles a shape and caches the result. `what` describes the shape's owner in error messages, e.g.
 * `the tool "weather"`.
 */
export const compileShape = (what: string, shape: Shape): Effect.Effect<Compiled, ShapeError> =>
  Effect.try({
    try: () => {
      if (!isObject(shape) && typeof shape !== "function") {
        throw new ShapeError({ what, detail: "it is not a JSON Schema or a Standard Schema" })
      }
      const known = compiled.get(shape)
      if (known !== undefined) return known
      const made = compile(what, shape)
      compiled.set(shape, made)
      return made
    },
    catch: (error) => (error instanceof ShapeError ? error : new ShapeError({ what, detail: messageOf(error) }))
  })
