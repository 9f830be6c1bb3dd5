/**
 * Executes runs on a cluster of servers.
 *
 * A run is submitted by id and executed by one of the servers that share a Postgres database. Effect's cluster assigns
 * the run to a server, and reassigns it if that server drains, dies or freezes. The journal's epoch ensures that only
 * one server can write to the run, so a received answer is never paid for twice.
 */
import { Elapsed, type Journal, Options as Tables, type Tool } from "@divisi/core"
import type { Conductor, RunOptions, RunResult } from "@divisi/core/Conductor"
import * as Task from "@divisi/core/Task"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Sharding from "effect/cluster/Sharding"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as SocketServer from "effect/socket/SocketServer"
import * as SqlError from "effect/sql/SqlError"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { acquired, bounded } from "../internal/closing.ts"
import * as Postgres from "../Postgres.ts"
import * as PostgresJournal from "../PostgresJournal.ts"
import * as Body from "./body.ts"
import * as Endings from "./endings.ts"
import * as Feeds from "./feed.ts"
import * as Gone from "./gone.ts"
import * as Layers from "./layers.ts"
import * as Leases from "./leases.ts"
import * as Owned from "./owned.ts"
import { Ended, executionOf, Feed, Item, Run, resultOf } from "./protocol.ts"
import * as Rejections from "./rejections.ts"

export { Ended, Item }

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Database options, and the role of this process. */
export interface Options extends Postgres.Options {
  /** Makes this process a server that executes runs. If omitted, the process only submits and follows runs. */
  readonly worker?: Worker | undefined
  /**
   * How often a server renews the claims on its runs, in milliseconds. Below 3,000, a busy server may briefly lose all
   * of its runs and restart them. Default: 3,000.
   */
  readonly refreshMillis?: number | undefined
  /**
   * Name of a group of servers that share runs. Use different groups for the old and new version of a deployment, so
   * that they do not execute each other's runs. Up to 20 lowercase letters, digits and `_`. Default: a single group.
   */
  readonly versionGroup?: string | undefined
  /** How long a server keeps its runs without renewing them, in milliseconds. Default: 12,000. */
  readonly expireMillis?: number | undefined
}

/** Options for a server that executes runs. */
export interface Worker {
  /**
   * The address that other servers connect to. Connections are not authenticated, so it must not be reachable from
   * outside the cluster.
   */
  readonly address: Layers.Address
  readonly conductor: Conductor["Service"]
  /** Returns additional options for a run, such as its account. */
  readonly optionsOf?: ((task: Task.Task) => RunOptions) | undefined
  /** Maximum number of concurrent runs on this server. Additional runs wait. Default: 50. */
  readonly concurrency?: number | undefined
  /**
   * Maximum number of servers in a row that may die or freeze while executing a run without receiving an answer. The
   * run then fails with the reason `Abandoned`, because the run itself may be the cause. Default: 5.
   */
  readonly maxTakeovers?: number | undefined
  /**
   * Checks the health of the other servers by the readiness of their pods in Kubernetes, instead of by pings. Requires
   * the IP of the pod as host of `address`, a service account that may list pods, and `NODE_EXTRA_CA_CERTS` with the
   * service account's `ca.crt`. While the Kubernetes API is unreachable, all servers count as healthy.
   */
  readonly kubernetes?: Layers.Pods | undefined
  /** How long a server that is stopping waits for its calls in flight, in milliseconds. Default: 60,000. */
  readonly drainMillis?: number | undefined
}

/** Options for a submitted run. */
export interface SubmitOptions {
  /**
   * The earliest start, in milliseconds since 1970 by the database's clock. Until then, the run uses no resources on a
   * server and can be cancelled. Default: as soon as a server has capacity.
   */
  readonly startAt?: number | undefined
}

const millis = Tables.number(0, 2 ** 31 - 1)

