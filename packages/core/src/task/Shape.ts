/**
 * Shapes of values: the input of a tool, or the form of an answer. A shape is written as an Effect schema, as a schema
 * of any library that supports Standard Schema (zod, valibot, arktype), or as plain JSON Schema.
 *
 * This module has only types. `compileShape` prepares a shape for a run, and is loaded by the first run that uses one.
 */
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { JsonSchema } from "./Tool.ts"

/** A schema that decodes to `A`. For plain JSON Schema, which has no static type, `A` is `any`. */
export type Shape<A = unknown> = Schema.Codec<A, unknown> | StandardSchemaV1<unknown, A> | JsonSchema

/**
 * Shapes by name. Steps refer to them by these names (`Step.gives`): letters, digits, _ and -, at most 64 characters.
 */
export type Shapes = Readonly<Record<string, Shape>>

/** The type of the values that a shape accepts. */
export type TypeOf<S> = S extends { readonly Type: infer A; readonly ast: unknown }
  ? A
  : S extends StandardSchemaV1<infer _, infer A>
    ? A
    : // biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has no type, and its values are used as they are.
      any
