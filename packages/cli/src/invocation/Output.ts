/**
 * Protects the terminal from untrusted output. Text comes from models, servers, files and third-party folders, and must
 * not move the cursor, write to the clipboard or reverse text. Therefore, control characters in all text written to
 * standard output or standard error, by any module or package, are shown as `\\u001b`. Views remove complete sequences
 * first (`clean`). In JSON, control characters only occur within strings, where `\\u009b` is equivalent, so programs
 * read the original text.
 */
import { StringDecoder } from "node:string_decoder"
import { acting } from "../view/Line.ts"
import type { Output } from "../view/View.ts"

type Stream = NodeJS.WriteStream

/** The process's standard output, reserved for commands. */
export const { stdout } = process

/**
 * Redirects output from other code to standard error. A config, tool or package may print text, but standard output
 * carries answers, JSON and protocols.
 */
export const claim = (): void => {
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => process.stderr })
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Returns the text with control characters escaped. */
export const shown = (text: string): string => text.replace(acting, escaped)

/** The original `write` functions of streams. */
const writers = new WeakMap<Stream, Stream["write"]>()

/** Escapes control characters in all further output to a stream. See {@link shown}. */
export const guard = (stream: Stream): void => {
  const decoder = new StringDecoder("utf8")
  const write = stream.write.bind(stream)
  writers.set(stream, write)
  stream.write = (chunk: string | Uint8Array, ...rest: ReadonlyArray<never>) =>
    write(shown(typeof chunk === "string" ? chunk : decoder.write(chunk)), ...rest)
}

/**
 * Returns an unescaped stream for views that draw on the terminal. Views sanitize their text, so all remaining
 * sequences are intended.
 */
export const drawing = (stream: Stream): Output => ({
  get isTTY() {
    return stream.isTTY
  },
  get columns() {
    return stream.columns
  },
  get rows() {
    return stream.rows
  },
  write: writers.get(stream) ?? stream.write.bind(stream)
})
