/** Reads what precedes the tensors of a GGUF file. */
import type { GgufError } from "../GgufError.ts"
import * as Errors from "../GgufError.ts"
import type { ArrayValue, Metadata, Scalar, Type, Value } from "../Metadata.ts"
import * as ByteReader from "./byteReader.ts"
import { align, defaultAlignment, magic, maximumDimensions, valueTypes } from "./format.ts"
import type { Entry } from "./header.ts"

export interface Decoded {
  readonly metadata: Metadata
  readonly entries: ReadonlyArray<Entry>
  readonly alignment: number
  /** Where tensor data begins. */
  readonly dataStart: number
}

const corrupt = (detail: string): GgufError => Errors.make({ _tag: "Corrupt", detail })

const typeAt = (id: number, key: string): Type => {
  const type = valueTypes[id]
  if (type === undefined) throw corrupt(`the metadata "${key}" has the type ${id}, which does not exist.`)
  return type
}

const takers: { readonly [type in Exclude<Type, "array">]: (bytes: ByteReader.ByteReader) => Scalar["value"] } = {
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

/** Deeper arrays of arrays are no metadata but an attack. */
const maximumDepth = 4

const takeArray = (bytes: ByteReader.ByteReader, key: string, fileSize: number, depth: number): ArrayValue => {
  const of = typeAt(bytes.uint32(), key)
  const length = bytes.uint64()
  if (length > fileSize) throw corrupt(`the metadata "${key}" is said to have ${length} elements, more than bytes.`)
  if (of === "array" && depth === maximumDepth) throw corrupt(`the metadata "${key}" is nested too deeply.`)
  const take = of === "array" ? () => takeArray(bytes, key, fileSize, depth + 1) : () => takers[of](bytes)
  const value: Array<unknown> = []
  for (let index = 0; index < length; index++) value.push(take())
  return { type: "array", of, value } as ArrayValue
}

const takeValue = (bytes: ByteReader.ByteReader, key: string, fileSize: number): Value => {
  const type = typeAt(bytes.uint32(), key)
  return type === "array" ? takeArray(bytes, key, fileSize, 1) : ({ type, value: takers[type](bytes) } as Scalar)
}

const takeEntry = (bytes: ByteReader.ByteReader): Entry => {
  const name = bytes.string()
  const dimensions = bytes.uint32()
  if (dimensions > maximumDimensions) throw corrupt(`the tensor "${name}" has ${dimensions} dimensions.`)
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

/** Throws `EndOfBytes` when the header is longer than the bytes, a `GgufError` when it is invalid. */
export const decode = (prefix: Uint8Array, fileSize: number): Decoded => {
  const bytes = ByteReader.make(prefix)
  checkPreamble(bytes)
  const tensorCount = bytes.uint64()
  const valueCount = bytes.uint64()
  if (tensorCount + valueCount > fileSize) {
    throw corrupt(`it is said to have ${tensorCount} tensors and ${valueCount} values, more than bytes.`)
  }
  const metadata = new Map<string, Value>()
  for (let index = 0; index < valueCount; index++) {
    const key = bytes.string()
    metadata.set(key, takeValue(bytes, key, fileSize))
  }
  const entries: Array<Entry> = []
  for (let index = 0; index < tensorCount; index++) entries.push(takeEntry(bytes))
  const values = Object.fromEntries(metadata)
  const alignment = alignmentOf(values)
  return { metadata: values, entries, alignment, dataStart: align(bytes.position(), alignment) }
}
