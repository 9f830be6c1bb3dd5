/**
 * Many machines that share runs, tasks and accounts in one database, under faults. All decisions are made by the
 * product's own code: journal claims and fencing, the tracker of owned runs, the body of run workflows, task leases,
 * and accounts. The cluster that assigns runs is simulated: it reassigns runs of machines that stop or do not respond,
 * and sometimes others. Two machines may both believe that they own a run.
 */
import { PostgresAccounts, PostgresJournal, PostgresTasks } from "@divisi/cluster"
import { type Account, type Journal, Seed } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import { CallId, type Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Body from "../../../../packages/cluster/src/runs/body.ts"
import * as Endings from "../../../../packages/cluster/src/runs/endings.ts"
import * as Owned from "../../../../packages/cluster/src/runs/owned.ts"
import * as Rejections from "../../../../packages/cluster/src/runs/rejections.ts"
import { loadAll } from "../../../../packages/core/src/OnDemand.ts"
import * as SeededScheduler from "../SeededScheduler.ts"
import * as Database from "./Database.ts"
import * as Machine from "./Machine.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The options of a simulation. `url` is that of a new Postgres server. */
export interface Options {
  readonly seed: number
  readonly machines: number
  readonly runs: number
  readonly tasks: number
  readonly faults: number
  /** The time in which runs are submitted and faults happen, in seconds of the simulation. */
  readonly seconds: number
  readonly url: string
}

export const faults = ["kill", "vanish", "freeze", "cut", "drain", "move", "crash"] as const
type Fault = (typeof faults)[number]

/** The result of a simulation, and how much it did. */
export interface Found {
  readonly seed: number
  readonly problems: ReadonlyArray<string>
  readonly faults: Readonly<Record<Fault, number>>
  /** Seconds of the simulation. */
  readonly seconds: number
  readonly statements: number
  readonly endings: Readonly<Record<string, number>>
  /** Calls of runs, and how many of them were made again after a fault. */
  readonly calls: number
  readonly callsAgain: number
  readonly tasks: number
  readonly tasksAgain: number
  /** The longest time after which a run of a machine with a fault was claimed by another, in seconds. */
  readonly longestTakeover: Readonly<Record<"stopped" | "silent", number>>
  readonly takeovers: number
}

/** Work that a machine began: from its intent or claim to its stored answer. */
interface Begun {
  readonly machine: Machine.Machine
  readonly from: number
  /** When the vendor received it. */
  readonly sentAt: number
  to: number
  isPaid: boolean
}

/** A position in the cluster, and the machine that currently has it. */
interface Place {
  machine: Machine.Machine
  /** The runs that the machine believes that it owns, with their fibers. */
  believed: Map<string, Fiber.Fiber<unknown, unknown> | undefined>
  execute: ((run: string) => Effect.Effect<unknown>) | undefined
  count: () => number
  isDraining: boolean
}

const expireMillis = PostgresJournal.defaultExpireMillis

/** The longest time between two confirmations of the locks of effect's cluster, in milliseconds. */
const refreshMillis = 5_000

/** How long a run may wait for its next owner after its machine was lost, in milliseconds, if nothing else happens. */
const boundMillis = expireMillis + 4_000

const price = { inputPerMillion: 1, outputPerMillion: 4, perCall: 0.0001 }
const callUsd = 0.0001 + 20e-6 + 120e-6
/** The steps that each step sees: the third starts after the first, often while the second is in flight. */
const accesses: ReadonlyArray<ReadonlyArray<number>> = [[], [], [0], [1, 2]]
const tenants = ["tight", "one", "two", "three"]

// -------------------------------------------------------------------------------------------------------------------
// Simulation
// -------------------------------------------------------------------------------------------------------------------

const loaded = loadAll()

/** Runs a simulation. */
export const simulate = async (options: Options): Promise<Found> => {
  await loaded
  const { seed } = options
  const draw = Seed.draw(Seed.spread(seed, "machines"))
  const time = SeededScheduler.make(draw)
  const database = await Database.open(options.url, () => time.elapsed())
  const world: Machine.Surroundings = { time, database, draw, outage: { count: 0, isDown: false } }
  const problems: Array<string> = []
  const complain = (problem: string) => {
    if (problems.length < 20) problems.push(`${(time.elapsed() / 1000).toFixed(1)} s: ${problem}`)
  }
  const between = (from: number, to: number) => from + Seed.below(draw, Math.round(to - from) + 1)
  const tenantOf = (run: string) => tenants[Number(run.split("-")[1]) % tenants.length]!
  const limits: Record<string, number> = {
    // Half of what its runs need.
    tight: (options.runs / tenants.length) * accesses.length * callUsd * 0.5,
    all: 1_000
  }

  // The books of the vendor, of results and of claims.
  const calls = new Map<string, Array<Begun>>()
  const intents = new Map<string, number>()
  const endings = new Map<string, string>()
  const tasks = new Map<string, Array<Begun>>()
  const answers = new Map<string, string>()
  const keys = Array.from({ length: options.tasks }, (_, at) => `task-${at}`)
  const lost: Array<{
    readonly run: string
    readonly machine: Machine.Machine
    readonly at: number
    readonly crashes: number
    readonly placed: number
    readonly kind: "stopped" | "silent"
  }> = []
  /** How often each run was assigned. */
  const placed = new Map<string, number>()
  const longest = { stopped: 0, silent: 0 }
  let [takeovers, machines] = [0, 0]
  const counts = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>

  /** The runs that a machine executes, by its claims. */
  const claimed = new Map<string, Machine.Machine>()
  const wasFine = (machine: Machine.Machine, from: number) => machine.troubles.every(({ to }) => to < from)
  const onClaim = (run: string, machine: Machine.Machine) => {
    claimed.set(run, machine)
    for (const [at, one] of [...lost.entries()].reverse()) {
      if (one.run !== run) continue
      lost.splice(at, 1)
      if (one.machine === machine) continue
      takeovers += 1
      // A machine that had a fault or has just started has not watched the owner before, and after a crash no machine has.
      if (one.crashes !== world.outage.count || !wasFine(machine, one.at) || machine.bornAt > one.at) continue
      // The machine before had a fault, too, or the run was moved on.
      if (placed.get(run) !== one.placed + 1) continue
      longest[one.kind] = Math.max(longest[one.kind], time.elapsed() - one.at)
    }
  }
  const onLost = (machine: Machine.Machine, kind: "stopped" | "silent") => {
    for (const [run, owner] of claimed) {
      if (owner !== machine || endings.has(run)) continue
      lost.push({ run, machine, at: time.elapsed(), crashes: world.outage.count, placed: placed.get(run) ?? 0, kind })
    }
  }

  const waits = (machine: Machine.Machine, millis: number, done: () => void): Effect.Effect<void> =>
    Effect.callback((resume) => {
      time.after(millis, () => {
        done()
        machine.reach(() => resume(Effect.void))
      })
    })

  const worker = (machine: Machine.Machine, id: string): Worker => ({
    id,
    pricing: price,
    limits: { maxOutputTokens: 50 },
    countInputTokens: () => 50,
    generate: () =>
      Stream.unwrap(
        Effect.gen(function* () {
          const call = yield* CallId
          const place = call!.replace(/\/\d+$/, "")
          const from = intents.get(`${machine.self}/${call}`)
          if (from === undefined) complain(`${call} was sent before it was in the journal`)
          const begun = {
            machine,
            from: from ?? 0,
            sentAt: time.elapsed(),
            to: Number.POSITIVE_INFINITY,
            isPaid: false
          }
          calls.set(place, [...(calls.get(place) ?? []), begun])
          yield* waits(machine, between(200, 3_000), () => {
            begun.isPaid = true
          })
          return Stream.fromIterable([
            { type: "text", text: "answer" } as const,
            { type: "finish", reason: "stop", usage: { inputTokens: 20, outputTokens: 30 } } as const
          ])
        })
      )
  })

  /** The journal of a machine, which records its writes. */
  const noted = (machine: Machine.Machine, journal: Journal.Journal): Journal.Journal => ({
    ...journal,
    claim: (run, how) => Effect.tap(journal.claim(run, how), () => Effect.sync(() => onClaim(run, machine))),
    append: (batch) =>
      Effect.suspend(() => {
        for (const entry of batch.entries) {
          if (entry.type === "intent") intents.set(`${machine.self}/${entry.call}/${entry.attempt}`, time.elapsed())
        }
        return Effect.tap(journal.append(batch), () =>
          Effect.sync(() => {
            for (const entry of batch.entries) {
              if (entry.type !== "answered") continue
              const begun = calls.get(entry.call)?.findLast((one) => one.machine === machine)
              if (begun !== undefined) begun.to = time.elapsed()
            }
          })
        )
      })
  })

  const works = (machine: Machine.Machine): Effect.Effect<void, unknown> =>
    Effect.gen(function* () {
      const shared = yield* PostgresTasks.open(machine.postgres, { id: "work", plan: "{}", keys })
      const own = new Set<string>()
      const lane: Effect.Effect<void, unknown> = Effect.gen(function* () {
        const from = time.elapsed()
        const [key] = yield* shared.claim(1)
        if (key === undefined) {
          if ((yield* shared.left) === 0) return
          yield* Effect.sleep(between(500, 2_000))
          return yield* lane
        }
        own.add(key)
        const begun = { machine, from, sentAt: from, to: Number.POSITIVE_INFINITY, isPaid: true }
        tasks.set(key, [...(tasks.get(key) ?? []), begun])
        yield* waits(machine, between(500, 15_000), () => {})
        yield* shared.answer(key, machine.self)
        own.delete(key)
        begun.to = time.elapsed()
        const stored = (yield* shared.find([key])).get(key)
        const before = answers.get(key)
        if (stored === undefined || (before !== undefined && before !== stored)) {
          complain(`the answer of ${key} was ${before}, and is ${stored}`)
        } else answers.set(key, stored)
        return yield* lane
      })
      const renewing = Effect.forever(
        Effect.andThen(
          Effect.sleep(shared.leaseMillis / 3),
          Effect.suspend(() => (own.size === 0 ? Effect.void : shared.renew([...own])))
        )
      )
      const working = Effect.raceFirst(Effect.all([lane, lane], { concurrency: "unbounded", discard: true }), renewing)
      // A machine that ends normally releases its tasks.
      yield* Effect.onInterrupt(working, () => {
        for (const key of own)
          tasks.set(
            key,
            tasks.get(key)!.filter((one) => one.machine !== machine)
          )
        return Effect.ignore(shared.release([...own]))
      })
    })

  const boot = (place: Place): void => {
    const machine = Machine.make(world, ++machines, between(-93_600_000, 93_600_000))
    Object.assign(place, {
      machine,
      believed: new Map(),
      execute: undefined,
      count: () => 0,
      isDraining: false
    } satisfies Place)
    const { postgres, scope } = machine
    const program = Effect.gen(function* () {
      yield* machine.enter
      const journal = yield* PostgresJournal.make(postgres, { expireMillis })
      const accounts = yield* PostgresAccounts.make(postgres)
      const all = yield* accounts.open({ name: "all", limits: { costUsd: limits.all! } })
      const ledgers = new Map<string, Account.Account<PostgresAccounts.AccountsError>>()
      for (const name of tenants) {
        const costUsd = limits[name]
        ledgers.set(
          name,
          yield* accounts.open({ name, parent: all, ...(costUsd !== undefined && { limits: { costUsd } }) })
        )
      }
      const owned = Owned.make<Conductor.RunResult>(noted(machine, journal), {
        scope,
        concurrency: 50,
        maxTakeovers: 1_000,
        abandoned: (id) => Effect.die(`${id} was abandoned`),
        ended: (id) => Endings.cancelled(journal, id),
        rejections: Rejections.make((message) => complain(`a machine leaves: ${message}`))
      })
      const conductor = Conductor.make({
        pool: WorkerPool.makeUnsafe([worker(machine, "a"), worker(machine, "b")]),
        policy: Policy.fixed("fork", () => ({
          steps: accesses.map((access, at) => ({ worker: at % 2, subtask: `step ${at}`, access }))
        }))
      })
      const optionsOf = ({ messages }: { readonly messages: ReadonlyArray<{ readonly content: unknown }> }) => ({
        ledger: ledgers.get(tenantOf(String(messages[0]?.content)))! as never
      })
      const sharding = {
        getShardId: (id: string) => ShardId.make(id, 0),
        hasShardId: ({ group }: ShardId.ShardId) => place.machine === machine && place.believed.has(group)
      }
      const body = Body.make({ conductor, optionsOf }, owned, () => Effect.succeed(false), sharding, yield* Clock.Clock)
      place.count = owned.count
      place.execute = (run) =>
        body(
          { id: run, task: JSON.stringify({ messages: [{ role: "user", content: run }] }) },
          run
        ) as Effect.Effect<unknown>
      for (const run of place.believed.keys()) begin(place, run)
      yield* Effect.forkIn(works(machine), scope)
    })
    Effect.runForkWith(machine.context)(Scope.provide(program, scope)).addObserver((exit) => {
      if (Exit.isFailure(exit) && !Exit.hasInterrupts(exit)) complain(`a machine does not start: ${exit.cause}`)
    })
  }

  const places: Array<Place> = Array.from({ length: options.machines }, () => ({}) as Place)

  const begin = (place: Place, run: string): void => {
    const { believed, execute, machine } = place
    if (execute === undefined || !believed.has(run)) return
    machine.reach(() => {
      if (place.machine !== machine || !believed.has(run)) return
      const fiber = Effect.runForkWith(machine.context)(execute(run))
      believed.set(run, fiber)
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) {
          const { answer, ending } = exit.value as { answer?: string; ending: string }
          const result = `${ending} ${answer}`
          const before = endings.get(run)
          if (before !== undefined && before !== result) complain(`${run} ended as ${before}, and as ${result}`)
          endings.set(run, result)
          claimed.delete(run)
        } else if (!Exit.hasInterrupts(exit)) complain(`${run}: ${exit.cause}`)
      })
    })
  }
  /** A machine to which the cluster can assign runs. */
  const able = (): Place | undefined => {
    for (let tries = 0; tries < 50; tries++) {
      const place = Seed.pick(draw, places)
      const { isDraining, machine } = place
      if (!isDraining && machine.state() === "running" && !machine.isCut()) return place
    }
    return undefined
  }
  /** The last position of each run. */
  const assigned = new Map<string, Place>()
  const assign = (run: string): void => {
    if (endings.has(run)) return
    const place = able()
    if (place === undefined) return void time.after(1_000, () => assign(run))
    assigned.set(run, place)
    if (place.believed.has(run)) return
    placed.set(run, (placed.get(run) ?? 0) + 1)
    place.believed.set(run, undefined)
    begin(place, run)
  }
  const revoke = (place: Place, run: string): void => {
    const fiber = place.believed.get(run)
    place.believed.delete(run)
    if (fiber !== undefined) place.machine.reach(() => fiber.interruptUnsafe())
  }
  const restart = (place: Place) => time.after(between(1_000, 8_000), () => boot(place))

  /** Other machines get the runs; the old one believes for some time that it still owns them. */
  const dispossess = (place: Place, beliefMillis: () => number): void => {
    const { believed, machine } = place
    for (const run of believed.keys()) {
      assign(run)
      time.after(beliefMillis(), () => {
        if (place.machine === machine && assigned.get(run) !== place) machine.reach(() => revoke(place, run))
      })
    }
  }

  const harm: Record<Fault, (place: Place) => void> = {
    kill: (place) => {
      const { believed, machine } = place
      onLost(machine, "stopped")
      machine.kill()
      void database.unlock(machine.self)
      const runs = [...believed.keys()]
      time.after(between(500, 3_000), () => runs.forEach(assign))
      restart(place)
    },
    // The whole machine is gone, and the database notices late that its connections are.
    vanish: (place) => {
      const { believed, machine } = place
      onLost(machine, "silent")
      machine.kill()
      time.after(between(15_000, 25_000), () => void database.unlock(machine.self))
      const runs = [...believed.keys()]
      time.after(expireMillis + between(0, 1_000), () => runs.forEach(assign))
      restart(place)
    },
    freeze: (place) => {
      const { machine } = place
      onLost(machine, "silent")
      machine.freeze()
      const until = between(1_000, 30_000)
      time.after(expireMillis + between(0, 1_000), () => {
        if (machine.state() === "frozen") dispossess(place, () => between(0, refreshMillis))
      })
      time.after(until, () => machine.thaw(Seed.chance(draw, 0.3)))
    },
    cut: (place) => {
      const { machine } = place
      onLost(machine, "silent")
      machine.cut()
      time.after(expireMillis + between(0, 1_000), () => {
        if (machine.isCut()) dispossess(place, () => between(0, refreshMillis))
      })
      time.after(between(1_000, 30_000), machine.heal)
    },
    drain: (place) => {
      const { believed, machine } = place
      place.isDraining = true
      for (const run of [...believed.keys()]) {
        revoke(place, run)
        time.after(between(0, 1_000), () => assign(run))
      }
      const end = () => {
        if (place.machine !== machine || machine.state() === "dead") return
        if (place.count() > 0) return void time.after(100, end)
        Effect.runForkWith(machine.context)(Scope.close(machine.scope, Exit.void)).addObserver(() => {
          void database.unlock(machine.self)
          restart(place)
        })
      }
      end()
    },
    // The cluster balances its load: runs go elsewhere while they have calls in flight.
    move: (place) => {
      for (const run of [...place.believed.keys()].filter(() => Seed.chance(draw, 0.7))) {
        revoke(place, run)
        time.after(between(0, 500), () => assign(run))
      }
    },
    crash: () => {
      if (world.outage.isDown) return
      world.outage.count += 1
      world.outage.isDown = true
      time.after(between(500, 3_000), () => {
        world.outage.isDown = false
        void database.crash()
        // All locks of the cluster were lost: some runs are placed again.
        for (const place of places) {
          if (Seed.chance(draw, 0.1)) dispossess(place, () => between(0, 2_000))
        }
      })
    }
  }

  // The time line.
  for (const place of places) boot(place)
  const all = options.seconds * 1_000
  for (let at = 0; at < options.runs; at++) time.after(between(3_000, 3_000 + all / 2), () => assign(`run-${at}`))
  for (let at = 0; at < options.faults; at++) {
    const drawn = Seed.pick(draw, faults)
    // A crash concerns all machines.
    const fault = drawn === "crash" && Seed.chance(draw, 0.9) ? "move" : drawn
    const strike = (): void => {
      const place = able()
      if (place === undefined || place.execute === undefined) return
      counts[fault] += 1
      harm[fault](place)
    }
    time.after(between(5_000, 5_000 + all), strike)
  }
  let answered = 0
  /** Accounts are within their limits at any time. A machine can be lost after its answer is stored. */
  const audit = (): void => {
    void database.execute(`SELECT count(*)::int FROM ${Database.schema}.tasks WHERE body IS NOT NULL`).then(([row]) => {
      answered = Number(row?.[0])
    })
    void database.execute(`SELECT name, cost_usd + reserved_usd FROM ${Database.schema}.accounts`).then((rows) => {
      for (const [name, usd] of rows) {
        const limit = limits[String(name)]
        if (limit !== undefined && Number(usd) > limit + 1e-9) complain(`${name} has ${usd} of ${limit} USD`)
      }
    })
    time.after(1_000, audit)
  }
  audit()

  const isDone = () => endings.size === options.runs && answered === options.tasks
  let isOver = 0
  const isEnough = () => {
    if (problems.length >= 20) return true
    if (isDone() && time.elapsed() > 6_000 + all) isOver ||= time.elapsed()
    // Machines with a fault recover, and lost calls end.
    if (isOver > 0) return time.elapsed() > isOver + 40_000
    if (time.elapsed() < all + 300_000) return false
    complain(`${endings.size} of ${options.runs} runs and ${answered} of ${options.tasks} tasks have ended`)
    return true
  }
  const rest = () =>
    time.rest({
      onTask: () => {},
      promises: true,
      isEnough,
      outside: database.settled,
      mostTasks: 100_000_000
    })
  await rest()

  const stored = await database.execute(`SELECT key, body FROM ${Database.schema}.tasks WHERE body IS NOT NULL`)
  for (const [key, body] of stored) {
    const before = answers.get(String(key))
    if (before !== undefined && before !== body) complain(`the answer of ${key} was ${before}, and is ${body}`)
  }

  // The books.
  /** Whether something was wrong with the machine between its beginning and its end, or until the work began again. */
  const excused = ({ from, machine, to }: Begun, next: Begun | undefined) => {
    const end = Math.min(to, next?.from ?? to)
    return machine.troubles.some((one) => one.from <= end && one.to >= from)
  }
  const check = (books: ReadonlyMap<string, ReadonlyArray<Begun>>, what: string): number => {
    let again = 0
    for (const [name, all] of books) {
      again += Math.max(0, all.length - 1)
      const unexcused = all.filter((one, at) => !excused(one, all[at + 1]))
      if (unexcused.length > 1) {
        const by = all.map(({ from, machine, to }) => `${machine.self.split(" ")[0]} from ${from} to ${to}`)
        complain(`the ${what} ${name} was made ${all.length} times: ${by.join("; ")}`)
      }
    }
    return again
  }
  const callsAgain = check(calls, "call")
  // A machine can stop between the last check and one call: it sends this one when it continues, and no other.
  const late = new Map<unknown, number>()
  for (const all of calls.values()) {
    for (const { from, machine, sentAt } of all.length === 1 ? [] : all) {
      const trouble = machine.troubles.find(({ to }) => from <= to && to <= sentAt)
      if (trouble !== undefined) late.set(trouble, (late.get(trouble) ?? 0) + 1)
    }
  }
  for (const count of late.values()) if (count > 1) complain(`a machine with a fault sent ${count} calls later`)
  const tasksAgain = check(tasks, "task")
  for (const kind of ["stopped", "silent"] as const) {
    if (longest[kind] > boundMillis) complain(`a run of a ${kind} machine was taken over after ${longest[kind]} ms`)
  }
  const rows = await database.execute(`SELECT name, cost_usd, reserved_usd FROM ${Database.schema}.accounts`)
  const paid = (name: string) =>
    [...calls].reduce(
      (sum, [call, all]) =>
        name === "all" || tenantOf(call.split("/")[0]!) === name
          ? sum + all.filter(({ isPaid }) => isPaid).length * callUsd
          : sum,
      0
    )
  for (const [name, cost, reserved] of rows) {
    const charged = Number(cost) + Number(reserved)
    if (charged < paid(String(name)) - 1e-9) {
      complain(`${name} was charged ${charged} USD, and its vendor wants ${paid(String(name))}`)
    }
  }
  const found = await database.execute(
    `SELECT count(*)::int, count(*) FILTER (WHERE head LIKE '%"ending":"%')::int FROM ${Database.schema}.runs`
  )
  if (problems.length === 0 && Number(found[0]?.[1]) !== options.runs) {
    complain(`${found[0]?.[1]} of ${options.runs} runs have an end in the journal`)
  }
  const statements = database.statements()
  await database.close()
  const byEnding: Record<string, number> = {}
  for (const ending of endings.values()) {
    const name = ending.split(" ")[0]!
    byEnding[name] = (byEnding[name] ?? 0) + 1
  }
  return {
    seed,
    problems,
    faults: counts,
    seconds: Math.round(time.elapsed() / 1_000),
    statements,
    endings: byEnding,
    calls: calls.size,
    callsAgain,
    tasks: tasks.size,
    tasksAgain,
    takeovers,
    longestTakeover: { stopped: longest.stopped / 1_000, silent: longest.silent / 1_000 }
  }
}
