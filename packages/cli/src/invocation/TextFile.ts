/** Reads text files that people and shells write: UTF-8 or UTF-16, with or without a byte order mark. */
import { readFileSync } from "node:fs"
import { TextEncoding } from "@divisi/files"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "./Failure.ts"

/** Reads a text file. Throws if it cannot be read. */
export const read = (file: string): string => TextEncoding.decode(readFileSync(file))

/** Reads a text file that the user named. `what` describes its content in the error, such as "the question". */
export const named = (file: string, what: string): Effect.Effect<string, Failure> =>
  Effect.try({
    try: () => read(file),
    catch: (error) => usage(`Cannot read ${what} from ${file}: ${messageOf(error, file)}.`)
  })
