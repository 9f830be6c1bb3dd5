/**
 * Counts what is in JSON, piece by piece, without reading it: its depth, its values, the length of its texts. It takes
 * the time of one pass over the bytes, needs no memory for them, and stops at the first limit that is exceeded. It does
 * not say whether it is JSON: up to where a parser would stop, both see the same.
 */
import { ApiError } from "../wire/ApiError.ts"
import type { Limits } from "./Limits.ts"

/** The largest number of fields of the whole. */
const maxFields = 1_000

/** The largest number of keys of any other object: a parser takes long for the keys that it has not seen yet. */
const maxKeys = 10_000

/** The longest key, in bytes: parsers take very long for longer ones. */
const maxKeyBytes = 1_000

/** The longest number, in bytes. */
const maxNumberBytes = 1_000

/** So much of a text shows whether it is base64 or a `data:` URL. */
const headBytes = 32

/** A longer inline image or file is decoded on its own: a parser would read it in one turn of the event loop. */
const longMediaBytes = 2 ** 18

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** PHP escapes the slashes of base64. */
const isMedia = (head: string): boolean =>
  head.startsWith("data:") || (head.length === headBytes && /^(?:[A-Za-z0-9+/=_-]|\\\/)+\\?$/.test(head))

/** Whether a byte is written between values: a space, a tab, a line break. */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** One JSON text. */
export class JsonScan {
  readonly #limits: Limits
  #depth = 0
  #values = 1
  /** The keys of the object at each depth. */
  readonly #keys: Array<number> = []
  #isInText = false
  #isEscaped = false
  #textBytes = 0
  #head = ""
  #otherBytes = 0
  #offset = 0
  #mediaBytes = 0
  /** Start and end of long inline images and files, in bytes. */
  readonly media: Array<readonly [from: number, to: number]> = []

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Takes the next bytes. Returns the error of the first limit that is exceeded. */
  push(bytes: Uint8Array): ApiError | undefined {
    const problem = this.#scan(bytes)
    this.#offset += bytes.length
    return problem ?? this.#plainProblem()
  }

  #scan(bytes: Uint8Array): ApiError | undefined {
    let at = 0
    while (at < bytes.length) {
      if (this.#isInText) {
        at = this.#text(bytes, at)
        const problem = this.#textProblem()
        if (problem !== undefined) return problem
        if (!this.#isInText) this.#endText(this.#offset + at - 1)
        continue
      }
      const byte = bytes[at]!
      at += 1
      if (byte === quote) {
        this.#isInText = true
        this.#textBytes = 0
        this.#head = ""
      } else if (isBlank(byte)) this.#otherBytes = 0
      else {
        const problem = this.#other(byte)
        if (problem !== undefined) return problem
      }
    }
    return undefined
  }

  /** Continues in a text, and returns the position of its end. */
  #text(bytes: Uint8Array, from: number): number {
    const end = this.#endOf(bytes, from)
    // The head matters only for long texts.
    const isShort = !this.#isInText && this.#textBytes < longMediaBytes && this.#textBytes <= this.#limits.textBytes
    if (!isShort && this.#head.length < headBytes) this.#readHead(bytes, from)
    return end
  }

  #endOf(bytes: Uint8Array, from: number): number {
    let at = from
    if (this.#isEscaped) {
      this.#isEscaped = false
      at += 1
    }
    for (;;) {
      const end = bytes.indexOf(quote, at)
      const stop = end < 0 ? bytes.length : end
      let slashes = 0
      while (stop - slashes > at && bytes[stop - slashes - 1] === backslash) slashes += 1
      const isOpen = slashes % 2 === 1
      if (end < 0) {
        this.#isEscaped = isOpen
        this.#textBytes += bytes.length - from
        return bytes.length
      }
      if (!isOpen) {
        this.#isInText = false
        this.#textBytes += end - from
        return end + 1
      }
      at = end + 1
    }
  }

  #readHead(bytes: Uint8Array, from: number): void {
    const more = headBytes - this.#head.length
    for (let at = from; at < Math.min(bytes.length, from + more); at++) {
      this.#head += String.fromCharCode(bytes[at]!)
      // With a quote, escaped or not, it is not the head of base64.
      if (bytes[at] === quote) return
    }
  }

  /** A text has ended before a byte of the whole. */
  #endText(end: number): void {
    if (this.#textBytes < longMediaBytes || !isMedia(this.#head)) return
    this.media.push([end - this.#textBytes, end])
    this.#mediaBytes += this.#textBytes
  }

  /** The total size of everything else is bounded, too. */
  #plainProblem(): ApiError | undefined {
    const { plainBytes } = this.#limits
    const open = this.#isInText && isMedia(this.#head) ? this.#textBytes : 0
    if (this.#offset - this.#mediaBytes - open <= plainBytes) return undefined
    return tooLarge(`The request is too large: more than ${plainBytes} bytes, not counting inline images and files.`)
  }

  #textProblem(): ApiError | undefined {
    const { mediaBytes, textBytes } = this.#limits
    if (this.#textBytes <= textBytes) return undefined
    if (!isMedia(this.#head)) return tooLarge(`A string in the request is longer than ${textBytes} bytes.`)
    if (this.#textBytes <= mediaBytes) return undefined
    return tooLarge(`An inline image or file in the request exceeds ${mediaBytes} bytes.`)
  }

  /** A byte outside of texts. */
  #other(byte: number): ApiError | undefined {
    this.#otherBytes += 1
    switch (byte) {
      case 0x5b: // [
      case 0x7b: // {
        this.#depth += 1
        this.#values += 1
        this.#keys[this.#depth] = 0
        break
      case 0x5d: // ]
      case 0x7d: // }
        this.#depth -= 1
        break
      case colon:
        this.#values += 1
        this.#keys[this.#depth]! += 1
        if (this.#textBytes > maxKeyBytes) return exceeds(`A key has more than ${maxKeyBytes} bytes.`)
        break
      case 0x2c: // ,
        this.#values += 1
        break
      default:
        if (this.#otherBytes > maxNumberBytes) return exceeds(`A number has more than ${maxNumberBytes} digits.`)
        return undefined
    }
    this.#otherBytes = 0
    const { depth, values } = this.#limits
    if (this.#depth > depth) return exceeds(`It is nested more than ${depth} levels deep.`)
    if (this.#values > values) return exceeds(`It has more than ${values} values and keys.`)
    const isWhole = this.#depth === 1
    if (byte !== colon || this.#keys[this.#depth]! <= (isWhole ? maxFields : maxKeys)) return undefined
    return exceeds(isWhole ? `It has more than ${maxFields} fields.` : `An object has more than ${maxKeys} keys.`)
  }
}

const exceeds = (what: string): ApiError =>
  new ApiError({ kind: "invalid-request", message: `The request body cannot be read. ${what}` })

const tooLarge = (message: string): ApiError => new ApiError({ kind: "too-large", message })
