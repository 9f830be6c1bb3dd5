/** `divisi cluster`: servers as processes, on one database. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { divisi, type Ended } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi cluster` needs initdb, pg_ctl and postgres.")

describe.skipIf(!hasPostgres)("divisi cluster", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  const environment = () => {
    const url = new URL(database.url)
    const PGPASSWORD = url.password
    url.password = ""
    return { DIVISI_DATABASE: url.href, PGPASSWORD }
  }

  /** Starts a server, and returns its end once it executes runs. */
  const work = async (flags: (address: string) => ReadonlyArray<string> = (address) => ["--address", address]) => {
    const address = `127.0.0.1:${await PostgresServer.freePort()}`
    const up = Promise.withResolvers<void>()
    let kill = (_: NodeJS.Signals) => {}
    const ended = divisi(["cluster", "work", ...flags(address)], {
      environment: environment(),
      onOutput: (output, child) => {
        kill = (signal) => void child.kill(signal)
        if (output.includes("Executing runs")) up.resolve()
      }
    })
    ended.then(({ errors }) => up.reject(new Error(errors)))
    await up.promise
    return { address, ended, kill: (signal: NodeJS.Signals) => kill(signal) }
  }

  it("executes, follows, drains and reports", { timeout: 240_000 }, async () => {
    const all: Array<Ended> = []
    const call = async (...args: ReadonlyArray<string>) => {
      const ended = await divisi(["cluster", ...args], { environment: environment() })
      all.push(ended)
      return ended
    }
    assert.match((await call("migrate")).output, /up to date/)
    assert.match((await call("status")).output, /No servers are running/)
    const [first, second] = [await work(), await work()]
    const question = "How many minutes are there in 3 days?"
    const answered = await call("submit", question, "--run-id", "one", "--follow")
    assert.strictEqual(answered.code, 0, answered.errors)
    assert.match(answered.output, /\b4320\b/)
    assert.strictEqual((await call("submit", question, "--run-id", "one")).output, "one\n")
    const other = await call("submit", "Another question?", "--run-id", "one")
    assert.deepStrictEqual([other.code, other.output], [2, ""])
    assert.include(other.errors, `Run one has another question: "${question}"`)
    assert.match((await call("cancel", "one")).output, /Run one has already ended: answered/)
    const entries = (await call("follow", "one")).output.trim().split("\n")
    assert.include(entries.at(-1), "run-finished")
    const { servers } = JSON.parse((await call("status", "--json")).output)
    assert.sameMembers(
      servers.map(({ address }: { address: string }) => address),
      [first.address, second.address]
    )
    assert.strictEqual((await call("drain", first.address)).code, 0)
    const drained = await first.ended
    assert.strictEqual(drained.code, 0, drained.errors)
    const unknown = await call("drain", "127.0.0.1:1")
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.errors, second.address)
    assert.match((await call("submit", question, "--run-id", "two", "--follow")).output, /\b4320\b/)
    assert.match((await call("purge", "--older-than", "1d")).output, /Removed 0/)
    second.kill("SIGTERM")
    all.push(drained, await second.ended)
    assert.match((await call("cancel", "later")).output, /Run later has not started/)
    const said = all.map(({ errors, output }) => output + errors).join()
    assert.notInclude(said, PostgresServer.password)
  })

  it("runs by the commands of the files for containers", { timeout: 240_000 }, async () => {
    const deploy = path.resolve(import.meta.dirname, "../../../deploy")
    const documents = (name: string) =>
      parseAllDocuments(fs.readFileSync(path.join(deploy, name), "utf8"), { merge: true }).map((one) => one.toJS())
    const [{ services }] = documents("cluster.compose.yaml")
    const [{ spec }] = documents("cluster.kubernetes.yaml")
    const pod = spec.template.spec
    const { livenessProbe, readinessProbe, startupProbe } = pod.containers[0]
    const probes = [livenessProbe, readinessProbe, startupProbe].map(({ httpGet }) => httpGet.path)
    const commands: ReadonlyArray<ReadonlyArray<string>> = [
      services.one.command,
      services.two.command,
      pod.containers[0].args
    ]
    for (const command of [services.migrate.command, pod.initContainers[0].args]) {
      const { code, errors } = await divisi(command, { environment: environment() })
      assert.strictEqual(code, 0, errors)
    }
    for (const [cluster, work_, ...flags] of commands) {
      assert.deepStrictEqual([cluster, work_], ["cluster", "work"])
      const port = await PostgresServer.freePort()
      const server = await work((address) => {
        const own = flags.map((flag) => (flag.endsWith(":9100") ? address : flag.replace("0.0.0.0", "127.0.0.1")))
        // The models of the files need keys.
        own.splice(own.indexOf("--pool"), 2)
        own[own.indexOf("--health-port") + 1] = `${port}`
        return own
      })
      const get = (page: string) => fetch(`http://127.0.0.1:${port}${page}`)
      for (const probe of [...probes, "/health/ready"]) assert.strictEqual((await get(probe)).status, 200)
      const shown = fs.readFileSync(path.join(deploy, "grafana/cluster.json"), "utf8").match(/divisi_cluster_\w+/g)
      const metrics = await (await get("/metrics")).text()
      for (const metric of shown ?? []) assert.include(metrics, `\n${metric} `)
      server.kill("SIGTERM")
      await server.ended
    }
    assert.strictEqual(services.one.stop_grace_period, `${pod.terminationGracePeriodSeconds}s`)
  })
})
