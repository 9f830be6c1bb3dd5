/**
 * Buffers the chunks of a body in larger blocks. A client may send one byte at a time, and storing each chunk
 * separately would cost 100 bytes or more per chunk.
 */
import { isAscii, isUtf8 } from "node:buffer"
import { createHash, type Hash } from "node:crypto"
import { StringDecoder } from "node:string_decoder"
import type { Steps } from "../wire/Steps.ts"

const smallestBlock = 2 ** 12

/** Maximum block size in bytes. */
const largestBlock = 2 ** 20

/** Number of bytes decoded in one step. */
const stepBytes = 2 ** 16

/** Number of bytes copied in one step. */
const copiedBytes = 2 ** 19

/** Joins buffers in steps. */
function* joined(buffers: ReadonlyArray<Buffer>): Steps<Buffer> {
  const [first] = buffers
  if (first !== undefined && buffers.length === 1) return first
  const whole = Buffer.allocUnsafeSlow(buffers.reduce((sum, { length }) => sum + length, 0))
  let size = 0
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += copiedBytes) {
      size += buffer.copy(whole, size, at, at + copiedBytes)
      yield
    }
  }
  return whole
}

/** The buffered bytes of one body. */
export class Pieces {
  readonly #blocks: Array<Buffer> = []
  /** Number of unused bytes in the last block. */
  #free = 0
  #size = 0
  #hasInvalid = false
  #hasLetters = false

  /** Total number of bytes. */
  get size(): number {
    return this.#size
  }

  /** Number of blocks. */
  get blocks(): number {
    return this.#blocks.length
  }

  /** Appends a chunk. */
  add(piece: Buffer): void {
    this.#size += piece.length
    // Most bodies arrive as a single chunk, which is stored without copying.
    if (this.#blocks.length === 0) {
      this.#blocks.push(piece)
      return
    }
    for (let at = 0; at < piece.length; ) {
      if (this.#free === 0) {
        this.#free = Math.min(largestBlock, Math.max(smallestBlock, this.#size))
        this.#blocks.push(Buffer.allocUnsafeSlow(this.#free))
      }
      const last = this.#blocks.at(-1)!
      const copied = piece.copy(last, last.length - this.#free, at)
      at += copied
      this.#free -= copied
    }
  }

  /** Returns a hash to which all bytes were added. */
  hash(): Hash {
    const hash = createHash("sha256")
    for (const part of this.slices(0, this.#size)) hash.update(part)
    return hash
  }

  /** Discards all bytes. */
  clear(): void {
    this.#blocks.length = 0
    this.#free = 0
    this.#size = 0
  }

  /**
   * Whether the decoded bytes are invalid UTF-8 without any letter beyond ASCII. Windows PowerShell sends each such letter
   * as a single byte (yzwijsen/chatgpt-powershell#4).
   */
  get isBroken(): boolean {
    return this.#hasInvalid && !this.#hasLetters && !isUtf8(Buffer.concat(this.slices(0, this.#size)))
  }

  /** Examines decoded text. Each piece is examined by itself, because the whole text is long. */
  #examined(text: string, bytes: number): string {
    this.#hasInvalid ||= text.includes("\ufffd")
    // Most pieces have a character per byte, and are not searched. A piece may begin with the rest of a letter.
    const isShorter = text.length < bytes || text.charCodeAt(0) > 0x7f
    this.#hasLetters ||= isShorter && /[^\0-\x7f\ufffd]/.test(text)
    return text
  }

  /** Decodes consecutive buffers of the body, one piece at a time. */
  *decoded(buffers: ReadonlyArray<Buffer>): Generator<string, void, void> {
    const decoder = new StringDecoder("utf8")
    for (const buffer of buffers) {
      for (let at = 0; at < buffer.length; at += stepBytes) {
        const bytes = buffer.subarray(at, at + stepBytes)
        yield this.#examined(decoder.write(bytes), bytes.length)
      }
    }
    yield this.#examined(decoder.end(), 0)
  }

  /** Decodes consecutive buffers of the body as one text, in steps. */
  *text(buffers: ReadonlyArray<Buffer>): Steps<string> {
    const [first] = buffers
    if (first !== undefined && buffers.length === 1 && first.length <= stepBytes) {
      return this.#examined(first.toString(), first.length)
    }
    if (buffers.every(isAscii)) return (yield* joined(buffers)).toString("latin1")
    let text = ""
    for (const piece of this.decoded(buffers)) {
      text += piece
      yield
    }
    return text
  }

  /** Decodes all bytes as Windows-1252, one piece at a time. */
  *latin(): Generator<string, void, void> {
    const decoder = new TextDecoder("windows-1252")
    for (const block of this.slices(0, this.#size)) {
      for (let at = 0; at < block.length; at += stepBytes) yield decoder.decode(block.subarray(at, at + stepBytes))
    }
  }

  /** Returns the bytes from `from` up to `to`, without copying them. */
  slices(from: number, to: number): ReadonlyArray<Buffer> {
    const slices: Array<Buffer> = []
    let begin = 0
    for (const block of this.#blocks) {
      const end = begin + block.length
      if (end > from && begin < to) slices.push(block.subarray(Math.max(0, from - begin), to - begin))
      begin = end
    }
    return slices
  }
}
