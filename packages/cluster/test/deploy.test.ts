import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"
import { hasPostgres } from "./database.ts"

const own = fileURLToPath(new URL("..", import.meta.url))

/** Replaces a text of a file, which must contain it. */
const replaced = (file: string, before: string, after: string) => {
  const text = fs.readFileSync(file, "utf8")
  assert.include(text, before)
  fs.writeFileSync(file, text.replace(before, after))
}

/** A later version of this package, with one more migration and another policy. Returns the program of its server. */
const laterBuild = (folder: string): string => {
  for (const part of ["src", "test/fixtures", "package.json"]) {
    fs.cpSync(path.join(own, part), path.join(folder, part), { recursive: true })
  }
  fs.symlinkSync(path.join(own, "node_modules"), path.join(folder, "node_modules"))
  replaced(
    path.join(folder, "src/internal/schema.ts"),
    "  withSlots\n]",
    `  withSlots,
  (schema) => [
    \`ALTER TABLE \${schema}.runs ADD COLUMN note text NOT NULL DEFAULT 'new'\`,
    \`ALTER TABLE \${schema}.owners ADD COLUMN build integer NOT NULL DEFAULT 2\`,
    \`CREATE INDEX runs_note ON \${schema}.runs (note)\`
  ]
]`
  )
  const program = path.join(folder, "test/fixtures/runner.ts")
  replaced(program, 'name: "line"', 'name: "later line"')
  replaced(program, "`step $", "`later step $")
  return program
}

describe.skipIf(!hasPostgres)("a rolling deployment of two builds", () => {
  let server: PostgresServer.PostgresServer
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-deploy-"))
  const children: Array<ChildProcess> = []
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    server.stop()
    fs.rmSync(root, { recursive: true })
  })

  const start = async (program: string, options: object): Promise<ChildProcess> => {
    const port = await PostgresServer.freePort()
    const given = JSON.stringify({ url: server.url, port, schema: "deploy", ...options })
    const child = spawn(process.execPath, ["--conditions=@divisi/source", program, given], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    children.push(child)
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on("data", (data) => {
        if (String(data).includes("ready\n")) resolve()
      })
      child.once("exit", () => reject(new Error("The server ended.")))
    })
    return child
  }

  it(
    "finishes the runs of the old build on the old build, while the new one migrates the tables and starts",
    { timeout: 240_000 },
    () =>
      Effect.gen(function* () {
        const books = path.join(root, "books")
        fs.writeFileSync(books, "")
        const lines = () => fs.readFileSync(books, "utf8").trim().split("\n").filter(Boolean)
        const later = laterBuild(path.join(root, "later"))
        const place = { url: Redacted.make(server.url), schema: "deploy", graceMillis: 0 }
        const shared = { books, callMillis: 200, steps: 6 }
        const runner = path.join(own, "test/fixtures/runner.ts")
        const old = yield* Effect.promise(() => start(runner, { ...shared, versionGroup: "v1" }))
        const client = yield* ClusterRuns.make({ ...place, versionGroup: "v1" })
        const postgres = yield* Postgres.open(place)
        const ids = (group: string) => Array.from({ length: 9 }, (_, at) => `${group}-${at}`)
        yield* Effect.forEach(ids("v1").slice(0, 8), (id) => client.submit(id, "question"), { concurrency: 8 })
        while (lines().length < 8) yield* Effect.sleep(10)

        const next = yield* Effect.promise(() => start(later, { ...shared, versionGroup: "v2" }))
        const nextClient = yield* ClusterRuns.make({ ...place, versionGroup: "v2" }).pipe(Effect.flip)
        assert.match(nextClient.message, /has tables from a newer version of Divisi/)
        // The old server and its clients do not notice the migration.
        yield* client.submit("v1-8", "question")
        // A client of the new build submits its runs.
        const submitter = path.join(path.dirname(later), "submitter.ts")
        fs.writeFileSync(
          submitter,
          `import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ClusterRuns } from "../../src/runs.ts"

const { url, ids } = JSON.parse(process.argv[2] ?? "{}")
const program = Effect.gen(function* () {
  const client = yield* ClusterRuns.make({ url: Redacted.make(url), schema: "deploy", versionGroup: "v2" })
  yield* Effect.forEach(ids, (id) => client.submit(id, "question"), { concurrency: 8 })
  const ended = yield* Effect.forEach(ids, client.result, { concurrency: 8 })
  console.log(ended.map(({ ending }) => ending).join())
})
await Effect.runPromise(Effect.scoped(program))
process.exit(0)
`
        )
        const submitting = spawn(
          process.execPath,
          ["--conditions=@divisi/source", submitter, JSON.stringify({ url: server.url, ids: ids("v2") })],
          { stdio: ["ignore", "pipe", "inherit"] }
        )
        children.push(submitting)
        const ended = yield* Effect.forEach(ids("v1"), client.result, { concurrency: 8 })
        assert.deepStrictEqual([...new Set(ended.map(({ ending }) => ending))], ["answered"])
        const output = yield* Effect.promise(() => text(submitting.stdout!))
        assert.include(
          output,
          ids("v2")
            .map(() => "answered")
            .join()
        )

        // Each run was executed by its own build, and no call was made twice.
        assert.strictEqual(lines().length, 2 * 9 * 12)
        for (const line of lines()) assert.include(line, ` ${line.includes(" v2-") ? next.pid : old.pid}`)
        const entries = Effect.map(client.journal.read("v2-0"), (entries) => JSON.stringify(entries))
        assert.include(yield* entries, "later step 1")

        // The old server is drained once its group has nothing left. It opened the database before the migration.
        const again = yield* Effect.flip(Postgres.open(place))
        assert.match(again.message, /has tables from a newer version of Divisi/)
        const groups = (group?: string) =>
          Effect.map(Operations.status(postgres, group), ({ servers }) => servers.map((one) => one.versionGroup))
        assert.deepStrictEqual(yield* groups(), ["v1", "v2"])
        assert.deepStrictEqual(yield* groups("v1"), ["v1"])
        while ((yield* Operations.status(postgres, "v1")).pendingMessages > 0) yield* Effect.sleep(50)
        old.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => once(old, "exit")), [0, null])
        next.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => once(next, "exit")), [0, null])
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})
