/**
 * Coding agents: each reads a file, edits it and runs its test in a tool loop, through a Conductor with three workers.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import type { RequestLog } from "@divisi/server"
import { type Check, ended, type Finished, type Report, run } from "./Check.ts"
import { folder, versionOf } from "./Folders.ts"

/** A server, and the requests that it has answered. */
export interface Served {
  readonly url: string
  readonly requests: ReadonlyArray<RequestLog.Entry>
}

interface Agent {
  readonly package: string
  /** Whether the agent's history carries the run state. */
  readonly carries: boolean
  readonly command: (url: string, task: string) => readonly [string, ...ReadonlyArray<string>]
  readonly env: (url: string, home: string) => NodeJS.ProcessEnv
  /** Writes the configuration that the agent reads from its folder. */
  readonly prepare?: ((url: string, work: string) => void) | undefined
}

const bin = (name: string): string => path.join(folder("agents"), "node_modules", ".bin", name)

const agents: Readonly<Record<string, Agent>> = {
  codex: {
    package: "@openai/codex",
    carries: true,
    command: (url, task) => [
      bin("codex"),
      "exec",
      "--skip-git-repo-check",
      ...["-s", "danger-full-access", "-m", "divisi", "-c", 'model_provider="divisi"'],
      "-c",
      `model_providers.divisi={name="divisi",base_url="${url}",env_key="DIVISI_API_KEY",wire_api="responses"}`,
      task
    ],
    env: (_, home) => ({ CODEX_HOME: home, DIVISI_API_KEY: "none" })
  },
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    carries: true,
    command: (_, task) => [
      bin("claude"),
      ...["-p", task, "--model", "divisi", "--allowedTools", "Bash,Read,Edit,Write", "--output-format", "json"]
    ],
    env: (url, home) => ({
      HOME: home,
      ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""),
      ANTHROPIC_AUTH_TOKEN: "none",
      ANTHROPIC_DEFAULT_HAIKU_MODEL: "divisi-fast",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
    })
  },
  opencode: {
    package: "opencode-ai",
    carries: false,
    command: (_, task) => [bin("opencode"), "run", task],
    env: (_, home) => ({ HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home }),
    prepare: (url, work) =>
      fs.writeFileSync(
        path.join(work, "opencode.json"),
        JSON.stringify({
          model: "divisi/divisi",
          small_model: "divisi/divisi-fast",
          permission: { edit: "allow", bash: "allow", read: "allow" },
          provider: {
            divisi: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: url, apiKey: "none" },
              models: { divisi: { name: "Divisi" }, "divisi-fast": { name: "Divisi, one worker" } }
            }
          }
        })
      )
  }
}

/** Names of the checked agents. */
export const names = Object.keys(agents)

const wrong = "export const add = (a, b) => a - b\n"

const test = `import { add } from "./add.mjs"
if (add(20, 22) !== 42) throw new Error("add is wrong")
console.log("The test of add has passed.")
`

/** Groups the requests of a task into turns. */
const turnsOf = (requests: ReadonlyArray<RequestLog.Entry>) => {
  const own = requests.filter(({ model }) => model === "divisi")
  const runs = new Map(own.map(({ calls, runId }) => [runId, calls]))
  const main = own.filter(({ calls, ending }) => calls > 0 || ending === "tool-calls")
  return { segments: main.length, runs: runs.size, calls: main.reduce((sum, { calls }) => sum + calls, 0) }
}

/** Returns a problem unless two workers were called once, and the third in each tool turn and for the answer. */
const onceProblem = (requests: ReadonlyArray<RequestLog.Entry>): string | undefined => {
  const { calls, runs, segments } = turnsOf(requests)
  return segments === 4 && calls === 3 + 3
    ? undefined
    : `There are ${segments} segments of ${runs} runs with ${calls} calls; there should be 4 segments with 6.`
}

const checksOf = (
  finished: Finished,
  work: string,
  requests: ReadonlyArray<RequestLog.Entry>,
  isOnce: boolean
): ReadonlyArray<Check> => {
  const isMended = fs.readFileSync(path.join(work, "add.mjs"), "utf8").includes("a + b")
  const problem = onceProblem(requests)
  return [
    ended("it ends well", finished),
    { name: "the file is mended", isPassed: isMended, detail: isMended ? undefined : finished.output.slice(-3_000) },
    {
      name: "it says what the test said",
      isPassed: finished.output.includes("The test of add has passed."),
      detail: finished.output.slice(-1_000)
    },
    ...(isOnce ? [{ name: "nobody is asked twice", isPassed: problem === undefined, detail: problem }] : [])
  ]
}

