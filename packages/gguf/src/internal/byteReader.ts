/** Little-endian values taken from bytes, one after another. */

/** Says that the bytes end before the value; with more of them it may be there. */
export class EndOfBytes extends Error {}

/** Takes values in their order. Every verb throws {@link EndOfBytes} when too few bytes are left. */
export interface ByteReader {
  readonly take: <A>(size: number, get: (view: DataView, at: number) => A) => A
  readonly uint32: () => number
  /** Numbers above 2^53 lose their last digits: none of them can be a length or a place in a file. */
  readonly uint64: () => number
  /** A length in bytes, then that many bytes of UTF-8; not a text at all when they are none. */
  readonly string: () => string
  /** Bytes taken so far. */
  readonly position: () => number
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

export const make = (bytes: Uint8Array): ByteReader => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = 0
  const take: ByteReader["take"] = (size, get) => {
    if (position + size > bytes.length) throw new EndOfBytes()
    const value = get(view, position)
    position += size
    return value
  }
  const uint64 = () => take(8, (view, at) => Number(view.getBigUint64(at, true)))
  return {
    take,
    uint64,
    uint32: () => take(4, (view, at) => view.getUint32(at, true)),
    string: () => {
      const length = uint64()
      return take(length, (_, at) => utf8.decode(bytes.subarray(at, at + length)))
    },
    position: () => position
  }
}
