/**
 * What this process writes. Text comes from models, servers, files and folders of others, and none of it may act on a
 * terminal: move the cursor, write the clipboard, turn the order of what is read. So whatever is written to standard
 * output or to the error output, by whichever module or package, has such characters shown as `\\u001b`. Views take
 * whole sequences out before (`clean`). In JSON the same characters can only stand within strings, where `\\u009b` means
 * what was there: programs read what was written.
 */
import { StringDecoder } from "node:string_decoder"
import { acting } from "../view/Line.ts"
import type { Output } from "../view/View.ts"

type Stream = NodeJS.WriteStream

/** The output of this process, which is its commands' alone. */
export const { stdout } = process

/**
 * From now on, the code of others writes to the error output: a config, a tool or a package may print, and the output
 * carries answers, JSON and protocols.
 */
export const claim = (): void => {
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => process.stderr })
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The text with an escape for each character that would act. */
export const shown = (text: string): string => text.replace(acting, escaped)

/** How streams write what they are given. */
const writers = new WeakMap<Stream, Stream["write"]>()

/** From now on, all that is written to a stream is {@link shown}. */
export const guard = (stream: Stream): void => {
  const decoder = new StringDecoder("utf8")
  const write = stream.write.bind(stream)
  writers.set(stream, write)
  stream.write = (chunk: string | Uint8Array, ...rest: ReadonlyArray<never>) =>
    write(shown(typeof chunk === "string" ? chunk : decoder.write(chunk)), ...rest)
}

/** A stream for what draws: it has cleaned its text, and the sequences in it are ours. */
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
