/** Reads text that people and shells write: UTF-8 or UTF-16, with or without a byte order mark. */
import { readFileSync } from "node:fs"

/** Returns the encoding that a byte order mark announces. PowerShell 5 redirects output to UTF-16. */
const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
}

/** Decodes text without its byte order mark. */
export const decode = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes)

/** Reads a text file. Throws if it cannot be read. */
export const read = (file: string): string => decode(readFileSync(file))
