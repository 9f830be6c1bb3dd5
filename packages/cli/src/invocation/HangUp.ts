/** Handles SIGHUP. It ends a command whose terminal was closed, and makes a long-running command reload its config. */
import tty from "node:tty"

let listener: (() => void) | undefined
let hadTerminal = false

const hasTerminal = (): boolean => [0, 1, 2].some((file) => tty.isatty(file))

/** Registers a listener for SIGHUP. From then on, SIGHUP ends the command only if its terminal was closed. */
export const hear = (hear: () => void): void => {
  listener = hear
  hadTerminal = hasTerminal()
}

/**
 * Notifies the listener. Returns `false` if there is no listener or the terminal is gone. On Windows, SIGHUP always
 * means that the console was closed.
 */
export const isHeard = (platform: NodeJS.Platform = process.platform): boolean => {
  const isGone = platform === "win32" || (hadTerminal && !hasTerminal())
  if (listener === undefined || isGone) return false
  listener()
  return true
}
