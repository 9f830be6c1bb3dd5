/**
 * Checks that the packages work when installed: all of them are installed with npm in an empty folder, and used with
 * the oldest supported Node and with the current one. The oldest Node must be able to parse every file, every entry
 * point must load, and every command of `divisi` must work.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { minimum } from "../setup/node-version.mjs"
import { packages } from "../setup/workspace.mjs"
import { type Finished, run } from "./command.ts"
import { type Described, describe } from "./described.ts"
import { inProject, install } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballsOf } from "./tarballs.ts"

/** A call of a command, and a pattern for its output. */
interface Call {
  readonly args: ReadonlyArray<string>
  readonly says: RegExp
  readonly input?: string | undefined
  readonly code?: number | undefined
}

/** The folder of the installed packages, and the environment for calls of `divisi`. */
interface Place {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

const call = (args: ReadonlyArray<string>, says: RegExp, more: Pick<Call, "code" | "input"> = {}): Call => ({
  args,
  says,
  ...more
})

const question = "How many minutes are there in 3 days?"
const plan = 'model_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = [[], [0]]\n'
const rpc = (method: string, params: object, id?: number) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "check", version: "1" } }
const outcomes = Array.from({ length: 40 }, (_, at) =>
  JSON.stringify({ question: `question ${at}`, kind: at % 2 ? "odd" : "even", scores: { a: at % 2, b: 1 - (at % 2) } })
).join("\n")

const questions = Array.from({ length: 60 }, (_, at) =>
  JSON.stringify({ question: `Which number has entry ${at}?`, answer: at % 2 ? "4321" : "5678" })
).join("\n")

const config = `import { worker } from "@divisi/core/promise"

export default { pool: [worker({ id: "echo", answer: async () => "4321" })] }
`

/** Input files for the calls, by name. */
const files = {
  "own.config.mjs": config,
  "plan.txt": plan,
  "outcomes.jsonl": `${outcomes}\n`,
  "questions.jsonl": `${questions}\n`
}

/**
 * The calls in order. Later ones use the output of earlier ones. `serve` and `models download` are checked separately.
 */
