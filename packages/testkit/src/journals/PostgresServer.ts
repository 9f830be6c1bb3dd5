/** A Postgres server for tests. Its data is stored in a temporary folder, and it stops when the process exits. */
import { execFile, execFileSync } from "node:child_process"
import fs from "node:fs"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import { promisify } from "node:util"

/** A running server. */
export interface PostgresServer {
  /** URL of the server, including user and password. */
  readonly url: string
  /** Restarts the server. `immediate` simulates a crash: clients are disconnected and uncommitted data is lost. */
  readonly restart: (mode: "fast" | "immediate") => void
  /** Like `restart`, but does not block this process. */
  readonly restarted: (mode: "fast" | "immediate") => Promise<void>
  /** Makes the server unreachable until it is restarted. Its data remains. */
  readonly halt: () => void
  readonly begin: () => void
  /** Stops the server and deletes its data. */
  readonly stop: () => void
}

/** Common installation folders of Postgres, searched in addition to `PATH`. */
const places = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/usr"]

const versionsIn = (place: string): ReadonlyArray<string> => {
  if (!fs.existsSync(place)) return []
  const versions = fs.readdirSync(place).filter((name) => /^(?:postgresql@?|pgsql-)?\d+$/.test(name))
  return versions.sort((left, right) => Number(/\d+$/.exec(right)) - Number(/\d+$/.exec(left)))
}

/** Returns the folder with the programs of the newest installed Postgres version, or `undefined` if Postgres is not installed. */
export const find = (): string | undefined => {
  const onPath = (process.env.PATH ?? "").split(path.delimiter)
  const installed = places.flatMap((place) => versionsIn(place).map((name) => path.join(place, name, "bin")))
  return [...onPath, ...installed].find((folder) =>
    ["initdb", "pg_ctl", "postgres"].every((program) => folder !== "" && fs.existsSync(path.join(folder, program)))
  )
}

/** User id to run Postgres with, because it refuses to run as root. */
const nobody = 65534

/** Returns a free port on this machine. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Password used by {@link start}. Must not appear in any log. */
export const password = "a-secret-of-tests"

/** Returns a database URL without its password, and the environment variable by which clients receive the password. */
export const withoutPassword = (database: string): { readonly url: string; readonly PGPASSWORD: string } => {
  const url = new URL(database)
  const PGPASSWORD = url.password
  url.password = ""
  return { url: url.href, PGPASSWORD }
}

/** Location and settings of a server. */
export interface Options {
  /** Parent folder for the server's folder. Defaults to the system's folder for temporary files. */
  readonly folder?: string | undefined
  /** Additional address of this machine on which the server listens, for clients in its network. */
  readonly address?: string | undefined
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts a server on this machine. Commits wait for the disk, as in production. Throws an error if Postgres is not
 * installed.
 */
export const start = async ({
  address,
  folder = os.tmpdir(),
  settings = {}
}: Options = {}): Promise<PostgresServer> => {
  const programs = find()
  if (programs === undefined) throw new Error("It needs initdb, pg_ctl and postgres, which are not on this machine.")
  const root = fs.mkdtempSync(path.join(folder, "divisi-postgres-"))
  const [data, secret] = [path.join(root, "data"), path.join(root, "password")]
  fs.writeFileSync(secret, password)
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const file of [root, secret]) fs.chownSync(file, nobody, nobody)
  // The server must not inherit the pipes of the process that started it.
  const place = { cwd: "/", ...(isRoot ? { uid: nobody, gid: nobody } : {}) }
  const call = (program: string, ...rest: ReadonlyArray<string>) =>
    execFileSync(path.join(programs, program), rest, { ...place, stdio: "ignore" })
  const port = await freePort()
  // Clusters of several processes that are killed and restarted need more connections than the default of 100.
  const all = {
    listen_addresses: ["127.0.0.1", ...(address === undefined ? [] : [address])].join(","),
    unix_socket_directories: "",
    max_connections: "300",
    ...settings
  }
  const flags = `-p ${port} ${Object.entries(all)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ")}`
  const log = path.join(root, "log")
  call("initdb", "-D", data, "-U", "divisi", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync")
  if (address !== undefined) {
    fs.appendFileSync(path.join(data, "pg_hba.conf"), `host all all ${address}/24 scram-sha-256\n`)
  }
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
  const restarting = (mode: string) => ["restart", "-w", "-m", mode, "-D", data, "-l", log, "-o", flags]
  return {
    url: `postgres://divisi:${password}@127.0.0.1:${port}/postgres`,
    restart: (mode) => void call("pg_ctl", ...restarting(mode)),
    restarted: async (mode) => void (await promisify(execFile)(path.join(programs, "pg_ctl"), restarting(mode), place)),
    halt,
    begin,
    stop
  }
}
