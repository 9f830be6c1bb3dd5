/**
 * The metadata of a GGUF file: typed values by key.
 *
 * GGUF has thirteen types. Readers such as llama.cpp expect a certain type for each key, so a value always includes its
 * type. {@link uint32}, {@link string} and other functions make values.
 */

/** Types whose values are JavaScript numbers. */
export type NumberType = "uint8" | "int8" | "uint16" | "int16" | "uint32" | "int32" | "float32" | "float64"

/** Types whose values are 64-bit integers. */
export type BigType = "uint64" | "int64"

/** A value that is not an array. */
export type Scalar =
  | { readonly type: NumberType; readonly value: number }
  | { readonly type: BigType; readonly value: bigint }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }

/** An array of values of one type. GGUF allows arrays of arrays, but llama.cpp does not read them. */
export type ArrayValue =
  | { readonly type: "array"; readonly of: NumberType; readonly value: ReadonlyArray<number> }
  | { readonly type: "array"; readonly of: BigType; readonly value: ReadonlyArray<bigint> }
  | { readonly type: "array"; readonly of: "boolean"; readonly value: ReadonlyArray<boolean> }
  | { readonly type: "array"; readonly of: "string"; readonly value: ReadonlyArray<string> }
  | { readonly type: "array"; readonly of: "array"; readonly value: ReadonlyArray<ArrayValue> }

/** A metadata value. */
export type Value = Scalar | ArrayValue

/** Values by key, e.g. `general.architecture`; written in this order. */
export type Metadata = Readonly<Record<string, Value>>

/** Every type that a value can have. */
export type Type = Value["type"]

/** Makes an integer from 0 to 2^32 - 1. */
export const uint32 = (value: number): Scalar => ({ type: "uint32", value })

/** Makes a number that is rounded to single precision when written. */
export const float32 = (value: number): Scalar => ({ type: "float32", value })

/** Makes a boolean value. */
export const boolean = (value: boolean): Scalar => ({ type: "boolean", value })

/** Makes a string, written as UTF-8. */
export const string = (value: string): Scalar => ({ type: "string", value })

/** Makes an array of strings. */
export const strings = (value: ReadonlyArray<string>): ArrayValue => ({ type: "array", of: "string", value })

/** Makes an array of integers from -2^31 to 2^31 - 1. */
export const int32s = (value: ReadonlyArray<number>): ArrayValue => ({ type: "array", of: "int32", value })

/** Makes string values by key. */
export const texts = (values: Readonly<Record<string, string>>): Metadata =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, string(value)]))
