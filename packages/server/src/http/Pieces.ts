/**
 * Buffers the chunks of a body in larger blocks. A client may send one byte at a time, and storing each chunk
 * separately would cost 100 bytes or more per chunk.
 */
import { isUtf8 } from "node:buffer"
import { createHash, type Hash } from "node:crypto"
import { StringDecoder } from "node:string_decoder"
import type { Steps } from "../wire/Steps.ts"

const smallestBlock = 2 ** 12

/** Maximum block size in bytes. */
const largestBlock = 2 ** 20

/** Number of bytes decoded in one step. */
const stepBytes = 2 ** 17

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
    for (const part of this.#parts(0, this.#size)) hash.update(part)
    return hash
  }

  /** Discards all bytes. */
  clear(): void {
    this.#blocks.length = 0
    this.#free = 0
    this.#size = 0
  }

  /**
   * Whether the decoded bytes include invalid UTF-8, but no valid letter beyond ASCII. Windows PowerShell sends each
   * such letter as a single byte (yzwijsen/chatgpt-powershell#4).
   */
  get isBroken(): boolean {
    return this.#hasInvalid && !this.#hasLetters
  }

  /** Examines decoded text. Each piece is examined by itself, because the whole text is long. */
  #examined(text: string, bytes: number): string {
    this.#hasInvalid ||= text.includes("\ufffd")
    // Most pieces have a character per byte, and are not searched. A piece may begin with the rest of a letter.
    const isShorter = text.length < bytes || text.charCodeAt(0) > 0x7f
    this.#hasLetters ||= isShorter && /[^\0-\x7f\ufffd]/.test(text)
    return text
  }

  /** Decodes the bytes from `from` up to `to` as text, in steps. */
  *text(from: number, to: number): Steps<string> {
    const [first] = this.#blocks
    if (first !== undefined && to <= first.length && to - from <= stepBytes) {
      return this.#examined(first.toString("utf8", from, to), to - from)
    }
    const decoder = new StringDecoder("utf8")
    let text = ""
    for (const part of this.#parts(from, to)) {
      for (let at = 0; at < part.length; at += stepBytes) {
        const bytes = part.subarray(at, at + stepBytes)
        text += this.#examined(decoder.write(bytes), bytes.length)
        yield
      }
    }
    return text + this.#examined(decoder.end(), 0)
  }

  /** Whether the bytes from `from` up to `to` include a byte. */
  includes(byte: number, from: number, to: number): boolean {
    for (const part of this.#parts(from, to)) if (part.includes(byte)) return true
    return false
  }

  /** Decodes all bytes as Windows-1252, in steps. Returns `undefined` if they are valid UTF-8. */
  *latin(): Steps<string | undefined> {
    const bytes = Buffer.concat([...this.#parts(0, this.#size)])
    if (isUtf8(bytes)) return undefined
    const decoder = new TextDecoder("windows-1252")
    let text = ""
    for (let at = 0; at < bytes.length; at += stepBytes) {
      text += decoder.decode(bytes.subarray(at, at + stepBytes), { stream: true })
      yield
    }
    return text
  }

  *#parts(from: number, to: number): Generator<Buffer> {
    let begin = 0
    for (const block of this.#blocks) {
      if (begin >= to) return
      const end = begin + block.length
      if (end > from) yield block.subarray(Math.max(0, from - begin), Math.min(block.length, to - begin))
      begin = end
    }
  }
}
