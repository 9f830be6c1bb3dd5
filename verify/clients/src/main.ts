/**
 * `pnpm clients [name...]`: checks clients against a server with three rule-based workers, without network access where
 * Linux supports this. By default, everything that CI runs is checked: llmprobe, coding agents and SDKs. `more` selects
 * agent frameworks, and `all` selects everything.
 *
 * Prints failed checks and a table of all results. The exit code is 1 if any check fails.
 */
import { spawnSync } from "node:child_process"
import path from "node:path"
import { parseArgs } from "node:util"
import type { RequestLog } from "@divisi/server"
import * as Effect from "effect/Effect"
import * as Agents from "./Agents.ts"
import type { Report } from "./Check.ts"
import * as Compiled from "./Compiled.ts"
import * as Folders from "./Folders.ts"
import * as Given from "./Given.ts"
import * as Pools from "./Pools.ts"
import * as Probe from "./Probe.ts"
import * as Python from "./Python.ts"
import * as Sdks from "./Sdks.ts"
import * as Serving from "./Serving.ts"

const print = (line: string) => void process.stdout.write(`${line}\n`)

const ofNode = ["llmprobe", ...Sdks.names]
const everybody = [...ofNode, ...Agents.names, ...Pools.names, ...Python.names, ...Compiled.names]

/** Frameworks; of compiled languages those that this machine has. */
const more = () => [...Python.more, ...Compiled.names.filter(Compiled.isAble)]

/** The checks that CI runs; for Python, those that this machine supports. */
const short = () => {
  if (Folders.hasPython()) return [...ofNode, ...Agents.names, ...Pools.short, ...Python.short]
  print("The clients of Python are left out, as this machine has no python3 with venv.")
  return [...ofNode, ...Agents.names, ...Pools.short]
}

/** Set in the process that has no network. */
const mark = "DIVISI_CLIENTS_INSTALLED"

const install = async (names: ReadonlyArray<string>) => {
  if (names.some((name) => ofNode.includes(name))) await Folders.installPackages("sdks")
  if (names.some((name) => Agents.names.includes(name) || Pools.names.includes(name)))
    await Folders.installPackages("agents")
  const python = names.filter((name) => Python.names.includes(name))
  for (const [environment, files] of Object.entries(Python.requirementsOf(python)))
    await Folders.installPython(environment, files)
  for (const name of names.filter((name) => Compiled.names.includes(name))) await Compiled.install(name)
}

/** Runs this command again in a namespace that can reach only this machine; `undefined` if that is not possible. */
const withoutNetwork = (): number | undefined => {
  if (process.platform !== "linux") return undefined
  const cut = ["-rn", "bash", "-c", 'ip link set lo up && exec "$@"', "bash"]
  if (spawnSync("unshare", [...cut, "true"]).status !== 0) return undefined
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const env = { ...process.env, [mark]: "cut" }
  return spawnSync("unshare", [...cut, ...again], { stdio: "inherit", env }).status ?? 1
}

/** Checks a client on the server, and on `divisi serve` in front of pools. */
const checkPooled = async (url: string, check: (url: string) => Promise<Report>): Promise<Report> => {
  const report = await check(url)
  return { ...report, checks: [...report.checks, ...(await Pools.checkOn(check))] }
}

const checkOne = (name: string, served: Agents.Served, forgetful: Agents.Served, isShort: boolean): Promise<Report> => {
  if (Compiled.names.includes(name)) return checkPooled(served.url, (url) => Compiled.check(name, url))
  if (Python.pooled.includes(name)) return checkPooled(served.url, (url) => Python.check(name, url))
  if (name === "llmprobe") return Probe.check(served.url)
  if (Sdks.names.includes(name)) return Sdks.check(name, served.url)
  if (Pools.names.includes(name)) return Pools.check(name, isShort)
  return Agents.names.includes(name) ? Agents.check(name, served, forgetful) : Python.check(name, served.url)
}

const say = ({ checks, client, version }: Report, seconds: number) => {
  const passed = checks.filter(({ isPassed }) => isPassed).length
  print(`| ${client} | ${version} | ${passed} of ${checks.length} | ${seconds.toFixed(0)} s |`)
  for (const { detail, isPassed, name } of checks) {
    if (!isPassed || client === "llmprobe" || client.startsWith("schemathesis"))
      print(`${isPassed ? "" : "FAILED "}${client}, ${name}: ${detail ?? ""}`)
  }
}

const checkAll = (
  names: ReadonlyArray<string>,
  given: Given.Given,
  isShort: boolean
): Promise<ReadonlyArray<Report>> => {
  const all = Effect.gen(function* () {
    const requests: Array<RequestLog.Entry> = []
    const { url } = yield* Serving.make({ log: (entry) => requests.push(entry) })
    const toForgetful: Array<RequestLog.Entry> = []
    const other = yield* Serving.make({ log: (entry) => toForgetful.push(entry), forgets: true })
    const forgetful = { url: other.url, requests: toForgetful }
    const others = yield* Effect.promise(() => Given.check(given, url))
    for (const report of others) say(report, 0)
    const reports = yield* Effect.forEach(names, (name) =>
      Effect.promise(async () => {
        const since = performance.now()
        const report = await checkOne(name, { url, requests }, forgetful, isShort)
        say(report, (performance.now() - since) / 1_000)
        return report
      })
    )
    return [...others, ...reports]
  })
  return Effect.runPromise(Effect.scoped(all))
}

const main = async (): Promise<number> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { suite: { type: "string" }, openai: { type: "string" }, "open-responses": { type: "string" } }
  })
  const given = Object.fromEntries(Object.entries(values).map(([name, file]) => [name, path.resolve(file)]))
  const wanted = positionals.flatMap((name) => (name === "more" ? more() : [name]))
  const names = wanted.includes("all") ? everybody : wanted.length === 0 ? short() : wanted
  const stranger = names.find((name) => !everybody.includes(name))
  if (stranger !== undefined) {
    print(`There is no client "${stranger}". There are: ${everybody.join(", ")}, more, all.`)
    return 2
  }
  if (process.env[mark] === undefined) {
    await install(names)
    const code = withoutNetwork()
    if (code !== undefined) return code
    print("The network cannot be cut here: the clients run with it.")
  }
  const reports = await checkAll(names, { ...given, openResponses: given["open-responses"] }, wanted.length === 0)
  const checks = reports.flatMap((report) => report.checks)
  const passed = checks.filter(({ isPassed }) => isPassed).length
  print(`${passed} passed, ${checks.length - passed} failed`)
  return passed === checks.length ? 0 : 1
}

process.exitCode = await main()
