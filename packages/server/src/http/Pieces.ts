/**
 * Buffers the chunks of a body in larger blocks. A client may send one byte at a time, and storing each chunk
 * separately would cost 100 bytes or more per chunk.
 */
import { isUtf8 } from "node:buffer"
import { StringDecoder } from "node:string_decoder"
import * as Effect from "effect/Effect"

const smallestBlock = 2 ** 12

/** Maximum block size in bytes. A block is decoded in a single event loop turn. */
const largestBlock = 2 ** 20

/** The buffered bytes of one body. */
export class Pieces {
  readonly #blocks: Array<Buffer> = []
  /** Number of unused bytes in the last block. */
  #free = 0
  #size = 0

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

  /** Discards all bytes. */
  clear(): void {
    this.#blocks.length = 0
    this.#free = 0
    this.#size = 0
  }

  /** Decodes the bytes from `from` up to `to` as text. Each block is decoded in a separate event loop turn. */
  text(from: number, to: number): Effect.Effect<string> {
    const [first] = this.#blocks
    if (first !== undefined && to <= first.length) return Effect.succeed(first.toString("utf8", from, to))
    const parts = [...this.#parts(from, to)]
    const decoder = new StringDecoder("utf8")
    return Effect.gen(function* () {
      let text = ""
      for (const part of parts) {
        text += decoder.write(part)
        yield* Effect.yieldNow
      }
      return text + decoder.end()
    })
  }

  /** Decodes all bytes as Windows-1252. Returns `undefined` if they are valid UTF-8. */
  latin(): string | undefined {
    const bytes = Buffer.concat([...this.#parts(0, this.#size)])
    return isUtf8(bytes) ? undefined : new TextDecoder("windows-1252").decode(bytes)
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
