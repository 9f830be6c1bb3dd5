/** Repeats requests while the page is visible. */

/**
 * Calls a function at an interval while the page is visible, and never before its last call has finished, so that a
 * slow server gets no further requests and no older response replaces a newer one. Returns a function that stops it.
 */
export const periodically = (millis: number, read: () => Promise<unknown>): (() => void) => {
  let isBusy = false
  const timer = setInterval(() => {
    if (document.hidden || isBusy) return
    isBusy = true
    read().finally(() => {
      isBusy = false
    })
  }, millis)
  return () => clearInterval(timer)
}
