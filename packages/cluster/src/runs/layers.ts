/** The layers of effect's cluster over one Postgres: who owns which shard, and the messages between servers. */
import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node-shared/NodeCrypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Runners from "effect/cluster/Runners"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SocketRunner from "effect/cluster/SocketRunner"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { timeouts } from "../internal/session.ts"
import * as Claims from "./claims.ts"
import type * as Leases from "./leases.ts"

/** The address at which other servers reach this one. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The local address to listen on, if it differs, such as `0.0.0.0` in a container. */
  readonly listenHost?: string | undefined
}

/** How a server takes part in the cluster. */
export interface Settings {
  readonly url: Redacted.Redacted
  readonly password?: Redacted.Redacted | undefined
  readonly schema: string
  readonly versionGroup?: string | undefined
  /** Absent: this process submits and follows runs, and executes none. */
  readonly address?: Address | undefined
  readonly refreshMillis: number
  readonly expireMillis: number
  /** The time that a server which stops leaves its calls in flight, in milliseconds. */
  readonly drainMillis: number
  readonly leases: Leases.Leases
  /** How many further runs this process may read. */
  readonly room: () => number
}

/** The prefix of the tables. The advisory locks of effect's cluster are named by it, so it names the schema. */
export const prefixOf = (schema: string, versionGroup?: string): string =>
  versionGroup === undefined ? `${schema}_cluster` : `${schema}_cluster_${versionGroup}`

const configOf = ({ address, drainMillis, expireMillis, refreshMillis }: Settings) =>
  ShardingConfig.layer({
    runnerAddress: Option.map(Option.fromUndefinedOr(address), ({ host, port }) => RunnerAddress.make(host, port)),
    runnerListenAddress: Option.map(Option.fromUndefinedOr(address), ({ host, listenHost, port }) =>
      RunnerAddress.make(listenHost ?? host, port)
    ),
    shardLockRefreshInterval: refreshMillis,
    shardLockExpiration: expireMillis,
    entityTerminationTimeout: drainMillis,
    entityMessagePollInterval: 500,
    refreshAssignmentsInterval: 500,
    runnerHealthCheckInterval: 2_000
  })

/** The locks of shards, whose confirmations are noted. */
const watched = (leases: Leases.Leases) =>
  Layer.effect(RunnerStorage.RunnerStorage, Effect.map(RunnerStorage.RunnerStorage, leases.watch))

/** The messages, whose claims are given back. */
const claimed = ({ leases, room }: Settings) =>
  Layer.effect(
    MessageStorage.MessageStorage,
    Effect.flatMap(MessageStorage.MessageStorage, (storage) => Claims.watch(storage, leases.has, room))
  )

/** Connections for the cluster's tables. Its transactions take several statements, so a frozen server must not hold them. */
export const pool = (
  { password, schema, url }: Pick<Settings, "password" | "schema" | "url">,
  maxConnections: number
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError> =>
  PgClient.layer({
    url,
    password,
    maxConnections,
    applicationName: "divisi cluster",
    startupParameters: { ...timeouts, search_path: schema }
  })

/** The layers of a server, or of a client without an address. */
export const layer = (settings: Settings) => {
  const { address, schema } = settings
  const prefix = prefixOf(schema, settings.versionGroup)
  const transport = NodeClusterSocket.layerClientProtocol
  const runner =
    address === undefined
      ? SocketRunner.layerClientOnly.pipe(Layer.provide(transport))
      : SocketRunner.layer.pipe(
          Layer.provide([NodeClusterSocket.layerSocketServer, transport]),
          Layer.provide(RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc), Layer.provide(transport)))
        )
  return ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(runner),
    Layer.provideMerge(
      claimed(settings).pipe(
        Layer.provide(SqlMessageStorage.layerWith({ prefix })),
        Layer.provide(NodeCrypto.layerDigest),
        Layer.provide(pool(settings, 6))
      )
    ),
    // The locks of shards must not wait behind messages.
    Layer.provide(
      watched(settings.leases).pipe(
        Layer.provide(SqlRunnerStorage.layerWith({ prefix })),
        Layer.provide(pool(settings, 2))
      )
    ),
    Layer.provide(configOf(settings)),
    Layer.provide(RpcSerialization.layerSchemaBinary())
  )
}
