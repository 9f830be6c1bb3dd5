/** Building blocks for wire schemas. The compiler verifies each schema against its interface. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** Merges the intersections in a type at every depth, so that types are compared by their content. */
type Plain<T> = T extends string | number | boolean | null | undefined ? T : { [K in keyof T]: Plain<T[K]> }

type IsSame<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

/** A schema for the model `A`. */
export interface Of<A> extends Schema.Codec<A, unknown> {}

/** Declares a schema for a model. Compiles only if the two match, including optional fields. */
export const schemaOf =
  <A>() =>
  <S extends Schema.Codec<unknown, unknown>>(
    schema: IsSame<A, S["Type"]> extends true ? S : { readonly drift: [model: Plain<A>, schema: Plain<S["Type"]>] }
  ): Of<A> =>
    schema as unknown as Of<A>

/**
 * Schema for a number that may be `undefined`. JSON cannot represent `undefined`, so the field is omitted when encoding
 * and decoded as `undefined`.
 */
export const NumberOrUndefined = Schema.optionalKey(Schema.Finite).pipe(
  Schema.decodeTo(Schema.UndefinedOr(Schema.Finite), {
    decode: SchemaGetter.transformOptional((number) => Option.orElse(number, () => Option.some(undefined))),
    encode: SchemaGetter.transformOptional(Option.filter((number) => number !== undefined))
  })
)

/** Returns the error message for a value that is not a member of a union. */
export const oneOf = (field: string, values: ReadonlyArray<string>) =>
  `expected its ${field} to be one of ${values.join(", ")}`
