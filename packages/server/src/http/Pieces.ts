/**
 * The bytes of a body as they come, in blocks: a client may send one byte at a time, and each piece that is stored as it
 * came takes a hundred bytes and more.
 */
import { isUtf8 } from "node:buffer"
import { StringDecoder } from "node:string_decoder"
import * as Effect from "effect/Effect"

const smallestBlock = 2 ** 12

/** A block is decoded in one turn of the event loop. */
const largestBlock = 2 ** 20

/** The bytes of one body. */
export class Pieces {
  readonly #blocks: Array<Buffer> = []
  /** The bytes that are free in the last block. */
  #free = 0
  #size = 0

  /** The number of bytes. */
  get size(): number {
    return this.#size
  }

  /** The number of blocks. */
  get blocks(): number {
    return this.#blocks.length
  }

  /** Adds the next bytes. */
  add(piece: Buffer): void {
    this.#size += piece.length
    // Most bodies come in one piece, which is not copied.
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

  /** Frees all bytes. */
  clear(): void {
    this.#blocks.length = 0
    this.#free = 0
    this.#size = 0
  }

  /** The text from one byte to another, without those; each block is decoded in a turn of its own. */
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

  /** The text of all bytes in Windows' Latin alphabet; `undefined` for UTF-8. */
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
