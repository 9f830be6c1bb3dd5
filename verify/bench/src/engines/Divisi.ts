/** Divisi: runs submitted to `@divisi/cluster/runs`. */
import { ClusterRuns } from "@divisi/cluster/runs"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import { worker } from "@divisi/core/promise"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Engine from "./Engine.ts"

export const start: Engine.Start = async ({ atOnce, call, url }) => {
  const answer = async ({ messages }: { readonly messages: unknown }) => ({
    text: await call(JSON.stringify(messages)),
    usage: { inputTokens: 10, outputTokens: 10 }
  })
  const pool = WorkerPool.makeUnsafe([
    worker({ id: "a", answer, pricing: { inputPerMillion: 1, outputPerMillion: 2 } })
  ])
  const policy = Policy.fixed("line", () => ({
    steps: Array.from({ length: Engine.steps }, (_, at) => ({
      worker: 0,
      subtask: `step ${at}`,
      access: "all" as const
    }))
  }))
  const port = await PostgresServer.freePort()
  const made = ClusterRuns.make({
    url: Redacted.make(url),
    worker: {
      address: { host: "127.0.0.1", port },
      conductor: Conductor.make({ pool, policy }),
      concurrency: atOnce
    }
  })
  const cluster = await Effect.runPromise(Scope.provide(made, Scope.makeUnsafe()))
  return (runs) =>
    Effect.runPromise(
      Effect.andThen(
        Effect.forEach(runs, (run) => cluster.submit(run, run), { concurrency: atOnce, discard: true }),
        Effect.forEach(runs, (run) => Effect.map(cluster.result(run), ({ answer }) => answer ?? ""), { concurrency: 8 })
      )
    )
}
