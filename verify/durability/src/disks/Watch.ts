/**
 * Triggers that depend on the activity of a process instead of time, so that the load of the machine does not matter.
 */

/** Looks again and again. */
export interface Watch {
  /** Kept once it is so, and the time after it has passed; never once it was stopped. */
  readonly reached: Promise<void>
  readonly stop: () => void
}

/** Waits until something is so, and then for some time. */
export const until = (isSo: () => boolean, millis = 0): Watch => {
  let look: NodeJS.Timeout | undefined
  let wait: NodeJS.Timeout | undefined
  const reached = new Promise<void>((resolve) => {
    look = setInterval(() => {
      if (!isSo()) return
      clearInterval(look)
      wait = setTimeout(resolve, millis)
    }, 2)
  })
  return {
    reached,
    stop: () => {
      clearInterval(look)
      clearTimeout(wait)
    }
  }
}
