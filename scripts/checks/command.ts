/** Running other programs in a check. */
import { spawn } from "node:child_process"

/** How a program ended and what it printed, standard output and standard error in the order they came. */
export interface Finished {
  readonly code: number
  readonly output: string
  /** Standard output alone. */
  readonly stdout: string
}

/** This process's environment without what the npm that started it has set: a nested one is to find its own way. */
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!execpath$)/i.test(name)))

/** Runs a program to its end without standard input. */
export const run = (
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }
): Promise<Finished> =>
  new Promise((resolve) => {
    const [program = "", ...args] = command
    let output = ""
    let stdout = ""
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...environment(), ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32"
    })
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.on("error", (error) => resolve({ code: 127, output: `${output}${error.message}\n`, stdout }))
    child.on("close", (code, signal) =>
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}(${signal})\n`, stdout })
    )
  })
