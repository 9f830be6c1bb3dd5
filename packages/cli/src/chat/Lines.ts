/** Reads user input line by line, from a terminal or a pipe. */
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import type { Output } from "../view/View.ts"

/** A source of input lines. */
export interface Lines {
  /** Waits for the next message. `undefined` at the end of the input. */
  readonly next: Effect.Effect<string | undefined>
  /** Completes when the user presses Ctrl-C. */
  readonly stopped: Effect.Effect<void>
  readonly close: () => void
}

/** Maximum delay between lines, in milliseconds, for them to count as pasted text that forms one message. */
const pasteMillis = 30

/** Creates a queue for input that arrives before it is requested. */
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

/** Reads lines from standard input. Each line is a turn. */
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
 * Reads lines typed at a prompt, with the key bindings and history of a shell. Nothing is echoed unless input is
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
