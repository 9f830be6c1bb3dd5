/** Undoes the encoding of a body (`Content-Encoding`): gzip, deflate, br and zstd, also one after another. */
import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import { ApiError } from "../wire/ApiError.ts"

/** The longest chain of encodings. */
const maxEncodings = 3

/** 8 MiB: what a client may expect a server to have (RFC 9659). */
const maxWindowLog = 23

const zstd = () =>
  zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: maxWindowLog } }) as Transform

/** `deflate` means zlib's form; some clients leave its header out. The first byte tells. */
const inflate = (first: number): Transform => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw())

const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  deflate: inflate,
  br: () => zlib.createBrotliDecompress(),
  zstd
}

const unsupported = (message: string): ApiError => new ApiError({ kind: "unsupported-encoding", message })

/** Words that encode nothing: some clients write the charset here. */
const plain: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"])

/** The encodings of a body in the order in which they are undone. An error for one that is not known. */
export const read = (header: string | undefined): ReadonlyArray<string> | ApiError => {
  const names = (header ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !plain.has(name))
  if (names.length > maxEncodings) {
    return unsupported(`The request body has ${names.length} encodings. The maximum is ${maxEncodings}.`)
  }
  const unknown = names.find((name) => !Object.hasOwn(decoders, name))
  if (unknown === undefined) return names.toReversed()
  return unsupported(`Content-Encoding "${unknown.slice(0, 40)}" is not supported. Use gzip, deflate, br or zstd.`)
}

/** Receives a body piece by piece. */
export interface Sink {
  /** Takes a piece; with `false` it wants no more. */
  readonly take: (piece: Buffer) => boolean
  readonly end: () => void
  /** The body is not what its encoding says. */
  readonly fail: (error: ApiError) => void
}

/** A receiver of encoded pieces. */
export interface Decoder {
  /** With `false` it has enough for the moment, and calls `more` when it can take the next one. */
  readonly write: (piece: Buffer, more: () => void) => boolean
  readonly end: () => void
  /** Releases its resources. */
  readonly close: () => void
}

/** Undoes one encoding. Its output is bounded even if another encoding follows. */
const one = (name: string, maxBytes: number, sink: Sink): Decoder => {
  let stream: Transform | undefined
  let bytes = 0
  let isOver = false
  const broken = () => new ApiError({ kind: "invalid-request", message: `The request body is not valid ${name}.` })
  const stop = (tell: () => void) => {
    if (isOver) return
    isOver = true
    stream?.destroy()
    tell()
  }
  const begin = (first: number): Transform => {
    const made = decoders[name]!(first)
    made.on("error", () => stop(() => sink.fail(broken())))
    made.on("end", () => {
      if (isOver) return
      isOver = true
      sink.end()
    })
    made.on("data", (piece: Buffer) => {
      if (isOver) return
      bytes += piece.length
      if (bytes > maxBytes) {
        const message = `The decompressed request body is too large. The maximum is ${maxBytes} bytes.`
        return stop(() => sink.fail(new ApiError({ kind: "too-large", message })))
      }
      if (!sink.take(piece)) stop(() => undefined)
    })
    return made
  }
  return {
    write: (piece, more) => {
      if (isOver) return true
      stream ??= begin(piece[0]!)
      if (stream.write(piece)) return true
      stream.once("drain", more)
      return false
    },
    end: () => {
      if (isOver) return
      if (stream === undefined) stop(() => sink.fail(broken()))
      else stream.end()
    },
    close: () => stop(() => undefined)
  }
}

/** Returns a decoder that undoes encodings, one after another, into a sink; `undefined` without encodings. */
export const decoder = (names: ReadonlyArray<string>, maxBytes: number, sink: Sink): Decoder | undefined => {
  const [first, ...rest] = names
  if (first === undefined) return undefined
  const last = decoder(rest, maxBytes, sink)
  if (last === undefined) return one(first, maxBytes, sink)
  const inner = one(first, maxBytes, {
    take: (piece) => {
      last.write(piece, () => undefined)
      return true
    },
    end: last.end,
    fail: (error) => {
      last.close()
      sink.fail(error)
    }
  })
  return {
    ...inner,
    close: () => {
      inner.close()
      last.close()
    }
  }
}
