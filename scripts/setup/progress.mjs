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

const diskFull = "the disk is full. Free 2 GB, then run the same command again."

const noPermission =
  "permission denied. Run the command as the owner of the clone, or clone Divisi into a folder of your own."

/** @type {Readonly<Record<string, string>>} */
const causes = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: "the file system is read-only. Clone Divisi into a folder that can be written.",
  ENOSPC: diskFull,
  EDQUOT: diskFull
}

/**
 * Prints why set-up failed and sets the exit code. Throws errors that are neither failed stages nor files that cannot be
 * written.
 *
 * @param {unknown} error
 */
export const report = (error) => {
  const { code = "", path: file = stateFolder } = /** @type {NodeJS.ErrnoException} */ (error)
  const cause = causes[code]
  if (!(error instanceof SetUpError) && cause === undefined) throw error
  const message = error instanceof SetUpError ? error.message : `${file} cannot be written: ${cause}`
  process.stderr.write(`\n${message}\n`)
  process.exitCode = 1
}

/**
 * Appends to the log. Returns false if it cannot be written, for example if the clone belongs to another user.
 *
 * @param {string} output
 */
const log = (output) => {
  try {
    fs.mkdirSync(stateFolder, { recursive: true })
    fs.appendFileSync(logFile, output)
    return true
  } catch {
    return false
  }
}

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
      const isLogged = log(output)
      if (code === 0) return resolve()
      const lines = output.trimEnd().split("\n")
      const tail = lines
        .filter((line) => !/^\s+at .*:\d+:\d+\)?$/.test(line))
        .slice(-25)
        .join("\n")
      const end = signal === null ? `exit code ${code}` : signal
      const isFull = /ENOSPC|EDQUOT|no space left/i.test(output)
      const known = isFull ? `${program} failed: ${diskFull}` : explain(output)
      reject(new SetUpError(known ?? `${tail}\n\n(${end}${isLogged ? `; the whole log is in ${logFile}` : ""})`))
    })
  })

/** Empties the log. */
export const clearLog = () => fs.rmSync(logFile, { force: true })
