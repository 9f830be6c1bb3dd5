/** Decodes text files written by other programs: UTF-8, or UTF-16 with a byte order mark. */

/** An encoding that can be detected. */
export type Name = "utf-8" | "utf-16be" | "utf-16le"

/** Returns the encoding that a byte order mark announces. PowerShell 5 writes redirected output as UTF-16. */
export const detect = ([first, second]: Uint8Array): Name => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
}

/**
 * Returns a function that decodes the chunks of a text, without its byte order mark. Called without a chunk, it ends the
 * text. Throws if the text has another encoding: replacing unknown bytes would silently change the text.
 */
export const decoder = (): ((chunk?: Uint8Array) => string) => {
  let decoder: TextDecoder | undefined
  return (chunk = new Uint8Array()) => {
    decoder ??= new TextDecoder(detect(chunk), { fatal: true })
    try {
      return decoder.decode(chunk, { stream: chunk.length > 0 })
    } catch {
      throw new Error("it is not UTF-8; save it as UTF-8")
    }
  }
}

/**
 * Decodes a whole text, without its byte order mark. Throws if it has another encoding.
 *
 * **Example**
 *
 * ```ts
 * import { TextEncoding } from "@divisi/files"
 *
 * TextEncoding.decode(Buffer.from("\ufeffWhat is 2 + 2?", "utf16le")) // => "What is 2 + 2?"
 * ```
 */
export const decode = (bytes: Uint8Array): string => {
  const next = decoder()
  return `${next(bytes)}${next()}`
}
