/**
 * Output of this process. Text comes from models, servers, files and third-party folders, and it must not control a
 * terminal: move the cursor, write the clipboard, reverse the text. So all text for standard output or the error
 * output, from any module or package, has such characters shown as `\\u001b`. Views remove whole sequences before
 * (`clean`). In JSON the same characters can only occur within strings, where `\\u009b` is equivalent: programs read
 * the original.
 */
import { StringDecoder } from "node:string_decoder"
import { acting } from "../view/Line.ts"
import type { Output } from "../view/View.ts"

type Stream = NodeJS.WriteStream

/** The standard output of this process, reserved for its commands. */
export const { stdout } = process

/**
 * Redirects other code's output to the error output from now on: a config, a tool or a package may print, but the
 * output carries answers, JSON and protocols.
 */
export const claim = (): void => {
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => process.stderr })
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Returns the text with control characters escaped. */
export const shown = (text: string): string => text.replace(acting, escaped)

/** The original `write` functions of streams. */
const writers = new WeakMap<Stream, Stream["write"]>()

/** Escapes control characters in everything that is written to a stream from now on ({@link shown}). */
export const guard = (stream: Stream): void => {
  const decoder = new StringDecoder("utf8")
  const write = stream.write.bind(stream)
  writers.set(stream, write)
  stream.write = (chunk: string | Uint8Array, ...rest: ReadonlyArray<never>) =>
    write(shown(typeof chunk === "string" ? chunk : decoder.write(chunk)), ...rest)
}

/** Returns an unescaped stream for views that draw. They have already cleaned their text, so all sequences are ours. */
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