const optionsTable = Tables.table(
  {
    ...Postgres.optionsShape,
    refreshMillis: millis,
    expireMillis: millis,
    versionGroup: Tables.expects("at most 20 lowercase letters, digits and _", Layers.isVersionGroup),
    worker: Tables.table(
      {
        address: Tables.table(
          {
            host: Tables.name,
            port: Tables.whole(1, 65_535),
            listenHost: Tables.name
          } satisfies Tables.ShapeOf<Layers.Address>,
          { required: ["host", "port"] }
        ),
        conductor: Tables.madeBy("a Conductor, such as that of Conductor.make", "run"),
        optionsOf: Tables.aFunction,
        concurrency: Tables.whole(1),
        maxTakeovers: Tables.whole(0),
        kubernetes: Tables.table(
          { namespace: Tables.name, labelSelector: Tables.name } satisfies Tables.ShapeOf<Layers.Pods>,
          { required: ["namespace"] }
        ),
        drainMillis: millis
      } satisfies Tables.ShapeOf<Worker>,
      { required: ["address", "conductor"] }
    )
  } satisfies Tables.ShapeOf<Options>,
  { required: ["url"] }
)

const idTable = { id: Tables.runId }

const submitTable = { ...idTable, startAt: Tables.number(0, 8.64e15) } satisfies Tables.ShapeOf<
  SubmitOptions & { readonly id: string }
>

/** Raised when a server cannot listen on its address, for example because another process uses the port. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly address: string
  readonly detail: string
}> {
  override get message(): string {
    return `Cannot listen on ${this.address}: ${this.detail}.`
  }
}

/** Raised when a server leaves the cluster because a vendor rejects its key or account. */
export class ServerRejected extends Data.TaggedError("ServerRejected")<{
  /** The vendor's rejection. */
  readonly detail: string
}> {
  override get message(): string {
    return `A vendor rejects the key or account of this server, so its runs are left to other servers. ${this.detail} Correct the key, then restart the server.`
  }
}

/** The runs of a cluster. All functions work on every member, regardless of which server executes the run. */
export interface ClusterRuns {
  /** Submits a run, to be started by one of the servers. Submitting a known id again has no effect. */
  readonly submit: (id: string, task: Task.Input, options?: SubmitOptions) => Effect.Effect<void>
  /** Returns the result of a finished run, or `None` if it has not finished. */
  readonly poll: (id: string) => Effect.Effect<Option.Option<Ended>>
  /** Waits until a run has finished and returns its result. */
  readonly result: (id: string) => Effect.Effect<Ended>
  /**
   * Cancels a run. No further calls are made, even if the run's server dies at this moment. If no server responds
   * within 5 s, the next one ends the run. A run that has ended is left unchanged; a run that is submitted later under
   * this id does not start.
   */
  readonly cancel: (id: string) => Effect.Effect<void, Postgres.PostgresError>
  /**
   * Provides results for the pending tool calls of a suspended run, keyed by call id. Providing the same results again
   * has no effect.
   */
  readonly give: (id: string, results: Readonly<Record<string, Tool.Given>>) => Effect.Effect<void>
  /**
   * Streams the entries of a run, starting with a sequence number, until the run ends. No entry is skipped. While a
   * server executes the run, the stream also includes chunks of answers. If the run has not started, the stream waits
   * for it.
   */
  readonly follow: (id: string, from?: number) => Stream.Stream<Item>
  /**
   * Completes when this server is asked to drain (`Operations.drain`). Fails with `ServerRejected` if a vendor rejects
   * its key or account. In both cases, close the scope; the runs then wait for another server.
   */
  readonly drained: Effect.Effect<void, Postgres.PostgresError | ServerRejected>
  /** Returns the number of runs in this process and the number of their calls in flight. */
  readonly size: () => { readonly runs: number; readonly calls: number }
  readonly journal: Journal.Journal
}

// -------------------------------------------------------------------------------------------------------------------
// Execution
// -------------------------------------------------------------------------------------------------------------------

