/**
 * Completions by the thousand: one JSON string per line in, one JSON result per line out.
 *
 * Works chunk by chunk: however large the input, what is held is one chunk and the line it ends in, and a slow reader
 * of the output slows the reading down.
 */

import { once } from "node:events"
import { createReadStream } from "node:fs"
import * as Result from "effect/Result"
import { type Reader, toJson } from "./Completion.ts"

const newLine = 0x0a

/** The result for one line. */
export const resultOf = (reader: Reader, line: string): string => {
  let completion: unknown
  try {
    completion = JSON.parse(line)
  } catch {
    completion = undefined
  }
  if (typeof completion !== "string") {
    const message = "This line of the input is not a JSON string."
    return JSON.stringify({ ok: false, error: { line: 1, column: 1, message } })
  }
  const reading = reader(completion)
  if (Result.isSuccess(reading)) return `{"ok":true,"workflow":${JSON.stringify(toJson(reading.success.workflow))}}`
  const { column, line: at, message } = reading.failure
  return JSON.stringify({ ok: false, error: { line: at, column, message } })
}

/** The results of all lines, in pieces as large as the chunks they come from. */
export async function* results(reader: Reader, chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // The beginning of a line, in the chunks that hold it: joined once, when the line is whole.
  let begun: Array<Buffer> = []
  const finish = (end: Buffer): string => {
    const line = begun.length === 0 ? end : Buffer.concat([...begun, end])
    begun = []
    return `${resultOf(reader, line.toString("utf8"))}\n`
  }
  for await (const chunk of chunks) {
    let text = ""
    let start = 0
    for (let end = chunk.indexOf(newLine); end !== -1; end = chunk.indexOf(newLine, start)) {
      text += finish(chunk.subarray(start, end))
      start = end + 1
    }
    if (start < chunk.length) begun.push(chunk.subarray(start))
    if (text !== "") yield text
  }
  if (begun.length > 0) yield finish(Buffer.alloc(0))
}

/** Writes the results for all lines of a file, or of standard input where that is `-`. */
export const writeResults = async (reader: Reader, file: string, signal: AbortSignal): Promise<void> => {
  const source = file === "-" ? process.stdin : createReadStream(file)
  for await (const text of results(reader, source)) {
    if (signal.aborted) return
    if (!process.stdout.write(text)) await once(process.stdout, "drain", { signal })
  }
}
