/** Building blocks for wire schemas. The compiler checks each schema against its interface. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A type with its intersections merged at every depth, so that only its content is compared. */
type Plain<T> = T extends string | number | boolean | null | undefined ? T : { [K in keyof T]: Plain<T[K]> }

type IsSame<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

/** A schema of a model. */
export interface Of<A> extends Schema.Codec<A, unknown> {}

/** Accepts a schema for a model only if both agree, including optional fields. */
export const schemaOf =
  <A>() =>
  <S extends Schema.Codec<unknown, unknown>>(
    schema: IsSame<A, S["Type"]> extends true ? S : { readonly drift: [model: Plain<A>, schema: Plain<S["Type"]>] }
  ): Of<A> =>
    schema as unknown as Of<A>

/**
 * A number that may be `undefined`. JSON cannot represent `undefined`, so the field is omitted and decoded as
 * `undefined`.
 */
export const NumberOrUndefined = Schema.optionalKey(Schema.Finite).pipe(
  Schema.decodeTo(Schema.UndefinedOr(Schema.Finite), {
    decode: SchemaGetter.transformOptional((number) => Option.orElse(number, () => Option.some(undefined))),
    encode: SchemaGetter.transformOptional(Option.filter((number) => number !== undefined))
  })
)

/** Returns the message for a value that is not a member of a union. */
export const oneOf = (field: string, values: ReadonlyArray<string>) =>
  `expected its ${field} to be one of ${values.join(", ")}`
