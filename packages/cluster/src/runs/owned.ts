/**
 * Tracks the runs that this process executes. A run belongs to the process rather than to its workflow body, so that
 * losing a shard briefly does not repeat any calls. The cluster decides which process executes a run. The journal
 * decides when the process may start: once the previous owner has released the run or has not been seen for too long.
 */
import { Journal, type RunEvent } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import type * as ShardId from "effect/cluster/ShardId"
import type * as Sharding from "effect/cluster/Sharding"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Rejections from "./rejections.ts"

/** How execution on this process ended: with a result, by handing the run over, or by cancellation. */
export type Outcome<A> =
  | { readonly _tag: "Done"; readonly result: A }
  /** A vendor rejected this server's key or account. The journal records that the run continues. */
  | { readonly _tag: "Rejected"; readonly decision: Rejections.Decision }
  | { readonly _tag: "HandedOver" }
  | { readonly _tag: "Cancelled" }

/** A run's assignment by the cluster. */
export interface Place {
  /** Returns false as soon as a drain or a rebalancing starts or a lock is lost. */
  readonly isOurs: () => boolean
  /** Number of earlier attempts of this server that a vendor has rejected. */
  readonly rejections: number
}

interface Owned<A> extends Place {
  /** Call attempts in flight: their start is recorded or about to be recorded, and their end is not. */
  readonly open: Set<string>
  isStopping: boolean
  /** The epoch of the claim in the journal. */
  epoch: number | undefined
  /** Whether the journal has rejected an entry. If so, nothing more can be written to the run. */
  isRefused: boolean
  /** Message of the rejection by which the last call failed. */
  rejection: string | undefined
  decision: Rejections.Decision | undefined
  readonly handedOver: Deferred.Deferred<void>
  readonly cancelled: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<Outcome<A>>
}

/** Receives updates about a run. `undefined` means that there are new journal entries. */
export type Listener = (piece: RunEvent.RunEvent | undefined) => void

/** Interval for retrying to claim a run held by another process, in milliseconds. */
const claimMillis = 250

/** Interrupts the caller so that the cluster keeps the request for the next owner. */
export const abandon: Effect.Effect<never> = Effect.interruptible(
  Effect.withFiber<never>((fiber) => {
    fiber.interruptUnsafe(fiber.id, ClusterSchema.Abandon.annotation)
    return Effect.never
  })
)

/** Settings for executing runs. */
export interface Settings {
  /** A scope that outlives the cluster's layers. */
  readonly scope: Scope.Scope
  readonly concurrency: number
  /** Maximum number of processes in a row that may lose a run without receiving an answer in between. */
  readonly maxTakeovers: number
  /** Ends a run that too many processes have lost. */
  readonly abandoned: (id: string, claim: Journal.Claim) => Effect.Effect<never, Journal.JournalError>
  /** Ends a cancelled run in the journal, after this process has released it. */
  readonly ended: (id: string) => Effect.Effect<void, Journal.JournalError>
  readonly rejections: Rejections.Rejections
}

/** Logs a failure to end a cancelled run in the journal. Even so, the run makes no more calls. */
export const logged = (ended: Effect.Effect<void, Journal.JournalError>): Effect.Effect<void> =>
  Effect.catch(ended, ({ message }) => Effect.logWarning(`Cannot mark a cancelled run as ended: ${message}`))

