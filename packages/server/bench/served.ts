/** `divisi serve` in the bench, as it is installed: with all that it keeps on disk, in SQLite or in a Postgres of its own. */
import { spawn } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import type { Running } from "./peers.ts"

/** Stores for runs, keys and their spending. */
export const keepings = ["sqlite", "postgres"] as const

type Keeping = (typeof keepings)[number]

/** Creates the store; also returns how to remove it. */
const place = async (keeping: Keeping, folder: string) => {
  if (keeping === "sqlite") {
    return { flags: ["--journal", path.join(folder, "runs.sqlite")], environment: {}, remove: () => {} }
  }
  const { stop, url } = await PostgresServer.start()
  return { flags: [], environment: { DIVISI_DATABASE: url }, remove: stop }
}

/** Starts it in front of an upstream. Stopping it removes its stored data. */
export const start = async (keeping: Keeping, upstream: number): Promise<Running> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bench-"))
  const { environment, flags, remove } = await place(keeping, folder)
  const [main, config] = ["../../cli/src/main.ts", "served.config.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url))
  )
  const given = ["serve", "--port", "0", "--keys", "none", "--config", config!, ...flags]
  const child = spawn(process.execPath, ["--conditions=@divisi/source", main!, ...given], {
    env: { ...process.env, DIVISI_OUTCOMES: "none", UPSTREAM_PORT: `${upstream}`, ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  child.once("exit", () => {
    remove()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const port = await new Promise<number>((resolve, reject) => {
    let text = ""
    const told = (data: Buffer) => {
      text += data.toString()
      const found = /http:\/\/127\.0\.0\.1:(\d+)\/v1/.exec(text)
      if (found !== null) resolve(Number(found[1]))
    }
    child.stdout.on("data", told)
    child.stderr.on("data", told)
    child.once("exit", () => reject(new Error(`divisi serve ended: ${text}`)))
  })
  return { child, port }
}
