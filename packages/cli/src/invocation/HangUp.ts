/**
 * SIGHUP: the terminal of a command was closed, which ends it; or a command that goes on for long is told to read its
 * config again.
 */
import tty from "node:tty"

let listener: (() => void) | undefined
let hadTerminal = false

const hasTerminal = (): boolean => [0, 1, 2].some((file) => tty.isatty(file))

/** Calls `hear` at each SIGHUP from now on, which then ends the command no more, unless its terminal was closed. */
export const hear = (hear: () => void): void => {
  listener = hear
  hadTerminal = hasTerminal()
}

/** Tells who hears it; `false` where nobody does, or the terminal is gone. */
export const isHeard = (): boolean => {
  const isGone = hadTerminal && !hasTerminal()
  if (listener === undefined || isGone) return false
  listener()
  return true
}
