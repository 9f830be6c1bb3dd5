/**
 * A simulated machine: a process with its own clock and scheduler, whose statements reach the database through a
 * network. It can be killed, frozen and disconnected at any time, between any two of its tasks.
 */
import { Postgres } from "@divisi/cluster"
import { Elapsed, Resilience, ResponseCache, Seed } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as SqlError from "effect/sql/SqlError"
import * as Owner from "../../../../packages/cluster/src/internal/owner.ts"
import * as Session from "../../../../packages/cluster/src/internal/session.ts"
import type * as SeededScheduler from "../SeededScheduler.ts"
import { type Database, lockStatement, type Row, schema } from "./Database.ts"

/** The surroundings of all machines. */
export interface Surroundings {
  readonly time: SeededScheduler.SeededScheduler
  readonly database: Database
  readonly draw: Seed.Draw
  /** The number of crashes of the database, and whether it is down now. */
  readonly outage: { count: number; isDown: boolean }
}

/** A time, or a time without an end, in which something was wrong with a machine. */
interface Trouble {
  readonly from: number
  to: number
}

export interface Machine {
  /** Its name among the owners. */
  readonly self: string
  readonly context: Context.Context<never>
  readonly postgres: Postgres.Postgres
  /** Lasts until the machine ends in order. */
  readonly scope: Scope.Closeable
  readonly state: () => "dead" | "frozen" | "running"
  readonly isCut: () => boolean
  readonly bornAt: number
  /** When it was frozen, cut off or dead. */
  readonly troubles: ReadonlyArray<Trouble>
  /** Passes on what wakes the machine: at once, when it thaws, or never. */
  readonly reach: (fire: () => void) => void
  readonly kill: () => void
  readonly freeze: () => void
  /** With `isSuspended`, its monotonic clock stood still, as in a paused virtual machine. */
  readonly thaw: (isSuspended: boolean) => void
  readonly cut: () => void
  readonly heal: () => void
  /** Reports that the machine lives, again and again; ends with the first report. */
  readonly enter: Effect.Effect<void>
}

const connectionError = () =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error("Connection closed"), message: "Connection closed" })
  })

/** The maximum time of a statement or its answer on the network, in milliseconds. */
const latencyMillis = 10

/** How long a machine waits for an unreachable database, in milliseconds. */
const patienceMillis = 30_000

const start = Date.UTC(2026, 0, 1)

