/** Sequentially writes little-endian values to a growing buffer. */

/** Writes values sequentially. `bytes` returns everything written. */
export interface ByteWriter {
  readonly put: (size: number, set: (view: DataView, at: number) => void) => void
  readonly uint32: (value: number) => void
  readonly uint64: (value: number | bigint) => void
  /** Writes a string: its length in UTF-8 bytes, then the data. */
  readonly string: (value: string) => void
  /** Pads with zeros to a multiple of `alignment`. */
  readonly pad: (alignment: number) => void
  readonly bytes: () => Uint8Array
}

const utf8 = new TextEncoder()

export const make = (): ByteWriter => {
  let bytes = new Uint8Array(4096)
  let view = new DataView(bytes.buffer)
  let length = 0

  /** Reserves `size` bytes and returns their offset. */
  const reserve = (size: number): number => {
    const at = length
    length += size
    if (length > bytes.length) {
      const grown = new Uint8Array(Math.max(length, bytes.length * 2))
      grown.set(bytes)
      bytes = grown
      view = new DataView(bytes.buffer)
    }
    return at
  }

  const put: ByteWriter["put"] = (size, set) => {
    const at = reserve(size)
    set(view, at)
  }
  const uint64 = (value: number | bigint) => put(8, (view, at) => view.setBigUint64(at, BigInt(value), true))
  return {
    put,
    uint64,
    uint32: (value) => put(4, (view, at) => view.setUint32(at, value, true)),
    string: (value) => {
      const encoded = utf8.encode(value)
      uint64(encoded.length)
      const at = reserve(encoded.length)
      bytes.set(encoded, at)
    },
    pad: (alignment) => void reserve((alignment - (length % alignment)) % alignment),
    bytes: () => bytes.subarray(0, length)
  }
}
