/**
 * A Postgres of one process, for tests of what stands on one: its cluster lies in a temporary folder, and ends with the
 * process.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"

/** A server that runs. */
export interface PostgresServer {
  /** Its URL, with the user and a password. */
  readonly url: string
  /** Starts it anew; `immediate` as after a crash, where clients are cut off and what was not committed is gone. */
  readonly restart: (mode: "fast" | "immediate") => void
  /** Lets it be away until it is begun again; what it has kept stays. */
  readonly halt: () => void
  readonly begin: () => void
  /** Ends it, and removes what it has kept. */
  readonly stop: () => void
}

/** Where systems put the programs of Postgres, besides the `PATH`. */
const places = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/usr"]

const versionsIn = (place: string): ReadonlyArray<string> => {
  if (!fs.existsSync(place)) return []
  const versions = fs.readdirSync(place).filter((name) => /^(?:postgresql@?|pgsql-)?\d+$/.test(name))
  return versions.sort((left, right) => Number(/\d+$/.exec(right)) - Number(/\d+$/.exec(left)))
}

/** The folder of the programs of Postgres, of the newest that is installed; `undefined` where there is none. */
export const find = (): string | undefined => {
  const onPath = (process.env.PATH ?? "").split(path.delimiter)
  const installed = places.flatMap((place) => versionsIn(place).map((name) => path.join(place, name, "bin")))
  return [...onPath, ...installed].find((folder) =>
    ["initdb", "pg_ctl", "postgres"].every((program) => folder !== "" && fs.existsSync(path.join(folder, program)))
  )
}

/** Postgres refuses to run as root. */
const nobody = 65534

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** The password of {@link start}: what must not be found in any log. */
export const password = "a-secret-of-tests"

/** Starts a server on this machine. Commits wait for the disk, as they do in earnest. Throws where there is no Postgres. */
export const start = async (): Promise<PostgresServer> => {
  const programs = find()
  if (programs === undefined) throw new Error("It needs initdb, pg_ctl and postgres, which are not on this machine.")
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-postgres-"))
  const [data, secret] = [path.join(root, "data"), path.join(root, "password")]
  fs.writeFileSync(secret, password)
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const file of [root, secret]) fs.chownSync(file, nobody, nobody)
  // A server that goes on must not keep the pipes of who has started it.
  const call = (program: string, ...rest: ReadonlyArray<string>) =>
    execFileSync(path.join(programs, program), rest, {
      stdio: "ignore",
      cwd: "/",
      ...(isRoot ? { uid: nobody, gid: nobody } : {})
    })
  const port = await freePort()
  const flags = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
  const log = path.join(root, "log")
  call("initdb", "-D", data, "-U", "divisi", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync")
  let isUp = false
  const begin = () => {
    call("pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", flags)
    isUp = true
  }
  const halt = () => {
    call("pg_ctl", "stop", "-m", "immediate", "-D", data)
    isUp = false
  }
  begin()
  let isOver = false
  const stop = () => {
    if (isOver) return
    isOver = true
    if (isUp) halt()
    fs.rmSync(root, { recursive: true, force: true })
  }
  process.once("exit", stop)
  return {
    url: `postgres://divisi:${password}@127.0.0.1:${port}/postgres`,
    restart: (mode) => void call("pg_ctl", "restart", "-w", "-m", mode, "-D", data, "-l", log, "-o", flags),
    halt,
    begin,
    stop
  }
}
