/** Ensures that only one set-up runs at a time, so that `npm start` and `npm test` can be called concurrently. */
import fs from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { stateFolder } from "./workspace.mjs"

const file = path.join(stateFolder, "set-up.lock")

/** @param {number} pid */
const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM"
  }
}

const isFull = (/** @type {string} */ code) => code === "ENOSPC" || code === "EDQUOT"

const take = () => {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: "wx" })
    return true
  } catch (error) {
    const { code = "" } = /** @type {NodeJS.ErrnoException} */ (error)
    // A full disk leaves an empty file.
    if (isFull(code)) fs.rmSync(file, { force: true })
    if (isFull(code) || code === "EACCES" || code === "EROFS") throw error
    return false
  }
}

// Longer than any set-up takes. After that, the process id was reused by another process.
const maxAgeMillis = 30 * 60_000

/** Returns the process that holds the lock, if it is still running. */
const holder = () => {
  try {
    if (Date.now() - fs.statSync(file).mtimeMs > maxAgeMillis) return undefined
    const pid = Number(fs.readFileSync(file, "utf8"))
    // An empty file is still being written.
    return pid === 0 || isAlive(pid) ? pid : undefined
  } catch {
    return undefined
  }
}

/**
 * @template A
 * @param {() => Promise<A>} run
 * @returns {Promise<A>}
 */
export const withLock = async (run) => {
  fs.mkdirSync(stateFolder, { recursive: true })
  let said = false
  while (!take()) {
    const pid = holder()
    // The lock was left by a killed set-up.
    if (pid === undefined) fs.rmSync(file, { force: true })
    else if (!said) process.stderr.write(`Waiting for the set-up that process ${pid} is running …\n`)
    said ||= pid !== undefined
    await sleep(200)
  }
  try {
    return await run()
  } finally {
    fs.rmSync(file, { force: true })
  }
}
