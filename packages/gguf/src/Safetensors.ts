/**
 * Reads and writes Safetensors files, the common weight format of PyTorch.
 *
 * Reads F32, F16 and BF16; writes F32. The whole header is validated: every tensor must have the size that its shape
 * implies, and all tensors together must fill the file exactly.
 */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import { decoders, type FileSource, isReadable, numbers, use } from "./internal/fileSource.ts"
import { shown } from "./internal/shown.ts"
import * as WholeFile from "./internal/wholeFile.ts"
import * as Tensor from "./Tensor.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A tensor in a Safetensors file. Its values are read in chunks, on demand. */
export interface StoredTensor extends Tensor.Tensor {
  readonly data: () => AsyncIterable<Float32Array>
  /** The storage type of the values. */
  readonly type: "F32" | "F16" | "BF16"
}

/** The parsed header of a Safetensors file. */
export interface Safetensors {
  readonly path: string
  /** Metadata strings, keyed by name. PyTorch writes `format: "pt"`. */
  readonly metadata: Readonly<Record<string, string>>
  readonly tensors: Readonly<Record<string, StoredTensor>>
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Maximum header size that the format allows, in bytes. */
const longestHeader = 100_000_000

/**
 * Maximum header size that is read, in bytes. For comparison, the header for 100,000 tensors is 12 MB and takes thirty
 * times as much memory when parsed.
 */
const longestRead = 2 ** 24

/** Maximum number of dimensions of a tensor. The same as in NumPy. */
const mostDimensions = 64

const corrupt = (detail: string): GgufError => Errors.make({ _tag: "Corrupt", detail })

/** A tensor as described by the header. Offsets are relative to the end of the header. */
interface Entry extends Described {
  readonly type: StoredTensor["type"]
}

/** A tensor description whose storage type is not restricted. */
interface Described {
  readonly name: string
  readonly type: string
  readonly shape: ReadonlyArray<number>
  readonly start: number
  readonly end: number
}

const isCounts = (value: unknown): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0)

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  Predicate.isObject(value) && Object.values(value).every((one) => typeof one === "string")

const describedOf = (name: string, described: unknown): Described => {
  if (!Predicate.isObject(described)) throw corrupt(`the tensor ${shown(name)} is not described by an object.`)
  const { data_offsets: offsets, dtype: type, shape } = described as Readonly<Record<string, unknown>>
  const isDescribed = typeof type === "string" && isCounts(shape) && isCounts(offsets)
  if (!isDescribed || shape.length > mostDimensions || offsets.length !== 2) {
    throw corrupt(`the tensor ${shown(name)} lacks a dtype, a shape or two data_offsets.`)
  }
  const [start = 0, end = 0] = offsets
  return { name, type, shape, start, end }
}

const entryOf = ({ end, name, shape, start, type }: Described): Entry => {
  if (!isReadable(type)) {
    const detail = `It is stored as ${type.slice(0, 80)}; only F32, F16 and BF16 are supported.`
    throw Errors.make({ _tag: "InvalidTensor", tensor: name.slice(0, 80), detail })
  }
  const needed = Tensor.size(shape) * decoders[type].size
  if (end - start === needed) return { name, type, shape, start, end }
  throw corrupt(`the tensor ${shown(name)} has ${end - start} bytes; its shape [${shape}] needs ${needed}.`)
}

/** Checks that the tensors follow each other without gaps and end at the end of the file. */
const checkExtent = (entries: ReadonlyArray<Described>, headerEnd: number, size: number) => {
  let end = 0
  for (const entry of entries.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    if (entry.start !== end) throw corrupt(`the tensor ${shown(entry.name)} begins at byte ${entry.start}, not ${end}.`)
    end = entry.end
  }
  if (headerEnd + end > size) throw Errors.make({ _tag: "Truncated", needed: headerEnd + end, found: size })
  if (headerEnd + end < size) throw corrupt(`${size - headerEnd - end} bytes follow the last tensor.`)
}

const parse = (bytes: Uint8Array): Readonly<Record<string, unknown>> => {
  try {
    const header: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    if (Predicate.isObject(header)) return header as Readonly<Record<string, unknown>>
  } catch {
    // Reported below.
  }
  throw corrupt("its header is not a JSON object.")
}

