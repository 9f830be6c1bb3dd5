/** Sequentially reads little-endian values from bytes. */

/** Thrown when the bytes end within a value. Reading may succeed with more bytes. */
export class EndOfBytes extends Error {}

/** Reads values sequentially. Every method throws {@link EndOfBytes} if too few bytes are left. */
export interface ByteReader {
  readonly take: <A>(size: number, get: (view: DataView, at: number) => A) => A
  readonly skip: (size: number) => void
  readonly uint32: () => number
  /** Numbers above 2^53 lose precision, but no length or offset is that large. */
  readonly uint64: () => number
  /** Reads a string: its length in bytes, then the UTF-8 data. */
  readonly string: () => string
  /** Number of bytes read. */
  readonly position: () => number
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** Creates a reader that starts at `start`. */
export const make = (bytes: Uint8Array, start = 0): ByteReader => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = start
  const skip = (size: number) => {
    if (position + size > bytes.length) throw new EndOfBytes()
    position += size
  }
  const take: ByteReader["take"] = (size, get) => {
    skip(size)
    return get(view, position - size)
  }
  const uint64 = () => take(8, (view, at) => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32)
  return {
    take,
    skip,
    uint64,
    uint32: () => take(4, (view, at) => view.getUint32(at, true)),
    string: () => {
      const length = uint64()
      return take(length, (_, at) => utf8.decode(bytes.subarray(at, at + length)))
    },
    position: () => position
  }
}
