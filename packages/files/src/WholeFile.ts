/**
 * Writes files and folders atomically: they are complete or absent, even if the process or the machine stops.
 *
 * A file is written under another name, flushed to disk and renamed. Readers see either the old content or the new
 * content.
 */
import { existsSync, mkdirSync, statSync } from "node:fs"
import fs from "node:fs/promises"
import path from "node:path"
import * as Effect from "effect/Effect"
import { type FileError, fromUnknown } from "./FileError.ts"
import { partialOf, partialPattern } from "./internal/partial.ts"
import * as OwnerOnly from "./OwnerOnly.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Text, binary data, or chunks of either. */
export type Content = string | Uint8Array | Iterable<string | Uint8Array>

/** Options for writing a file. */
export interface Options {
  /**
   * Whether to wait until the content is on disk. If `false`, the file survives a killed process, but possibly not a
   * power failure; call {@link sync} later to ensure that. Default: `true`.
   */
  readonly isDurable?: boolean | undefined
  /** Access to a new file. By default, only its owner; generated source code follows the umask. */
  readonly access?: OwnerOnly.Access | undefined
}

/** Receives the content of a file, in order. */
export interface Sink {
  /** Writes a chunk. Its buffer can be reused once the promise has resolved. */
  readonly write: (piece: string | Uint8Array) => Promise<void>
  /** Returns the number of bytes written so far. */
  readonly position: () => number
}

// -------------------------------------------------------------------------------------------------------------------
// Onto the disk
// -------------------------------------------------------------------------------------------------------------------

const syncNow = async (file: string) => {
  const handle = await fs.open(file)
  await handle.sync().finally(() => handle.close())
}

/** Systems that cannot synchronise a folder keep the order of its changes themselves. */
const unsupported = new Set(["EISDIR", "EPERM", "EACCES", "EINVAL"])

const syncFolderNow = (folder: string) =>
  syncNow(folder).catch((error: NodeJS.ErrnoException) => {
    if (!unsupported.has(error.code ?? "")) throw error
  })

const attempt = <A>(file: string, run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, FileError> =>
  Effect.tryPromise({ try: run, catch: fromUnknown(file, "written") })

/** Waits until the content of a file is on disk. */
export const sync = (file: string): Effect.Effect<void, FileError> => attempt(file, () => syncNow(file))

/** Waits until the entries of a folder are on disk, if the system supports it. */
export const syncFolder = (folder: string): Effect.Effect<void, FileError> =>
  attempt(folder, () => syncFolderNow(folder))

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** Small chunks are buffered up to this number of bytes. */
const bufferSize = 1 << 20

/** A nearly full disk accepts part of the data and reports an error only for the rest. */
const writeAll = async (file: fs.FileHandle, bytes: Uint8Array) => {
  for (let written = 0; written < bytes.length; ) written += (await file.write(bytes, written)).bytesWritten
}

const sinkOf = (file: fs.FileHandle, signal: AbortSignal) => {
  let buffer: Uint8Array | undefined
  let filled = 0
  let position = 0
  const flush = async () => {
    if (buffer !== undefined) await writeAll(file, buffer.subarray(0, filled))
    filled = 0
  }
  const write = async (piece: string | Uint8Array) => {
    signal.throwIfAborted()
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece
    if (filled + bytes.length > bufferSize) await flush()
    position += bytes.length
    if (bytes.length >= bufferSize) return writeAll(file, bytes)
    buffer ??= new Uint8Array(bufferSize)
    buffer.set(bytes, filled)
    filled += bytes.length
  }
  const sink: Sink = { write, position: () => position }
  return { sink, flush }
}

/** Resolves symbolic links, and returns the type of the existing entry. */
const placeOf = async (file: string) => {
  const target = await fs.realpath(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return file
    throw error
  })
  return { target, before: await fs.stat(target).catch(() => undefined) }
}

/** Folders that this process has already cleaned up. */
const swept = new Set<string>()

const sweepOnce = (folder: string) =>
  Effect.promise(async () => {
    if (swept.has(folder)) return
    swept.add(folder)
    // Leftover files that cannot be removed are harmless.
    await sweepNow(folder, deadMillis).catch(() => undefined)
  })

/** A writer that has not written for this long, in milliseconds, is considered dead. */
const deadMillis = 3_600_000

const sweepNow = async (folder: string, olderThanMillis: number, names?: ReadonlyArray<string>) => {
  for (const entry of await fs.readdir(folder)) {
    const name = entry.replace(partialPattern, "")
    if (name === entry || names?.includes(name) === false) continue
    const file = path.join(folder, entry)
    const found = await fs.lstat(file).catch(() => undefined)
    if (found?.isFile() && Date.now() - found.mtimeMs >= olderThanMillis) await fs.rm(file, { force: true })
  }
}

/**
 * Removes unfinished files of killed processes from a folder: those with the given names, or all. Hold a lock that
 * excludes other writers, because their unfinished files would also be removed.
 */
export const sweep = (folder: string, names?: ReadonlyArray<string>): Effect.Effect<void, FileError> =>
  Effect.tryPromise({ try: () => sweepNow(folder, 0, names), catch: fromUnknown(folder, "removed") })

type Body = (sink: Sink) => Promise<void>

