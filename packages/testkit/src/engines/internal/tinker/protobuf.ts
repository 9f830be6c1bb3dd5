/**
 * The protobuf form of training requests and results, as a server reads and writes it. The client of `trainer-tinker`
 * has its own reader and writer: what the two have in common is the generated schema alone, so neither hides a mistake
 * of the other.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf"
import type { ReceivedBatch } from "./passes.ts"
import * as Wire from "./tinker_pb.ts"

/** The media type of this form. */
export const contentType = "application/x-protobuf"

/** The numbers of a field, which are little-endian whatever this machine is. */
const numbersOf = (bytes: Uint8Array, size: number, read: (view: DataView, at: number) => number) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / size }, (_, index) => read(view, index * size))
}

const readInt32 = (bytes: Uint8Array) => numbersOf(bytes, 4, (view, at) => view.getInt32(at, true))
const readInt64 = (bytes: Uint8Array) => numbersOf(bytes, 8, (view, at) => Number(view.getBigInt64(at, true)))
const readFloat32 = (bytes: Uint8Array) => numbersOf(bytes, 4, (view, at) => view.getFloat32(at, true))

const readTensor = ({ dtype, encoding }: Wire.Tensor): ReadonlyArray<number> => {
  if (encoding.case !== "dense") return []
  if (dtype === Wire.DType.DTYPE_INT64) return readInt64(encoding.value)
  return dtype === Wire.DType.DTYPE_INT32 ? readInt32(encoding.value) : readFloat32(encoding.value)
}

const readChunk = ({ chunk }: Wire.Chunk): ReadonlyArray<number> =>
  chunk.case === "encodedText" ? readInt32(chunk.value.tokens) : []

/** A training request. */
export interface Request {
  readonly model: string
  readonly sequence: number
  readonly forwardOnly: boolean
  readonly batch: ReceivedBatch
}

/** Reads the body of `forward_backward`. */
export const readRequest = (bytes: Uint8Array): Request => {
  const { data, forwardOnly, lossFn, lossFnConfig, modelId, seqId } = fromBinary(
    Wire.ForwardBackwardRequestSchema,
    bytes
  )
  const received = data.map(({ lossFnInputs, modelInput }) => ({
    chunks: modelInput.map(readChunk),
    inputs: Object.fromEntries(Object.entries(lossFnInputs).map(([name, value]) => [name, readTensor(value)]))
  }))
  return {
    model: modelId,
    sequence: seqId,
    forwardOnly,
    batch: { data: received, loss: lossFn, config: lossFnConfig }
  }
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

/** Writes the result of a batch. */
export const writeBatch = (logProbs: ReadonlyArray<ReadonlyArray<number>>): Uint8Array => {
  const offsets = [0]
  for (const values of logProbs) offsets.push(offsets.at(-1)! + 4 * values.length)
  const logprobs = {
    data: float32(logProbs.flat()),
    offsets: int64(offsets),
    dtype: Wire.DType.DTYPE_FLOAT32,
    trailingShape: []
  }
  const record = create(Wire.ArrayRecordSchema, {
    fields: { logprobs: create(Wire.BatchedTensorSchema, logprobs) },
    numDatums: BigInt(logProbs.length)
  })
  return toBinary(
    Wire.ForwardBackwardOutputSchema,
    create(Wire.ForwardBackwardOutputSchema, { lossFnOutputType: "scalar", lossFnOutputs: [record] })
  )
}

/** A sampled completion. */
export interface Sequence {
  readonly tokens: ReadonlyArray<number>
  readonly logProbs: ReadonlyArray<number>
  readonly reason: "stop" | "length"
}

/** Writes samples. */
export const writeSamples = (sequences: ReadonlyArray<Sequence>): Uint8Array =>
  toBinary(
    Wire.SampleResponseSchema,
    create(Wire.SampleResponseSchema, {
      sequences: sequences.map(({ logProbs, reason, tokens }) => ({
        stopReason: reason === "length" ? Wire.StopReason.LENGTH : Wire.StopReason.STOP,
        tokens: int32(tokens),
        logprobs: float32(logProbs)
      }))
    })
  )
