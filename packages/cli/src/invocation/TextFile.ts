/** Reads text that people and shells write: UTF-8 or UTF-16, with or without a byte order mark. */
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "./Failure.ts"

/** Returns the encoding that a byte order mark announces. PowerShell 5 redirects output to UTF-16. */
export const encodingOf = ([first, second]: Uint8Array): "utf-8" | "utf-16be" | "utf-16le" => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
}

/** Decodes text without its byte order mark. */
export const decode = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes)

/** Reads a text file. Throws if it cannot be read. */
export const read = (file: string): string => decode(readFileSync(file))

/** Reads a text file that the user named. `what` describes its content in the error, such as "the question". */
export const named = (file: string, what: string): Effect.Effect<string, Failure> =>
  Effect.try({
    try: () => read(file),
    catch: (error) => usage(`Cannot read ${what} from ${file}: ${messageOf(error, file)}.`)
  })
