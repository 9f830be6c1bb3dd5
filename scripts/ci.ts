/**
 * Runs all checks for a change, from a clean clone to installed tarballs. `.ci/run` calls this script with a supported
 * Node version. The script imports no packages, because they are not installed yet.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { cpuOfChildren, type Finished, run } from "./checks/command.ts"
import { quarter } from "./quarter.ts"
import { pnpm } from "./setup/set-up.mjs"
import { examples, root, stateFolder } from "./setup/workspace.mjs"

interface Counts {
  readonly passed: number
  readonly failed: number
  /** Names of the failed items, for a step with several checks. */
  readonly failures?: ReadonlyArray<string> | undefined
  /** Tests that failed at first and passed when repeated. */
  readonly unsteady?: ReadonlyArray<string> | undefined
}

/**
 * A command that must exit with code 0. If it performs several checks, `count` extracts their number from its output.
 */
interface Step {
  readonly name: string
  readonly command: ReadonlyArray<string>
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly count?: ((finished: Finished) => Counts | undefined) | undefined
  /** Command to run after a failure, before the step counts as failed. Defaults to the same command. */
  readonly again?: ((counts: Counts) => ReadonlyArray<string> | undefined) | undefined
}

const one = (passed: boolean): Counts => ({ passed: passed ? 1 : 0, failed: passed ? 0 : 1 })

/** Extracts the counts that a command prints in its last line. */
const fromLastLine = ({ output }: Finished): Counts | undefined => {
  const found = /(?:^|\n)(\d+) passed, (\d+) failed\s*$/.exec(output)
  return found === null ? undefined : { passed: Number(found[1]), failed: Number(found[2]) }
}

/** A file in the test report. */
interface TestFile {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: ReadonlyArray<{
    readonly status: string
    readonly fullName: string
    readonly failureMessages: ReadonlyArray<string>
  }>
}

/** Returns the tests in a file that have the given status and failed at least once. */
const named = ({ assertionResults, name }: TestFile, status: string): ReadonlyArray<string> =>
  assertionResults
    .filter((result) => result.status === status && (status === "failed" || result.failureMessages.length > 0))
    .map(({ failureMessages, fullName }) => `${path.relative(root, name)} > ${fullName}: ${failureMessages[0] ?? ""}`)

/** Returns the failed tests in a file, or the reason why it could not be loaded. */
const failuresOf = (file: TestFile): ReadonlyArray<string> => {
  const failed = named(file, "failed")
  return failed.length === 0 && file.status === "failed"
    ? [`${path.relative(root, file.name)}: ${file.message}`]
    : failed
}

/** Returns the counts of the tests run by `npm test` or `npm run test:long`. */
const fromTestReport = ({ code }: Finished): Counts | undefined => {
  try {
    const report = JSON.parse(fs.readFileSync(path.join(stateFolder, "tests.json"), "utf8"))
    const failed: number = report.numFailedTests
    const failures: ReadonlyArray<string> = report.testResults.flatMap(failuresOf)
    return {
      passed: report.numPassedTests,
      // A run can fail without a failed test, if a file cannot be loaded.
      failed: failed === 0 && code !== 0 ? 1 : failed,
      failures: failures.length === 0 ? undefined : failures,
      unsteady: report.testResults.flatMap((file: TestFile) => named(file, "passed"))
    }
  } catch {
    return undefined
  }
}

let total: Counts = { passed: 0, failed: 0 }
const failures: Array<string> = []
const unsteady: Array<string> = []

const print = (line: string) => process.stdout.write(`${line}\n`)

const ofCpu = (seconds: number): string => (seconds > 0 ? `, ${seconds.toFixed(1)} s of CPU` : "")

const record = (name: string, counts: Counts, since: number, output: string, cpuSeconds = 0) => {
  total = { passed: total.passed + counts.passed, failed: total.failed + counts.failed }
  const seconds = `${((Date.now() - since) / 1000).toFixed(1)} s${ofCpu(cpuSeconds)}`
  const said = counts.passed + counts.failed === 1 ? "" : ` ${counts.passed} passed, ${counts.failed} failed`
  print(`${counts.failed === 0 ? "ok    " : "FAILED"} ${name}:${said} (${seconds})`)
  for (const test of counts.unsteady ?? []) {
    unsteady.push(test)
    print(["       unsteady, it passed when it ran again:", ...test.split("\n").slice(0, 5)].join("\n       | "))
  }
  if (counts.failed === 0) return
  failures.push(name)
  const linesOf = (text: string) => text.trimEnd().split("\n")
  // Failures come first and are shortened, because the output may be truncated.
  const named = (counts.failures ?? []).flatMap((failure) => linesOf(failure).slice(0, 5))
  const shown = [...named, ...linesOf(output).slice(-150)]
  print(shown.map((line) => `       | ${line}`).join("\n"))
}

/**
 * Runs a step. If it fails, it is repeated, and items that failed only the first time are listed as unsteady. Two cores
 * run four steps at once, and among 13,000 checks a single timeout would otherwise reject the whole change.
 */
