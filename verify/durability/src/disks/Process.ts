/** Starts `divisi` processes. */
import { spawn } from "node:child_process"
import path from "node:path"
import { fileURLToPath } from "node:url"

const cli = path.dirname(fileURLToPath(import.meta.resolve("@divisi/cli/package.json")))
const main = path.join(cli, "src/main.ts")

/** Compiled once, and not by every process. */
const compiled = path.join(cli, "node_modules/.cache/compile")

/** The result of a process. */
export interface Ended {
  /** Absent if the process was killed. */
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export interface Options {
  /** A command to run it within. */
  readonly within?: ReadonlyArray<string> | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Kills the process when this promise resolves. */
  readonly killed?: Promise<unknown> | undefined
  /** The file for its output. By default, the output is collected. */
  readonly outputFile?: number | undefined
}

const patienceMillis = 120_000

/** Runs `divisi` from its source, to its end. */
export const divisi = (args: ReadonlyArray<string>, options: Options = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const { environment, killed, outputFile, within = [] } = options
    const [command = "", ...rest] = [...within, process.execPath, "--conditions=@divisi/source", main, ...args]
    const child = spawn(command, rest, {
      env: { ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: compiled, ...environment },
      stdio: ["ignore", outputFile ?? "pipe", "pipe"]
    })
    let output = ""
    let errors = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text))
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text))
    const patience = setTimeout(() => {
      errors += "\nTOO LONG: it did not end within two minutes."
      child.kill("SIGKILL")
    }, patienceMillis)
    void killed?.then(() => child.kill("SIGKILL"))
    child.on("error", reject).on("close", (code) => {
      clearTimeout(patience)
      resolve({ code, output, errors })
    })
  })