/** Starts a machine whose wall clock is wrong by the given time. */
export const make = ({ database, draw, outage, time }: Surroundings, number: number, skewMillis: number): Machine => {
  const self = `${number} ${number} machine`
  const troubles: Array<Trouble> = []
  let state: "dead" | "frozen" | "running" = "running"
  let isCut = false
  let stoodStill = 0
  let parked: Array<() => void> = []
  const lost: Array<() => void> = []
  const trouble = () => troubles.push({ from: time.elapsed(), to: Number.POSITIVE_INFINITY })
  const over = () => {
    for (const one of troubles) one.to = Math.min(one.to, time.elapsed())
  }

  const reach: Machine["reach"] = (fire) => {
    if (state === "running") fire()
    else if (state === "frozen") parked.push(fire)
  }

  const ticks = () => time.elapsed() - stoodStill
  const wall = () => start + time.elapsed() + skewMillis
  const nanos = (millis: number) => BigInt(Math.round(millis * 1_000)) * 1_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanosUnsafe: () => nanos(wall()),
    currentTimeNanos: Effect.sync(() => nanos(wall())),
    monotonicTimeNanosUnsafe: () => nanos(ticks()),
    monotonicTimeNanos: Effect.sync(() => nanos(ticks())),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const millis = Duration.toMillis(duration)
        const cancel = Number.isFinite(millis)
          ? time.after(Math.max(0, millis), () => reach(() => resume(Effect.void)))
          : () => {}
        return Effect.sync(cancel)
      })
  }
  const scheduler: Scheduler.Scheduler = {
    ...time.scheduler,
    makeDispatcher: () => {
      const dispatcher = time.scheduler.makeDispatcher()
      return {
        ...dispatcher,
        scheduleTask: (task, priority) => dispatcher.scheduleTask(() => reach(task), priority)
      }
    }
  }
  const context = Context.mergeAll(
    Context.make(Scheduler.Scheduler, scheduler),
    Context.make(Clock.Clock, clock),
    Context.make(References.MinimumLogLevel, "None"),
    Context.make(Resilience.Gate, undefined),
    Context.make(ResponseCache.ResponseCache, undefined)
  ) as Context.Context<never>

  /** Sends a statement. A statement under way at a fault may be executed or not, and its answer may be lost. */
  const send = (
    statement: string,
    parameters: ReadonlyArray<unknown>,
    answer: (answered: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>) => void
  ): void => {
    const connection = outage.count
    const wait = () => 1 + Seed.below(draw, latencyMillis)
    const fail = () => reach(() => answer(Effect.fail(connectionError())))
    const isOut = () => outage.isDown || outage.count !== connection
    const arrive = (): void => {
      if (state === "dead" && Seed.chance(draw, 0.5)) return
      if (isOut()) return void time.after(wait(), fail)
      if (isCut) return void lost.push(Seed.chance(draw, 0.5) ? arrive : fail)
      database.execute(statement, parameters).then(
        (rows) => {
          const deliver = (): void => {
            if (isOut()) fail()
            else if (isCut) lost.push(Seed.chance(draw, 0.5) ? deliver : fail)
            else reach(() => answer(Effect.succeed(rows)))
          }
          time.after(wait(), deliver)
        },
        (error) => reach(() => answer(Effect.die(error)))
      )
    }
    time.after(wait(), arrive)
  }
  const session: Session.Session = {
    query: (statement, parameters = []) => Effect.callback((resume) => send(statement, parameters, resume))
  }

  let ahead = 0
  const report = Effect.map(session.query(Owner.seen(schema), [self]), ([row]) => {
    ahead = Number(row?.[0]) - Elapsed.ticks(clock)
  })
  const connect = Effect.andThen(session.query(lockStatement, [`${number}`]), report)
  const stay = Effect.forever(Effect.andThen(Effect.sleep(Owner.lookMillis), report))
  const again = Effect.forever(Effect.catch(Effect.andThen(connect, stay), () => Effect.sleep(Owner.lookMillis / 4)))
  const scope = Scope.makeUnsafe()
  return {
    self,
    context,
    scope,
    bornAt: time.elapsed(),
    troubles,
    reach,
    state: () => state,
    isCut: () => isCut,
    kill: () => {
      state = "dead"
      parked = []
      trouble()
    },
    freeze: () => {
      state = "frozen"
      trouble()
    },
    thaw: (isSuspended) => {
      if (state !== "frozen") return
      state = "running"
      if (isSuspended) stoodStill += time.elapsed() - troubles.at(-1)!.from
      over()
      for (const fire of parked.splice(0)) reach(fire)
    },
    cut: () => {
      isCut = true
      trouble()
    },
    heal: () => {
      isCut = false
      if (state === "running") over()
      for (const go of lost.splice(0)) go()
    },
    enter: Effect.andThen(
      Session.patiently(() => connect, patienceMillis).pipe(Effect.orDie),
      Effect.asVoid(Effect.forkIn(again, scope))
    ),
    postgres: {
      name: "the simulation",
      schema,
      self,
      now: () => Math.round(ahead + Elapsed.ticks(clock)),
      isAlive: (column) =>
        Owner.isAlive(schema, column, { graceMillis: 10_000, reconnectMillis: Owner.reconnectMillis }),
      hasLock: Owner.hasLock,
      isThere: Effect.succeed(true),
      vacuum: Effect.void,
      run: (work) =>
        Effect.mapError(
          Session.patiently((attempt) => work(session, attempt), patienceMillis),
          (error) =>
            new Postgres.PostgresError({
              database: "the simulation",
              reason: { _tag: Session.isPassing(error) ? "Unreachable" : "Failed", detail: Session.detailOf(error) }
            })
        )
    }
  }
}