const fill = (file: string, handle: fs.FileHandle, body: Body, isDurable: boolean) =>
  attempt(file, async (signal) => {
    const { flush, sink } = sinkOf(handle, signal)
    await body(sink)
    await flush()
    if (isDurable) await handle.sync()
  })

const close = (handle: fs.FileHandle) => Effect.promise(() => handle.close())

/** Devices and pipes are written directly, because a rename would replace them. */
const writeInPlace = (target: string, body: Body) =>
  Effect.acquireUseRelease(
    attempt(target, () => fs.open(target, "w")),
    (handle) => fill(target, handle, body, false),
    close
  )

/** A failed cleanup must not hide the original error. */
const remove = (file: string) => Effect.promise(() => fs.rm(file, { force: true }).catch(() => undefined))

/**
 * Writes a file with a function that receives a sink, for content that does not fit in memory.
 *
 * **Details**
 *
 * Nothing appears under the name before the function has ended. If it fails or is interrupted, the previous content
 * remains. A new file has the mode 0600. An existing one retains its permissions (see `OwnerOnly`), and a link remains
 * a link. While the function runs, the content is in `<file>.<random>.partial`. A killed process leaves this file
 * behind; the next process that writes to the folder more than an hour later removes it, or {@link sweep} does. The
 * error's `cause` is the exception thrown by the function.
 */
export const writeWith = Effect.fnUntraced(function* (
  file: string,
  body: Body,
  options: Options = {}
): Effect.fn.Return<void, FileError> {
  const { access = "owner", isDurable = true } = options
  const { before, target } = yield* attempt(file, () => placeOf(file))
  if (before !== undefined && !before.isFile() && !before.isDirectory()) return yield* writeInPlace(target, body)
  const partial = partialOf(target)
  const created = access === "umask" ? 0o666 : OwnerOnly.fileMode
  const mode =
    before === undefined ? created : access === "umask" ? before.mode : yield* OwnerOnly.check(target, before)
  yield* sweepOnce(path.dirname(target))
  yield* Effect.acquireUseRelease(
    attempt(file, () => fs.open(partial, "wx", mode)),
    (handle) => fill(file, handle, body, isDurable),
    close
  ).pipe(
    Effect.andThen(attempt(file, () => fs.rename(partial, target))),
    Effect.onError(() => remove(partial))
  )
  if (isDurable) yield* syncFolder(path.dirname(target))
})

const piecesOf = (content: Content): Iterable<string | Uint8Array> =>
  typeof content === "string" || content instanceof Uint8Array ? [content] : content

/**
 * Writes a file.
 *
 * **Example**
 *
 * ```ts
 * import { WholeFile } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "note.txt")
 * await Effect.runPromise(WholeFile.write(file, ["one\n", "two\n"]))
 * fs.readFileSync(file, "utf8") // => "one\ntwo\n"
 * ```
 */
export const write = (file: string, content: Content, options?: Options): Effect.Effect<void, FileError> =>
  writeWith(
    file,
    async (sink) => {
      for (const piece of piecesOf(content)) await sink.write(piece)
    },
    options
  )

/** Writes a value as indented JSON with a final line feed. */
export const writeJson = (file: string, value: unknown, options?: Options): Effect.Effect<void, FileError> =>
  Effect.suspend(() => write(file, `${JSON.stringify(value, null, 2)}\n`, options))

// -------------------------------------------------------------------------------------------------------------------
// Folders
// -------------------------------------------------------------------------------------------------------------------

const isFolder = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a folder and its parents. Throws the system's error for the folder that cannot be created: Node's own
 * `recursive` never returns if the system cannot create any (`/proc`), and reports a read-only disk as a missing
 * folder. A new folder has the mode 0700, unless its `access` follows the umask.
 */
export const makeFolderNow = (folder: string, access: OwnerOnly.Access = "owner"): void => {
  OwnerOnly.closeOwnFolderOf(folder)
  if (isFolder(folder)) return
  const missing: Array<string> = []
  let at = path.resolve(folder)
  do {
    missing.unshift(at)
    at = path.dirname(at)
  } while (!existsSync(at) && at !== path.dirname(at))
  for (const one of missing) {
    try {
      mkdirSync(one, { mode: access === "umask" ? 0o777 : OwnerOnly.folderMode })
    } catch (error) {
      // Another process may have created the folder in the meantime.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      if (!isFolder(one)) throw new Error(`${one} is not a folder`)
    }
  }
}

/** Creates a folder and its parents if they do not exist. */
export const makeFolder = (folder: string, access?: OwnerOnly.Access | undefined): Effect.Effect<void, FileError> =>
  Effect.try({ try: () => makeFolderNow(folder, access), catch: fromUnknown(folder, "written") })

const syncAll = async (folder: string) => {
  for (const entry of await fs.readdir(folder, { withFileTypes: true, recursive: true })) {
    const whole = path.join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await syncFolderNow(whole)
    else if (entry.isFile()) await syncNow(whole)
  }
  await syncFolderNow(folder)
}

/**
 * Publishes a folder that was filled under another name by renaming it, so that it appears with its complete content.
 * The target must not exist.
 */
export const publishFolder = (partial: string, folder: string): Effect.Effect<void, FileError> =>
  attempt(folder, async () => {
    await syncAll(partial)
    await fs.rename(partial, folder)
    await syncFolderNow(path.dirname(folder))
  })
