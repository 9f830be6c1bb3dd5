/**
 * Runs scripts of this clone with a supported Node: the machine's own, or one that npm installs into `.divisi`. This
 * file and its imports must work with Node 16.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { withLock } from "./lock.mjs"
import { isSupported, minimum } from "./node-version.mjs"
import { npm, patience } from "./npm.mjs"
import { report, run, stage } from "./progress.mjs"
import { stateFolder } from "./workspace.mjs"

// Outside of node_modules, which is managed by pnpm.
const folder = path.join(stateFolder, "node24")
const executable = process.platform === "win32" ? "node.exe" : "node"
const brought = path.join(folder, "node_modules/node/bin", executable)

/** @param {string} output */
const explain = (output) => (/EACCES|EPERM|EROFS/.test(output) ? undefined : noNode)

const noNode =
  "Node 24 could not be installed from the npm registry. Check the network (and npm's proxy and registry settings) and\n" +
  "the free disk space (2 GB), and run the same command again, or install Node from https://nodejs.org"

/**
 * Installs Node into a temporary folder and moves it to its final location, so that a killed installation leaves
 * nothing incomplete behind.
 */
const install = async () => {
  const part = `${folder}.part`
  fs.rmSync(part, { recursive: true, force: true })
  fs.mkdirSync(part, { recursive: true })
  fs.writeFileSync(path.join(part, "package.json"), '{ "private": true }\n')
  // Install scripts must run even if the user's settings disable them, because a script puts the program in place.
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts=false", ...patience]
  await run([...npm(), "install", ...options, "node@24"], part, explain)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(part, folder)
}

/**
 * Returns the path of a supported Node. Reports an installation on standard error, and throws `SetUpError` if it fails.
 *
 * @returns {Promise<string>}
 */
export const supportedNode = async () => {
  if (isSupported(process.version)) return process.execPath
  if (!fs.existsSync(brought)) {
    process.stderr.write(`Divisi needs Node ${minimum} or newer, and this is ${process.version}.\n`)
    await withLock(async () => {
      if (!fs.existsSync(brought)) await stage("installing Node 24 into .divisi (once)", install)
    })
  }
  return brought
}

/**
 * Runs this process's command with another Node, forwarding signals to it and its exit code back.
 *
 * @param {string} node
 */
const handOver = (node) => {
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` }
  const child = spawn(node, process.argv.slice(1), { env, stdio: "inherit" })
  /** @type {ReadonlyArray<NodeJS.Signals>} */
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
  // A terminal sends Ctrl-C to both processes.
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  child.on("error", (error) => {
    process.stderr.write(`${node} could not be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on("close", (code, signal) => {
    for (const name of signals) process.off(name, forward)
    if (signal !== null) process.kill(process.pid, signal)
    else process.exitCode = code === null ? 1 : code
  })
}

/**
 * Calls `load` if this Node is supported. Otherwise, runs the whole command again with one that is.
 *
 * @param {() => Promise<unknown>} load
 */
export const withNode = async (load) => {
  try {
    const node = await supportedNode()
    if (node === process.execPath) await load()
    else handOver(node)
  } catch (error) {
    report(error)
  }
}
