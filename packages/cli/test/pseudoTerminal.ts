/** Runs `divisi` on a pseudo-terminal, as a person at a keyboard would: `script` of util-linux makes one. */
import { spawn, spawnSync } from "node:child_process"
import { command as divisi } from "./command.ts"

/** Whether this machine can make one in the way that is known here. */
export const isThere = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false

/** Something to wait for on the screen, and what is typed then. */
export type Step = readonly [shown: string | RegExp, typed: string]

/** Longer than a slow machine needs for any of the conversations. */
const patienceMillis = 60_000

/** How it is played; all is as on a person's machine when absent. */
export interface Options {
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly columns?: number | undefined
  /** How long it takes until an answer is typed, in milliseconds. */
  readonly readingMillis?: number | undefined
  readonly onOutput?: ((text: string) => void) | undefined
}

const plainly = (screen: string, shown: string, from: number) => {
  const at = screen.indexOf(shown, from)
  return at === -1 ? null : { index: at - from, 0: shown }
}

/** Types each step once what it waits for is shown after the step before; the whole screen at the end. */
export const play = (
  args: ReadonlyArray<string>,
  steps: ReadonlyArray<Step>,
  cwd: string,
  options: Options = {}
): Promise<string> =>
  new Promise((resolve, reject) => {
    const { CI: _, NO_COLOR: __, ...environment } = process.env
    const command = [process.execPath, ...divisi, ...args].map((word) => `'${word}'`).join(" ")
    const size = options.columns === undefined ? "" : `stty columns ${options.columns} rows 40; `
    const child = spawn("script", ["--quiet", "--return", "--flush", "--command", `${size}${command}`, "/dev/null"], {
      cwd,
      env: { ...environment, ...options.environment, TERM: "xterm" }
    })
    const left = [...steps]
    let screen = ""
    let from = 0
    const look = () => {
      for (let [step] = left; step !== undefined; [step] = left) {
        const [shown, text] = step
        const found = typeof shown === "string" ? plainly(screen, shown, from) : shown.exec(screen.slice(from))
        if (found === null) return
        from += found.index + found[0].length
        left.shift()
        if (text === "") continue
        if (options.readingMillis === undefined) child.stdin.write(text)
        else setTimeout(() => child.stdin.write(text), options.readingMillis)
      }
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), patienceMillis)
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text
      options.onOutput?.(text)
      look()
    })
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      if (left.length > 0) reject(new Error(`${left[0]![0]} was never shown (exit code ${code}):\n${screen}`))
      else resolve(screen)
    })
  })
