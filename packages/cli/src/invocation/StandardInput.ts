/** Reads standard input. */
import { fstatSync } from "node:fs"
import { createInterface } from "node:readline"
import { TextEncoding } from "@divisi/files"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "./Failure.ts"

/**
 * Reads standard input to the end. With `patience` (in milliseconds), returns `undefined` if the first byte takes
 * longer.
 */
export const read = (patience?: number): Effect.Effect<string | undefined, Failure> =>
  Effect.callback((resume) => {
    const { stdin } = process
    const chunks: Array<Buffer> = []
    const timer = patience === undefined ? undefined : setTimeout(() => end(undefined), patience)
    const take = (chunk: Buffer) => {
      clearTimeout(timer)
      chunks.push(chunk)
    }
    const stop = () => {
      clearTimeout(timer)
      stdin.off("data", take).off("end", finish).off("error", fail).pause()
    }
    const end = (text: string | undefined) => {
      stop()
      resume(Effect.succeed(text))
    }
    const finish = () => {
      try {
        end(TextEncoding.decode(Buffer.concat(chunks)))
      } catch (error) {
        fail(error as Error)
      }
    }
    const fail = (error: Error) => {
      stop()
      resume(Effect.fail(usage(`Cannot read standard input: ${messageOf(error)}.`)))
    }
    stdin.on("data", take).on("end", finish).on("error", fail)
    return Effect.sync(stop)
  })

/** Reads a line from the terminal. `undefined` at the end of the input (Ctrl-D). */
export const line: Effect.Effect<string | undefined> = Effect.callback((resume) => {
  const reader = createInterface({ input: process.stdin })
  // Closing the reader pauses the input, which must have happened before the next line is requested.
  const end = (text: string | undefined) => {
    reader.removeAllListeners().close()
    resume(Effect.succeed(text))
  }
  reader.on("line", end).on("close", () => end(undefined))
  return Effect.sync(() => reader.removeAllListeners().close())
})

/** Whether standard input may contain data: it is a pipe, a socket or a file, but not a terminal or closed. */
export const isPiped = (): boolean => {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isSocket() || stat.isFile()
  } catch {
    return false
  }
}
