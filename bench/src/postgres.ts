/** A Postgres of one process: its cluster lies in a temporary folder, and ends with the process. */
import { execFileSync } from "node:child_process"
import { chownSync, mkdirSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { temporaryFile } from "./temporary.ts"
import { Unavailable } from "./Unavailable.ts"

/** Postgres refuses to run as root. */
const nobody = 65534
const isRoot = process.getuid?.() === 0

const call = (program: string, ...args: ReadonlyArray<string>): void => {
  // A server that goes on must not keep the pipes of who has started it.
  execFileSync(program, args, { stdio: "ignore", cwd: "/", ...(isRoot ? { uid: nobody, gid: nobody } : {}) })
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Makes a cluster and starts its server, with settings as they come. Returns its URL, without a database. */
export const startPostgres = async (): Promise<string> => {
  const folder = temporaryFile("postgres")
  mkdirSync(folder, { mode: 0o700 })
  if (isRoot) for (const path of [dirname(folder), folder]) chownSync(path, nobody, nobody)
  const port = await freePort()
  const flags = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  try {
    call("initdb", "-D", folder, "-U", "postgres", "-A", "trust")
    call("pg_ctl", "start", "-w", "-D", folder, "-l", join(folder, "log"), "-o", flags)
  } catch (error) {
    throw new Unavailable(`it needs initdb, pg_ctl and postgres on the PATH (${(error as Error).message})`)
  }
  // Before its folder is removed.
  process.prependListener("exit", () => call("pg_ctl", "stop", "-m", "immediate", "-D", folder))
  return `postgresql://postgres@127.0.0.1:${port}`
}
