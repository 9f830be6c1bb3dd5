/**
 * Shapes describe the input of a tool or the format of an answer. A shape can be an Effect schema, a schema from any
 * library that implements Standard Schema (zod, valibot, arktype), or plain JSON Schema.
 *
 * This module contains only types. `compileShape` prepares a shape for use and is loaded by the first run that needs
 * it.
 */
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { JsonSchema } from "./Tool.ts"

/** A schema that decodes to `A`. For plain JSON Schema, which carries no static type, `A` is `any`. */
export type Shape<A = unknown> = Schema.Codec<A, unknown> | StandardSchemaV1<unknown, A> | JsonSchema

/**
 * Shapes by name. Steps refer to them with `Step.gives`. Names consist of letters, digits, _ and -, and have at most 64
 * characters.
 */
export type Shapes = Readonly<Record<string, Shape>>

/** The type that a shape decodes to. */
export type TypeOf<S> = S extends { readonly Type: infer A; readonly ast: unknown }
  ? A
  : S extends StandardSchemaV1<infer _, infer A>
    ? A
    : // biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has no type, and its values are used as they are.
      any
