import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Operations from "../src/Operations.ts"
import * as Postgres from "../src/Postgres.ts"
import { ClusterRuns } from "../src/runs.ts"
import { hasPostgres } from "./database.ts"

/** A server that speaks the part of the Kubernetes API that lists pods. */
const startApi = async (pods: ReadonlyMap<string, boolean>) => {
  const requests: Array<string> = []
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const at = new Date(0).toISOString()
    const condition = (type: string, isTrue: boolean, lastTransitionTime: string) => ({
      type,
      status: isTrue ? "True" : "False",
      lastTransitionTime
    })
    const items = [...pods].map(([podIP, isReady], index) => ({
      metadata: { name: `divisi-${index}` },
      status: {
        phase: "Running",
        podIP,
        hostIP: "10.0.0.1",
        conditions: [condition("Initialized", true, at), condition("Ready", isReady, new Date(60_000).toISOString())]
      }
    }))
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", items }))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return { server, requests, port: (server.address() as AddressInfo).port }
}

const fixture = fileURLToPath(new URL("fixtures/runner.ts", import.meta.url))

/** Starts a server of the cluster, and waits until it executes runs. */
const start = async (options: object): Promise<ChildProcess> => {
  const given = JSON.stringify({ ...options, port: await PostgresServer.freePort() })
  const child = spawn(process.execPath, ["--conditions=@divisi/source", fixture, given], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (data) => `${data}`.includes("ready") && resolve())
    child.once("exit", () => reject(new Error("the server has ended")))
  })
  return child
}

// Each pod has an address of its own; only Linux has 127.0.0.2.
describe.skipIf(!hasPostgres || process.platform !== "linux")("health by Kubernetes", () => {
  let database: PostgresServer.PostgresServer
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-kubernetes-"))
  const children: Array<ChildProcess> = []
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    database.stop()
    fs.rmSync(folder, { recursive: true })
  })

  it("takes runs from a server whose pod is not ready, and gives them back", { timeout: 240_000 }, () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const hosts = ["127.0.0.1", "127.0.0.2"] as const
          const pods = new Map(hosts.map((host) => [host, true]))
          const { port, requests, server } = yield* Effect.promise(() => startApi(pods))
          yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
          const books = path.join(folder, "books")
          const kubernetes = { namespace: "work", labelSelector: "app=divisi" }
          const options = { url: database.url, schema: "pods", books, kubernetes, api: `http://127.0.0.1:${port}` }
          for (const host of hosts) children.push(yield* Effect.promise(() => start({ ...options, host })))
          const place = { url: Redacted.make(database.url), schema: "pods", graceMillis: 0 }
          const client = yield* ClusterRuns.make(place)
          const postgres = yield* Postgres.open(place)
          const until = (expected: string): Effect.Effect<void, Postgres.PostgresError> =>
            Effect.flatMap(Operations.status(postgres), ({ servers }) =>
              `${servers.map(({ isHealthy }) => isHealthy)}` === expected
                ? Effect.void
                : Effect.andThen(Effect.sleep(100), until(expected))
            )
          let runs = 0
          /** The number of servers that execute the next 20 runs. */
          const executing = Effect.gen(function* () {
            fs.writeFileSync(books, "")
            const ids = Array.from({ length: 20 }, () => `run-${runs++}`)
            yield* Effect.forEach(ids, (id) => Effect.andThen(client.submit(id, "question"), client.result(id)), {
              concurrency: "unbounded"
            })
            return new Set(fs.readFileSync(books, "utf8").match(/\d+$/gm)).size
          })
          yield* until("true,true")
          while ((yield* executing) < 2) yield* Effect.sleep(100)
          pods.set("127.0.0.2", false)
          yield* until("true,false")
          while ((yield* executing) > 1) yield* Effect.sleep(100)
          assert.strictEqual(yield* executing, 1)
          pods.set("127.0.0.2", true)
          yield* until("true,true")
          while ((yield* executing) < 2) yield* Effect.sleep(100)
          const asked = "/api/v1/namespaces/work/pods?fieldSelector=status.phase%3DRunning&labelSelector=app%3Ddivisi"
          assert.deepStrictEqual([...new Set(requests)], [`GET ${asked}`])
        })
      )
    )
  )
})
