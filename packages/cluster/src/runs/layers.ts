/** Creates the layers of Effect's cluster on a Postgres database: shard ownership, and messages between servers. */
import * as NodeClusterSocket from "@effect/platform-node-shared/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node-shared/NodeCrypto"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as K8sHttpClient from "effect/cluster/K8sHttpClient"
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
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as SocketServer from "effect/socket/SocketServer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { timeouts } from "../internal/session.ts"
import * as Claims from "./claims.ts"
import * as Gone from "./gone.ts"
import type * as Leases from "./leases.ts"

/** The address at which other servers reach this one. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The local address to listen on, if it differs, e.g. `0.0.0.0` in a container. */
  readonly listenHost?: string | undefined
}

/** The pods in which the servers run. */
export interface Pods {
  readonly namespace: string
  /** Selects the pods by their labels, e.g. `app=divisi-cluster`. Default: all pods in the namespace. */
  readonly labelSelector?: string | undefined
}

/** Settings for joining the cluster. */
export interface Settings {
  readonly url: Redacted.Redacted
  readonly password?: Redacted.Redacted | undefined
  readonly schema: string
  readonly versionGroup?: string | undefined
  /** If omitted, this process submits and follows runs but does not execute any. */
  readonly address?: Address | undefined
  /** If set, the readiness of these pods determines which servers are healthy, instead of pings. */
  readonly kubernetes?: Pods | undefined
  readonly refreshMillis: number
  readonly expireMillis: number
  /** How long a server that is stopping waits for its calls in flight, in milliseconds. */
  readonly drainMillis: number
  readonly leases: Leases.Leases
  /** Returns the addresses of servers that have probably died. */
  readonly gone: Effect.Effect<ReadonlySet<string>>
  /** The database's clock, which determines when a scheduled message is delivered. */
  readonly clock: Clock.Clock
  /** Returns the number of additional runs that this process may read. */
  readonly room: () => number
}

/** Whether a text is a valid name for a version group. */
export const isVersionGroup = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z0-9_]{1,20}$/.test(value)

/** Returns the table prefix. Effect's cluster derives its advisory locks from it, so it must include the schema. */
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

/** Wraps the storage of shard locks to record when locks were confirmed, and to recognize dead servers. */
const watched = ({ gone, leases }: Settings) =>
  Layer.effect(
    RunnerStorage.RunnerStorage,
    Effect.map(RunnerStorage.RunnerStorage, (storage) => Gone.watch(leases.watch(storage), gone))
  )

/** Wraps the message storage to track and release claims. */
const claimed = ({ leases, room }: Settings) =>
  Layer.effect(
    MessageStorage.MessageStorage,
    Effect.flatMap(MessageStorage.MessageStorage, (storage) => Claims.watch(storage, leases.has, room))
  )

/**
 * Connection pool for the cluster's tables. The cluster's transactions have several statements, so a frozen server must
 * not keep its locks.
 */
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

const transport = NodeClusterSocket.layerClientProtocol

/** Accepts connections. A connection that breaks because its process was killed is not reported as an error. */
const socketServer = Layer.effect(
  SocketServer.SocketServer,
  Effect.map(SocketServer.SocketServer, (server) =>
    SocketServer.SocketServer.of({
      ...server,
      run: (handler) =>
        Effect.flatMap(References.UnhandledLogLevel, (level) =>
          Effect.provideService(
            server.run((socket) => Effect.provideService(handler(socket), References.UnhandledLogLevel, level)),
            References.UnhandledLogLevel,
            undefined
          )
        )
    })
  )
).pipe(Layer.provide(NodeClusterSocket.layerSocketServer))

/** Checks the health of servers by their pods in Kubernetes, or by pings. */
const healthOf = ({ kubernetes }: Settings) =>
  kubernetes === undefined
    ? RunnerHealth.layerPing.pipe(Layer.provide(Runners.layerRpc), Layer.provide(transport))
    : RunnerHealth.layerK8s(kubernetes).pipe(
        Layer.provide(K8sHttpClient.layer),
        Layer.provide([FetchHttpClient.layer, NodeFileSystem.layer])
      )

/** Returns the layers for a server, or for a client if there is no address. */
export const layer = (settings: Settings) => {
  const { address, schema } = settings
  const prefix = prefixOf(schema, settings.versionGroup)
  const runner =
    address === undefined
      ? SocketRunner.layerClientOnly.pipe(Layer.provide(transport))
      : SocketRunner.layer.pipe(Layer.provide([socketServer, transport]), Layer.provide(healthOf(settings)))
  return ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(runner),
    Layer.provideMerge(
      claimed(settings).pipe(
        Layer.provide(SqlMessageStorage.layerWith({ prefix })),
        Layer.provide(Layer.succeed(Clock.Clock, settings.clock)),
        Layer.provide(NodeCrypto.layerDigest),
        Layer.provide(pool(settings, 6))
      )
    ),
    // Uses a separate pool, so that shard locks do not wait behind messages.
    Layer.provide(
      watched(settings).pipe(Layer.provide(SqlRunnerStorage.layerWith({ prefix })), Layer.provide(pool(settings, 2)))
    ),
    Layer.provide(configOf(settings)),
    Layer.provide(RpcSerialization.layerSchemaBinary())
  )
}
