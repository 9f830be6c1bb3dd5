import { spawn } from "node:child_process"
import fs from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { setUp } from "./set-up.mjs"
import { closure, root, stateFolder } from "./workspace.mjs"

const report = path.join(stateFolder, "tests.json")

/**
 * Prints a last line with the result and the number of tests, and returns the exit code. A run without any test counts
 * as failed, although vitest exits with 0.
 */
const verdict = (/** @type {number} */ code, /** @type {number} */ since) => {
  const time = `${((Date.now() - since) / 1000).toFixed(0)} s`
  const failed = (/** @type {string} */ what) => ({ code: code || 1, line: `FAILED: ${what}` })
  if (!fs.existsSync(report)) return failed(`the tests did not run to their end (exit code ${code}, ${time})`)
  const { numFailedTests, numPassedTests } = JSON.parse(fs.readFileSync(report, "utf8"))
  const all = numFailedTests + numPassedTests
  if (all === 0) return failed(`no test has this name, or stands in such a file (${time})`)
  if (code !== 0) return failed(`${numFailedTests} of ${all} tests, or the run itself; see above (${time})`)
  return { code, line: `PASSED: all ${numPassedTests} tests (${time})` }
}

// Tests import sources. Only those that start the command line need a build.
if (await setUp(closure("@divisi/cli"))) {
  const since = Date.now()
  const vitest = path.join(
    path.dirname(createRequire(path.join(root, "package.json")).resolve("vitest/package.json")),
    "vitest.mjs"
  )
  fs.rmSync(report, { force: true })
  const given = process.argv.slice(2)
  const what = given.length === 0 ? "all tests, which takes about ten minutes on two cores" : "tests"
  // In a pipe, vitest prints nothing before the first file is finished.
  process.stderr.write(`  running ${what} …\n`)
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const child = spawn(process.execPath, [vitest, "run", ...reporters, ...given], {
    cwd: root,
    stdio: "inherit"
  })
  // A terminal sends Ctrl-C to both processes, and this one waits for vitest to exit.
  process.on("SIGINT", () => {})
  child.on("close", (code, signal) => {
    const ended = verdict(code ?? (signal === "SIGINT" ? 130 : 1), since)
    process.exitCode = ended.code
    process.stdout.write(`\n${ended.line}\n`)
  })
}
