/** User input, line by line: typed on a terminal, or from a pipe. */
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import type { Output } from "../view/View.ts"

/** A source of lines. */
export interface Lines {
  /** The next message; `undefined` at the end. */
  readonly next: Effect.Effect<string | undefined>
  /** Ends when Ctrl-C is pressed on the terminal. */
  readonly stopped: Effect.Effect<void>
  readonly close: () => void
}

/** Lines that arrive within this time, in milliseconds, were pasted and form one message. */
const pasteMillis = 30

/** Input that arrives before it is requested is queued. */
const makeQueue = () => {
  const lines: Array<string> = []
  let isEnded = false
  let wake: () => void = () => {}
  return {
    add: (line: string) => {
      lines.push(line)
      wake()
    },
    end: () => {
      isEnded = true
      wake()
    },
    isEnded: () => isEnded && lines.length === 0,
    take: () => lines.splice(0),
    put: (rest: ReadonlyArray<string>) => void lines.unshift(...rest),
    waited: Effect.callback<void>((resume) => {
      if (isEnded || lines.length > 0) return resume(Effect.void)
      wake = () => resume(Effect.void)
      return Effect.sync(() => {
        wake = () => {}
      })
    })
  }
}

/** Returns the lines of standard input, each of which is a turn. */
export const piped = (): Lines => {
  const queue = makeQueue()
  const reader = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  reader.on("line", queue.add).on("close", queue.end)
  return {
    next: Effect.map(queue.waited, () => {
      const [first, ...rest] = queue.take()
      queue.put(rest)
      return first
    }),
    stopped: Effect.never,
    close: () => reader.close()
  }
}

/**
 * Returns the lines typed after a prompt, with the keys and the history of a shell. Nothing is echoed while no input is
 * requested.
 */
export const typed = (output: Output, prompt: string): Lines => {
  const queue = makeQueue()
  let isAsking = false
  let stop: () => void = () => {}
  const screen = Object.assign(
    new Writable({
      write: (chunk: Buffer, _, done) => {
        if (isAsking) output.write(chunk.toString("utf8"))
        done()
      }
    }),
    { isTTY: true, columns: output.columns || 80, rows: output.rows || 24 }
  )
  const reader = createInterface({ input: process.stdin, output: screen, terminal: true, prompt })
  reader.on("line", queue.add).on("close", queue.end)
  reader.on("SIGINT", () => {
    if (!isAsking) return stop()
    output.write(reader.line === "" ? "\n(Ctrl-D ends the conversation.)\n" : "\n")
    reader.write(null, { ctrl: true, name: "e" })
    reader.write(null, { ctrl: true, name: "u" })
    reader.prompt()
  })
  const ask = Effect.sync(() => {
    if (queue.isEnded()) return
    Object.assign(screen, { columns: output.columns || 80, rows: output.rows || 24 })
    isAsking = true
    reader.prompt()
  })
  return {
    next: Effect.gen(function* () {
      yield* ask
      yield* queue.waited
      yield* Effect.sleep(pasteMillis)
      isAsking = false
      const lines = queue.take()
      if (lines.length > 0) return lines.join("\n")
      output.write("\n")
      return undefined
    }),
    stopped: Effect.callback<void>((resume) => {
      stop = () => resume(Effect.void)
      return Effect.sync(() => {
        stop = () => {}
      })
    }),
    close: () => reader.close()
  }
}