/** The result of an agent, while its folder still exists. */
interface Done {
  readonly work: string
  readonly finished: Finished
}

/** Runs an agent on a task in a new folder with the given files. `orders` receives the folder. */
export const work = async <A>(
  name: string,
  url: string,
  files: Readonly<Record<string, string>>,
  orders: (work: string) => string,
  look: (done: Done) => A
): Promise<A> => {
  const agent = agents[name]!
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-work-"))
  const home = fs.mkdtempSync(path.join(folder("agents"), "node_modules", ".home-"))
  try {
    for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(work, file), text)
    agent.prepare?.(url, work)
    const command = agent.command(url, orders(work))
    return look({ work, finished: await run(command, { cwd: work, env: agent.env(url, home), seconds: 180 }) })
  } finally {
    fs.rmSync(work, { recursive: true, force: true })
    fs.rmSync(home, { recursive: true, force: true })
  }
}

/** Runs an agent on the first task: read a file, edit it, run its test. */
const task = (name: string, { requests, url }: Served, isOnce: boolean): Promise<ReadonlyArray<Check>> => {
  const from = requests.length
  const orders = (work: string) => {
    const file = path.join(work, "add.mjs")
    return `Mend add.mjs: read \`${file}\`, then replace \`a - b\` by \`a + b\` in \`${file}\`, then run \`node ${work}/add.test.mjs\`.`
  }
  const files = { "add.mjs": wrong, "add.test.mjs": test }
  return work(name, url, files, orders, (done) => checksOf(done.finished, done.work, requests.slice(from), isOnce))
}

const line = "Grüße, 世界 🎺: it is written."

const quoted = (text: string): Check["detail"] => text.slice(-3_000)

/** Runs an agent on the second task: write a new file and read it. */
const writing = (name: string, url: string): Promise<ReadonlyArray<Check>> => {
  const orders = (work: string) =>
    `Greet: write \`${line}\` to \`${work}/greeting.txt\`, then read \`${work}/greeting.txt\`.`
  return work(name, url, {}, orders, ({ finished, work }) => {
    const file = path.join(work, "greeting.txt")
    const written = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : undefined
    return [
      ended("writing ends well", finished),
      { name: "the file is written", isPassed: written === line, detail: quoted(`${written}\n${finished.output}`) },
      { name: "it says what it read", isPassed: finished.output.includes(line), detail: quoted(finished.output) }
    ]
  })
}

/** Runs an agent on the third task: run a command that fails, and another with many lines of output. */
const running = (name: string, url: string): Promise<ReadonlyArray<Check>> => {
  const files = { "fail.mjs": 'console.error("No such planet.")\nprocess.exitCode = 3\n' }
  const orders = (work: string) => `Look: run \`node ${work}/fail.mjs\`, then run \`seq -f line-%.0f 1 300\`.`
  return work(name, url, files, orders, ({ finished }) => {
    const said = ["No such planet.", "line-1", "line-300"].filter((text) => !finished.output.includes(text))
    const detail = quoted(finished.output)
    return [
      ended("running ends well", finished),
      { name: "it says what both commands wrote", isPassed: said.length === 0, detail }
    ]
  })
}

/** Runs an agent on all tasks, or only on the first, on a server for which only the address is known. */
export const finish = async (name: string, url: string, isShort: boolean): Promise<ReadonlyArray<Check>> => {
  const first = await task(name, { url, requests: [] }, false)
  if (isShort) return first
  return [...first, ...(await writing(name, url)), ...(await running(name, url))]
}

/** Checks an agent on a server that stores runs, and on one that discards them after each request. */
export const check = async (name: string, served: Served, forgetful: Served): Promise<Report> => {
  const agent = agents[name]!
  const kept = await task(name, served, true)
  const forgotten = await task(name, forgetful, agent.carries)
  return {
    client: agent.package,
    version: versionOf("agents", agent.package),
    checks: [...kept, ...forgotten.map((one) => ({ ...one, name: `on a server that forgets, ${one.name}` }))]
  }
}
