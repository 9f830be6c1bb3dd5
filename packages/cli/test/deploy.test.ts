import fs from "node:fs"
import path from "node:path"
import { Baselines } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { NodeServer } from "@divisi/server"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { parse, parseAllDocuments } from "yaml"
import { divisi } from "./process.ts"

const folder = path.resolve(import.meta.dirname, "../../../deploy")
const text = (name: string): string => fs.readFileSync(path.join(folder, name), "utf8")

const dockerfile = text("Dockerfile")
const compose = parse(text("compose.yaml"))
const objects = parseAllDocuments(text("kubernetes.yaml")).map((document) => document.toJS())
const kind = (name: string) => objects.find((object) => object.kind === name)
const pod = kind("Deployment").spec.template.spec
const [container] = pod.containers

/** Returns the words of a JSON list in the Dockerfile, from the last line of an instruction. */
const instruction = (name: string): ReadonlyArray<string> =>
  JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, "m").exec(dockerfile)![1]!)

/** A variable of compose with its default. */
const filled = (word: string): string => word.replace(/\$\{\w+:-([^}]*)\}/, "$1")

const commands: Readonly<Record<string, ReadonlyArray<string>>> = {
  Dockerfile: instruction("CMD"),
  "compose.yaml": compose.services.divisi.command.map(filled),
  "kubernetes.yaml": container.args
}

describe("the files for containers", () => {
  for (const [name, command] of Object.entries(commands)) {
    it(`serve on the port that all of them name, with flags that there are: ${name}`, async () => {
      const { code, errors, output } = await divisi([...command, "--print-config", "langchain"])
      assert.deepStrictEqual([code, errors], [0, ""])
      assert.include(output, "http://127.0.0.1:8080/v1")
      assert.include(command, "0.0.0.0")
    })
  }

  it("agree on ports, and on storage locations", () => {
    assert.match(dockerfile, /^EXPOSE 8080$/m)
    assert.match(dockerfile, /^VOLUME \/data$/m)
    assert.match(dockerfile, /XDG_DATA_HOME=\/data/)
    assert.deepStrictEqual(compose.services.divisi.ports, ["127.0.0.1:8080:8080"])
    assert.deepStrictEqual(compose.services.divisi.volumes, ["data:/data"])
    assert.strictEqual(container.ports[0].containerPort, 8080)
    assert.strictEqual(kind("Service").spec.ports[0].port, 8080)
    const [{ targets }] = parse(text("prometheus.yml")).scrape_configs[0].static_configs
    assert.deepStrictEqual(targets, ["divisi:8080"])
    const mounted = container.volumeMounts.map(({ name }: { name: string }) => name)
    assert.sameMembers(
      mounted,
      pod.volumes.map(({ name }: { name: string }) => name)
    )
    for (const volume of Object.values<{ readonly volumes?: ReadonlyArray<string> }>(compose.services)) {
      for (const place of volume.volumes ?? []) {
        const [source] = place.split(":")
        // The secret of Prometheus is made by who runs it.
        if (source !== "./metrics.key" && source!.startsWith("./")) fs.accessSync(path.join(folder, source!))
      }
    }
  })

  it("share a database that is there before the server is", () => {
    const { divisi, postgres } = compose.services
    const environment = Object.fromEntries(divisi.environment.map((line: string) => line.split(/=(.*)/)))
    const { hostname, pathname, username } = new URL(environment.DIVISI_DATABASE)
    assert.property(compose.services, hostname)
    assert.deepInclude(postgres.environment, { POSTGRES_USER: username, POSTGRES_DB: pathname.slice(1) })
    // The file contains no password, and both use the same one.
    assert.match(environment.PGPASSWORD, /^\$\{POSTGRES_PASSWORD:\?/)
    assert.strictEqual(postgres.environment.POSTGRES_PASSWORD, environment.PGPASSWORD)
    assert.strictEqual(divisi.depends_on.postgres.condition, "service_healthy")
    assert.includeMembers(postgres.healthcheck.test, ["pg_isready", username])
    assert.include(dockerfile, "@divisi/cluster@")
  })

  it("run without root, and write nothing but their data", () => {
    assert.match(dockerfile, /^FROM gcr\.io\/distroless\/\S+:nonroot$/m)
    assert.match(dockerfile, /^USER 65532:65532$/m)
    assert.isTrue(compose.services.divisi.read_only)
    assert.deepStrictEqual(compose.services.divisi.cap_drop, ["ALL"])
    assert.isTrue(pod.securityContext.runAsNonRoot)
    assert.deepInclude(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
    assert.isAbove(pod.terminationGracePeriodSeconds, 30)
    assert.strictEqual(kind("Deployment").spec.replicas, 1)
  })

  it("ask for what the server has: its health, and the metrics of the dashboard", async () => {
    const worker = ScriptedWorker.make({ id: "a", replies: ["yes"] })
    const serving = Effect.gen(function* () {
      const pool = WorkerPool.makeUnsafe([worker])
      const { url } = yield* NodeServer.make({ pool, policy: Baselines.single("a"), port: 0 })
      return yield* Effect.promise(async () => {
        const root = url.slice(0, -"/v1".length)
        const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "?" }] })
        await (await fetch(`${url}/chat/completions`, { method: "POST", body })).text()
        const { livenessProbe, readinessProbe, startupProbe } = container
        const asked = [livenessProbe, readinessProbe, startupProbe].map(({ httpGet }) => httpGet.path)
        const [check] = /http:\/\/127\.0\.0\.1:8080(\/[a-z/]+)/.exec(dockerfile)!.slice(1)
        for (const each of [...asked, check]) assert.strictEqual((await fetch(`${root}${each}`)).status, 200)
        return (await fetch(`${root}${parse(text("prometheus.yml")).scrape_configs[0].metrics_path}`)).text()
      })
    })
    const metrics = await Effect.runPromise(Effect.scoped(serving))
    const { panels } = JSON.parse(text("grafana/divisi.json"))
    const expressions = JSON.stringify(panels).match(/divisi_[a-z_]+/g)!
    assert.isAbove(expressions.length, 8)
    for (const name of expressions) assert.match(metrics, new RegExp(`^${name}[{ ]`, "m"))
    const source = parse(text("grafana/datasource.yaml")).datasources[0]
    for (const { datasource } of panels) assert.strictEqual(datasource.uid, source.uid)
  })
})
