/** Decodes the header of a GGUF file: everything before the tensor data. */
import type { GgufError } from "../GgufError.ts"
import * as Errors from "../GgufError.ts"
import type { ArrayValue, Metadata, Scalar, Type, Value } from "../Metadata.ts"
import * as ByteReader from "./byteReader.ts"
import { align, bounds, defaultAlignment, magic, maximumDimensions, valueTypes } from "./format.ts"
import type { Entry } from "./header.ts"
import { shown } from "./shown.ts"

export interface Decoded {
  readonly metadata: Metadata
  readonly entries: ReadonlyArray<Entry>
  readonly alignment: number
  /** Offset of the tensor data. */
  readonly dataStart: number
}

const corrupt = (detail: string): GgufError => Errors.make({ _tag: "Corrupt", detail })

const typeAt = (id: number, key: string): Type => {
  const type = valueTypes[id]
  if (type === undefined) throw corrupt(`the metadata ${shown(key)} has the type ${id}, which does not exist.`)
  return type
}

type ScalarType = Exclude<Type, "array">

/** Sizes of fixed-size types, in bytes. */
const sizes: { readonly [type in Exclude<ScalarType, "string">]: number } = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  boolean: 1,
  uint64: 8,
  int64: 8,
  float64: 8
}

const takers: { readonly [type in ScalarType]: (bytes: ByteReader.ByteReader) => Scalar["value"] } = {
  uint8: (bytes) => bytes.take(1, (view, at) => view.getUint8(at)),
  int8: (bytes) => bytes.take(1, (view, at) => view.getInt8(at)),
  uint16: (bytes) => bytes.take(2, (view, at) => view.getUint16(at, true)),
  int16: (bytes) => bytes.take(2, (view, at) => view.getInt16(at, true)),
  uint32: (bytes) => bytes.uint32(),
  int32: (bytes) => bytes.take(4, (view, at) => view.getInt32(at, true)),
  float32: (bytes) => bytes.take(4, (view, at) => view.getFloat32(at, true)),
  boolean: (bytes) => bytes.take(1, (view, at) => view.getUint8(at) !== 0),
  string: (bytes) => bytes.string(),
  uint64: (bytes) => bytes.take(8, (view, at) => view.getBigUint64(at, true)),
  int64: (bytes) => bytes.take(8, (view, at) => view.getBigInt64(at, true)),
  float64: (bytes) => bytes.take(8, (view, at) => view.getFloat64(at, true))
}

// -------------------------------------------------------------------------------------------------------------------
// Arrays
// -------------------------------------------------------------------------------------------------------------------

/** Positions of arrays, and the total number of elements read. */
interface Arrays {
  readonly prefix: Uint8Array
  readonly fileSize: number
  elements: number
}

/** Skips an array. Throws if its elements could not be read. */
const skipArray = (bytes: ByteReader.ByteReader, key: string, arrays: Arrays, depth: number): void => {
  const of = typeAt(bytes.uint32(), key)
  const length = bytes.uint64()
  if (length > arrays.fileSize) {
    throw corrupt(`the metadata ${shown(key)} declares ${length} elements, which is more than the file has bytes.`)
  }
  arrays.elements += length
  if (arrays.elements > bounds.elements) throw corrupt(`its arrays have more than ${bounds.elements} elements.`)
  if (of === "string") for (let index = 0; index < length; index++) bytes.skip(bytes.uint64())
  else if (of !== "array") bytes.skip(length * sizes[of])
  else {
    if (depth === bounds.depth) throw corrupt(`the metadata ${shown(key)} is nested too deeply.`)
    for (let index = 0; index < length; index++) skipArray(bytes, key, arrays, depth + 1)
  }
}

/** Reads an array at the reader's position. It was validated earlier, when it was skipped. */
const readArray = (bytes: ByteReader.ByteReader): ArrayValue => {
  const of = valueTypes[bytes.uint32()]!
  const take: () => unknown = of === "array" ? () => readArray(bytes) : () => takers[of](bytes)
  const value = Array.from({ length: bytes.uint64() }, take)
  return { type: "array", of, value } as ArrayValue
}

