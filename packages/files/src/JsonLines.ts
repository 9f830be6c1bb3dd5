/**
 * Reads and writes JSON Lines files. Lines are appended atomically and read one at a time.
 *
 * A process may be killed, or a disk may become full, in the middle of a line. Text after the last line feed is
 * therefore ignored when a file is read, and removed when the file is opened for appending.
 */
import fs from "node:fs"
import { constants, createGunzip } from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { detailOf, type FileError, fromUnknown } from "./FileError.ts"
import * as OwnerOnly from "./OwnerOnly.ts"
import * as Sealed from "./Sealed.ts"
import * as TextEncoding from "./TextEncoding.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for reading a file. */
export interface ReadOptions {
  /**
   * Whether the file was written by another program and is complete. If so, the last line may lack a line feed, and a
   * byte order mark is removed. A file that is neither valid UTF-8 nor UTF-16 with a byte order mark is rejected.
   * Default: `false`, as for files written with {@link open}.
   */
  readonly isComplete?: boolean | undefined
  /**
   * Whether each line must be an object with a matching checksum (see `Sealed`), or must match only if it has one. By
   * default, checksums are ignored.
   */
  readonly seal?: "required" | "optional" | undefined
  /**
   * Called with an error for each unreadable line, which is then skipped. If omitted, the stream fails at the first
   * such line.
   */
  readonly onDamaged?: ((error: LineError) => void) | undefined
}

/** Options for appending to a file. */
export interface WriteOptions {
  /** Whether to add a checksum to each line (see `Sealed`). Lines must then be objects. Default: `false`. */
  readonly isSealed?: boolean | undefined
  /**
   * Number of lines after which data is flushed to disk. With `Infinity`, only {@link Writer.flush} does so. Default:
   * 1.
   */
  readonly syncLines?: number | undefined
  /** Maximum time before a line is flushed to disk, in milliseconds. Default: unlimited. */
  readonly syncMillis?: number | undefined
}

/** A file opened for appending. Its functions throw a `FileError`; {@link attempt} converts them to effects. */
export interface Writer {
  /** Appends a value as a line. If this fails, nothing is appended. */
  readonly append: (value: unknown) => void
  /** Waits until all lines are on disk. */
  readonly flush: () => void
  /** Returns the size of the file, in bytes. */
  readonly bytes: () => number
}

/** Raised for a line that is not JSON, has an unexpected structure, or is too long. */
export class LineError extends Data.TaggedError("LineError")<{
  readonly file: string
  /** Line number, starting at 1. */
  readonly line: number
  /** The problem of the line, as the rest of a sentence: `is not JSON (…)`. */
  readonly problem: string
}> {
  override get message(): string {
    return `${this.file} cannot be read: line ${this.line} ${this.problem}.`
  }
}

/** The reason why lines cannot be read. */
export type ReadError = FileError | LineError

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const isPacked = (file: string) => file.endsWith(".gz")

/**
 * Maximum length of a line: 64 Mi characters. A compressed file of a few kilobytes can expand to a line that exceeds
 * the available memory.
 */
export const longestLine = 2 ** 26

/** Splits text that arrives in chunks into lines, and reports whether each line is complete. */
async function* linesOf(file: string, pieces: AsyncIterable<string>) {
  let line = 1
  // Chunks are joined once at the end of the line, which avoids copying the line for every chunk.
  let begun: Array<string> = []
  let length = 0
  const add = (part: string) => {
    begun.push(part)
    length += part.length
    if (length > longestLine) {
      throw new LineError({ file, line, problem: `is longer than ${longestLine} characters` })
    }
  }
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", start)) {
      add(piece.slice(start, end))
      yield { text: begun.join(""), line, hasEnd: true }
      line += 1
      begun = []
      length = 0
      start = end + 1
    }
    add(piece.slice(start))
  }
  if (length > 0) yield { text: begun.join(""), line, hasEnd: false }
}

async function* textOf(file: string, isComplete: boolean): AsyncGenerator<string> {
  const source = fs.createReadStream(file)
  // Also returns the data that a process had compressed before it was stopped: a missing end is not an error.
  const finishFlush = isComplete ? constants.Z_FINISH : constants.Z_SYNC_FLUSH
  const text = isPacked(file) ? source.pipe(createGunzip({ finishFlush })) : source
  source.on("error", (error) => text.destroy(error))
  try {
    yield* isComplete ? decoded(text) : (text.setEncoding("utf8") as AsyncIterable<string>)
  } finally {
    source.destroy()
  }
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decode = TextEncoding.decoder()
  for await (const piece of bytes) yield decode(piece)
  yield decode()
}

async function* valuesOf(file: string, options: ReadOptions): AsyncGenerator<unknown> {
  const { isComplete = false, onDamaged, seal } = options
  for await (const { hasEnd, line, text } of linesOf(file, textOf(file, isComplete))) {
    if (text.trim() === "" || !(hasEnd || isComplete)) continue
    const value = parse(text, seal)
    if (value.problem === undefined) yield value.json
    else {
      const error = new LineError({ file, line, problem: value.problem })
      if (onDamaged === undefined) throw error
      onDamaged(error)
    }
  }
}

/** Parses a line, and returns its value or the problem. */
const parse = (text: string, seal: ReadOptions["seal"]): { readonly json?: unknown; readonly problem?: string } => {
  try {
    const json: unknown = JSON.parse(text)
    return { json: seal === undefined ? json : Sealed.open(json, { isOptional: seal === "optional" }) }
  } catch (cause) {
    const detail = detailOf(cause)
    return { problem: cause instanceof Sealed.DamageError ? `is damaged: ${detail}` : `is not JSON (${detail})` }
  }
}

