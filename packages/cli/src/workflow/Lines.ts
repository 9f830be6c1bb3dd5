/**
 * Parses many completions: reads one JSON string per line and writes one JSON result per line.
 *
 * Works chunk by chunk. However large the input, only one chunk and the line that it ends in are held in memory, and
 * reading waits for a slow reader of the output. A line that is too long stops the command.
 */
import { once } from "node:events"
import { createReadStream } from "node:fs"
import { JsonLines } from "@divisi/files"
import * as Result from "effect/Result"
import { stdout } from "../invocation/Output.ts"
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
    const message = "This input line is not a JSON string."
    return JSON.stringify({ ok: false, error: { line: 1, column: 1, message } })
  }
  const reading = reader(completion)
  if (Result.isSuccess(reading)) return `{"ok":true,"workflow":${JSON.stringify(toJson(reading.success.workflow))}}`
  const { column, line: at, message } = reading.failure
  return JSON.stringify({ ok: false, error: { line: at, column, message } })
}

/** Decodes a line without a byte order mark. */
const utf8 = new TextDecoder()

/**
 * Generates the results for all lines, in pieces as large as the input chunks. A line of more than
 * `JsonLines.longestLine` bytes throws a `LineError` that contains the name `file`.
 */
export async function* results(reader: Reader, file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Chunks with the beginning of an incomplete line, joined once the line is complete.
  let begun: Array<Buffer> = []
  let length = 0
  let number = 1
  const add = (part: Buffer) => {
    begun.push(part)
    length += part.length
    if (length <= JsonLines.longestLine) return
    throw new JsonLines.LineError({ file, line: number, problem: `is longer than ${JsonLines.longestLine} bytes` })
  }
  const finish = (end: Buffer): string => {
    add(end)
    const line = begun.length === 1 ? end : Buffer.concat(begun)
    begun = []
    length = 0
    number += 1
    return `${resultOf(reader, utf8.decode(line))}\n`
  }
  for await (const chunk of chunks) {
    let text = ""
    let start = 0
    for (let end = chunk.indexOf(newLine); end !== -1; end = chunk.indexOf(newLine, start)) {
      text += finish(chunk.subarray(start, end))
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
    if (text !== "") yield text
  }
  if (begun.length > 0) yield finish(Buffer.alloc(0))
}

/** Writes the results for all lines in a file, or in standard input if the file is `-`. */
export const writeResults = async (reader: Reader, file: string, signal: AbortSignal): Promise<void> => {
  const source = file === "-" ? process.stdin : createReadStream(file)
  for await (const text of results(reader, file === "-" ? "Standard input" : file, source)) {
    if (signal.aborted) return
    if (!stdout.write(text)) await once(stdout, "drain", { signal })
  }
}
