/**
 * The metadata of a GGUF file: typed values by key.
 *
 * GGUF defines thirteen value types, and readers such as llama.cpp expect a specific type for each key, so every value
 * carries its type. Create values with {@link uint32}, {@link string} and the other functions here.
 */

/** Value types that are represented as JavaScript numbers. */
export type NumberType = "uint8" | "int8" | "uint16" | "int16" | "uint32" | "int32" | "float32" | "float64"

/** 64-bit integer types, represented as `bigint`. */
export type BigType = "uint64" | "int64"

/** A single metadata value, as opposed to an array. */
export type Scalar =
  | { readonly type: NumberType; readonly value: number }
  | { readonly type: BigType; readonly value: bigint }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }

/** An array of values of the same type. GGUF allows nested arrays, but llama.cpp does not read them. */
export type ArrayValue =
  | { readonly type: "array"; readonly of: NumberType; readonly value: ReadonlyArray<number> }
  | { readonly type: "array"; readonly of: BigType; readonly value: ReadonlyArray<bigint> }
  | { readonly type: "array"; readonly of: "boolean"; readonly value: ReadonlyArray<boolean> }
  | { readonly type: "array"; readonly of: "string"; readonly value: ReadonlyArray<string> }
  | { readonly type: "array"; readonly of: "array"; readonly value: ReadonlyArray<ArrayValue> }

/** A metadata value with its type. */
export type Value = Scalar | ArrayValue

/** Metadata values keyed by name, such as `general.architecture`. Written in this order. */
export type Metadata = Readonly<Record<string, Value>>

/**
 * Any metadata value type.
 */
export type Type = Value["type"]

/**
 * Creates an unsigned 32-bit integer value, from 0 to 2^32 - 1.
 *
 * @internal
 */
export const uint32 = (value: number): Scalar => ({ type: "uint32", value })

/**
 * Creates a float value. It is rounded to single precision when written.
 *
 * @internal
 */
export const float32 = (value: number): Scalar => ({ type: "float32", value })

/**
 * Creates a boolean value.
 *
 * @internal
 */
export const boolean = (value: boolean): Scalar => ({ type: "boolean", value })

/** Creates a string value, written as UTF-8. */
export const string = (value: string): Scalar => ({ type: "string", value })

/**
 * Creates an array of strings.
 *
 * @internal
 */
export const strings = (value: ReadonlyArray<string>): ArrayValue => ({ type: "array", of: "string", value })

/**
 * Creates an array of signed 32-bit integers, from -2^31 to 2^31 - 1.
 *
 * @internal
 */
export const int32s = (value: ReadonlyArray<number>): ArrayValue => ({ type: "array", of: "int32", value })

/** Creates string values from a record, with the same keys. */
export const texts = (values: Readonly<Record<string, string>>): Metadata =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, string(value)]))
