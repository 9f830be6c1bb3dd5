/** What somebody says, line by line: typed on a terminal, or from a pipe. */
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import type { Output } from "../view/View.ts"

/** Where lines come from. */
export interface Lines {
  /** The next thing that is said; `undefined` at the end. */
  readonly next: Effect.Effect<string | undefined>
  /** Ends when somebody presses Ctrl-C on the terminal. */
  readonly stopped: Effect.Effect<void>
  readonly close: () => void
}

/** Lines that come within so many milliseconds were pasted, and are one thing that is said. */
const pasteMillis = 30

/** What is said before it is asked for waits here. */
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

/** The lines of standard input, each a turn. */
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

/** What is typed after a prompt, with the keys and the history of a shell. Nothing is echoed while nobody asks. */
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
