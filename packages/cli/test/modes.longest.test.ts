/** All files written by commands are private to the user. The test walks all folders after a use of each command. */
import { spawn } from "node:child_process"
import fs from "node:fs"
import { createServer } from "node:http"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { assert, describe, it } from "@effect/vitest"
import { describe as describeCommands } from "../src/Cli.ts"
import { config, inFolder, modesIn, openToOthers } from "./process.ts"

const described = await describeCommands()

const main = path.resolve(import.meta.dirname, "../src/main.ts")

interface Machine {
  readonly folder: string
  /** Runs a command in the folder `work`, with a home of its own and a umask. */
  readonly divisi: (
    args: ReadonlyArray<string>,
    options?: {
      readonly input?: string
      readonly environment?: Readonly<Record<string, string>>
      readonly onOutput?: (output: string, stop: () => void) => void
    }
  ) => Promise<string>
  readonly used: Set<string>
}

const machine = (folder: string, umask: string): Machine => {
  const work = path.join(folder, "work")
  fs.mkdirSync(work)
  fs.mkdirSync(path.join(folder, "home"))
  const { PATH = "" } = process.env
  const environment = { PATH, HOME: path.join(folder, "home"), TMPDIR: path.join(folder, "tmp") }
  fs.mkdirSync(environment.TMPDIR)
  const used = new Set<string>()
  return {
    folder,
    used,
    divisi: (args, { input = "", environment: own, onOutput } = {}) =>
      new Promise((resolve, reject) => {
        for (let length = 1; length <= 2; length += 1) used.add(args.slice(0, length).join(" "))
        const command = `umask ${umask}; exec "$0" "$@"`
        const node = [process.execPath, "--conditions=@divisi/source", main, ...args]
        const child = spawn("sh", ["-c", command, ...node], { cwd: work, env: { ...environment, ...own } })
        let output = ""
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding("utf8").on("data", (text) => {
            output += text
            onOutput?.(output, () => child.kill("SIGTERM"))
          })
        }
        child.on("error", reject).on("close", () => resolve(output))
        child.stdin.on("error", () => {}).end(input)
      })
  }
}

