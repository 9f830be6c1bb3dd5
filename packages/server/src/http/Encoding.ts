/**
 * Undoes the encoding of a body: that of `Content-Encoding` (gzip, deflate, br and zstd, also one after another), and those
 * that its first bytes show without a label (gzip, zlib, zstd, UTF-16).
 */
import { PassThrough, Transform } from "node:stream"
import * as zlib from "node:zlib"
import { ApiError } from "../wire/ApiError.ts"

/** The longest chain of encodings. */
const maxEncodings = 3

/** 8 MiB: what a client may expect a server to have (RFC 9659). */
const maxWindowLog = 23

const zstd = () =>
  zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: maxWindowLog } }) as Transform

/** Text of UTF-16 as UTF-8. */
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

/** The format that the first bytes of a body show: JSON begins with none of these. */
const shown = ([first, second]: Uint8Array): Format | undefined => {
  if (first === 0x1f && (second === 0x8b || second === undefined)) return "gzip"
  if (first === 0x28 && (second === 0xb5 || second === undefined)) return "zstd"
  // The header of zlib is a multiple of 31.
  if (first === 0x78 && second !== undefined && (first * 256 + second) % 31 === 0) return "zlib"
  if ((first === 0xff && second === 0xfe) || (isJson(first) && second === 0)) return "utf-16le"
  if ((first === 0xfe && second === 0xff) || (first === 0 && isJson(second))) return "utf-16be"
  return isJson(first) ? "plain" : undefined
}

/** The first bytes decide before a label: proxies decompress bodies and leave the label, and others forget it. */
const labelled = (label: Format) => (head: Uint8Array) => shown(head) ?? label

const decoders: Readonly<Record<string, (head: Uint8Array) => Format>> = {
  gzip: labelled("gzip"),
  "x-gzip": labelled("gzip"),
  // Some clients leave out the header of zlib. Any first byte is possible then.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? "zlib" : "deflate"),
  br: () => "br",
  zstd: labelled("zstd")
}

const unsupported = (message: string): ApiError => new ApiError({ kind: "unsupported-encoding", message })

/** Words that encode nothing: some clients write the charset here. */
const plain: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"])

/** The encodings of a body in the order in which they are undone. An error for one that is not known. */
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

/** Returns a decoder that undoes encodings, one after another, into a sink; `undefined` without encodings. */
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

/** Receives pieces whose format is not known yet. */
export interface Unlabelled {
  /** Takes a piece; with `false` it wants no more. */
  readonly take: (piece: Buffer) => boolean
  readonly end: () => void
  readonly close: () => void
}

/** Formats without a label, one within the other: UTF-16 that is compressed. */
const maxUnlabelled = 2

/** Returns a receiver that undoes the formats that first bytes show; other bytes reach the sink as they are. */
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
