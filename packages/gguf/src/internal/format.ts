/** Numbers of the GGUF format, version 3, that its reader and its writer share. */
import type { Type } from "../Metadata.ts"

/** "GGUF" as a little-endian number. */
export const magic = 0x46554747

export const version = 3

/** Tensor data begins, and each tensor in it, at a multiple of this many bytes, unless the metadata says otherwise. */
export const defaultAlignment = 32

/** Dimensions of a tensor that llama.cpp can read. */
export const maximumDimensions = 4

/** Bytes of a tensor's name that llama.cpp can read. */
export const longestName = 63

/** The metadata types by the number that stands for them. */
export const valueTypes: ReadonlyArray<Type> = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "boolean",
  "string",
  "array",
  "uint64",
  "int64",
  "float64"
]

/** The smallest multiple of `alignment` that is at least `position`. */
export const align = (position: number, alignment: number): number => Math.ceil(position / alignment) * alignment
