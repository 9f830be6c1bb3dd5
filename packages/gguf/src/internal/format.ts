/** Constants of GGUF version 3, shared by the reader and the writer. */
import type { Type } from "../Metadata.ts"

/** The magic bytes "GGUF" as a little-endian number. */
export const magic = 0x46554747

export const version = 3

/** Default alignment of tensor data and of each tensor, in bytes. The metadata may override it. */
export const defaultAlignment = 32

/** Maximum number of dimensions of a tensor that llama.cpp can read. */
export const maximumDimensions = 4

/** Maximum length of a tensor name that llama.cpp can read, in bytes. */
export const longestName = 63

/** Limits on headers. Larger headers are treated as an attack; real models reach about a hundredth of most limits. */
export const bounds = {
  /** A long vocabulary takes 20 MB. */
  headerBytes: 2 ** 27,
  values: 2 ** 16,
  tensors: 2 ** 18,
  /** Maximum number of elements in all arrays together. A vocabulary of 500,000 tokens has three arrays. */
  elements: 2 ** 22,
  /** Maximum nesting depth of arrays. */
  depth: 4,
  /** Maximum length of a key or name. The format has this limit for keys. */
  nameLength: 65_535
}

/** The metadata types, indexed by their id in the format. */
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

/** Rounds `position` up to a multiple of `alignment`. */
export const align = (position: number, alignment: number): number => Math.ceil(position / alignment) * alignment
