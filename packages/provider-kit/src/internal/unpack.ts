/** Decompresses bodies whose compression is not named in a header: some relays drop the header and pass the bytes on. */

/** Returns the next bytes, or `undefined` at the end. */
type Read = () => Promise<Uint8Array | undefined>

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const inflated = (first: Uint8Array, read: Read): Read => {
  let next: Uint8Array | undefined = first
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const bytes = next ?? (await read())
      next = undefined
      if (bytes === undefined) controller.close()
      else controller.enqueue(new Uint8Array(bytes))
    }
  })
  const reader = source.pipeThrough(new DecompressionStream("gzip")).getReader()
  return async () => (await reader.read()).value
}

/** Decompresses what `read` returns if the first bytes are those of gzip. */
export const unpacked = (read: Read): Read => {
  let own: Read | undefined
  return async () => {
    if (own !== undefined) return own()
    const bytes = await read()
    own = bytes !== undefined && isGzip(bytes) ? inflated(bytes, read) : read
    return own === read ? bytes : own()
  }
}
