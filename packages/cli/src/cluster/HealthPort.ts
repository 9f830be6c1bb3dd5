/** Serves a cluster worker's health and metrics over HTTP, for Kubernetes and Prometheus. */
import * as Http from "node:http"
import type { ClusterRuns } from "@divisi/cluster/runs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"

/** Timeout for the database when checking readiness, in milliseconds. */
const readyMillis = 2_000

/** A run id that does not exist, used to probe the database. */
const noRun = "health"

const isReady = ({ journal }: ClusterRuns.ClusterRuns): Effect.Effect<boolean> =>
  Effect.map(Effect.option(Effect.timeout(journal.find(noRun), readyMillis)), ({ _tag }) => _tag === "Some")

const metricsOf = (runs: ClusterRuns.ClusterRuns): string => {
  const { calls, runs: count } = runs.size()
  return [
    "# HELP divisi_cluster_runs Number of runs in progress on this server.",
    "# TYPE divisi_cluster_runs gauge",
    `divisi_cluster_runs ${count}`,
    "# HELP divisi_cluster_calls_in_flight Number of calls in flight on this server.",
    "# TYPE divisi_cluster_calls_in_flight gauge",
    `divisi_cluster_calls_in_flight ${calls}`,
    ""
  ].join("\n")
}

/** Serves `/health/live`, `/health/ready` and `/metrics` until the scope closes. */
export const listen = Effect.fnUntraced(function* (
  runs: ClusterRuns.ClusterRuns,
  host: string,
  port: number
): Effect.fn.Return<void, Failure, Scope.Scope> {
  const context = yield* Effect.context<never>()
  const send = (response: Http.ServerResponse, status: number, type: string, text: string): void =>
    void response.writeHead(status, { "content-type": type }).end(text)
  const health = (response: Http.ServerResponse, isOk: boolean): void =>
    send(response, isOk ? 200 : 503, "application/json", JSON.stringify({ status: isOk ? "ok" : "unavailable" }))
  const server = Http.createServer((request, response) => {
    const path = request.url?.replace(/\?.*$/s, "")
    if (path === "/health/live") return health(response, true)
    if (path === "/health/ready") {
      Effect.runForkWith(context)(Effect.map(isReady(runs), (isOk) => health(response, isOk)))
      return
    }
    if (path !== "/metrics") return send(response, 404, "text/plain", "Not found")
    send(response, 200, "text/plain; version=0.0.4; charset=utf-8", metricsOf(runs))
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  yield* Effect.callback<void, Failure>((resume) => {
    server.once("error", ({ message }) => resume(Effect.fail(failed(`Cannot listen on ${host}:${port}: ${message}.`))))
    server.listen(port, host, () => resume(Effect.void))
  })
})
