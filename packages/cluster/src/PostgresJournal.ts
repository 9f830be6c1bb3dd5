/**
 * A journal in Postgres. Several servers share its runs, so that any of them can resume a suspended run.
 *
 * Pending writes share one statement, so a thousand concurrent runs cause no more round trips than one. A run is
 * claimed through an advisory lock, which the database releases when the process ends for any reason. Writes with an
 * outdated claim are rejected.
 */
import { Journal, Options as Tables } from "@divisi/core"
import * as Arrays from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Batches from "./internal/batches.ts"
import { bounded } from "./internal/closing.ts"
import * as Instant from "./internal/instant.ts"
import * as JournalTable from "./internal/journalTable.ts"
import { nameOf } from "./internal/owner.ts"
import * as Postgres from "./Postgres.ts"

/** Maximum wait for a suspended run to be released, and polling interval, both in milliseconds. */
const patience = { millis: 5_000, napMillis: 25 }

/** Maximum number of runs deleted by one statement. */
const removedAtOnce = 500

/** Delay before retrying to release a run, in milliseconds. */
const againMillis = 1_000

/** A request to claim a run. */
interface Wanted {
  readonly run: string
  /** Whether to take over the run even if its owner is alive. */
  readonly takeOver: boolean
}

/** Batches that are missing from a run's journal. */
interface Unwritten {
  readonly id: string
  readonly batches: ReadonlyArray<Journal.Batch>
}

/**
 * A claim held by this process, and the last time at which it was known to be valid. `"claimed"` means that a claim is
 * in progress.
 */
type Held = (JournalTable.Claimed & { since: Instant.Instant }) | "claimed"

/** Options for taking over runs from unresponsive processes. */
export interface Options {
  /**
   * If set, a claim with `takeOver` fails with `Held` if the owner was seen within this many milliseconds (or half of
   * that, if its connection is closed). By default, such a claim always succeeds.
   */
  readonly expireMillis?: number | undefined
}

const optionsTable = { expireMillis: Tables.number(0) } satisfies Tables.ShapeOf<Options>

/** Default of `expireMillis` for cluster runs, in milliseconds. */
export const defaultExpireMillis = 12_000

/**
 * Opens the journal in a database.
 *
 * **Details**
 *
 * Each run is executed by one process; other processes that try to claim it receive the owner's name. An acknowledged
 * batch is committed, with the durability that the database is configured for. If the database is unreachable, the
 * journal waits. A batch whose commit status is unknown is written again and stored only once. After an outage, answers
 * that a stopped run had received are written before the run is released.
 *
 * **Gotchas**
 *
 * This package does not encrypt data in the database.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresJournal } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const opened = Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 * const runs = Effect.flatMap(Effect.flatMap(opened, PostgresJournal.make), (journal) => journal.list({ limit: 10 }))
 * await Effect.runPromise(Effect.scoped(runs))
 * ```
 */
