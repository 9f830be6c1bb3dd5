/**
 * Reads connections with large requests one at a time, one chunk per event loop turn. Otherwise, the event loop reads
 * up to 2 MiB per connection in a single turn before it serves any other connection.
 */
import type { Readable } from "node:stream"

const waiting: Array<() => void> = []

const run = (): void => {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(run)
}

/** Calls a function in an event loop turn without any other such function. */
export const next = (resume: () => void): void => {
  if (waiting.push(resume) === 1) setImmediate(run)
}

/**
 * Limits a connection to one chunk per event loop turn. `hear` is called for each chunk before the reader receives it.
 * The reader can still pause and resume the connection.
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