/** Creates the tracker for the runs of a process. */
export const make = <A>(
  base: Journal.Journal,
  { abandoned, concurrency, ended, maxTakeovers, rejections, scope }: Settings
) => {
  const owned = new Map<string, Owned<A>>()
  const listeners = new Map<string, Set<Listener>>()
  const permits = Semaphore.makeUnsafe(concurrency)
  const notify = (id: string, piece: RunEvent.RunEvent | undefined) => {
    for (const listener of listeners.get(id) ?? []) listener(piece)
  }
  const handOver = (run: Owned<A>) => {
    if (run.isStopping && run.open.size === 0) Deferred.doneUnsafe(run.handedOver, Exit.void)
  }
  /** Stops a run that is now assigned to another server. Never completes. */
  const moved = (run: Owned<A>) => {
    run.isStopping = true
    handOver(run)
    return Effect.never
  }
  /** Allows the next call of a run. Never completes if the run is being handed over. */
  const admit = (id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const run = owned.get(id)
      // A run whose journal has rejected an entry ends on its own.
      return run === undefined || run.isRefused || run.isOurs() ? Effect.void : moved(run)
    })
  const claimNow = (id: string) =>
    Effect.uninterruptible(
      Effect.tap(base.claim(id, { takeOver: true }), ({ epoch }) =>
        Effect.sync(() => {
          const run = owned.get(id)
          if (run !== undefined) run.epoch = epoch
        })
      )
    )
  /**
   * Waits until the previous owner has released or lost the run, then claims it. The wait is not part of opening the
   * journal, because that cannot be interrupted.
   */
  const claim = (id: string): Effect.Effect<Journal.Claim, Journal.JournalError> =>
    Effect.catch(claimNow(id), (error) => {
      const run = owned.get(id)
      if (error.reason._tag !== "Held" || run === undefined) return Effect.fail(error)
      return run.isOurs() ? Effect.andThen(Effect.sleep(claimMillis), claim(id)) : moved(run)
    })
  /** Has calls made again that the previous server could not make because a vendor rejected its key. */
  const withoutRejections = Effect.fnUntraced(function* (id: string, claim: Journal.Claim) {
    if (claim.length === 0) return claim
    const entries = yield* base.read(id)
    if (Journal.isEnded(id, entries) || !Rejections.isPending(entries)) return claim
    const at = yield* Clock.currentTimeMillis
    yield* base.append({ run: id, epoch: claim.epoch, seq: claim.length, entries: [{ type: "resumed", at }] })
    return { ...claim, length: claim.length + 1 }
  })
  /** Stops writing to a run. Its calls in flight then belong to the next owner. */
  const refuse = (id: string) =>
    Effect.sync(() => {
      const run = owned.get(id)
      if (run === undefined) return
      run.isRefused = true
      run.open.clear()
      handOver(run)
    })
  /** Returns the batch to write. If the run ends by a rejection but is not over, it is marked as resumed. */
  const reopened = (run: Owned<A>, batch: Journal.Batch): Journal.Batch => {
    for (const entry of batch.entries) {
      if (entry.type === "answered" || entry.type === "found") run.rejection = undefined
      else if (entry.type === "failed") {
        run.rejection = Rejections.isRejection(entry.reason) ? entry.message : undefined
      } else if (entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === batch.run) {
        const { at, ending } = entry.event
        if (ending === "answered") rejections.answered()
        if (ending !== "failed" || run.rejection === undefined) return batch
        run.decision = rejections.decide(run.rejection, run.rejections)
        if (run.decision === undefined) return batch
        const head = batch.head && { ...batch.head, ending: undefined }
        return { ...batch, head, entries: [...batch.entries, { type: "resumed", at }] }
      }
    }
    return batch
  }
  const journal: Journal.Journal = {
    ...base,
    admit,
    append: (given) =>
      Effect.suspend(() => {
        const run = owned.get(given.run)
        const batch = run === undefined ? given : reopened(run, given)
        for (const attempt of Journal.attemptsIn(batch.entries, "begun")) run?.open.add(attempt)
        const written = () => {
          if (run !== undefined) {
            for (const attempt of Journal.attemptsIn(batch.entries, "ended")) run.open.delete(attempt)
            handOver(run)
          }
          notify(batch.run, undefined)
        }
        return Effect.tapError(
          Effect.tap(base.append(batch), () => Effect.sync(written)),
          () => refuse(batch.run)
        )
      }),
    ...(base.confirm !== undefined && {
      confirm: (id: string, attempt: string) => Effect.tapCause(base.confirm!(id, attempt), () => refuse(id))
    })
  }

  const begin = (
    id: string,
    place: Place,
    isCancelled: Effect.Effect<boolean>,
    work: (journal: Journal.Journal, listener: RunEvent.Listener) => Effect.Effect<A>
  ): Effect.Effect<Owned<A>> =>
    Effect.suspend(() => {
      const run: Owned<A> = {
        ...place,
        open: new Set(),
        isStopping: false,
        epoch: undefined,
        isRefused: false,
        rejection: undefined,
        decision: undefined,
        handedOver: Deferred.makeUnsafe(),
        cancelled: Deferred.makeUnsafe(),
        ended: Deferred.makeUnsafe()
      }
      owned.set(id, run)
      const piece: RunEvent.Listener = (event) => {
        if (event.type === "step-delta") notify(id, event)
      }
      // Covers cancellations stored before this check. Later ones reach the run directly.
      const made = Effect.flatMap(isCancelled, (isCancelled): Effect.Effect<Outcome<A>> => {
        if (isCancelled) return Effect.succeed({ _tag: "Cancelled" })
        if (!place.isOurs()) return Effect.succeed({ _tag: "HandedOver" })
        const opened = (claim: Journal.Claim) =>
          (claim.takeovers ?? 0) > maxTakeovers ? abandoned(id, claim) : withoutRejections(id, claim)
        const admitted = Effect.flatMap(Effect.result(claim(id)), (claim) =>
          work({ ...journal, claim: () => Effect.flatMap(Effect.fromResult(claim), opened) }, piece)
        )
        return Effect.map(
          Effect.andThen(admit(id), admitted),
          (result): Outcome<A> =>
            run.decision === undefined ? { _tag: "Done", result } : { _tag: "Rejected", decision: run.decision }
        )
      })
      const stopped = Effect.raceFirst(
        Effect.as(Deferred.await(run.handedOver), { _tag: "HandedOver" } as const),
        Effect.as(Deferred.await(run.cancelled), { _tag: "Cancelled" } as const)
      )
      const executed = Effect.raceFirst(permits.withPermits(1)(made), stopped)
      const forked = Effect.forkIn(
        Effect.onExit(executed, (exit) => {
          // Releases the run for the next owner.
          const released = run.epoch === undefined ? Effect.void : base.release(id, run.epoch)
          const isCancelled = Exit.isSuccess(exit) && exit.value._tag === "Cancelled"
          return Effect.map(isCancelled ? Effect.andThen(released, logged(ended(id))) : released, () => {
            owned.delete(id)
            Deferred.doneUnsafe(run.ended, exit)
            notify(id, undefined)
          })
        }),
        scope
      )
      return Effect.as(forked, run)
    })

  return {
    /** Executes a run, or attaches to its execution if it is already running in this process. */
    execute: (...given: Parameters<typeof begin>): Effect.Effect<Outcome<A>> =>
      Effect.flatMap(
        Effect.uninterruptible(
          Effect.suspend(() => {
            const known = owned.get(given[0])
            return known === undefined ? begin(...given) : Effect.succeed(known)
          })
        ),
        ({ ended }) => Deferred.await(ended)
      ),
    /** Cancels a run executed by this process. */
    cancel: (id: string): void => {
      const run = owned.get(id)
      if (run !== undefined) Deferred.doneUnsafe(run.cancelled, Exit.void)
    },
    listen: (id: string, listener: Listener): (() => void) => {
      const all = listeners.get(id) ?? new Set()
      listeners.set(id, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0) listeners.delete(id)
      }
    },
    /** Number of runs in this process. */
    count: () => owned.size,
    /** Number of runs in this process and number of their calls in flight. */
    size: () => ({ runs: owned.size, calls: [...owned.values()].reduce((sum, { open }) => sum + open.size, 0) })
  }
}

/** Maximum time to wait until this process has lost a shard, in milliseconds. */
const doubtMillis = 15_000

/**
 * Waits after another process has claimed a run, or while this process leaves the cluster. A process that was frozen
 * still considers itself the owner of its shards, and must not claim the run again before its locks have been checked.
 */
export const whileDoubtful = (
  sharding: Pick<Sharding.Sharding["Service"], "hasShardId">,
  shard: ShardId.ShardId
): Effect.Effect<void> => {
  const look = (left: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!sharding.hasShardId(shard)) return abandon
      return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(100), look(left - 100))
    })
  return look(doubtMillis)
}
