/** `divisi serve` while a test talks to it. */
import path from "node:path"
import { divisi } from "./process.ts"

export interface Running {
  readonly url: string
  /** Waits until the server has said something. */
  readonly said: (what: string | RegExp) => Promise<void>
  readonly tell: (signal: NodeJS.Signals) => void
}

/** Speaks to `divisi serve` in a folder while it runs, and stops it when `use` has ended. */
export const serving = async (
  folder: string,
  flags: ReadonlyArray<string>,
  use: (running: Running) => Promise<void>,
  environment: Readonly<Record<string, string>> = {}
) => {
  let using: Promise<void> | undefined
  let all = ""
  const waiting = new Set<() => void>()
  const said = (what: string | RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (all.search(what) < 0) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  const ended = await divisi(["serve", "--port", "0", "--json", ...flags], {
    cwd: folder,
    environment: {
      ...environment,
      DIVISI_OUTCOMES: "none",
      DIVISI_RUNS: path.join(folder, "runs.sqlite"),
      DIVISI_RESPONSES: path.join(folder, "responses.sqlite"),
      DIVISI_ACCOUNTS: path.join(folder, "accounts.sqlite"),
      DIVISI_KEYS: path.join(folder, "keys.json")
    },
    onOutput: (output, child) => {
      all = output
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url !== undefined) {
        using ??= use({ url, said, tell: (signal) => child.kill(signal) }).finally(() => child.kill("SIGTERM"))
        // It is reported below, once the process has ended.
        using.catch(() => {})
      }
      for (const look of waiting) look()
    }
  })
  if (using === undefined) throw new Error(ended.errors)
  await using
  return ended
}
