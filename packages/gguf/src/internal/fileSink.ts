/** A file that appears whole or not at all: written beside its place, flushed to the disk, then renamed. */

import { randomUUID } from "node:crypto"
import fs from "node:fs/promises"
import path from "node:path"
import * as Effect from "effect/Effect"
import * as Errors from "../GgufError.ts"

/** Takes bytes in order; they may be reused once the promise is kept. */
export interface FileSink {
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Zeros, `count` of them. */
  readonly zeros: (count: number) => Promise<void>
  /** Bytes taken so far. */
  readonly position: () => number
}

/** Small pieces are gathered until there are this many bytes. */
const bufferSize = 1 << 20

const writeAll = async (file: fs.FileHandle, bytes: Uint8Array) => {
  let written = 0
  while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
}

const make = (file: fs.FileHandle, signal: AbortSignal) => {
  const buffer = new Uint8Array(bufferSize)
  let filled = 0
  let position = 0
  const flush = async () => {
    await writeAll(file, buffer.subarray(0, filled))
    filled = 0
  }
  const write = async (bytes: Uint8Array) => {
    signal.throwIfAborted()
    if (filled + bytes.length > bufferSize) await flush()
    position += bytes.length
    if (bytes.length >= bufferSize) return writeAll(file, bytes)
    buffer.set(bytes, filled)
    filled += bytes.length
  }
  const sink: FileSink = { write, zeros: (count) => write(new Uint8Array(count)), position: () => position }
  return { sink, flush }
}

/** Makes a rename last through a loss of power; Windows neither can nor needs to open a folder for it. */
const syncFolder = async (folder: string) => {
  if (process.platform === "win32") return
  const handle = await fs.open(folder)
  await handle.sync().finally(() => handle.close())
}

/** Writes a file by a function of its sink. When that fails or is interrupted, what was at `target` stays. */
export const writeFile = (
  target: string,
  body: (sink: FileSink) => Promise<void>
): Effect.Effect<void, Errors.GgufError> => {
  const partial = `${target}.${randomUUID()}.partial`
  const attempt = <A>(run: (signal: AbortSignal) => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => Errors.fromUnknown(cause, target, "write the file") })
  const fill = (file: fs.FileHandle) =>
    attempt(async (signal) => {
      const { flush, sink } = make(file, signal)
      await body(sink)
      await flush()
      await file.sync()
    })
  return Effect.acquireUseRelease(
    attempt(() => fs.open(partial, "wx")),
    fill,
    (file) => Effect.promise(() => file.close())
  ).pipe(
    Effect.andThen(attempt(() => fs.rename(partial, target))),
    Effect.andThen(attempt(() => syncFolder(path.dirname(target)))),
    // What cannot be removed hides no error that matters more.
    Effect.onError(() => Effect.promise(() => fs.rm(partial, { force: true }).catch(() => undefined)))
  )
}
