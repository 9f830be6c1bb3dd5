/** Finds a Chromium for tests of pages: `DIVISI_CHROMIUM`, or one on the PATH. */
import { execFileSync, spawnSync } from "node:child_process"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const onPath = (): string | undefined => {
  for (const name of names) {
    const found = spawnSync("which", [name], { encoding: "utf8" })
    if (found.status === 0) return found.stdout.trim()
  }
  return undefined
}

/** Installs Chromium if CI runs as root on Debian or Ubuntu. This takes about half a minute. */
const installed = (): string | undefined => {
  if (process.env.CI === undefined || process.getuid?.() !== 0) return undefined
  try {
    const options = { stdio: "ignore" } as const
    execFileSync("apt-get", ["update", "-qq"], options)
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], options)
    return onPath()
  } catch {
    return undefined
  }
}

/** Returns the path of a Chromium. `undefined` if there is none. */
export const chromium = (): string | undefined => process.env.DIVISI_CHROMIUM ?? onPath() ?? installed()