/** Returns the error of a kind in a failure, which may be its cause. */
const errorIn = <E>(cause: Cause.Cause<unknown>, is: (error: unknown) => error is E): E | undefined => {
  const within = (error: unknown): E | undefined => {
    if (is(error)) return error
    return Predicate.hasProperty(error, "cause") ? within(error.cause) : undefined
  }
  for (const reason of cause.reasons) {
    const error = within(
      Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    )
    if (error !== undefined) return error
  }
  return undefined
}

const isSocketError = (error: unknown): error is SocketServer.SocketServerError =>
  Predicate.isTagged(error, "SocketServerError")

/**
 * Converts database errors, some of which the cluster's layers report as defects, to failures, and returns a failure to
 * listen.
 */
const joined = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  address: string
): Effect.Effect<A | ListenError, SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause) => {
    const error = errorIn(cause, SqlError.isSqlError)
    if (error !== undefined) return Effect.fail(error)
    const refused = errorIn(cause, isSocketError)?.reason.cause
    return refused instanceof Error
      ? Effect.succeed(new ListenError({ address, detail: refused.message }))
      : Effect.orDie(Effect.failCause(cause))
  })

/** Maximum time for a drained server to leave the cluster, in milliseconds. */
const leaveMillis = 5_000

/**
 * Maximum number of runs queued in a server, in addition to those it executes. All others wait in the database. Servers
 * poll for runs twice a second, so this suffices for a thousand runs per second.
 */
const waitingRuns = 500

/** How long the feed of a run without readers stays in memory, in milliseconds. */
const feedIdleMillis = 10_000

/** Polling interval for drain requests, in milliseconds. */
const lookMillis = 1_000

/** Maximum time to tell a server that its run is cancelled, in milliseconds. */
const tellMillis = 5_000

/** Delay between polls or attempts, in milliseconds. */
const napMillis = 200

/**
 * Retries while the database or the owner of a run is unreachable, which the cluster reports as a defect. Gives up
 * after `patienceMillis`.
 */
const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>, patienceMillis: number): Effect.Effect<A, never, R> =>
  Effect.clockWith((clock: Clock.Clock) => {
    const begun = Elapsed.ticks(clock)
    const attempt: Effect.Effect<A, never, R> = Effect.catchCause(effect, (cause) =>
      Elapsed.millisSince(clock, begun) < patienceMillis
        ? Effect.andThen(Effect.sleep(napMillis), attempt)
        : (Effect.failCause(cause) as Effect.Effect<never>)
    )
    return attempt
  })

