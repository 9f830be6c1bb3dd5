/**
 * Shows the progress of set-up on standard error: one line per stage, which is animated on a terminal. The output of
 * tools is written to a log, the end of which is shown if a stage fails.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { stateFolder } from "./workspace.mjs"

const logFile = path.join(stateFolder, "set-up.log")
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const isLive = Boolean(process.stderr.isTTY) && !process.env.CI && process.env.TERM !== "dumb"

/** A failed stage. Its message is sufficient for the user. */
export class SetUpError extends Error {}

/** @param {number} since */
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`

/** Prints that the following stages set up a new clone. */
export const title = () => process.stderr.write("Setting up Divisi (this is done once):\n")

/**
 * Runs one stage with a progress line.
 *
 * @template A
 * @param {string} label
 * @param {() => Promise<A>} run
 * @returns {Promise<A>}
 */
export const stage = async (label, run) => {
  const since = Date.now()
  if (!isLive) process.stderr.write(`  ${label} …\n`)
  let frame = 0
  const draw = () => process.stderr.write(`\r\u001b[K  ${frames[frame++ % frames.length]} ${label} ${seconds(since)}`)
  const timer = isLive ? setInterval(draw, 100) : undefined
  const clear = isLive ? "\r\u001b[K" : ""
  try {
    const result = await run()
    process.stderr.write(`${clear}  ${label}: done in ${seconds(since)}\n`)
    return result
  } catch (error) {
    process.stderr.write(`${clear}  ${label}: failed after ${seconds(since)}\n`)
    throw error
  } finally {
    clearInterval(timer)
  }
}

/**
 * Runs a command and writes its output to the log.
 *
 * @param {ReadonlyArray<string>} command
 * @param {string} cwd
 * @param {(output: string) => string | undefined} [explain] what to say instead of the end of the log, where it knows
 * @returns {Promise<void>}
 */
export const run = (command, cwd, explain = () => undefined) =>
  new Promise((resolve, reject) => {
    const [program, ...args] = command
    const child = spawn(/** @type {string} */ (program), args, {
      cwd,
      env: { ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: "0", NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32" && !path.isAbsolute(/** @type {string} */ (program))
    })
    let output = `$ ${command.join(" ")}\n`
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    child.on("error", (error) => reject(new SetUpError(`${program} could not be started: ${error.message}`)))
    child.on("close", (code, signal) => {
      fs.mkdirSync(stateFolder, { recursive: true })
      fs.appendFileSync(logFile, output)
      if (code === 0) return resolve()
      const lines = output.trimEnd().split("\n")
      const tail = lines
        .filter((line) => !/^\s+at .*:\d+:\d+\)?$/.test(line))
        .slice(-25)
        .join("\n")
      const end = signal === null ? `exit code ${code}` : signal
      reject(new SetUpError(explain(output) ?? `${tail}\n\n(${end}; the whole log is in ${logFile})`))
    })
  })

/** Empties the log. */
export const clearLog = () => fs.rmSync(logFile, { force: true })
