/** `divisi cluster`: servers as processes, on one database. */
import fs from "node:fs"
import { connect } from "node:net"
import path from "node:path"
import { Postgres } from "@divisi/cluster"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { config, divisi, type Ended, inFolder } from "./process.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi cluster` needs initdb, pg_ctl and postgres.")

describe.skipIf(!hasPostgres)("divisi cluster", () => {
  let database: PostgresServer.PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  })
  afterAll(() => database.stop())

  const environment = () => {
    const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
    return { DIVISI_DATABASE: url, PGPASSWORD }
  }

  /** Starts a server, and returns its end once it executes runs. */
  const work = async (
    flags: (address: string) => ReadonlyArray<string> = (address) => ["--address", address],
    more: Readonly<Record<string, string>> = {}
  ) => {
    const address = `127.0.0.1:${await PostgresServer.freePort()}`
    const up = Promise.withResolvers<void>()
    let kill = (_: NodeJS.Signals) => {}
    const ended = divisi(["cluster", "work", ...flags(address)], {
      environment: { ...environment(), ...more },
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
    assert.include(other.errors, `Run "one" already exists and has a different question: "${question}"`)
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

  it("finds the servers of all version groups, and ignores connections that break", { timeout: 240_000 }, async () => {
    const call = (...args: ReadonlyArray<string>) => divisi(["cluster", ...args], { environment: environment() })
    const { address, ended } = await work((address) => ["--address", address, "--version-group", "next"])
    const [host, port] = address.split(":")
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), host)
      socket.once("connect", () => socket.resetAndDestroy()).once("close", () => resolve())
    })
    assert.match((await call("status")).output, new RegExp(`${address} .*, version group next`))
    assert.strictEqual((await call("drain", address)).code, 0)
    const { code, errors, output } = await ended
    assert.strictEqual(code, 0, errors)
    assert.notInclude(errors, "Unhandled error")
    assert.include(output, `${address} drains: its runs continue on other servers.`)
  })

  const query = (statement: string) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(Postgres.open({ url: Redacted.make(database.url), maxConnections: 1 }), ({ run }) =>
          run((session) => session.query(statement))
        )
      )
    )

  it("limits the cost and the calls of all servers together, and deletes old runs", { timeout: 240_000 }, () =>
    inFolder(async (folder) => {
      const [GATE, BOOK] = [path.join(folder, "gate"), path.join(folder, "book")]
      fs.writeFileSync(BOOK, "")
      for (const id of ["a", "b", "c"]) fs.writeFileSync(`${GATE}.${id}`, "")
      const calls = () => fs.readFileSync(BOOK, "utf8").trim().split("\n")
      const start = (file: string, ...flags: ReadonlyArray<string>) =>
        work((address) => ["--address", address, "--config", config(file), ...flags], { GATE, BOOK })
      const submit = (id: string, ...flags: ReadonlyArray<string>) =>
        divisi(["cluster", "submit", "Where?", "--run-id", id, ...flags], { environment: environment() })

      // A run makes three calls, of 0.01 USD each.
      const budget = ["--max-total-cost", "0.025"]
      const servers = [await start("paced", ...budget), await start("paced", ...budget)]
      const ended = await Promise.all(["b1", "b2", "b3", "b4"].map((id) => submit(id, "--follow")))
      for (const { code, errors } of ended) assert.match(`${code} ${errors}`, /^1 .*status budget/s)
      assert.lengthOf(calls(), 2)
      const occupied = await divisi(["cluster", "work", "--address", servers[0]!.address], {
        environment: environment()
      })
      assert.strictEqual(occupied.code, 1)
      assert.match(occupied.errors, /^divisi: Cannot listen on 127\.0\.0\.1:\d+: listen EADDRINUSE/m)
      for (const { kill } of servers) kill("SIGTERM")
      await Promise.all(servers.map(({ ended }) => ended))

      await query("UPDATE divisi.runs SET changed_at = 0 WHERE run IN ('b1', 'b2')")
      const server = await start("oneCallPerMinute", "--keep", "1d")
      assert.strictEqual((await submit("limited", "--follow")).code, 0)
      assert.isNotEmpty(await query("SELECT FROM divisi.paces WHERE name LIKE 'limit %'"))
      server.kill("SIGTERM")
      assert.match((await server.ended).output, /Deleted data older than --keep: runs 2 /)
      const left = await query("SELECT run FROM divisi.runs WHERE run LIKE 'b%' ORDER BY run")
      assert.deepStrictEqual(left, [["b3"], ["b4"]])
    })
  )

  it("rejects ids that no run can have, and wrong names of version groups", { timeout: 120_000 }, async () => {
    const wrong = [
      ["submit", "2+2", "--run-id", ""],
      ["follow", "a\nb"],
      ["cancel", "x".repeat(513)],
      ["status", "--version-group", "A b"]
    ]
    for (const args of wrong) {
      const { code, errors } = await divisi(["cluster", ...args], { environment: environment() })
      assert.strictEqual(code, 2, args.join())
      assert.match(errors, /The id of a run must be a string of 1 to 512|at most 20 lowercase letters/)
    }
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