const step = async ({ again, command, count, cwd = root, env, name }: Step): Promise<Finished> => {
  const since = Date.now()
  let cpuSeconds = 0
  const attempt = async (command: ReadonlyArray<string>) => {
    const finished = await run(command, { cwd, env: { NO_COLOR: "1", FORCE_COLOR: "0", ...env } })
    cpuSeconds += finished.cpuSeconds
    const counts = count?.(finished) ?? one(finished.code === 0)
    const honest = finished.code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
    return { finished, counts: honest }
  }
  const first = await attempt(command)
  const { failed, failures = [`${name}:\n${first.finished.output}`], passed, unsteady = [] } = first.counts
  if (failed === 0) {
    record(name, first.counts, since, "", cpuSeconds)
    return first.finished
  }
  print(`again  ${name}: ${failed} failed at first`)
  const reasons = first.counts.failures ?? [first.finished.output.trimEnd().split("\n").slice(-20).join("\n")]
  for (const reason of reasons.slice(0, 10)) print(`       | ${reason.split("\n").slice(0, 20).join("\n       | ")}`)
  const second = await attempt(again?.(first.counts) ?? command)
  if (second.counts.failed > 0) {
    record(name, { ...first.counts, failures: second.counts.failures }, since, second.finished.output, cpuSeconds)
  } else {
    const counts = { passed: passed + failed, failed: 0, unsteady: [...unsteady, ...failures] }
    record(name, counts, since, "", cpuSeconds)
  }
  return second.finished
}

/** Performs a check in this process. `problem` is the reason why it failed, if it did. */
const verify = (name: string, problem: string | undefined) =>
  record(name, one(problem === undefined), Date.now(), problem ?? "")

const shell = (line: string): ReadonlyArray<string> => ["bash", "-c", line]

/** Returns the two commands in the README. */
const readmeCommands = (): ReadonlyArray<string> => {
  const file = path.join(root, "README.md")
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
  const blocks = [...text.matchAll(/^```(?:sh|bash|shell|console)\n(.*?)^```/gms)].map(([, block = ""]) => block)
  const lines = blocks.flatMap((block) => block.split("\n")).map((line) => line.replace(/^\$ /, "").trim())
  const first = (beginning: string) => lines.find((line) => line === beginning || line.startsWith(`${beginning} `))
  return [first("npm start"), first("npm test")].filter((line) => line !== undefined)
}

/** Installs an old Node and returns the folder of its program. With it, the first start installs a suitable Node. */
const oldNode = (major: number): string => {
  const folder = path.join(stateFolder, `node${major}`)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n')
  const options = ["--no-audit", "--no-fund", "--no-package-lock", `node@${major}`]
  const { status, stderr } = spawnSync("npm", ["install", ...options], { cwd: folder, encoding: "utf8" })
  verify(`npm installs Node ${major}`, status === 0 ? undefined : stderr)
  return path.join(folder, "node_modules/node/bin")
}

const firstRuns = async () => {
  const written = readmeCommands()
  verify(
    "README shows the two commands",
    written.length === 2 ? undefined : "README.md has no code block (sh) with `npm start` and `npm test`."
  )
  const [start, test] =
    written.length === 2 ? (written as [string, string]) : ['npm start -- "What is 17 times 23?"', "npm test"]
  const old = { PATH: `${oldNode(20)}${path.delimiter}${process.env.PATH}` }
  const first = await step({ name: `${start} (with Node 20)`, command: shell(start), env: old })
  verify("npm start prints an answer", first.stdout.trim() === "" ? "It printed nothing." : undefined)
  const command = await step({
    name: "npx divisi --version (with Node 20)",
    command: shell("npx divisi --version"),
    env: old
  })
  verify("npx divisi is that of the clone", /^divisi /.test(command.stdout) ? undefined : command.output)
  const oldest = [path.join(oldNode(16), "node"), "scripts/divisi.mjs", "--version"]
  await step({ name: "divisi --version (with Node 16)", command: oldest })
  const again = await step({ name: `${start} (again)`, command: shell(start) })
  verify(
    "the second npm start sets nothing up",
    /^ {2}(installing|building) /m.test(again.output) ? again.output : undefined
  )
  return test
}

/** Runs a test command. Tests of the command line use the build. */
const tests = (script: string, part?: string) => {
  const command = shell(part === undefined ? script : `${script} -- --shard=${part}`)
  return step({
    name: part === undefined ? script : `${script} (part ${part})`,
    command,
    count: fromTestReport,
    env: { DIVISI_TEST_BUILT: "1" },
    again: ({ failures = [] }) => {
      const files = new Set(failures.map((failure) => /^[^\s:]+/.exec(failure)?.[0] ?? ""))
      return files.size === 0 ? command : shell([script, "--", ...files].join(" "))
    }
  })
}

/** Compares workflow texts with a real Python, if there is one. */
const pythonCheck = async () => {
  if (spawnSync("python3", ["--version"]).status !== 0) {
    print("-      no python3 here: workflow texts are held to a fixed sample alone")
    return
  }
  await step({
    name: "workflow texts are read as Python reads them",
    command: [process.execPath, "--conditions=@divisi/source", "scripts/check-python.ts", "--cases", "12000"],
    cwd: path.join(root, "packages/core")
  })
}

