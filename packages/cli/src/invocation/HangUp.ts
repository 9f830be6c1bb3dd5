/** SIGHUP: the terminal of a command was closed, which ends it; or a long-running command reloads its config. */
import tty from "node:tty"

let listener: (() => void) | undefined
let hadTerminal = false

const hasTerminal = (): boolean => [0, 1, 2].some((file) => tty.isatty(file))

/** Calls `hear` at each SIGHUP from now on. SIGHUP then no longer ends the command, unless its terminal was closed. */
export const hear = (hear: () => void): void => {
  listener = hear
  hadTerminal = hasTerminal()
}

/** Notifies the listener; `false` without a listener, or if the terminal is gone. */
export const isHeard = (): boolean => {
  const isGone = hadTerminal && !hasTerminal()
  if (listener === undefined || isGone) return false
  listener()
  return true
}
