/**
 * Checks JSON against the request limits without parsing it: nesting depth, number of values, string lengths. The scan
 * is a single pass over the bytes, allocates no memory for them, and stops at the first limit exceeded. It does not
 * validate the JSON, but counts the same values as a parser up to the first syntax error.
 */
import { ApiError } from "./ApiError.ts"
import type { Limits } from "./Limits.ts"

/** Maximum number of fields in the top-level object. */
const maxFields = 1_000

/** Maximum number of keys in any other object. Parsers are slow for keys that they have not seen before. */
const maxKeys = 10_000

/**
 * Maximum number of values and keys outside of the conversation, for example in tools or metadata. Responses repeat some
 * of these fields.
 */
const maxSettingValues = 50_000

/** Maximum length of a key, in bytes. Parsers are very slow for long keys. */
const maxKeyBytes = 1_000

/** Maximum length of a number, in bytes. */
const maxNumberBytes = 1_000

/** Number of leading bytes needed to decide whether a string is base64 or a `data:` URL. */
const headBytes = 32

/**
 * Inline images and files above this size in bytes are decoded separately, because a parser would process them in a
 * single event loop turn.
 */
const longMediaBytes = 2 ** 18

/** Size in bytes up to which a body cannot exceed the limits above. Only its depth and its values are counted. */
const smallBytes = 1_000

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** PHP escapes the slashes in base64. */
const isMedia = (head: string): boolean =>
  head.startsWith("data:") || (head.length === headBytes && /^(?:[A-Za-z0-9+/=_-]|\\\/)+\\?$/.test(head))

/** Whitespace, and control characters, which the parser rejects. */
const space = 0x20

/** An incremental scan of one JSON document. */
export class JsonScan {
  readonly #limits: Limits
  readonly #conversations: ReadonlySet<string> | undefined
  #isConversation = false
  #settingValues = 0
  #depth = 0
  #values = 1
  /** Number of keys in the object at each depth. */
  readonly #keys: Array<number> = []
  #isInText = false
  #isEscaped = false
  #textBytes = 0
  #head = ""
  #otherBytes = 0
  #offset = 0
  #mediaBytes = 0
  /** A small first piece that was not scanned. It is, if another one follows. */
  #unscanned: Uint8Array | undefined
  /** Byte ranges of long inline images and files. */
  readonly media: Array<readonly [from: number, to: number]> = []

  /** `conversations` are the top-level fields with a conversation. If omitted, values outside of them have no limit. */
  constructor(limits: Limits, conversations?: ReadonlySet<string>) {
    this.#limits = limits
    this.#conversations = conversations
  }

  /** Number of values and keys counted so far. Those of small documents are not counted. */
  get values(): number {
    return this.#values
  }

  /** Scans the next bytes. Returns an error for the first limit exceeded. */
  push(bytes: Uint8Array): ApiError | undefined {
    const before = this.#unscanned
    if (before === undefined && this.#offset === 0 && this.#isHarmless(bytes)) {
      this.#unscanned = bytes
      return undefined
    }
    this.#unscanned = undefined
    return (before === undefined ? undefined : this.#take(before)) ?? this.#take(bytes)
  }

  /** Whether bytes are too few to exceed any limit, and have few brackets and separators. */
  #isHarmless(bytes: Uint8Array): boolean {
    const { depth, plainBytes, textBytes, values } = this.#limits
    if (bytes.length > Math.min(smallBytes, textBytes, plainBytes)) return false
    let open = 0
    let count = 1
    let isInText = false
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isInText) {
        if (byte === backslash) at += 1
        else if (byte === quote) isInText = false
      } else if (byte === quote) isInText = true
      else if (byte === 0x5b || byte === 0x7b) {
        open += 1
        count += 1
        if (open > depth) return false
      } else if (byte === 0x5d || byte === 0x7d) open -= 1
      else if (byte === 0x2c || byte === colon) {
        if (open < 1) return false
        count += 1
      }
    }
    return count <= values
  }

  #take(bytes: Uint8Array): ApiError | undefined {
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
      } else if (byte <= space) this.#otherBytes = 0
      else {
        const problem = this.#other(byte)
        if (problem !== undefined) return problem
      }
    }
    return undefined
  }

  /** Scans the rest of a string and returns the position after it. */
  #text(bytes: Uint8Array, from: number): number {
    const end = this.#endOf(bytes, from)
    // Only long strings and names of fields need their first bytes examined.
    const isShort = !this.#isInText && this.#textBytes < longMediaBytes && this.#textBytes <= this.#limits.textBytes
    if ((!isShort || this.#depth === 1) && this.#head.length < headBytes) this.#readHead(bytes, from)
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
      // A quote, escaped or not, rules out base64.
      if (bytes[at] === quote) return
    }
  }

  /** Records a string that ended before the given byte offset. */
  #endText(end: number): void {
    if (this.#textBytes < longMediaBytes || !isMedia(this.#head)) return
    this.media.push([end - this.#textBytes, end])
    this.#mediaBytes += this.#textBytes
  }

  /** Limits the total size of everything except long inline media. */
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

  #count(): void {
    this.#values += 1
    if (!this.#isConversation) this.#settingValues += 1
  }

  /** Scans a byte outside of strings. */
  #other(byte: number): ApiError | undefined {
    this.#otherBytes += 1
    switch (byte) {
      case 0x5b: // [
      case 0x7b: // {
        this.#depth += 1
        this.#count()
        this.#keys[this.#depth] = 0
        break
      case 0x5d: // ]
      case 0x7d: // }
        this.#depth -= 1
        break
      case colon:
        if (this.#depth === 1) this.#isConversation = this.#conversations?.has(this.#head.replace(/".*/s, "")) === true
        this.#count()
        // A body that is not JSON may have a colon outside of all objects.
        this.#keys[this.#depth] = (this.#keys[this.#depth] ?? 0) + 1
        if (this.#textBytes > maxKeyBytes) return exceeds(`A key has more than ${maxKeyBytes} bytes.`)
        break
      case 0x2c: // ,
        this.#count()
        break
      default:
        if (this.#otherBytes > maxNumberBytes) return exceeds(`A number has more than ${maxNumberBytes} digits.`)
        return undefined
    }
    this.#otherBytes = 0
    const { depth, values } = this.#limits
    if (this.#depth > depth) return exceeds(`It is nested more than ${depth} levels deep.`)
    if (this.#values > values) return exceeds(`It has more than ${values} values and keys.`)
    if (this.#conversations !== undefined && this.#settingValues > maxSettingValues) {
      return exceeds(`It has more than ${maxSettingValues} values and keys outside of the conversation.`)
    }
    const isWhole = this.#depth === 1
    if (byte !== colon || this.#keys[this.#depth]! <= (isWhole ? maxFields : maxKeys)) return undefined
    return exceeds(isWhole ? `It has more than ${maxFields} fields.` : `An object has more than ${maxKeys} keys.`)
  }
}

const exceeds = (what: string): ApiError =>
  new ApiError({ kind: "invalid-request", message: `The request body cannot be read. ${what}` })

const tooLarge = (message: string): ApiError => new ApiError({ kind: "too-large", message })