const calls: ReadonlyArray<Call> = [
  call(["init", "--yes", "--language", "javascript"], /divisi\.config\.js/),
  call(["run", question, "--durable", "--transcript", "run.json"], /\b4320\b/),
  call(["runs"], /answered .*How many minutes/),
  call(["runs", "show", "{run}"], /4320/),
  call(["runs", "resume", "{run}"], /4320/),
  call(["runs", "fork", "{run}", "--at", "0.0"], /4320/),
  call(["runs", "compare", "{run}", "{run}"], /same answer/),
  call(["run", question, "--dry-run"], /most +\d/),
  call(["runs", "report"], /session\.html/),
  call(["replay", "run.json", "--speed", "0"], /answer +4320/),
  call(["studio", "run.json", "--export", "run.html"], /run\.html: 1 run/),
  call(["run", question, "--config", "own.config.mjs"], /4321/),
  call(["rate", "up"], /./),
  call(["learn", "--from", "outcomes.jsonl", "--json"], /\{/),
  call(["runs", "delete", "{run}"], /./),
  call(["runs", "purge", "--keep", "30d", "--dry-run"], /./),
  call(["chat"], /^4$/m, { input: "What is 2 + 2?\n" }),
  call(["key", "make", "alice", "--json"], /"name":"alice"/),
  call(["key", "list"], /alice +good/),
  call(["key", "change", "{key}", "--max-cost", "5"], /alice +good +\$0 +5 USD in total/),
  call(["key", "adjust", "{key}", "--by", "1.5", "--reason", "a wrong usage", "--json"], /"afterUsd":1\.5/),
  call(["key", "audit"], /\+1\.5 .*a wrong usage/),
  call(["key", "revoke", "{key}"], /Revoked/),
  call(["mcp"], /"serverInfo"/, { input: rpc("initialize", hello, 1) }),
  call(["workflow", "check", "plan.txt"], /^Valid: 2 steps/m),
  call(["workflow", "read", "plan.txt"], /^\{"steps":\[\{"worker":0/m),
  call(["workflow", "render", "plan.txt"], /2 steps, chain/),
  call(["pool", "list"], /OPENAI_API_KEY/),
  call(["pool", "check", "--pool", "abacus", "--json"], /"reachable":true/),
  call(
    ["pool", "record", "questions.jsonl", "--config", "own.config.mjs", "--price", "echo=0", "--samples", "1"],
    /single:echo +\d/
  ),
  call(["pool", "train", "pool"], /Trained on \d+ questions/),
  call(["pool", "verdict", "pool", "--config", "own.config.mjs"], /The classifier always chooses echo/),
  call(["gym", "sample"], /^→ /m),
  call(["gym", "environment"], /"result":"correct"/, {
    input: `${JSON.stringify({ id: 1, op: "grade", mode: "answer", question: "1 + 1?", reference: "2", completion: "2" })}\n`
  }),
  call(["gym", "verifiers", "divisi-gym"], /Wrote the package divisi-gym/),
  call(["gym", "solve", "--tasks", "5", "--json"], /"policy":"lexical","accuracy":/),
  call(["eval", "--policy", "lexical", "--limit", "5", "--out", "evaluation", "--transcripts"], /lexical +\d/),
  call(["eval", "regrade", "evaluation"], /0 verdicts changed/),
  call(["eval", "diff", "evaluation", "evaluation"], /5 tasks in both/),
  call(["eval", "export", "evaluation", "--to", "decisions"], /"type":"decision"/),
  call(["train", "--recipe", "toy", "--engine", "jax", "--iterations", "1", "--out", "training"], /learn +reward/),
  call(["train", "resume", "training"], /training|learn/),
  call(["train", "report", "training"], /report\.html/),
  call(["train", "export", "training", "--to", "gguf", "--out", "conductor.gguf"], /^conductor\.gguf: /m),
  call(["models", "list"], /can be downloaded/),
  call(["models", "inspect", "conductor.gguf"], /llama/),
  call(["grade", "--gold", "1/2", "--answer", "0.5"], /"correct":true/),
  call(["bench", "routing", "--outcomes", "outcomes.jsonl", "--repeats", "1", "--json"], /"policy":|"name":|\{/),
  // There is no database, so each of these must ask for its address.
  ...[["work"], ["submit", question], ["follow", "one"], ["cancel", "one"], ["status"], ["migrate"], ["purge"]].map(
    (args) => call(["cluster", ...args], /No database is set/, { code: 2 })
  ),
  call(["cluster", "drain", "127.0.0.1:9100"], /No database is set/, { code: 2 }),
  call(["provider", "new", "acme"], /divisi-provider-acme/),
  call(["doctor"], /llama\.cpp/),
  call(["help", "run"], /USAGE/)
]

const command = (folder: string): ReadonlyArray<string> => [
  process.execPath,
  path.join(folder, "node_modules/@divisi/cli/bin/divisi.js")
]

/** Calls `divisi`. `run` has no standard input, so a call with input uses a shell pipe. */
const divisi = ({ environment, folder }: Place, { args, input }: Pick<Call, "args" | "input">): Promise<Finished> => {
  if (input === undefined) return run([...command(folder), ...args], { cwd: folder, env: environment })
  fs.writeFileSync(path.join(folder, "input"), input)
  const quoted = [...command(folder), ...args].map((word) => `'${word}'`).join(" ")
  return run(["sh", "-c", `${quoted} < input`], { cwd: folder, env: environment })
}

const problemOf = ({ args, code = 0, says }: Call, finished: Finished): ReadonlyArray<string> =>
  finished.code === code && says.test(finished.output) && !/^\s+at .*:\d+:\d+/m.test(finished.output)
    ? []
    : [
        `divisi ${args.join(" ")} should end with ${code} and say ${says}; it ended with ${finished.code}:\n${finished.output}`
      ]

/** Returns the names of all commands, including subcommands. */
const namesOf = ({ subcommands }: Described): ReadonlyArray<string> =>
  subcommands.flatMap((command) => [command.name, ...namesOf(command).map((name) => `${command.name} ${name}`)])

/** Starts `divisi serve`, sends requests, and stops it. */
const served = (place: Place): Promise<ReadonlyArray<string>> =>
  new Promise((resolve) => {
    const [program = "", ...args] = [...command(place.folder), "serve", "--port", "0"]
    const child = spawn(program, args, { cwd: place.folder, env: { ...process.env, ...place.environment } })
    let output = ""
    let answer = ""
    const hear = (text: string) => {
      output += text
      const address = /http:\/\/[\w.]+:\d+/.exec(output)?.[0]
      if (address === undefined || answer !== "") return
      answer = "asked"
      fetch(`${address}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "divisi", messages: [{ role: "user", content: question }] })
      })
        .then((response) => response.text())
        .then(
          (text) => {
            answer = text
          },
          (error) => {
            answer = String(error)
          }
        )
        .finally(() => child.kill("SIGTERM"))
    }
    child.stdout.setEncoding("utf8").on("data", hear)
    child.stderr.setEncoding("utf8").on("data", hear)
    const limit = setTimeout(() => child.kill("SIGKILL"), 60_000)
    child.on("close", (code) => {
      clearTimeout(limit)
      resolve(/4320/.test(answer) && code === 143 ? [] : [`divisi serve ended with ${code}:\n${output}\n${answer}`])
    })
  })

/** Downloads a model from a local server, and removes it. */
const downloaded = async (place: Place): Promise<ReadonlyArray<string>> => {
  const bytes = fs.readFileSync(path.join(place.folder, "conductor.gguf"))
  const server = http.createServer((_, response) => response.end(bytes))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/small.gguf`
  try {
    const download = call(["models", "download", url], /small\.gguf/)
    const problems = problemOf(download, await divisi(place, download))
    const remove = call(["models", "remove", url], /./)
    return [...problems, ...problemOf(remove, await divisi(place, remove))]
  } finally {
    server.close()
  }
}

/** Makes all calls in the folder, with a separate home folder. */
const called = async (folder: string): Promise<Report> => {
  const environment = { HOME: path.join(folder, "home"), NO_COLOR: "1" }
  const place = { folder, environment }
  fs.mkdirSync(environment.HOME)
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text)
  const ids: Record<string, string> = {}
  // Checked before keys exist, because the server would then require one.
  const problems = [...(await served(place))]
  for (const one of calls) {
    const args = one.args.map((word) => ids[word] ?? word)
    const finished = await divisi(place, { ...one, args })
    problems.push(...problemOf({ ...one, args }, finished))
    ids["{run}"] ??= /^[0-9a-f]{8}(?=-[0-9a-f]{4}-)/m.exec(finished.output)?.[0] as string
    ids["{key}"] ??= /"id":"(\w+)"/.exec(args[0] === "key" ? finished.output : "")?.[1] as string
  }
  const wrote = await run([process.execPath, "first.js"], { cwd: folder, env: environment })
  if (wrote.code !== 0) problems.push(`The script that divisi init wrote ended with ${wrote.code}:\n${wrote.output}`)
  problems.push(...(await downloaded(place)))
  const tried = new Set(
    [...calls.map(({ args }) => args), ["serve"], ["models", "download"], ["models", "remove"]].flatMap((args) => [
      args[0]!,
      args.slice(0, 2).join(" ")
    ])
  )
  const untried = namesOf(await describe()).filter((name) => !tried.has(name))
  problems.push(...untried.map((name) => `divisi ${name} is not called by this check: add a call.`))
  return { passed: calls.length + 4 - problems.length, problems }
}

const programs = fileURLToPath(new URL("../installation", import.meta.url))

/** Parses every file of every package with the given Node, and loads every entry point. */
const loaded = async (folder: string, node: string): Promise<ReadonlyArray<string>> => {
  fs.copyFileSync(path.join(programs, "load.mjs"), path.join(folder, "load.mjs"))
  const { code, output } = await run([node, "--experimental-vm-modules", "--no-warnings", "load.mjs"], { cwd: folder })
  return code === 0 ? [] : [`${node} load.mjs ended with ${code}:\n${output}`]
}

/** Packs all packages, installs them, and runs the checks. */
export const check = async (): Promise<Report> => {
  await pack()
  return inProject(async (folder) => {
    const names = packages().map(({ manifest }) => manifest.name)
    const installed = await install(folder, [...tarballsOf(names), `node-oldest@npm:node@${minimum}.0`])
    if (installed.code !== 0) return { passed: 0, problems: [`npm install failed:\n${installed.output}`] }
    const problems = [
      ...(await loaded(folder, process.execPath)),
      ...(await loaded(folder, path.join(folder, "node_modules/node-oldest/bin/node")))
    ]
    const commands = await called(folder)
    return { passed: commands.passed + 2 - problems.length, problems: [...problems, ...commands.problems] }
  })
}
