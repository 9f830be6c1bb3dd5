/** What this machine has for the sandboxes that are not in WebAssembly. */
import { execFileSync } from "node:child_process"

/** Whether a command runs and ends well. */
export const can = (command: string, ...rest: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(command, rest, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Whether programs can be run in bubblewrap, which needs the right to make namespaces, and python3. */
export const hasBubblewrap = can("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true") && can("python3", "--version")