/** Returns an array that is decoded on first access, because most callers need none of the arrays in a header. */
const takeArray = (bytes: ByteReader.ByteReader, key: string, arrays: Arrays): ArrayValue => {
  const start = bytes.position()
  skipArray(bytes, key, arrays, 1)
  const reader = () => ByteReader.make(arrays.prefix, start)
  let value: ArrayValue["value"] | undefined
  return {
    type: "array",
    of: valueTypes[reader().uint32()]!,
    get value() {
      value ??= readArray(reader()).value
      return value
    }
  } as ArrayValue
}

// -------------------------------------------------------------------------------------------------------------------
// The header
// -------------------------------------------------------------------------------------------------------------------

const takeValue = (bytes: ByteReader.ByteReader, key: string, arrays: Arrays): Value => {
  const type = typeAt(bytes.uint32(), key)
  return type === "array" ? takeArray(bytes, key, arrays) : ({ type, value: takers[type](bytes) } as Scalar)
}

const takeName = (bytes: ByteReader.ByteReader): string => {
  const name = bytes.string()
  if (name.length > bounds.nameLength) throw corrupt(`the name ${shown(name)} has ${name.length} characters.`)
  return name
}

const takeEntry = (bytes: ByteReader.ByteReader): Entry => {
  const name = takeName(bytes)
  const dimensions = bytes.uint32()
  if (dimensions > maximumDimensions) throw corrupt(`the tensor ${shown(name)} has ${dimensions} dimensions.`)
  const shape = Array.from({ length: dimensions }, () => bytes.uint64()).toReversed()
  return { name, shape, type: bytes.uint32(), offset: bytes.uint64() }
}

const checkPreamble = (bytes: ByteReader.ByteReader) => {
  if (bytes.uint32() !== magic) throw corrupt('it does not begin with "GGUF".')
  const version = bytes.uint32()
  if (version === 2 || version === 3) return
  const isSwapped = version > 0 && version % 65_536 === 0
  const detail = isSwapped ? "It is a big-endian GGUF file." : `It is a GGUF file of version ${version}, not 2 or 3.`
  throw Errors.make({ _tag: "Unsupported", detail })
}

const alignmentOf = (metadata: Metadata): number => {
  const { value } = metadata["general.alignment"] ?? { value: defaultAlignment }
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value % 8 === 0) return value
  throw corrupt(`its alignment is ${value}, not a positive multiple of 8.`)
}

/** Decodes a header. Throws `EndOfBytes` if the header is longer than `prefix`, and a `GgufError` if it is invalid. */
export const decode = (prefix: Uint8Array, fileSize: number): Decoded => {
  const bytes = ByteReader.make(prefix)
  checkPreamble(bytes)
  const tensorCount = bytes.uint64()
  const valueCount = bytes.uint64()
  if (tensorCount + valueCount > fileSize) {
    throw corrupt(`it declares ${tensorCount} tensors and ${valueCount} values, more than bytes.`)
  }
  if (tensorCount > bounds.tensors || valueCount > bounds.values) {
    const detail = `at most ${bounds.tensors} and ${bounds.values} are read.`
    throw corrupt(`it declares ${tensorCount} tensors and ${valueCount} values; ${detail}`)
  }
  const arrays: Arrays = { prefix, fileSize, elements: 0 }
  const metadata = new Map<string, Value>()
  for (let index = 0; index < valueCount; index++) {
    const key = takeName(bytes)
    metadata.set(key, takeValue(bytes, key, arrays))
  }
  const entries: Array<Entry> = []
  for (let index = 0; index < tensorCount; index++) entries.push(takeEntry(bytes))
  const values = Object.fromEntries(metadata)
  const alignment = alignmentOf(values)
  return { metadata: values, entries, alignment, dataStart: align(bytes.position(), alignment) }
}
