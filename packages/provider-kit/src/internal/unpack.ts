/** Decompresses bodies whose compression is not named in a header: some relays drop the header and pass the bytes on. */

/** Returns the next bytes, or `undefined` at the end. */
type Read = () => Promise<Uint8Array | undefined>

type Decompressor = ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const isZstd = (bytes: Uint8Array): boolean => bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f

/** Returns a decompressor for the bytes, or `undefined` if they are not compressed. Brotli has no signature. */
const decompressorOf = (bytes: Uint8Array): Decompressor | undefined => {
  if (isGzip(bytes)) return new DecompressionStream("gzip")
  if (!isZstd(bytes)) return undefined
  // Browsers have no decompressor for zstd, nor Node's modules.
  const node = globalThis.process?.getBuiltinModule
  return node === undefined
    ? undefined
    : (node("node:stream").Duplex.toWeb(node("node:zlib").createZstdDecompress()) as Decompressor)
}

const inflated = (decompressor: Decompressor, first: Uint8Array, read: Read): Read => {
  let next: Uint8Array | undefined = first
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const bytes = next ?? (await read())
      next = undefined
      if (bytes === undefined) controller.close()
      else controller.enqueue(new Uint8Array(bytes))
    }
  })
  const reader = source.pipeThrough(decompressor).getReader()
  return async () => (await reader.read()).value
}

/** Decompresses what `read` returns if the first bytes are those of gzip or zstd. */
export const unpacked = (read: Read): Read => {
  let own: Read | undefined
  return async () => {
    if (own !== undefined) return own()
    const bytes = await read()
    const decompressor = bytes === undefined ? undefined : decompressorOf(bytes)
    own = bytes === undefined || decompressor === undefined ? read : inflated(decompressor, bytes, read)
    return own === read ? bytes : own()
  }
}
