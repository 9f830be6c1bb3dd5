/**
 * Coding agents with `divisi serve --pool …`, started as by a user, in front of servers that reject different settings.
 * Each agent must complete its tasks: no optional setting of a client may make a request fail.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Agents from "./Agents.ts"
import type { Check, Report } from "./Check.ts"
import { root } from "./Folders.ts"
import * as Serving from "./Serving.ts"
import * as Upstreams from "./Upstreams.ts"

/** A pool, and where its servers are. */
interface Pool {
  readonly workers: string
  readonly env: Effect.Effect<Readonly<Record<string, string>>, unknown, Scope.Scope>
}

const strict = Effect.map(Upstreams.make("strict"), ({ url }) => ({ MY_SERVER_BASE_URL: url }))

const llama = Effect.map(Upstreams.make("llama"), ({ url }) => ({ LLAMA_SERVER_BASE_URL: url }))

/**
 * OpenAI's Responses API, as this project's own server implements it. The clients above check it against OpenAI's own
 * clients.
 */
const openai = Effect.map(Serving.make({ aliases: { "gpt-6.1-terra": "worker/writer" } }), ({ url }) => ({
  OPENAI_BASE_URL: url,
  OPENAI_API_KEY: "sk-clients"
}))

const pools: Readonly<Record<string, Pool>> = {
  "unnamed-server": { workers: "my-server:a", env: strict },
  "llama-server": { workers: "llama-server:a", env: llama },
  "openai-model": { workers: "openai:gpt-6.1-terra", env: openai },
  "mixed-pool": {
    workers: "my-server:a,llama-server:b,openai:gpt-6.1-terra",
    env: Effect.map(Effect.all([strict, llama, openai]), (all) => Object.assign({}, ...all))
  }
}

/** The pools that are checked. */
export const names = Object.keys(pools)

/** The clients that CI runs. */
export const short: ReadonlyArray<string> = ["unnamed-server"]

/** Starts `divisi serve` as a process, on a free port, in a new folder. */
const served = (pool: string, env: Readonly<Record<string, string>>): Effect.Effect<string, Error, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () =>
          new Promise<{ readonly url: string; readonly stop: () => void }>((resolve, reject) => {
            const home = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-pool-"))
            const main = path.join(root, "../..", "packages", "cli", "src", "main.ts")
            const flags = ["serve", "--pool", pool, "--port", "0", "--keys", "none"]
            const child = spawn(process.execPath, ["--conditions=@divisi/source", main, ...flags], {
              cwd: home,
              env: { ...process.env, ...env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
              stdio: ["ignore", "pipe", "pipe"]
            })
            const stop = () => {
              child.kill("SIGKILL")
              fs.rmSync(home, { recursive: true, force: true })
            }
            let output = ""
            const hear = (text: string) => {
              output += text
              const url = /http:\/\/127\.0\.0\.1:\d+(?:\/v1)?/.exec(output)?.[0]
              if (url !== undefined) resolve({ url: url.endsWith("/v1") ? url : `${url}/v1`, stop })
            }
            child.stdout.setEncoding("utf8").on("data", hear)
            child.stderr.setEncoding("utf8").on("data", hear)
            child.on("close", (code) => reject(new Error(`divisi serve ended with ${code}:\n${output}`)))
          }),
        catch: (error) => error as Error
      }),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ url }) => url
  )

/** The address of `divisi serve` in front of a pool. */
const serve = (name: string): Effect.Effect<string, unknown, Scope.Scope> => {
  const { env, workers } = pools[name]!
  return Effect.flatMap(env, (env) => served(workers, env))
}

/** Checks a client in front of a server without a name, and of a mixed pool. */
export const checkOn = async (check: (url: string) => Promise<Report>): Promise<ReadonlyArray<Check>> => {
  const checks: Array<Check> = []
  for (const name of ["unnamed-server", "mixed-pool"]) {
    const all = Effect.flatMap(serve(name), (url) => Effect.promise(() => check(url)))
    const report = await Effect.runPromise(Effect.scoped(all))
    checks.push(...report.checks.map((one) => ({ ...one, name: `${name}: ${one.name}` })))
  }
  return checks
}

/** Lets each agent do its three tasks, or only the first, as in CI. */
export const check = (name: string, isShort: boolean): Promise<Report> => {
  const { workers } = pools[name]!
  const all = Effect.gen(function* () {
    const url = yield* serve(name)
    const checks = yield* Effect.forEach(Agents.names, (agent) =>
      Effect.map(
        Effect.promise(() => Agents.finish(agent, url, isShort)),
        (checks) => checks.map((one): Check => ({ ...one, name: `${agent}: ${one.name}` }))
      )
    )
    return { client: `agents on --pool ${workers}`, version: "", checks: checks.flat() }
  })
  return Effect.runPromise(Effect.scoped(all))
}
