/**
 * Reads and writes training requests and results in protobuf format, as a server does. Fields are identified by their
 * numbers in `tinker.proto`. No code is shared with the client in `trainer-tinker`, whose messages are generated, so
 * neither can hide a bug in the other.
 */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import type { ReceivedBatch } from "./passes.ts"

/** Media type of the protobuf format. */
export const contentType = "application/x-protobuf"

/** Reads the numbers in a field. They are little-endian, regardless of this machine's byte order. */
const numbersOf = (bytes: Uint8Array, size: number, read: (view: DataView, at: number) => number) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / size }, (_, index) => read(view, index * size))
}

const readInt32 = (bytes: Uint8Array) => numbersOf(bytes, 4, (view, at) => view.getInt32(at, true))
const readInt64 = (bytes: Uint8Array) => numbersOf(bytes, 8, (view, at) => Number(view.getBigInt64(at, true)))
const readFloat32 = (bytes: Uint8Array) => numbersOf(bytes, 4, (view, at) => view.getFloat32(at, true))

/** Tensor element types. */
const types = { float32: 1, int64: 2, int32: 3 }

/** Reads a message: calls the reader for each known field and skips all others. */
const fieldsOf = (bytes: Uint8Array, known: Readonly<Record<number, (reader: BinaryReader) => void>>): void => {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    const take = known[field]
    if (take === undefined) reader.skip(type, field)
    else take(reader)
  }
}

/** Reads a map entry. */
const entryOf = <A>(bytes: Uint8Array, read: (reader: BinaryReader) => A, absent: A): readonly [string, A] => {
  let key = ""
  let value = absent
  fieldsOf(bytes, {
    1: (reader) => {
      key = reader.string()
    },
    2: (reader) => {
      value = read(reader)
    }
  })
  return [key, value]
}

const readTensor = (bytes: Uint8Array): ReadonlyArray<number> => {
  let dense = new Uint8Array()
  let type = 0
  fieldsOf(bytes, {
    1: (reader) => {
      dense = reader.bytes().slice()
    },
    3: (reader) => {
      type = reader.int32()
    }
  })
  if (type === types.int64) return readInt64(dense)
  return type === types.int32 ? readInt32(dense) : readFloat32(dense)
}

/** Returns the tokens in a chunk. Empty if the chunk is not text. */
const readChunk = (bytes: Uint8Array): ReadonlyArray<number> => {
  let tokens: ReadonlyArray<number> = []
  fieldsOf(bytes, {
    1: (reader) =>
      fieldsOf(reader.bytes(), {
        1: (text) => {
          tokens = readInt32(text.bytes())
        }
      })
  })
  return tokens
}

const readDatum = (bytes: Uint8Array) => {
  const chunks: Array<ReadonlyArray<number>> = []
  const inputs: Array<readonly [string, ReadonlyArray<number>]> = []
  fieldsOf(bytes, {
    1: (reader) => void chunks.push(readChunk(reader.bytes())),
    2: (reader) => void inputs.push(entryOf(reader.bytes(), (value) => readTensor(value.bytes()), []))
  })
  return { chunks, inputs: Object.fromEntries(inputs) }
}

/** A training request. */
export interface Request {
  readonly model: string
  readonly sequence: number
  readonly forwardOnly: boolean
  readonly batch: ReceivedBatch
}

/** Reads a `forward_backward` request body. */
export const readRequest = (bytes: Uint8Array): Request => {
  const data: Array<ReturnType<typeof readDatum>> = []
  const config: Array<readonly [string, number]> = []
  const read = { model: "", sequence: 0, forwardOnly: false, loss: "" }
  fieldsOf(bytes, {
    1: (reader) => {
      read.model = reader.string()
    },
    2: (reader) => {
      read.sequence = reader.int32()
    },
    3: (reader) => void data.push(readDatum(reader.bytes())),
    4: (reader) => {
      read.loss = reader.string()
    },
    5: (reader) => void config.push(entryOf(reader.bytes(), (value) => value.double(), 0)),
    6: (reader) => {
      read.forwardOnly = reader.bool()
    }
  })
  const { forwardOnly, loss, model, sequence } = read
  return { model, sequence, forwardOnly, batch: { data, loss, config: Object.fromEntries(config) } }
}

const bytesOf = (
  numbers: ReadonlyArray<number>,
  size: number,
  write: (view: DataView, at: number, value: number) => void
) => {
  const view = new DataView(new ArrayBuffer(numbers.length * size))
  numbers.forEach((value, index) => {
    write(view, index * size, value)
  })
  return new Uint8Array(view.buffer)
}

const int32 = (numbers: ReadonlyArray<number>) =>
  bytesOf(numbers, 4, (view, at, value) => view.setInt32(at, value, true))
const int64 = (numbers: ReadonlyArray<number>) =>
  bytesOf(numbers, 8, (view, at, value) => view.setBigInt64(at, BigInt(value), true))
const float32 = (numbers: ReadonlyArray<number>) =>
  bytesOf(numbers, 4, (view, at, value) => view.setFloat32(at, value, true))

/** Writes a message, or bytes, as a field. */
const part = (writer: BinaryWriter, field: number, bytes: Uint8Array) =>
  writer.tag(field, WireType.LengthDelimited).bytes(bytes)

const message = (write: (writer: BinaryWriter) => BinaryWriter): Uint8Array => write(new BinaryWriter()).finish()

/** Writes a batch's result. */
export const writeBatch = (logProbs: ReadonlyArray<ReadonlyArray<number>>): Uint8Array => {
  const offsets = [0]
  for (const values of logProbs) offsets.push(offsets.at(-1)! + 4 * values.length)
  const tensor = message((writer) =>
    part(part(writer, 1, float32(logProbs.flat())), 2, int64(offsets))
      .tag(3, WireType.Varint)
      .int32(types.float32)
  )
  const entry = message((writer) => part(writer.tag(1, WireType.LengthDelimited).string("logprobs"), 2, tensor))
  const record = message((writer) => part(writer, 2, entry).tag(3, WireType.Varint).int64(logProbs.length))
  return message((writer) => part(writer.tag(1, WireType.LengthDelimited).string("scalar"), 2, record))
}

/** A sampled completion. */
export interface Sequence {
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

const stopReasons = { stop: 0, length: 1 }

/** Writes samples. */
export const writeSamples = (sequences: ReadonlyArray<Sequence>): Uint8Array =>
  message((writer) =>
    sequences.reduce((all, { logProbs, reason, tokens }) => {
      const sequence = message((one) =>
        part(part(one.tag(1, WireType.Varint).int32(stopReasons[reason]), 2, int32(tokens)), 3, float32(logProbs))
      )
      return part(all, 1, sequence)
    }, writer)
  )
