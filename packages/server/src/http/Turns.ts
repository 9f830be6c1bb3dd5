/**
 * Lets connections with large requests be read one after another, one piece in each turn of the event loop. Otherwise the
 * event loop reads up to 2 MiB of each connection in a turn, and serves all others after that.
 */
import type { Readable } from "node:stream"

const waiting: Array<() => void> = []

const run = (): void => {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(run)
}

/** Calls a function in a turn in which no other such function is called. */
export const next = (resume: () => void): void => {
  if (waiting.push(resume) === 1) setImmediate(run)
}

/**
 * Calls `hear` for each chunk that a connection receives, before its reader, which gets one chunk per turn. The reader
 * can still pause and resume the connection.
 */
export const pace = (connection: Readable, hear: (bytes: number) => void): void => {
  const pause = connection.pause.bind(connection)
  const resume = connection.resume.bind(connection)
  let isWanted = !connection.isPaused()
  let isWaiting = false
  connection.pause = () => {
    isWanted = false
    return pause()
  }
  connection.resume = () => {
    isWanted = true
    return isWaiting ? connection : resume()
  }
  connection.prependListener("data", ({ length }: Uint8Array) => {
    hear(length)
    if (isWaiting) return
    isWaiting = true
    pause()
    next(() => {
      isWaiting = false
      if (isWanted) resume()
    })
  })
}