/** All commands without subcommands of their own. */
const leaves = (command: typeof described, above: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  command.subcommands.flatMap((one) => {
    const names = [...above, one.name]
    return one.subcommands.length === 0 ? [names.join(" ")] : leaves(one as typeof described, names)
  })

/** A server that has one file to download. */
const withFile = async <A>(use: (url: string) => Promise<A>): Promise<A> => {
  const bytes = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(60)])
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-length": bytes.length, etag: '"1"' })
    response.end(request.method === "HEAD" ? undefined : bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  try {
    return await use(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/model.gguf`)
  } finally {
    server.close()
  }
}

const useServer = async (url: string): Promise<void> => {
  const post = (path: string, body: object) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }]
  await (await post("/responses", { model: "divisi", input: "Who?", store: true, tools })).text()
  const messages = [{ role: "user", content: "Who?" }]
  const chat = await post("/chat/completions", { model: "divisi", messages })
  await chat.text()
  await (await post(`/runs/${chat.headers.get("x-divisi-run")}/rating`, { rating: "up" })).text()
}

const useCluster = async ({ divisi }: Machine, database: string): Promise<void> => {
  const environment = { DIVISI_DATABASE: database }
  const cluster = (...args: ReadonlyArray<string>) => divisi(["cluster", ...args], { environment })
  const address = `127.0.0.1:${await PostgresServer.freePort()}`
  const use = async () => {
    await cluster("submit", "What is 2 plus 2?", "--run-id", "c1", "--follow")
    await cluster("follow", "c1")
    await cluster("cancel", "c1")
    await cluster("status")
    await cluster("drain", address)
    await cluster("purge", "--older-than", "1d")
  }
  await cluster("migrate")
  let using: Promise<void> | undefined
  await divisi(["cluster", "work", "--address", address, "--config", "none"], {
    environment,
    onOutput: (output, stop) => {
      if (output.includes("Executing runs")) using ??= use().finally(stop)
    }
  })
  await using
}

const useAll = async ({ divisi, folder }: Machine): Promise<void> => {
  const work = path.join(folder, "work")
  const quick = ["--config", config("quick")]
  const none = ["--config", "none"]
  const recorded = ["--transcript", "run.json", "--cache", "cache.sqlite"]
  await divisi(["run", "Who?", "--durable", "--run-id", "r1", ...recorded, ...quick])
  await divisi(["run", "What is 2 plus 2?", "--durable", "--journal", "named/runs.sqlite", ...none])
  await divisi(["chat", "--durable", ...quick], { input: "Who?\n" })
  await divisi(["rate", "up"])
  await divisi(["runs"])
  for (const name of ["show", "resume"]) await divisi(["runs", name, "r1", ...(name === "resume" ? quick : [])])
  await divisi(["runs", "report", "--out", "session.html", ...quick])
  let using: Promise<void> | undefined
  await divisi(["serve", "--port", "0", "--keys", "none", ...quick], {
    onOutput: (output, stop) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url !== undefined) using ??= useServer(url).finally(stop)
    }
  })
  await using
  await divisi(["runs", "fork", "r1", "--at", "0.0", ...quick])
  await divisi(["studio", "run.json", "--export", "page"])
  await divisi(["runs", "compare", "r1", "r1"])
  await divisi(["runs", "delete", "r1"])
  const made = await divisi(["key", "make", "a", "--max-cost", "1", "--json"])
  await divisi(["key", "adjust", JSON.parse(made).id, "--by", "0.5", "--reason", "a test"])
  await divisi(["key", "audit"])
  await divisi(["key", "list"])
  await divisi(["key", "revoke", "nothing"])
  for (const name of leaves(described).filter((name) => name.startsWith("key "))) await divisi(name.split(" "))
  await divisi(["mcp", ...quick])
  await divisi(["replay", "run.json", "--speed", "0"])
  for (const name of ["check", "render", "read"]) await divisi(["workflow", name], { input: "[]" })
  await divisi(["pool", "list"])
  await divisi(["pool", "check", ...quick])
  await divisi(["gym", "sample"])
  await divisi(["gym", "solve", "--tasks", "2", "--cache", "gym.sqlite", ...none])
  await divisi(["gym", "environment"])
  await divisi(["train", "--recipe", "toy", "--iterations", "2", "--out", "trained", ...none])
  await divisi(["train", "resume", "trained", ...none])
  await divisi(["train", "report", "trained"])
  await divisi(["train", "export", "trained", "--to", "peft", "--out", "exported", ...none])
  const evaluation = ["eval", "--limit", "2", "--transcripts", ...none]
  await divisi([...evaluation, "--out", "first"])
  await divisi([...evaluation, "--out", "second"])
  await divisi(["eval", "regrade", "first"])
  await divisi(["eval", "diff", "first", "second"])
  await divisi(["eval", "export", "first", "--to", "answers", "--out", "decisions.jsonl"])
  await divisi(["grade", "--gold", "2", "--answer", "2"])
  const rows = Array.from({ length: 60 }, (_, at) =>
    JSON.stringify({ question: `How much is ${at} plus ${at}?`, kind: "sum", scores: { a: 1, b: at % 2 } })
  )
  fs.writeFileSync(path.join(work, "outcomes.jsonl"), rows.join("\n"), { mode: 0o600 })
  await divisi(["bench", "routing", "--outcomes", "outcomes.jsonl", "--repeats", "1"])
  await divisi(["learn", "--from", "outcomes.jsonl", "--picture", "learned.svg", ...none])
  await divisi(["learn", "--head", "--from", "outcomes.jsonl", ...none])
  await divisi(["models", "list"])
  await withFile((url) => divisi(["models", "download", url]))
  await divisi(["models", "inspect", "nothing.gguf"])
  await divisi(["models", "remove", "nothing.gguf"])
  await divisi(["runs", "purge", "--keep", "0s", "--cache", "cache.sqlite", ...quick])
  await divisi(["doctor"])
  await divisi(["help"])
}

/** `ownPool.test.ts` checks the modes of their files. They need a vendor. */
const ofPools = ["pool record", "pool train", "pool verdict"]

/**
 * They write source code, which follows the umask since people share it, and they start a package manager, which must not
 * be given this test's home: it would install this repository again.
 */
const ofSources = ["init", "provider new", "gym verifiers"]

describe.skipIf(process.platform === "win32" || PostgresServer.find() === undefined)(
  "the files of all commands",
  () => {
    // With no umask at all: whatever is private then is private with any.
    it(
      "are their user's alone with the umask 000",
      () =>
        inFolder(async (folder) => {
          const all = machine(folder, "000")
          await useAll(all)
          const database = await PostgresServer.start()
          await useCluster(all, database.url).finally(database.stop)
          const others = [...ofSources, ...ofPools]
          assert.deepStrictEqual(
            leaves(described).filter((name) => !all.used.has(name) && !others.includes(name)),
            [],
            "commands that this test does not use"
          )
          const made = new Map(modesIn(folder))
          for (const name of ["work", "home", "tmp"]) made.delete(name)
          assert.deepStrictEqual(openToOthers(made), [])
          // The expected files were written.
          const names = [...made.keys()].join("\n")
          for (const name of [
            "home/.local/share/divisi/runs.sqlite",
            "home/.local/share/divisi/responses.sqlite",
            "home/.local/share/divisi/outcomes.jsonl",
            "home/.local/share/divisi/keys.json",
            "home/.local/share/divisi/accounts.sqlite",
            "home/.cache/divisi/models/127.0.0.1_",
            "work/run.json",
            "work/cache.sqlite",
            "work/named/runs.sqlite",
            "work/session.html",
            "work/page/index.html",
            "work/trained/",
            "work/first/",
            "work/decisions.jsonl",
            "work/learned.svg"
          ]) {
            assert.include(names, name)
          }
        }),
      600_000
    )
  }
)