export const make = Effect.fnUntraced(function* (
  postgres: Postgres.Postgres,
  options: Options = {}
): Effect.fn.Return<Journal.Journal, never, Scope.Scope> {
  Tables.check("PostgresJournal.make", options, optionsTable)
  const { expireMillis } = options
  const { name, schema, self } = postgres
  const table = JournalTable.make(schema, self, postgres)
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const now = () => clock.currentTimeMillisUnsafe()
  /** Runs are taken over no earlier than half of `expireMillis` after the last write. */
  const certainMillis = (expireMillis ?? defaultExpireMillis) / 3
  /** Claims held by this process. */
  const held = new Map<string, Held>()
  const failed = (reason: Journal.JournalErrorReason) => new Journal.JournalError({ journal: name, reason })
  const reasonOf = ({ reason }: Postgres.PostgresError): Journal.JournalErrorReason =>
    reason._tag === "Newer" ? reason : { _tag: "Unreachable", detail: reason.detail }
  const orFail = <A>(effect: Effect.Effect<A, Postgres.PostgresError>) =>
    Effect.mapError(effect, (error) => failed(reasonOf(error)))

  const claimAll = yield* Batches.make((wanted: ReadonlyArray<Wanted>) => {
    const runs = wanted.map(({ run }) => run)
    const taken = wanted.flatMap(({ run, takeOver }) => (takeOver ? [run] : []))
    return Effect.map(orFail(postgres.run((session) => table.claim(session, runs, taken, expireMillis))), (claimed) =>
      runs.map((run) => Effect.succeed(claimed.get(run)))
    )
  })

  const appendAll = yield* Batches.make(
    (batches: ReadonlyArray<JournalTable.Appended>) =>
      Effect.map(orFail(postgres.run((session, attempt) => table.append(session, batches, attempt > 0))), (written) =>
        batches.map(({ id, run }) => (written.has(id) ? Effect.void : Effect.fail(failed({ _tag: "Fenced", run }))))
      ),
    ({ id }) => id
  )

  const releaseAll = yield* Batches.make((claims: ReadonlyArray<JournalTable.Named>) =>
    Effect.map(orFail(postgres.run((session) => table.release(session, claims))), () => claims.map(() => Effect.void))
  )

  /** Batches that could not be written before their runs were released. */
  const unwritten = new Map<string, Unwritten>()
  const writingLate = Semaphore.makeUnsafe(1)

  /**
   * Writes a run's late batches until one of them is rejected, which means that another process has claimed the run.
   */
  const writeLate = (run: string): Effect.Effect<void, Journal.JournalError> => {
    const written = Effect.gen(function* () {
      const late = unwritten.get(run)
      for (const batch of late?.batches ?? []) {
        const given = [{ ...batch, id: late!.id }]
        const done = yield* orFail(postgres.run((session) => table.append(session, given, true)))
        if (done.size === 0) break
      }
      unwritten.delete(run)
    })
    return unwritten.has(run) ? writingLate.withPermit(written) : Effect.void
  }

  const giveBackAll = yield* Batches.make((runs: ReadonlyArray<string>) =>
    Effect.map(
      orFail(
        postgres.run((session) =>
          // A concurrent claim has a higher number and is not released.
          Effect.flatMap(table.mine(session, runs), (mine) =>
            table.release(
              session,
              mine.filter(({ run }) => !held.has(run))
            )
          )
        )
      ),
      () => runs.map(() => Effect.void)
    )
  )

  /**
   * Releases a run that the database assigns to this process but that is no longer in use, because the database was
   * unreachable for too long or the caller disconnected. Otherwise, no other process could claim the run while this
   * process is alive.
   */
  const giveBackLater = (run: string): Effect.Effect<void> =>
    Effect.asVoid(
      Effect.forkIn(
        Effect.catch(Effect.delay(Effect.andThen(writeLate(run), giveBackAll(run)), againMillis), (error) =>
          isUnreachable(error) ? giveBackLater(run) : Effect.void
        ),
        scope
      )
    )

  const isHeld = (run: string, owner: string) => Effect.fail(failed({ _tag: "Held", run, owner }))

  const take = (wanted: Wanted, begun: number): Effect.Effect<JournalTable.Claimed, Journal.JournalError> => {
    const { run } = wanted
    return Effect.flatMap(claimAll(wanted), (claimed) => {
      if (claimed !== undefined) return Effect.succeed(claimed)
      // The caller retries while the cluster assigns the run to this server.
      if (wanted.takeOver) return isHeld(run, "another process")
      return Effect.flatMap(orFail(postgres.run((session) => table.holder(session, run))), (holder) => {
        if (holder === undefined) return take(wanted, begun)
        return holder.waits && now() - begun < patience.millis
          ? Effect.andThen(Effect.sleep(patience.napMillis), take(wanted, begun))
          : isHeld(run, nameOf(holder.owner))
      })
    })
  }

  yield* Effect.addFinalizer(() =>
    held.size === 0 ? Effect.void : bounded(postgres.run((session) => table.releaseAll(session)))
  )

  return {
    name,
    claim: (run, { takeOver = false } = {}) =>
      Effect.suspend(() => {
        if (held.has(run)) return isHeld(run, "this process")
        held.set(run, "claimed")
        return Effect.map(
          Effect.onExit(Effect.andThen(writeLate(run), take({ run, takeOver }, now())), (exit) => {
            if (Exit.isSuccess(exit)) {
              held.set(run, { ...exit.value, since: [0, 0] })
              return Effect.void
            }
            held.delete(run)
            // It is unknown whether the claim succeeded.
            const isInDoubt = Exit.hasInterrupts(exit) || Option.exists(Exit.findErrorOption(exit), isUnreachable)
            return isInDoubt ? giveBackLater(run) : Effect.void
          }),
          ({ epoch, length, takeovers }) => ({ epoch, length, takeovers })
        )
      }),
    confirm: (run) => {
      const confirmed: Effect.Effect<void, Journal.JournalError> = Effect.suspend(() => {
        const claimed = held.get(run)
        if (claimed === undefined || claimed === "claimed") return Effect.fail(failed({ _tag: "Fenced", run }))
        const since = Instant.now(clock)
        if (Instant.millisBetween(claimed.since, since) < certainMillis) return Effect.void
        return Effect.flatMap(orFail(postgres.run((session) => table.renew(session, claimed))), (isClaimed) => {
          if (!isClaimed) return Effect.fail(failed({ _tag: "Fenced", run }))
          claimed.since = since
          return confirmed
        })
      })
      return Effect.orDie(confirmed)
    },
    release: (run, epoch, batches = []) =>
      Effect.suspend(() => {
        const claimed = held.get(run)
        if (claimed === undefined || claimed === "claimed" || claimed.epoch !== epoch) return Effect.void
        if (batches.length > 0) unwritten.set(run, { id: claimed.id, batches })
        held.delete(run)
        // The database was unreachable a moment ago, so the caller does not wait for it again.
        if (batches.length > 0) return giveBackLater(run)
        return Effect.catch(releaseAll(claimed), () => giveBackLater(run))
      }),
    append: (batch) =>
      Effect.suspend(() => {
        const claimed = held.get(batch.run)
        if (claimed === undefined || claimed === "claimed") {
          return Effect.fail(failed({ _tag: "Fenced", run: batch.run }))
        }
        // Measured before the query, because the database may have responded long before the response is read.
        const since = Instant.now(clock)
        return Effect.tap(appendAll({ ...batch, id: claimed.id }), () =>
          Effect.sync(() => {
            claimed.since = since
          })
        )
      }),
    read: (run, from = 0) =>
      Effect.catch(
        postgres.run((session) =>
          Effect.catchIf(
            table.read(session, run, from),
            (error): error is JournalTable.Torn => error instanceof JournalTable.Torn,
            (error) => Effect.succeed(error)
          )
        ),
        (error) => Effect.fail(failed(reasonOf(error)))
      ).pipe(
        Effect.flatMap((read) =>
          read instanceof JournalTable.Torn
            ? Effect.fail(failed({ _tag: "Damaged", detail: read.message }))
            : Effect.succeed(read)
        )
      ),
    lengths: (runs) => orFail(postgres.run((session) => table.lengths(session, runs))),
    find: (run) =>
      Effect.map(orFail(postgres.run((session) => table.find(session, run))), (found) => found && summaryOf(found)),
    list: (query = {}) =>
      Effect.map(orFail(postgres.run((session) => table.list(session, query))), (found) => found.map(summaryOf)),
    remove: (runs) =>
      Effect.map(
        Effect.forEach(Arrays.chunksOf(runs, removedAtOnce), (some) =>
          orFail(postgres.run((session) => table.remove(session, some)))
        ),
        (gone) => {
          const names = new Set(gone.flat())
          return runs.filter((run) => names.has(run))
        }
      )
  }
})

const isUnreachable = ({ reason }: Journal.JournalError): boolean => reason._tag === "Unreachable"

const summaryOf = ({ head, owner, ...listed }: JournalTable.Listed): Journal.Summary => ({
  ...head,
  ...listed,
  owner: owner === undefined ? undefined : nameOf(owner)
})

/** Provides a journal in a database for all runs. */
export const layer = (options: Postgres.Options): Layer.Layer<never, Postgres.PostgresError> =>
  Layer.effect(Journal.Journal, Effect.flatMap(Postgres.open(options), make))