/** A clock that shows the database's time, so that servers with different clocks agree. */
const databaseClock = (clock: Clock.Clock, now: () => number): Clock.Clock => {
  const nanos = () => BigInt(now()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Joins a cluster until the scope closes. A server that is shutting down makes no further calls, waits for calls in
 * flight, and hands its runs over.
 *
 * **Gotchas**
 *
 * All servers must use the same policy, pool and settings. After a `kill -9`, runs continue on another server within
 * `expireMillis`; calls in flight are charged at their worst-case cost and repeated.
 *
 * **Example**
 *
 * ```ts no-run
 * import { ClusterRuns } from "@divisi/cluster/runs"
 * import { Baselines } from "@divisi/core"
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a")])
 * const program = Effect.gen(function* () {
 *   const runs = yield* ClusterRuns.make({
 *     url: Redacted.make("postgres://divisi@localhost/divisi"),
 *     worker: {
 *       address: { host: "127.0.0.1", port: 9100 },
 *       conductor: Conductor.make({ pool, policy: Baselines.single(0) })
 *     }
 *   })
 *   yield* runs.submit("run-1", "What is 6 times 7?")
 *   return yield* runs.result("run-1")
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<ClusterRuns, Postgres.PostgresError | ListenError, Scope.Scope> {
  const {
    expireMillis = PostgresJournal.defaultExpireMillis,
    refreshMillis = 3_000,
    versionGroup,
    worker,
    ...ofDatabase
  } = options
  const { password, patienceMillis = 30_000, url } = ofDatabase
  yield* Effect.mapError(
    Tables.checked("ClusterRuns.make", options, optionsTable),
    ({ message: detail }) => new Postgres.PostgresError({ database: "to open", reason: { _tag: "Invalid", detail } })
  )
  const { drainMillis = worker === undefined ? 0 : 60_000 } = worker ?? {}
  const address = worker === undefined ? undefined : `${worker.address.host}:${worker.address.port}`
  const postgres = yield* Postgres.open(ofDatabase, address)
  const { run: query, schema } = postgres
  const base = yield* PostgresJournal.make(postgres, { expireMillis })
  // Closed after the layers below, because draining requires active runs.
  const running = yield* Scope.fork(yield* Effect.scope)
  const table = `${schema}.cancelled`
  const markCancelled = (id: string) =>
    query((session) =>
      session.query(`INSERT INTO ${table} (run, at) VALUES ($1, $2::bigint) ON CONFLICT DO NOTHING`, [
        id,
        `${postgres.now()}`
      ])
    )
  const { concurrency = 50 } = worker ?? {}
  const rejected = Deferred.makeUnsafe<never, ServerRejected>()
  const owned = Owned.make<RunResult>(base, {
    scope: running,
    concurrency,
    maxTakeovers: worker?.maxTakeovers ?? 5,
    abandoned: (id, claim) => Endings.abandoned(base, id, claim, Effect.orDie(markCancelled(id))),
    ended: (id) => Endings.cancelled(base, id),
    rejections: Rejections.make((detail) => Deferred.doneUnsafe(rejected, Exit.fail(new ServerRejected({ detail }))))
  })
  const isCancelled = (id: string) =>
    Effect.map(
      Effect.orDie(query((session) => session.query(`SELECT FROM ${table} WHERE run = $1`, [id]))),
      (rows) => rows.length > 0
    )

  const drained = (address: string): Effect.Effect<void, Postgres.PostgresError> =>
    Effect.flatMap(
      query((session) => session.query(`DELETE FROM ${schema}.drains WHERE address = $1 RETURNING address`, [address])),
      (rows) => (rows.length > 0 ? Effect.void : Effect.andThen(Effect.sleep(lookMillis), drained(address)))
    )
  // Deletes drain requests from before the start, which were meant for an earlier process at this address.
  if (address !== undefined) {
    yield* query((session) => session.query(`DELETE FROM ${schema}.drains WHERE address = $1`, [address]))
  }

  const ownClock = yield* Clock.Clock
  const leases = Leases.make(ownClock, expireMillis)
  const clock = databaseClock(ownClock, postgres.now)
  const layer = Layers.layer({
    url,
    password,
    schema,
    address: worker?.address,
    versionGroup,
    kubernetes: worker?.kubernetes,
    refreshMillis,
    expireMillis,
    drainMillis,
    leases,
    gone: Effect.orElseSucceed(Gone.addresses(postgres, expireMillis), () => new Set<string>()),
    clock,
    room: () => concurrency + waitingRuns - owned.count()
  })
  // On closing, the layers wait for the database and for other servers, which may be unreachable. The socket server
  // waits until its last bytes are acknowledged, even by a machine that has disappeared.
  const members = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => bounded(Scope.close(members, exit), leaveMillis))
  // Closed first, so that calls in flight can finish.
  const entities = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => bounded(Scope.close(entities, exit), drainMillis + leaveMillis))
  // Building the layers accesses the database, so temporary errors are retried as for any statement.
  const listened = worker && `${worker.address.listenHost ?? worker.address.host}:${worker.address.port}`
  const context = yield* query(() => joined(acquired(members, Layer.build(layer)), listened ?? "no address"))
  if (context instanceof ListenError) return yield* context
  const sharding = Context.get(context, Sharding.Sharding)
  if (worker !== undefined) {
    const source: Feeds.Source = { journal: base, listen: owned.listen, isCancelled }
    const feed = Feed.toLayer(
      Effect.succeed({
        attach: ({ payload: { from, id } }) => Feeds.attach(source, id, from),
        cancel: ({ payload: { id } }) => Effect.sync(() => owned.cancel(id))
      }),
      { concurrency: "unbounded", maxIdleTime: feedIdleMillis }
    )
    const run = Run.toLayer(Body.make(worker, owned, isCancelled, sharding, clock))
    yield* Effect.provideContext(Layer.buildWithScope(Layer.mergeAll(run, feed), entities), context)
  }
  const client = yield* Effect.provideContext(Feed.client, context)
  const inCluster = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    patiently(
      Effect.provideContext(effect as Effect.Effect<A, E, never>, context as Context.Context<never>),
      patienceMillis
    )

  const checkId = (what: string, id: string) => Effect.sync(() => Tables.check(what, { id }, idTable))
  const onExecution = <A, E, R>(id: string, use: (execution: string) => Effect.Effect<A, E, R>) =>
    inCluster(Effect.flatMap(executionOf(id), use))

  const poll: ClusterRuns["poll"] = (id) =>
    Effect.andThen(
      checkId("ClusterRuns.poll", id),
      onExecution(id, (execution) =>
        Effect.map(Run.poll(execution), (polled) =>
          Option.isSome(polled) && polled.value._tag === "Complete" ? Option.some(polled.value.exit) : Option.none()
        )
      )
    ).pipe(
      Effect.flatMap((exit) => {
        if (Option.isNone(exit)) return Effect.succeed(Option.none())
        // A run that was cancelled while it was suspended or handed over.
        const isInterrupted = Exit.isFailure(exit.value) && Cause.hasInterruptsOnly(exit.value.cause)
        return Effect.map(isInterrupted ? Effect.succeed(Body.cancelled) : exit.value, Option.some)
      })
    )
  const result: ClusterRuns["result"] = (id) =>
    Effect.flatMap(poll(id), (ended) =>
      Option.isSome(ended) ? Effect.succeed(ended.value) : Effect.andThen(Effect.sleep(napMillis), result(id))
    )
  return {
    submit: (id, task, options = {}) =>
      Effect.suspend(() => {
        Tables.check("ClusterRuns.submit", { ...options, id }, submitTable)
        const { startAt } = options
        const payload = { id, task: JSON.stringify(Task.make(task)), ...(startAt !== undefined && { startAt }) }
        return Effect.asVoid(inCluster(Run.execute(payload, { discard: true })))
      }),
    poll,
    result,
    cancel: Effect.fnUntraced(function* (id) {
      yield* checkId("ClusterRuns.cancel", id)
      yield* markCancelled(id)
      yield* onExecution(id, (execution) =>
        // The interruption is stored. It wakes a run that is suspended or waits for its start.
        Effect.andThen(bounded(client(execution).cancel({ id }), tellMillis), Run.interrupt(execution))
      )
      yield* Owned.logged(Endings.cancelled(base, id))
    }),
    give: (id, results) =>
      Effect.andThen(
        checkId("ClusterRuns.give", id),
        onExecution(id, (executionId) =>
          Effect.forEach(
            Object.entries(results),
            ([call, given]) => {
              const result = resultOf(call)
              const token = DurableDeferred.tokenFromExecutionId(result, { workflow: Run, executionId })
              return DurableDeferred.succeed(result, { token, value: JSON.stringify(given) })
            },
            { discard: true }
          )
        )
      ),
    follow: (id, from = 0) =>
      Stream.unwrap(
        Effect.map(Effect.andThen(checkId("ClusterRuns.follow", id), onExecution(id, Effect.succeed)), (execution) =>
          Feeds.follow(id, (next) => client(execution).attach({ id, from: next }), from)
        )
      ),
    drained: address === undefined ? Effect.never : Effect.raceFirst(drained(address), Deferred.await(rejected)),
    size: owned.size,
    journal: base
  }
})
