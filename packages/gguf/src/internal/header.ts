/** The header of a GGUF file: metadata and tensor descriptions. */
import type { GgufError } from "../GgufError.ts"
import * as Errors from "../GgufError.ts"
import type { ArrayValue, BigType, Metadata, NumberType, Scalar, Value } from "../Metadata.ts"
import * as ByteWriter from "./byteWriter.ts"
import { magic, valueTypes, version } from "./format.ts"

/** A tensor description. `shape` is row-major; `offset` is relative to the start of the tensor data. */
export interface Entry {
  readonly name: string
  readonly shape: ReadonlyArray<number>
  /** The id of the storage type in the format. */
  readonly type: number
  readonly offset: number
}

/** Value ranges of the integer types. */
const ranges: { readonly [type in Exclude<NumberType, "float32" | "float64">]: readonly [number, number] } = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  uint32: [0, 4_294_967_295],
  int32: [-2_147_483_648, 2_147_483_647]
}

const setters: {
  readonly [type in NumberType]: readonly [size: number, set: (view: DataView, at: number, value: number) => void]
} = {
  uint8: [1, (view, at, value) => view.setUint8(at, value)],
  int8: [1, (view, at, value) => view.setInt8(at, value)],
  uint16: [2, (view, at, value) => view.setUint16(at, value, true)],
  int16: [2, (view, at, value) => view.setInt16(at, value, true)],
  uint32: [4, (view, at, value) => view.setUint32(at, value, true)],
  int32: [4, (view, at, value) => view.setInt32(at, value, true)],
  float32: [4, (view, at, value) => view.setFloat32(at, value, true)],
  float64: [8, (view, at, value) => view.setFloat64(at, value, true)]
}

const outOfRange = (key: string, value: number | bigint, low: number | bigint, high: number | bigint): GgufError =>
  Errors.make({ _tag: "InvalidMetadata", key, detail: `${value} is not a whole number from ${low} to ${high}.` })

const putNumber = (bytes: ByteWriter.ByteWriter, key: string, type: NumberType, value: number): void => {
  if (type !== "float32" && type !== "float64") {
    const [low, high] = ranges[type]
    if (!Number.isInteger(value) || value < low || value > high) throw outOfRange(key, value, low, high)
  }
  const [size, set] = setters[type]
  bytes.put(size, (view, at) => set(view, at, value))
}

const putBig = (bytes: ByteWriter.ByteWriter, key: string, type: BigType, value: bigint): void => {
  const [low, high] = type === "uint64" ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n]
  if (value < low || value > high) throw outOfRange(key, value, low, high)
  bytes.uint64(BigInt.asUintN(64, value))
}

const putScalar = (bytes: ByteWriter.ByteWriter, key: string, { type, value }: Scalar): void => {
  if (typeof value === "string") bytes.string(value)
  else if (typeof value === "boolean") bytes.put(1, (view, at) => view.setUint8(at, value ? 1 : 0))
  else if (typeof value === "bigint") putBig(bytes, key, type as BigType, value)
  else putNumber(bytes, key, type as NumberType, value)
}

const putArray = (bytes: ByteWriter.ByteWriter, key: string, array: ArrayValue): void => {
  bytes.uint32(valueTypes.indexOf(array.of))
  bytes.uint64(array.value.length)
  for (const element of array.value) {
    if (array.of === "array") putArray(bytes, key, element as ArrayValue)
    else putScalar(bytes, key, { type: array.of, value: element } as Scalar)
  }
}

const putValue = (bytes: ByteWriter.ByteWriter, key: string, value: Value): void => {
  bytes.string(key)
  bytes.uint32(valueTypes.indexOf(value.type))
  if (value.type === "array") putArray(bytes, key, value)
  else putScalar(bytes, key, value)
}

/** Encodes everything before the tensor data. Throws a `GgufError` if a value does not fit its type. */
export const encode = (metadata: Metadata, entries: ReadonlyArray<Entry>, alignment: number): Uint8Array => {
  const bytes = ByteWriter.make()
  const values = Object.entries(metadata)
  bytes.uint32(magic)
  bytes.uint32(version)
  bytes.uint64(entries.length)
  bytes.uint64(values.length)
  for (const [key, value] of values) putValue(bytes, key, value)
  for (const { name, offset, shape, type } of entries) {
    bytes.string(name)
    bytes.uint32(shape.length)
    for (const length of shape.toReversed()) bytes.uint64(length)
    bytes.uint32(type)
    bytes.uint64(offset)
  }
  bytes.pad(alignment)
  return bytes.bytes()
}
