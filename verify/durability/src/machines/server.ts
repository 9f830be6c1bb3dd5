/**
 * A cluster server. Its workers record the start and end of each call in a file, which represents the vendor's records.
 * All calls are charged to one account in the database.
 */
import fs from "node:fs"
import { Postgres, PostgresAccounts } from "@divisi/cluster"
import { ClusterRuns } from "@divisi/cluster/runs"
import type { Policy } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { CallId, type Worker, type WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

const { url, host, port, books, callMillis, limitUsd, steps } = JSON.parse(process.argv[2] ?? "{}")

const write = (line: string) => fs.appendFileSync(books, `${line} ${process.pid}\n`)

const worker = (id: string): Worker => ({
  id,
  pricing: { inputPerMillion: 1, outputPerMillion: 1 },
  generate: () =>
    Stream.unwrap(
      Effect.gen(function* () {
        const call = yield* CallId
        write(`begin ${call}`)
        yield* Effect.sleep(callMillis)
        write(`end ${call}`)
        return Stream.fromIterable<WorkerPart>([
          { type: "text", text: `${id} ` },
          { type: "text", text: "answers" },
          { type: "finish", reason: "stop", usage: { inputTokens: 5, outputTokens: 5 } }
        ])
      })
    )
})

const policy: Policy.Policy = {
  name: "line",
  maxSteps: 64,
  propose: () =>
    Effect.succeed({
      notes: [],
      workflow: {
        steps: Array.from({ length: steps }, (_, at) => ({
          worker: at % 3,
          subtask: `step ${at}`,
          access: at < 2 ? [] : ("all" as const)
        }))
      }
    })
}

const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
process.once("SIGTERM", () => stop())
// Reports the memory, with --expose-gc after a collection.
process.on("SIGUSR2", () => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  console.log(`memory ${heapUsed} ${rss}`)
})

const program = Effect.gen(function* () {
  const place = { url: Redacted.make(url), graceMillis: 3_000 }
  const accounts = yield* PostgresAccounts.make(yield* Postgres.open(place))
  const ledger = yield* accounts.open({ name: "all", limits: { costUsd: limitUsd } })
  const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map(worker))
  yield* ClusterRuns.make({
    ...place,
    worker: {
      address: { host, port },
      conductor: Conductor.make({ pool, policy }),
      optionsOf: () => ({ ledger })
    }
  })
  console.log("ready")
  yield* Effect.promise(() => stopped)
})

Effect.runPromise(Effect.scoped(program)).then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  }
)