const build = async (packageManager: ReadonlyArray<string>) => {
  await step({
    name: "lock file is up to date",
    command: [...packageManager, "install", "--frozen-lockfile", "--offline"]
  })
  await step({ name: "build", command: [...packageManager, "run", "build"] })
}

const testsAndChecks = async (packageManager: ReadonlyArray<string>, testCommand: string) => {
  const script = (name: string): ReadonlyArray<string> => [...packageManager, "run", name]
  const check = (name: string): Step => ({
    name: `check ${name}`,
    command: [process.execPath, "scripts/check.ts", name],
    count: fromLastLine
  })
  // The longest steps start first. Of these, those that install packages and wait for npm do.
  const steps: ReadonlyArray<() => Promise<unknown>> = [
    ...["everyCommand", "release", "plugin", "installation", "bundlers"].map((name) => () => step(check(name))),
    () => step({ name: "site", command: script("site"), count: fromLastLine }),
    ...["studio", "documentation", "figures"].map((name) => () => step(check(name))),
    () => step({ name: "clients of the server", command: script("clients"), count: fromLastLine }),
    () => step(check("claims")),
    ...["commands", "types", "tarballs"].map((name) => () => step(check(name))),
    () => step({ name: "build of the benchmarks", command: [...packageManager, "--dir", "verify/bench", "build"] }),
    () => step({ name: "knip", command: script("knip") }),
    () => step({ name: "types", command: script("types") }),
    ...exampleSteps(packageManager),
    () => step({ name: "lint", command: [...packageManager, "exec", "biome", "ci", "--colors=off", "."] }),
    pythonCheck,
    ...["browser", "bundle", "sizes", "arrows", "exports", "hosts", "platforms", "likeness", "changes", "words"].map(
      (name) => () => step(check(name))
    )
  ]
  await packAll()
  await inLanes(steps, async () => {
    await tests(testCommand)
    // The hosted workflow runs all of them.
    await tests("npm run test:long", `${quarter() + 1}/4`)
  })
}

/** Packs the packages once for all checks, because concurrent checks would otherwise pack them at the same time. */
const packAll = async () => {
  process.env.DIVISI_TARBALLS = path.join(stateFolder, "tarballs")
  fs.rmSync(process.env.DIVISI_TARBALLS, { recursive: true, force: true })
  fs.mkdirSync(process.env.DIVISI_TARBALLS, { recursive: true })
  const destination = ["--pack-destination", process.env.DIVISI_TARBALLS]
  await step({ name: "pack", command: ["pnpm", "--filter", "./packages/*", "pack", ...destination] })
}

/**
 * Runs the steps in order, one per core while the tests run, and two per core afterwards. Tests and steps wait for
 * databases, a network or processes for much of their time.
 */
const inLanes = async (steps: ReadonlyArray<() => Promise<unknown>>, tests: () => Promise<unknown>) => {
  const waiting = [...steps]
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next()
  }
  const lanes = () => Promise.all(Array.from({ length: os.availableParallelism() }, lane))
  await Promise.all([lanes(), tests().then(lanes)])
}

const exampleSteps = (packageManager: ReadonlyArray<string>): ReadonlyArray<() => Promise<unknown>> => {
  const apps = examples()
  verify("there are examples", apps.length > 0 ? undefined : "The folder examples is empty.")
  const start = [...packageManager, "run", "start"]
  return apps.map(
    ({ folder }) =>
      () =>
        step({ name: path.relative(root, folder), command: start, cwd: folder })
  )
}

/** Installs pnpm through npm if it is not on the PATH, and adds it to the PATH of scripts, which call it by name. */
const bringPnpm = (): ReadonlyArray<string> => {
  const command = pnpm()
  if (command.length > 1) {
    const which = spawnSync(command[0]!, [...command.slice(1, -1), "which", "pnpm"], { cwd: root, encoding: "utf8" })
    process.env.PATH = `${path.dirname(which.stdout.trim())}${path.delimiter}${process.env.PATH}`
  }
  return ["pnpm"]
}

const since = Date.now()
process.env.TURBO_TELEMETRY_DISABLED = "1"
process.env.DO_NOT_TRACK = "1"
// Hundreds of processes run the same sources and tools, so their compiled code is cached.
process.env.NODE_COMPILE_CACHE ??= path.join(stateFolder, "compiled")
const statusBefore = spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).stdout
const testCommand = await firstRuns()
const packageManager = bringPnpm()
await build(packageManager)
await testsAndChecks(packageManager, testCommand)
const statusAfter = spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).stdout
verify("the checks change no file", statusAfter === statusBefore ? undefined : `git status says:\n${statusAfter}`)

const minutes = `${((Date.now() - since) / 60_000).toFixed(1)} min${ofCpu(cpuOfChildren())}`
print(`\n${failures.length === 0 ? "Everything holds" : `Failed: ${failures.join("; ")}`} (${minutes})`)
if (unsteady.length > 0) print(`${unsteady.length} unsteady: ${unsteady.map((test) => test.split(": ")[0]).join("; ")}`)
print(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