const readHeader = async (source: FileSource, except: ReadonlyArray<string>) => {
  if (source.size < 8) throw corrupt(`it has only ${source.size} bytes.`)
  const length = Number(new DataView((await source.read(0, 8)).buffer).getBigUint64(0, true))
  if (length > longestHeader)
    throw corrupt(`its header declares a length of ${length} bytes, which is more than the format allows.`)
  if (length > longestRead)
    throw corrupt(`its header declares a length of ${length} bytes, but at most ${longestRead} are read.`)
  if (8 + length > source.size) throw Errors.make({ _tag: "Truncated", needed: 8 + length, found: source.size })
  const { __metadata__: metadata = {}, ...described } = parse(await source.read(8, length))
  if (!isTexts(metadata)) throw corrupt("its __metadata__ contains values that are not strings.")
  const all = Object.entries(described).map(([name, one]) => describedOf(name, one))
  const entries = all.filter(({ name }) => !except.includes(name)).map(entryOf)
  checkExtent(all, 8 + length, source.size)
  return { metadata, entries, dataStart: 8 + length }
}

/** Options for {@link read}. */
export interface ReadOptions {
  /** Names of tensors to skip, whatever their storage type. Default: none. */
  readonly except?: ReadonlyArray<string> | undefined
}

const readTable = { except: Tables.listOf(Tables.text) } satisfies Tables.ShapeOf<ReadOptions>

/** Reads and validates the header of a file. Headers larger than 16 MiB are rejected as `Corrupt`. */
export const read = (path: string, options: ReadOptions = {}): Effect.Effect<Safetensors, GgufError> => {
  Tables.check("Safetensors.read", options, readTable)
  const { except = [] } = options
  return use(path, (source) => readHeader(source, except)).pipe(
    Effect.map(({ dataStart, entries, metadata }) => {
      const tensors = entries.map(({ name, shape, start, type }) => {
        const data = () => numbers(path, decoders[type], dataStart + start, Tensor.size(shape))
        return [name, { type, shape, data }] as const
      })
      return { path, metadata, tensors: Object.fromEntries(tensors) }
    })
  )
}

/**
 * Returns a tensor by name. Fails if the file does not contain it.
 *
 * @internal
 */
export const tensor = (file: Safetensors, name: string): Result.Result<StoredTensor, GgufError> => {
  const found = Object.hasOwn(file.tensors, name) ? file.tensors[name] : undefined
  if (found !== undefined) return Result.succeed(found)
  return Result.fail(
    Errors.make({ _tag: "InvalidTensor", tensor: name, detail: "The file has no such tensor." }, file.path)
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/** Alignment of tensor data in bytes, for readers that memory-map the file. */
const alignment = 8

const headerOf = (content: Content): Uint8Array => {
  let end = 0
  const described = Object.entries(content.tensors).map(([name, { shape }]) => {
    const start = end
    end += 4 * Tensor.size(shape)
    return [name, { dtype: "F32", shape, data_offsets: [start, end] }] as const
  })
  const metadata = content.metadata === undefined ? [] : [["__metadata__", content.metadata] as const]
  const text = JSON.stringify(Object.fromEntries([...metadata, ...described]))
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(Math.ceil(bytes.length / alignment) * alignment).fill(0x20)
  padded.set(bytes)
  return padded
}

/** The contents of a Safetensors file. */
export interface Content {
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/**
 * Writes tensors as F32. The write is atomic: an existing file at `path` is replaced once the new one is complete and
 * on disk.
 *
 * **Example**
 *
 * ```ts
 * import { Safetensors } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(os.tmpdir(), "pair.safetensors")
 * const pair = { shape: [2], data: Float32Array.of(0.5, -1) }
 * await Effect.runPromise(Safetensors.write(file, { tensors: { pair }, metadata: { step: "3" } }))
 * const read = await Effect.runPromise(Safetensors.read(file))
 * read.metadata // => { step: "3" }
 * read.tensors.pair?.shape // => [2]
 * ```
 */
export const write = (path: string, content: Content): Effect.Effect<void, GgufError> =>
  WholeFile.write(path, async (sink) => {
    const header = headerOf(content)
    const length = new Uint8Array(8)
    new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true)
    await sink.write(length)
    await sink.write(header)
    for (const [name, { data, shape }] of Object.entries(content.tensors)) {
      if (data.length !== Tensor.size(shape)) {
        const detail = `Its shape [${shape}] holds ${Tensor.size(shape)} numbers, not ${data.length}.`
        throw Errors.make({ _tag: "InvalidTensor", tensor: name, detail })
      }
      await sink.write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    }
  })
