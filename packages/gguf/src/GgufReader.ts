/**
 * Reads GGUF files: metadata, the list of tensors, and tensor values with at least 8 bits per number.
 *
 * Files are validated: a truncated, damaged or unrelated file fails with a descriptive error and never yields a partial
 * model. Only the header is read up front, so the time does not depend on the size of the file.
 */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import { EndOfBytes } from "./internal/byteReader.ts"
import { type Decoded, decode } from "./internal/decodeHeader.ts"
import * as EightBits from "./internal/eightBits.ts"
import { type Decoder, decoders, type FileSource, numbers, use } from "./internal/fileSource.ts"
import { bounds } from "./internal/format.ts"
import * as FourBits from "./internal/fourBits.ts"
import { shown } from "./internal/shown.ts"
import { tensorTypes } from "./internal/tensorTypes.ts"
import type { Metadata } from "./Metadata.ts"
import * as Tensor from "./Tensor.ts"

/** A tensor stored in a file. */
export interface TensorInfo {
  readonly name: string
  /** The shape in row-major order: the last dimension varies fastest. */
  readonly shape: ReadonlyArray<number>
  /** The storage type, such as `F16` or `Q4_K`. Unknown types are reported by number, such as `type 99`. */
  readonly type: string
  /** Offset of the first byte in the file. */
  readonly position: number
  /** Size in bytes. Undefined if the type is unknown. */
  readonly bytes?: number | undefined
}

/** The parsed header of a GGUF file. */
export interface GgufFile {
  readonly path: string
  readonly bytes: number
  readonly metadata: Metadata
  readonly alignment: number
  readonly tensors: ReadonlyArray<TensorInfo>
}

const firstRead = 1 << 20

/** Decodes the header, reading larger and larger prefixes of the file until it is complete. */
const decodeFile = async (source: FileSource): Promise<Decoded> => {
  for (let length = firstRead; ; length = Math.min(4 * length, bounds.headerBytes)) {
    const prefix = await source.read(0, Math.min(length, source.size))
    try {
      return decode(prefix, source.size)
    } catch (cause) {
      if (!(cause instanceof EndOfBytes)) throw cause
      if (prefix.length === source.size) {
        throw Errors.make({ _tag: "Corrupt", detail: `it ends within its header, after ${source.size} bytes.` })
      }
      if (length >= bounds.headerBytes) throw Errors.make({ _tag: "Corrupt", detail: "its header has no end." })
    }
  }
}

const infoOf = (decoded: Decoded, { name, offset, shape, type }: Decoded["entries"][number]): TensorInfo => {
  const known = tensorTypes[type]
  const position = decoded.dataStart + offset
  if (known === undefined) return { name, shape, type: `type ${type}`, position }
  return { name, shape, type: known.name, position, bytes: (Tensor.size(shape) / known.blockSize) * known.blockBytes }
}

const checkTensors = (tensors: ReadonlyArray<TensorInfo>, size: number) => {
  const names = new Set<string>()
  let needed = 0
  let total = 0
  for (const { bytes = 0, name, position } of tensors) {
    if (names.has(name)) throw Errors.make({ _tag: "Corrupt", detail: `two tensors are called ${shown(name)}.` })
    names.add(name)
    if (!Number.isSafeInteger(bytes) || !Number.isSafeInteger(position)) {
      throw Errors.make({ _tag: "Corrupt", detail: `the tensor ${shown(name)} has an invalid size or offset.` })
    }
    needed = Math.max(needed, position + bytes)
    total += bytes
  }
  if (needed > size) throw Errors.make({ _tag: "Truncated", needed, found: size })
  // Without this check, a small file could claim to contain any amount of data.
  if (total > size) throw Errors.make({ _tag: "Corrupt", detail: `its tensors overlap: they have ${total} bytes.` })
}

/**
 * Reads and validates the header of a file.
 *
 * **Details**
 *
 * Supports versions 2 and 3. The file must be large enough for its tensors of known types. Headers of more than 128 MiB
 * are rejected as `Corrupt`, as are headers with more than 65,536 values, 262,144 tensors or 4,194,304 array elements;
 * real models are far below these limits. Arrays are decoded when their `value` is first accessed.
 *
 * **Example**
 *
 * ```ts
 * import * as GgufReader from "@divisi/gguf/GgufReader"
 * import * as Effect from "effect/Effect"
 *
 * const problem = await Effect.runPromise(Effect.flip(GgufReader.read("missing.gguf")))
 * problem.message // => "missing.gguf: There is no such file."
 * ```
 */
export const read = (path: string): Effect.Effect<GgufFile, GgufError> =>
  use(path, async (source) => {
    const decoded = await decodeFile(source)
    const tensors = decoded.entries.map((entry) => infoOf(decoded, entry))
    checkTensors(tensors, source.size)
    return { path, bytes: source.size, metadata: decoded.metadata, alignment: decoded.alignment, tensors }
  })

/** Returns the metadata value of a key if it is a string, otherwise `undefined`. */
export const text = ({ metadata }: Pick<GgufFile, "metadata">, key: string): string | undefined => {
  const value = metadata[key]
  return value?.type === "string" ? value.value : undefined
}

/** Returns the metadata value of a key if it is a number, otherwise `undefined`. */
export const number = ({ metadata }: Pick<GgufFile, "metadata">, key: string): number | undefined => {
  const value = metadata[key]?.value
  return typeof value === "number" ? value : undefined
}

/** Returns the model's architecture from the metadata, such as `qwen2`. */
export const architecture = (file: Pick<GgufFile, "metadata">): string | undefined => text(file, "general.architecture")

const readable: Readonly<Record<string, Decoder>> = {
  ...decoders,
  Q4_1: { size: FourBits.block.bytes / FourBits.block.count, decode: FourBits.decode },
  Q8_0: { size: EightBits.block.bytes / EightBits.block.count, decode: EightBits.decode }
}

/**
 * Returns a tensor whose values are read from the file in chunks, on demand. Supports F32, F16, BF16, Q4_1 and Q8_0.
 */
export const tensor = (file: GgufFile, name: string): Result.Result<Tensor.Tensor, GgufError> => {
  const info = file.tensors.find((one) => one.name === name)
  const invalid = (detail: string) =>
    Result.fail(Errors.make({ _tag: "InvalidTensor", tensor: name, detail }, file.path))
  if (info === undefined) return invalid("The file has no such tensor.")
  const { position, shape, type } = info
  const decoder = Object.hasOwn(readable, type) ? readable[type] : undefined
  if (decoder === undefined)
    return invalid(`It is stored as ${type}; only F32, F16, BF16, Q4_1 and Q8_0 are supported.`)
  return Result.succeed({ shape, data: () => numbers(file.path, decoder, position, Tensor.size(shape)) })
}
