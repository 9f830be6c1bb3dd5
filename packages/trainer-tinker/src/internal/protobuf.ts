/** Protobuf encoding of training requests and results. The schema is generated from `proto/tinker.proto`. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf"
import type { Batch, BatchResult, Datum, Numbers, SampleResult, Sequence } from "../Protocol.ts"
import * as Wire from "./tinker_pb.ts"

/** Media type of the protobuf format. */
export const contentType = "application/x-protobuf"

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Returns bytes in little-endian order, regardless of this machine's order, for numbers of `size` bytes. */
const inOrder = (bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> => {
  const copy = Uint8Array.from(bytes)
  if (isLittleEndian) return copy
  for (let at = 0; at < copy.length; at += size) copy.subarray(at, at + size).reverse()
  return copy
}

const bytesOf = (numbers: Int32Array | Float32Array | BigInt64Array) =>
  inOrder(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), numbers.BYTES_PER_ELEMENT)

const int32 = (tokens: ReadonlyArray<number>) => bytesOf(Int32Array.from(tokens))
const int64 = (tokens: ReadonlyArray<number>) => bytesOf(BigInt64Array.from(tokens, BigInt))
const float32 = (numbers: Numbers) => bytesOf(Float32Array.from(numbers))

const readInt32 = (bytes: Uint8Array) => Array.from(new Int32Array(inOrder(bytes, 4).buffer))
const readInt64 = (bytes: Uint8Array) => Array.from(new BigInt64Array(inOrder(bytes, 8).buffer), Number)
const readFloat32 = (bytes: Uint8Array) => new Float32Array(inOrder(bytes, 4).buffer)

const readBfloat16 = (bytes: Uint8Array) => {
  const halves = new Uint16Array(inOrder(bytes, 2).buffer)
  return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer)
}

const read = (bytes: Uint8Array, type: Wire.Tensor["dtype"]): Numbers => {
  if (type === Wire.DType.DTYPE_INT64) return readInt64(bytes)
  if (type === Wire.DType.DTYPE_INT32) return readInt32(bytes)
  return type === Wire.DType.DTYPE_BFLOAT16 ? readBfloat16(bytes) : readFloat32(bytes)
}

const tensor = (dense: Uint8Array<ArrayBuffer>, dtype: Wire.DType, length: number) =>
  create(Wire.TensorSchema, { encoding: { case: "dense", value: dense }, dtype, shape: [BigInt(length)] })

const datum = ({ chunks, inputs }: Datum) => {
  const { target_tokens, ...floats } = inputs
  return create(Wire.DatumSchema, {
    modelInput: chunks.map((tokens) =>
      create(Wire.ChunkSchema, { chunk: { case: "encodedText", value: { tokens: int32(tokens) } } })
    ),
    lossFnInputs: {
      target_tokens: tensor(int64(target_tokens), Wire.DType.DTYPE_INT64, target_tokens.length),
      ...Object.fromEntries(
        Object.entries(floats).map(([name, numbers]) => [
          name,
          tensor(float32(numbers), Wire.DType.DTYPE_FLOAT32, numbers.length)
        ])
      )
    }
  })
}

/** Encodes a batch as the body of `forward_backward`; `forwardOnly` requests only log-probabilities. */
export const batch = (
  { config, data, loss }: Batch,
  place: { readonly model: string; readonly sequence: number; readonly forwardOnly: boolean }
): Uint8Array =>
  toBinary(
    Wire.ForwardBackwardRequestSchema,
    create(Wire.ForwardBackwardRequestSchema, {
      modelId: place.model,
      seqId: place.sequence,
      data: data.map(datum),
      lossFn: loss,
      lossFnConfig: { ...config },
      forwardOnly: place.forwardOnly
    })
  )

const slices = (field: Wire.BatchedTensor | undefined, count: number): ReadonlyArray<Numbers> => {
  if (field === undefined) return Array.from({ length: count }, () => [])
  const offsets = readInt64(field.offsets)
  return Array.from({ length: count }, (_, index) =>
    read(field.data.subarray(offsets[index], offsets[index + 1]), field.dtype)
  )
}

/** Decodes the result for a batch. */
export const readBatch = (bytes: Uint8Array): BatchResult => {
  const { lossFnOutputs, metrics } = fromBinary(Wire.ForwardBackwardOutputSchema, bytes)
  return {
    logProbs: lossFnOutputs.flatMap(({ fields, numDatums }) => slices(fields.logprobs, Number(numDatums))),
    metrics,
    fields: Object.keys(lossFnOutputs[0]?.fields ?? {})
  }
}

const sequence = ({ logprobs, stopReason, tokens }: Wire.SampledSequence): Sequence => ({
  tokens: readInt32(tokens),
  logProbs: logprobs === undefined ? [] : Array.from(readFloat32(logprobs)),
  reason: stopReason === Wire.StopReason.LENGTH ? "length" : "stop"
})

/** Decodes samples. */
export const readSamples = (bytes: Uint8Array, promptLength: number): SampleResult => {
  const { promptLogprobs, sequences } = fromBinary(Wire.SampleResponseSchema, bytes)
  if (promptLogprobs === undefined) return { sequences: sequences.map(sequence) }
  const ofPrompt = Array.from(readFloat32(promptLogprobs), (value) => (Number.isNaN(value) ? null : value))
  return {
    sequences: sequences.map(sequence),
    promptLogProbs: ofPrompt.length === promptLength - 1 ? [null, ...ofPrompt] : ofPrompt
  }
}
