/** Effect's workflows and activities in its cluster, with its default storage and transport. */

import { PostgresServer } from "@divisi/testkit/journals"
import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node-shared/NodeCrypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import * as Engine from "./Engine.ts"

const Line = Workflow.make("line", {
  payload: { run: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ run }) => run
})

/** Returns the layers for a server, with the same intervals as `@divisi/cluster`. */
const layerOf = (url: string, port: number) => {
  const transport = NodeClusterSocket.layerClientProtocol
  const database = PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })
  return ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(
      SocketRunner.layer.pipe(
        Layer.provide([NodeClusterSocket.layerSocketServer, transport]),
        Layer.provide(RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc), Layer.provide(transport)))
      )
    ),
    Layer.provideMerge(SqlMessageStorage.layer.pipe(Layer.provide(NodeCrypto.layerDigest), Layer.provide(database))),
    Layer.provide(SqlRunnerStorage.layer.pipe(Layer.provide(database))),
    Layer.provide(
      ShardingConfig.layer({
        runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port)),
        shardLockRefreshInterval: 5_000,
        shardLockExpiration: 12_000,
        entityMessagePollInterval: 500,
        refreshAssignmentsInterval: 500,
        runnerHealthCheckInterval: 2_000
      })
    ),
    Layer.provide(RpcSerialization.layerSchemaBinary())
  )
}

export const start: Engine.Start = async ({ atOnce, call, url }) => {
  const line = Line.toLayer(
    Effect.fnUntraced(function* ({ run }) {
      let answer = ""
      for (let step = 0; step < Engine.steps; step++) {
        answer = yield* Activity.make({
          name: `step ${step}`,
          success: Schema.String,
          execute: Effect.promise(() => call(Engine.textOf(run, step)))
        })
      }
      return answer
    })
  )
  const port = await PostgresServer.freePort()
  const scope = Scope.makeUnsafe()
  const layer = Layer.provideMerge(line, layerOf(url, port))
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return (runs) =>
    Effect.runPromiseWith(context)(Effect.forEach(runs, (run) => Line.execute({ run }), { concurrency: atOnce }))
}
