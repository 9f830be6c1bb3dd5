/** The body of a run's workflow: executes the run on this server until it ends or is handed over. */
import { Journal, type Tool } from "@divisi/core"
import type { Conductor, RunOptions, RunResult } from "@divisi/core/Conductor"
import type * as Task from "@divisi/core/Task"
import { WorkerError } from "@divisi/core/Worker"
import * as Clock from "effect/Clock"
import * as Entity from "effect/cluster/EntityId"
import type * as Sharding from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Owned from "./owned.ts"
import { Ended, type Run, resultOf } from "./protocol.ts"
import { isRejection } from "./rejections.ts"

/** Executes runs on a server. */
export interface Executor {
  readonly conductor: Conductor["Service"]
  /** Returns additional options for a run, such as its account. */
  readonly optionsOf?: ((task: Task.Task) => RunOptions) | undefined
}

const endedOf = ({ answer, detail, ending, error }: RunResult): Ended =>
  new Ended({
    ending,
    ...(answer !== undefined && { answer }),
    ...(detail !== undefined && { detail }),
    ...(error instanceof Journal.JournalError && error.reason._tag === "Abandoned" && { reason: error.reason._tag })
  })

/** Whether another process has claimed the run. */
const isTaken = ({ error }: RunResult): boolean =>
  error instanceof Journal.JournalError && (error.reason._tag === "Fenced" || error.reason._tag === "Held")

/** Whether the journal was unreachable. If so, the run stays on this server and is retried. */
const isUnreachable = ({ error }: RunResult): boolean =>
  error instanceof Journal.JournalError && error.reason._tag === "Unreachable"

/** Returns the rejection of this server's key or account that ended a run. */
const rejectionOf = ({ error }: RunResult): WorkerError | undefined => {
  const cause = error !== undefined && "cause" in error ? error.cause : error
  return cause instanceof WorkerError && isRejection(cause.reason) ? cause : undefined
}

/** The result of a run that was cancelled. */
export const cancelled = new Ended({ ending: "interrupted" })

type Results = Readonly<Record<string, Tool.Given>>

const againMillis = 1_000

/** Maximum time until a scheduled run is woken, in milliseconds. A cancelled run leaves its message for this long. */
const maxSleepMillis = 86_400_000

/** The part of the cluster's sharding used here. */
type Placement = Pick<Sharding.Sharding["Service"], "getShardId" | "hasShardId">

/** Creates the body for run workflows. `clock` is the database's clock, which is the same for all servers. */
export const make = (
  { conductor, optionsOf }: Executor,
  owned: ReturnType<typeof Owned.make<RunResult>>,
  isCancelled: (id: string) => Effect.Effect<boolean>,
  sharding: Placement,
  clock: Clock.Clock
) => {
  let isReported = false
  /** Logs the first rejection, because all runs of this server may fail while those of the others do not. */
  const reportRejection = (result: RunResult) =>
    Effect.suspend(() => {
      const rejection = rejectionOf(result)
      if (rejection === undefined || isReported) return Effect.void
      isReported = true
      return Effect.logError(
        `Runs fail on this server because a vendor rejects its key or account: ${rejection.message} Correct the key and restart the server.`
      )
    })
  return Effect.fnUntraced(function* (
    { id, startAt = 0, task: text }: typeof Run.payloadSchema.Type,
    execution: string
  ) {
    const wait = () => Math.min(startAt - clock.currentTimeMillisUnsafe(), maxSleepMillis)
    for (let times = 0; wait() > 0; times += 1) {
      if (yield* isCancelled(id)) return cancelled
      const sleep = DurableClock.sleep({ name: `start/${times}`, duration: wait(), inMemoryThreshold: 0 })
      yield* Effect.provideService(sleep, Clock.Clock, clock)
    }
    const task: Task.Task = JSON.parse(text)
    const shard = sharding.getShardId(Entity.make(execution), "default")
    const isOurs = () => sharding.hasShardId(shard)
    let rejections = 0
    let results: Results = {}
    for (;;) {
      const given = results
      const outcome = yield* owned.execute(id, { isOurs, rejections }, isCancelled(id), (journal, listener) => {
        const options: RunOptions = { ...optionsOf?.(task), runId: id, journal, listener }
        return Object.keys(given).length === 0
          ? conductor.run(task, options)
          : conductor.resume({ runId: id, results: given }, options)
      })
      if (outcome._tag === "HandedOver") {
        if (!isOurs()) return yield* Owned.abandon
        // The run was assigned to this server again before it was handed over. Abandoning it would delay it by ten
        // minutes.
        continue
      }
      if (outcome._tag === "Cancelled") return cancelled
      if (outcome._tag === "Rejected") {
        rejections += 1
        yield* outcome.decision === "leave" ? Owned.whileDoubtful(sharding, shard) : Effect.sleep(againMillis)
        continue
      }
      const { result } = outcome
      if (isTaken(result)) yield* Owned.whileDoubtful(sharding, shard)
      else if (isUnreachable(result)) yield* Effect.sleep(againMillis)
      else if (result.ending === "suspended") {
        // A suspended run uses no resources in this process.
        for (const { id } of result.waitingFor) {
          results = { ...results, [id]: JSON.parse(yield* DurableDeferred.await(resultOf(id))) }
        }
      } else {
        yield* reportRejection(result)
        return endedOf(result)
      }
    }
  })
}
