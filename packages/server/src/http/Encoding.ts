/**
 * Decodes compressed request bodies. Handles the encodings in `Content-Encoding` (gzip, deflate, br and zstd, which can
 * be combined), and detects unlabelled gzip, zlib, zstd and UTF-16 by their first bytes.
 */
import { PassThrough, Transform } from "node:stream"
import * as zlib from "node:zlib"
import { ApiError } from "../wire/ApiError.ts"

/** Maximum number of encodings that can be combined. */
const maxEncodings = 3

/**
 * Base-2 logarithm of the maximum zstd window size. 8 MiB is the limit that servers are expected to support (RFC 9659).
 */
const maxWindowLog = 23

const zstd = () =>
  zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: maxWindowLog } }) as Transform

/** Creates a transform from UTF-16 to UTF-8. */
const utf16 = (charset: "utf-16le" | "utf-16be") => (): Transform => {
  const decoder = new TextDecoder(charset)
  return new Transform({
    transform: (piece, _, done) => done(null, decoder.decode(piece, { stream: true })),
    flush: (done) => done(null, decoder.decode())
  })
}

const makers = {
  gzip: () => zlib.createGunzip(),
  zlib: () => zlib.createInflate(),
  deflate: () => zlib.createInflateRaw(),
  br: () => zlib.createBrotliDecompress(),
  zstd,
  "utf-16le": utf16("utf-16le"),
  "utf-16be": utf16("utf-16be"),
  plain: () => new PassThrough()
} satisfies Readonly<Record<string, () => Transform>>

type Format = keyof typeof makers

const isJson = (byte: number | undefined): boolean =>
  byte !== undefined && [0x7b, 0x20, 0x09, 0x0a, 0x0d, 0xef].includes(byte)

/** Detects the format of a body from its first bytes. JSON text never starts with any of these signatures. */
const shown = ([first, second]: Uint8Array): Format | undefined => {
  if (first === 0x1f && (second === 0x8b || second === undefined)) return "gzip"
  if (first === 0x28 && (second === 0xb5 || second === undefined)) return "zstd"
  // The two bytes of a zlib header, read as a number, are a multiple of 31.
  if (first === 0x78 && second !== undefined && (first * 256 + second) % 31 === 0) return "zlib"
  if ((first === 0xff && second === 0xfe) || (isJson(first) && second === 0)) return "utf-16le"
  if ((first === 0xfe && second === 0xff) || (first === 0 && isJson(second))) return "utf-16be"
  return isJson(first) ? "plain" : undefined
}

/**
 * Prefers the detected format over the label: proxies decompress bodies without removing the label, and some clients
 * omit the label.
 */
const labelled = (label: Format) => (head: Uint8Array) => shown(head) ?? label

const decoders: Readonly<Record<string, (head: Uint8Array) => Format>> = {
  gzip: labelled("gzip"),
  "x-gzip": labelled("gzip"),
  // Some clients send raw deflate data without the zlib header, in which case any first byte is possible.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? "zlib" : "deflate"),
  br: () => "br",
  zstd: labelled("zstd")
}

const unsupported = (message: string): ApiError => new ApiError({ kind: "unsupported-encoding", message })

/** Values of `Content-Encoding` that mean "not encoded". Some clients put the charset here. */
const plain: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"])

/**
 * Parses `Content-Encoding` into the list of encodings, in decoding order. Returns an error for an unknown encoding.
 */
export const read = (header: string | undefined): ReadonlyArray<string> | ApiError => {
  if (header === undefined) return []
  const names = header
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

/** Receives decoded chunks. */
export interface Sink {
  /** Accepts a chunk. Returns `false` if the receiver needs no more data. */
  readonly take: (piece: Buffer) => boolean
  readonly end: () => void
  /** Called if the body is not valid for its encoding. */
  readonly fail: (error: ApiError) => void
}

/** Decodes chunks of an encoded body. */
export interface Decoder {
  /** Accepts a chunk. If it returns `false`, the caller must wait for `more` before writing the next chunk. */
  readonly write: (piece: Buffer, more: () => void) => boolean
  readonly end: () => void
  /** Releases the decoder's resources. */
  readonly close: () => void
}

/** Creates a decoder for a single encoding. Its output size is limited even if another decoder follows. */
const one = (name: string, formatOf: (head: Uint8Array) => Format, maxBytes: number, sink: Sink): Decoder => {
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
  const begin = (head: Uint8Array): Transform => {
    const made = makers[formatOf(head)]()
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
      stream ??= begin(piece)
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

/**
 * Creates a decoder that applies several encodings in sequence and writes to the sink. Returns `undefined` if there are
 * no encodings.
 */
export const decoder = (names: ReadonlyArray<string>, maxBytes: number, sink: Sink): Decoder | undefined => {
  const [first, ...rest] = names
  if (first === undefined) return undefined
  const last = decoder(rest, maxBytes, sink)
  if (last === undefined) return one(first, decoders[first]!, maxBytes, sink)
  const inner = one(first, decoders[first]!, maxBytes, {
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

/** Receives chunks until their format is determined. */
export interface Unlabelled {
  /** Accepts a chunk. Returns `false` if the receiver needs no more data. */
  readonly take: (piece: Buffer) => boolean
  readonly end: () => void
  readonly close: () => void
}

/** Maximum nesting of unlabelled formats, e.g. compressed UTF-16. */
const maxUnlabelled = 2

/**
 * Creates a receiver that decodes the formats it detects by their first bytes. All other data is passed to the sink
 * unchanged.
 */
export const unlabelled = (maxBytes: number, sink: Sink, left = maxUnlabelled): Unlabelled => {
  let head: Buffer | undefined
  let isDecided = false
  let inner: Decoder | undefined
  const decide = (first: Buffer): boolean => {
    isDecided = true
    const format = left === 0 ? undefined : shown(first)
    if (format === undefined || format === "plain") return sink.take(first)
    const further = unlabelled(maxBytes, sink, left - 1)
    inner = one(format, () => format, maxBytes, { ...further, fail: sink.fail })
    inner.write(first, () => undefined)
    return true
  }
  return {
    take: (piece) => {
      if (inner !== undefined) {
        inner.write(piece, () => undefined)
        return true
      }
      if (isDecided) return sink.take(piece)
      head = head === undefined ? piece : Buffer.concat([head, piece])
      return head.length < 2 || decide(head)
    },
    end: () => {
      if (!isDecided && head !== undefined) decide(head)
      if (inner === undefined) sink.end()
      else inner.end()
    },
    close: () => inner?.close()
  }
}
