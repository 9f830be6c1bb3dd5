/**
 * Writes GGUF files (version 3) with any metadata, and tensors stored as F32, F16 or Q8_0.
 *
 * Tensors are read and written in chunks, so a file can be far larger than memory. Writes are atomic: data goes to a
 * temporary file in the same folder, which is flushed to disk and renamed when complete. {@link write} accepts any
 * contents; use `Model` and `LoraAdapter` for the contents that llama.cpp expects.
 */
import { Options as Tables } from "@divisi/core"
import type { WholeFile as CoreWholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import * as EightBits from "./internal/eightBits.ts"
import * as Float16 from "./internal/float16.ts"
import { align, defaultAlignment, longestName, maximumDimensions } from "./internal/format.ts"
import * as Header from "./internal/header.ts"
import * as WholeFile from "./internal/wholeFile.ts"
import * as Metadata from "./Metadata.ts"
import * as Tensor from "./Tensor.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Storage type of models and adapters: 32-bit or 16-bit floats. */
export type FloatType = "F32" | "F16"

/**
 * Checks an option for a {@link FloatType}.
 *
 * @internal
 */
export const floatType = Tables.oneOf("F32", "F16")

/**
 * Storage type of a tensor: 32-bit or 16-bit floats, or 8-bit blocks of 32 numbers that share a scale. For `Q8_0`, the
 * last dimension must be a multiple of 32.
 */
export type TensorType = FloatType | "Q8_0"

/**
 * Checks an option for a {@link TensorType}.
 *
 * @internal
 */
export const tensorType = Tables.oneOf("F32", "F16", "Q8_0")

/** A tensor together with its name in the file. */
export interface NamedTensor extends Tensor.Tensor {
  readonly name: string
  /** The storage type. Default: `"F32"`. */
  readonly type?: TensorType | undefined
}

/** The contents of a GGUF file. */
export interface Contents {
  /** The metadata, written in this order. `general.alignment` is added if needed. */
  readonly metadata: Metadata.Metadata
  /**
   * The tensors, written in this order. Names must be unique and at most 63 bytes long; shapes must have one to four
   * dimensions.
   */
  readonly tensors: ReadonlyArray<NamedTensor>
  /** Alignment of tensor data in bytes. Must be a power of two, at least 8. Default: 32. */
  readonly alignment?: number | undefined
}

/** Summary of a written file. */
export interface Written {
  readonly path: string
  readonly bytes: number
}

// -------------------------------------------------------------------------------------------------------------------
// Planning
// -------------------------------------------------------------------------------------------------------------------

const types = {
  F32: { id: 0, size: 4 },
  F16: { id: 1, size: 2 },
  Q8_0: { id: 8, size: EightBits.block.bytes / EightBits.block.count }
}

const invalid = (tensor: string, detail: string) => Errors.make({ _tag: "InvalidTensor", tensor, detail })

const checkTensor = ({ data, name, shape, type }: NamedTensor, seen: Set<string>) => {
  if (seen.has(name)) throw invalid(name, "Two tensors have this name.")
  seen.add(name)
  if (Buffer.byteLength(name) > longestName)
    throw invalid(name, `The name is too long. llama.cpp supports names of up to ${longestName} bytes.`)
  const isShape = shape.length >= 1 && shape.length <= maximumDimensions
  if (!isShape || !shape.every((length) => Number.isSafeInteger(length) && length > 0)) {
    throw invalid(name, `[${shape}] is not a valid shape: expected one to ${maximumDimensions} positive whole numbers.`)
  }
  if (type === "Q8_0" && shape.at(-1)! % EightBits.block.count !== 0) {
    throw invalid(
      name,
      `Its rows of ${shape.at(-1)} numbers cannot be divided into blocks of ${EightBits.block.count}. Write it as F16.`
    )
  }
  if (typeof data !== "function") checkCount(name, shape, data.length)
}

const checkCount = (name: string, shape: ReadonlyArray<number>, count: number) => {
  const size = Tensor.size(shape)
  if (count !== size) throw invalid(name, `Its shape [${shape}] holds ${size} numbers, but ${count} were given.`)
}

const checkedAlignment = (alignment: number) => {
  if (Number.isInteger(alignment) && alignment >= 8 && Number.isInteger(Math.log2(alignment))) return alignment
  const detail = `${alignment} is not a power of two that is at least 8.`
  throw Errors.make({ _tag: "InvalidMetadata", key: "general.alignment", detail })
}

/** Computes the layout of a file. Throws a `GgufError` if the contents are invalid. */
const plan = (contents: Contents) => {
  const alignment = checkedAlignment(contents.alignment ?? defaultAlignment)
  const entries: Array<Header.Entry> = []
  const seen = new Set<string>()
  let offset = 0
  for (const tensor of contents.tensors) {
    checkTensor(tensor, seen)
    const { name, shape, type = "F32" } = tensor
    entries.push({ name, shape, type: types[type].id, offset })
    offset = align(offset + Tensor.size(shape) * types[type].size, alignment)
  }
  const added = alignment === defaultAlignment ? {} : { "general.alignment": Metadata.uint32(alignment) }
  return { alignment, header: Header.encode({ ...contents.metadata, ...added }, entries, alignment) }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const bytesOf = (values: Float32Array | Uint16Array) =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

/** Number of values converted to F16 per chunk. */
const halvesAtATime = 1 << 16

const writeHalves = async (sink: CoreWholeFile.Sink, name: string, values: Float32Array) => {
  const halves = new Uint16Array(Math.min(values.length, halvesAtATime))
  for (let at = 0; at < values.length; at += halvesAtATime) {
    const part = values.subarray(at, at + halvesAtATime)
    const lost = Float16.encode(part, halves)
    if (lost >= 0) throw invalid(name, `${part[lost]} is too large for F16 (${Float16.largest}): write it as F32.`)
    await sink.write(bytesOf(halves.subarray(0, part.length)))
  }
}

const writeBlocks = async (sink: CoreWholeFile.Sink, name: string, values: Float32Array) => {
  const blocks = EightBits.encode(values)
  if (typeof blocks === "number") throw invalid(name, `${blocks} cannot be written as Q8_0: write it as F32.`)
  await sink.write(blocks)
}

const writers = {
  F32: (sink: CoreWholeFile.Sink, _name: string, values: Float32Array) => sink.write(bytesOf(values)),
  F16: writeHalves,
  Q8_0: writeBlocks
}

const writeTensor = async (sink: CoreWholeFile.Sink, tensor: NamedTensor, alignment: number) => {
  const { name, shape, type = "F32" } = tensor
  const size = Tensor.size(shape)
  let count = 0
  const chunks = Tensor.chunks(tensor)
  for await (const values of type === "Q8_0" ? EightBits.filling(chunks) : chunks) {
    count += values.length
    // A tensor that ends within a block is too short, which is reported below.
    if (count > size || (type === "Q8_0" && values.length % EightBits.block.count !== 0)) break
    await writers[type](sink, name, values)
  }
  if (count > size) throw invalid(name, `Its shape [${shape}] holds ${size} values, but more were supplied.`)
  checkCount(name, shape, count)
  await sink.write(new Uint8Array(align(sink.position(), alignment) - sink.position()))
}

/**
 * Writes a GGUF file atomically.
 *
 * **Details**
 *
 * Names, shapes and metadata are validated before anything is written. If a tensor does not match its shape, a source
 * fails, the disk is full or the effect is interrupted, an existing file at `path` is left unchanged.
 *
 * **Gotchas**
 *
 * If the process is killed, a temporary file is left next to `path`. Its name ends in `.partial`.
 *
 * **Example**
 *
 * ```ts
 * import { GgufWriter, Metadata } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(os.tmpdir(), "one-tensor.gguf")
 * const written = await Effect.runPromise(
 *   GgufWriter.write(file, {
 *     metadata: { "general.architecture": Metadata.string("example") },
 *     tensors: [{ name: "weight", shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) }]
 *   })
 * )
 * written.bytes // => 160
 * ```
 */
export const write = (path: string, contents: Contents): Effect.Effect<Written, GgufError> =>
  Effect.try({ try: () => plan(contents), catch: (cause) => Errors.fromUnknown(cause, path, "lay out the file") }).pipe(
    Effect.flatMap(({ alignment, header }) => {
      let bytes = 0
      return WholeFile.write(path, async (sink) => {
        await sink.write(header)
        for (const tensor of contents.tensors) await writeTensor(sink, tensor, alignment)
        bytes = sink.position()
      }).pipe(Effect.map(() => ({ path, bytes })))
    })
  )
