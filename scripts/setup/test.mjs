import { spawn } from "node:child_process"
import fs from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { setUp } from "./set-up.mjs"
import { closure, root, stateFolder } from "./workspace.mjs"

const report = path.join(stateFolder, "tests.json")

/** The last line: whether all is well, and how many tests say so. */
const summary = (/** @type {number} */ code, /** @type {number} */ since) => {
  const time = `${((Date.now() - since) / 1000).toFixed(0)} s`
  if (!fs.existsSync(report)) return `FAILED: the tests did not run to their end (exit code ${code}, ${time})`
  const { numFailedTests, numPassedTests } = JSON.parse(fs.readFileSync(report, "utf8"))
  if (numFailedTests + numPassedTests === 0) return `FAILED: no test has this name, or stands in such a file (${time})`
  if (code === 0) return `PASSED: all ${numPassedTests} tests (${time})`
  return `FAILED: ${numFailedTests} of ${numPassedTests + numFailedTests} tests, or the run itself; see above (${time})`
}

// Tests import sources; only those that start the command line need it built.
if (await setUp(closure("@divisi/cli"))) {
  const since = Date.now()
  const vitest = path.join(
    path.dirname(createRequire(path.join(root, "package.json")).resolve("vitest/package.json")),
    "vitest.mjs"
  )
  fs.rmSync(report, { force: true })
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const child = spawn(process.execPath, [vitest, "run", ...reporters, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit"
  })
  // A terminal sends Ctrl-C to both: this process waits for vitest to end.
  process.on("SIGINT", () => {})
  child.on("close", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1)
    const said = summary(process.exitCode, since)
    if (said.startsWith("FAILED") && process.exitCode === 0) process.exitCode = 1
    process.stdout.write(`\n${said}\n`)
  })
}
