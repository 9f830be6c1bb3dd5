/** Lines of JSON from files, one at a time: a file may be larger than the memory, and cut off by a crash. */
import { createReadStream } from "node:fs"
import { createGunzip } from "node:zlib"

/** Why a packed file ended before its end: whoever wrote it was stopped. */
const cutOff = new Set(["Z_BUF_ERROR", "Z_DATA_ERROR"])

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Whether there is no such file. */
export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR"

/** The lines of a text that comes in pieces, the last one also without an end. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ""
  for await (const piece of pieces) {
    const lines = (rest + piece).split("\n")
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== "") yield rest
}

/**
 * The values of a file's lines. A line that is no JSON is left out: the last one of a process that was stopped while it
 * wrote. A file that ends in `.gz` is unpacked, as far as it goes.
 */
export async function* read(file: string): AsyncGenerator<unknown> {
  const source = createReadStream(file)
  const isPacked = file.endsWith(".gz")
  const text = (isPacked ? source.pipe(createGunzip()) : source).setEncoding("utf8")
  source.on("error", (error) => text.destroy(error))
  try {
    for await (const line of linesOf(text)) {
      const parsed = parse(line)
      if (parsed !== undefined) yield parsed
    }
  } catch (error) {
    if (!(isPacked && cutOff.has(String(codeOf(error))))) throw error
  } finally {
    source.destroy()
  }
}