/**
 * Yields the lines of text that arrives in chunks, for example from standard input, without a byte order mark. Errors
 * refer to the text as `file`.
 * As in a file, only a line feed ends a line: the other line separators of Unicode may occur within JSON.
 */
export async function* textsOf(file: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true
  for await (const { text } of linesOf(file, pieces)) {
    yield isFirst && text.startsWith("\ufeff") ? text.slice(1) : text
    isFirst = false
  }
}

/**
 * Returns the values of a file's lines, one at a time. Empty lines are skipped. A file whose name ends in `.gz` is
 * decompressed; a file that may be incomplete is decompressed as far as possible.
 *
 * **Details**
 *
 * Reading takes linear time and the memory of the longest line. A line of more than {@link longestLine} characters is a
 * `LineError`.
 *
 * **Example**
 *
 * ```ts
 * import { JsonLines } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "journal.jsonl")
 * fs.writeFileSync(file, '{"step":1}\n{"step":2}\n{"ste')
 * await Effect.runPromise(Stream.runCollect(JsonLines.read(file))) // => [{ step: 1 }, { step: 2 }]
 * ```
 */
export const read = (file: string, options: ReadOptions = {}): Stream.Stream<unknown, ReadError> =>
  // Each run re-reads the file, because a generator yields its values only once.
  Stream.suspend(() =>
    Stream.fromAsyncIterable(valuesOf(file, options), (error) =>
      error instanceof LineError ? error : fromUnknown(file, "read")(error)
    )
  )

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

/** Returns the offset after the last complete line, reading the file backwards in chunks. */
const endOfLines = (descriptor: number, size: number): number => {
  const piece = Buffer.alloc(65_536)
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - piece.length)
    const length = fs.readSync(descriptor, piece, 0, end - start, start)
    const at = piece.subarray(0, length).lastIndexOf(10)
    if (at !== -1) return start + at + 1
    end = start
  }
  return 0
}

const writeAll = (descriptor: number, bytes: Uint8Array, position: number) => {
  for (let written = 0; written < bytes.length; ) {
    written += fs.writeSync(descriptor, bytes, written, bytes.length - written, position + written)
  }
}

const writerOf = (file: string, descriptor: number, start: number, options: WriteOptions): Writer => {
  const { isSealed = false, syncLines = 1, syncMillis = Number.POSITIVE_INFINITY } = options
  let bytes = start
  let waiting = 0
  let since = 0
  const attempted = <A>(run: () => A): A => {
    try {
      return run()
    } catch (cause) {
      throw fromUnknown(file, "written")(cause)
    }
  }
  const flush = () => {
    if (waiting > 0) fs.fsyncSync(descriptor)
    waiting = 0
  }
  const append = (value: unknown) => {
    const line = Buffer.from(`${isSealed ? Sealed.stringify(value as object) : JSON.stringify(value)}\n`)
    const before = waiting
    const now = performance.now()
    if (waiting === 0) since = now
    try {
      writeAll(descriptor, line, bytes)
      waiting += 1
      if (waiting >= syncLines || now - since >= syncMillis) flush()
    } catch (cause) {
      // Without truncation, the next line would be appended to the partial one.
      waiting = before
      fs.ftruncateSync(descriptor, bytes)
      throw cause
    }
    bytes += line.length
  }
  return { append: (value) => attempted(() => append(value)), flush: () => attempted(flush), bytes: () => bytes }
}

const checkPlainNow = (file: string) => {
  const found = fs.lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  throw new Error(`it is ${found.isSymbolicLink() ? "a link" : "not a regular file"}. It was not changed; remove it`)
}

const openNow = (file: string, options: WriteOptions) => {
  checkPlainNow(file)
  const descriptor = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, OwnerOnly.fileMode)
  try {
    const { size } = fs.fstatSync(descriptor)
    const start = endOfLines(descriptor, size)
    if (start < size) fs.ftruncateSync(descriptor, start)
    return { descriptor, writer: writerOf(file, descriptor, start, options) }
  } catch (error) {
    fs.closeSync(descriptor)
    throw error
  }
}

/**
 * Opens a file for appending, and creates it if it does not exist. An incomplete last line is removed. A symbolic link
 * is rejected. The file is flushed to disk and closed with the scope.
 *
 * **Gotchas**
 *
 * Only one writer is allowed at a time. Hold a `Lock` while the file is open.
 */
export const open = (file: string, options: WriteOptions = {}): Effect.Effect<Writer, FileError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.andThen(
      OwnerOnly.check(file),
      Effect.try({ try: () => openNow(file, options), catch: fromUnknown(file, "written") })
    ),
    ({ descriptor, writer }) =>
      Effect.sync(() => {
        try {
          writer.flush()
        } catch {
          // Callers that need to know whether all data is on disk call `flush` first.
        } finally {
          fs.closeSync(descriptor)
        }
      })
  ).pipe(Effect.map(({ writer }) => writer))

/**
 * Fails if a path exists and is not a regular file. A link could point to an unrelated file, which must not be
 * truncated.
 */
export const checkPlain = (file: string): Effect.Effect<void, FileError> =>
  Effect.try({ try: () => checkPlainNow(file), catch: fromUnknown(file, "written") })

/** Runs a writer's function as an effect. */
export const attempt = <A>(run: () => A): Effect.Effect<A, FileError> =>
  Effect.try({ try: run, catch: (error) => error as FileError })
