/** Constants of the GGUF format, version 3, for its reader and its writer. */
import type { Type } from "../Metadata.ts"

/** "GGUF" as a little-endian number. */
export const magic = 0x46554747

export const version = 3

/** Tensor data begins, and each tensor in it, at a multiple of this many bytes, unless the metadata says otherwise. */
export const defaultAlignment = 32

/** The most dimensions of a tensor that llama.cpp can read. */
export const maximumDimensions = 4

/** The most bytes of a tensor's name that llama.cpp can read. */
export const longestName = 63

/**
 * The limits of a header. A larger header is an attack rather than a model; real models reach a hundredth of most
 * limits.
 */
export const bounds = {
  /** A long vocabulary takes 20 MB. */
  headerBytes: 2 ** 27,
  values: 2 ** 16,
  tensors: 2 ** 18,
  /** The most elements of all arrays together. A vocabulary of 500,000 tokens has three arrays. */
  elements: 2 ** 22,
  /** Arrays of arrays, in each other. */
  depth: 4,
  /** The longest key or name; the format has this bound for keys. */
  nameLength: 65_535
}

/** The metadata types by their number in the format. */
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
