/** Reads ranges of files: small ranges as a whole, tensor values in chunks. */

import { constants } from "node:fs"
import fs from "node:fs/promises"
import * as Effect from "effect/Effect"
import type { GgufError } from "../GgufError.ts"
import * as Errors from "../GgufError.ts"
import * as Float16 from "./float16.ts"

/** A file opened for reading. */
export interface FileSource {
  readonly path: string
  readonly size: number
  /** Reads a range of bytes, which must be within the file. */
  readonly read: (position: number, length: number) => Promise<Uint8Array<ArrayBuffer>>
}

const readAll = async (file: fs.FileHandle, path: string, position: number, length: number) => {
  const bytes = new Uint8Array(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) {
      throw Errors.make({ _tag: "Truncated", needed: position + length, found: position + filled }, path)
    }
    filled += bytesRead
  }
  return bytes
}

/** Opens a file for reading. Folders, pipes and devices are rejected without blocking. */
const open = async (path: string): Promise<fs.FileHandle> => {
  // Windows does not have this flag, and pipes are not files there.
  const file = await fs.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error("it is a folder, a pipe or a device, not a file")
}

/** Opens a file, passes it to `body` and closes it. */
export const use = <A>(path: string, body: (source: FileSource) => Promise<A>): Effect.Effect<A, GgufError> => {
  const attempt = <B>(run: () => Promise<B>) =>
    Effect.tryPromise({ try: run, catch: (cause) => Errors.fromUnknown(cause, path, "read the file") })
  return Effect.acquireUseRelease(
    attempt(() => open(path)),
    (file) =>
      attempt(async () => {
        const { size } = await file.stat()
        return body({ path, size, read: (position, length) => readAll(file, path, position, length) })
      }),
    (file) => Effect.promise(() => file.close())
  )
}

/** How to decode values: their size in bytes, and the conversion. */
export interface Decoder {
  readonly size: number
  readonly decode: (bytes: Uint8Array<ArrayBuffer>) => Float32Array<ArrayBuffer>
}

/** Decoders for the storage types that all file formats share. */
export const decoders = {
  F32: { size: 4, decode: (bytes: Uint8Array<ArrayBuffer>) => new Float32Array(bytes.buffer) },
  F16: { size: 2, decode: (bytes: Uint8Array<ArrayBuffer>) => Float16.decode(new Uint16Array(bytes.buffer)) },
  BF16: {
    size: 2,
    decode: (bytes: Uint8Array<ArrayBuffer>) => {
      const halves = new Uint16Array(bytes.buffer)
      return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer)
    }
  }
} as const satisfies Readonly<Record<string, Decoder>>

/** Whether a storage type can be read. */
export const isReadable = (type: string): type is keyof typeof decoders => Object.hasOwn(decoders, type)

/** Number of values read per chunk. */
const countAtATime = 1 << 18

/** Reads `count` values starting at `position`, in chunks. The file is open only during the iteration. */
export async function* numbers(
  path: string,
  { decode, size }: Decoder,
  position: number,
  count: number
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const file = await open(path).catch((cause) => {
    throw Errors.fromUnknown(cause, path, "read the file")
  })
  try {
    for (let done = 0; done < count; done += countAtATime) {
      const length = Math.min(countAtATime, count - done) * size
      yield decode(await readAll(file, path, position + done * size, length))
    }
  } finally {
    await file.close()
  }
}
