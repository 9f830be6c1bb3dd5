/** A `divisi serve` process on the shared database that is killed, frozen and restarted on the same port. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"

const cli = path.dirname(fileURLToPath(import.meta.resolve("@divisi/cli/package.json")))
const [main, clock, config] = [
  path.join(cli, "src/main.ts"),
  ...["clock.ts", "chaos.config.ts"].map((file) => path.join(import.meta.dirname, file))
] as [string, string, string]

/** Compiled once, and not by every process. */
const compiled = path.join(cli, "node_modules/.cache/compile")

const environmentOf = (database: string): NodeJS.ProcessEnv => {
  const { PGPASSWORD, url } = PostgresServer.withoutPassword(database)
  return {
    ...process.env,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: compiled,
    DIVISI_DATABASE: url,
    DIVISI_OUTCOMES: "none",
    DIVISI_SECRET: "a secret of the servers under chaos",
    PGPASSWORD
  }
}

/** Runs a command of `divisi` to its end, and returns its output. */
export const command = async (database: string, args: ReadonlyArray<string>): Promise<string> => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", main, ...args], {
    env: environmentOf(database),
    stdio: ["ignore", "pipe", "inherit"]
  })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`divisi ${args.join(" ")} ended with ${code}.`)
  return output
}

export interface Options {
  readonly index: number
  readonly port: number
  readonly database: string
  readonly vendor: string
  readonly clockMillis: number
  /** The file for its output. */
  readonly log: string
}

/** The longest time in which a server on a busy machine reconnects to the database, in milliseconds. */
const reconnectMillis = 5_000

/** A server, whichever process it is at the moment. */
export class Server {
  readonly url: string
  readonly options: Options
  /** The processes that were killed, or deposed while they were frozen, by their names. */
  readonly killed = new Set<string>()
  /**
   * How often a process was killed, or lost its runs. This is more than the number of names if a process that lost its
   * runs was killed later.
   */
  losses = 0
  isFrozen = false
  #child: ChildProcess | undefined
  #starts = 0
  #cutAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.options = options
    this.url = `http://127.0.0.1:${options.port}`
  }

  /** The process of the moment, as the vendor's book names it. */
  get instance(): string {
    return `server-${this.options.index}-${this.#starts}`
  }

  get isUp(): boolean {
    return this.#child !== undefined
  }

  /** Starts it, and waits until it answers. */
  async start(): Promise<void> {
    const { clockMillis, database, log, port, vendor } = this.options
    if (this.#child !== undefined) return
    this.#starts += 1
    const { instance } = this
    const file = fs.openSync(log, "a")
    const args = ["--conditions=@divisi/source", "--import", clock, main, "serve", "--port", `${port}`]
    const child = spawn(process.execPath, [...args, "--config", config, "--max-total-cost", "1000000"], {
      env: {
        ...environmentOf(database),
        CHAOS_VENDOR: vendor,
        CHAOS_INSTANCE: instance,
        CHAOS_CLOCK_MILLIS: `${clockMillis}`
      },
      stdio: ["ignore", file, file]
    })
    fs.closeSync(file)
    this.#child = child
    child.once("close", (code) => {
      if (this.#child !== child) return
      this.#child = undefined
      if (code !== null) fs.appendFileSync(log, `ended with ${code}\n`)
    })
    for (let look = 0; look < 600 && this.#child === child; look++) {
      const answer = await fetch(`${this.url}/health/live`, { signal: AbortSignal.timeout(1_000) }).catch(
        () => undefined
      )
      if (answer?.ok === true) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // Another fault has killed it, and restarts it.
    if (this.killed.has(instance)) return
    throw new Error(`Server ${this.options.index} did not start: see ${log}.`)
  }

  #lose(): void {
    this.killed.add(this.instance)
    this.losses += 1
  }

  /** Ends it with SIGKILL in any state. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#lose()
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
    this.isFrozen = false
  }

  freeze(): void {
    this.isFrozen = true
    this.#child?.kill("SIGSTOP")
    // It may not have reconnected yet.
    if (performance.now() - this.#cutAt < reconnectMillis) this.#lose()
  }

  thaw(): void {
    this.isFrozen = false
    this.#child?.kill("SIGCONT")
  }

  /** Another server may take over what it has while its connections are cut and it cannot reconnect. */
  depose(): void {
    this.#cutAt = performance.now()
    if (this.isFrozen) this.#lose()
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.thaw()
    const closed = once(child, "close")
    child.kill("SIGTERM")
    await closed
  }
}
