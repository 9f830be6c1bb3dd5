/**
 * Four servers on one Postgres, with different clocks, under faults: killed and frozen processes, closed connections,
 * database restarts, and a vendor that is unavailable or slow. Clients send requests through all servers. Finally, the
 * records of the vendor, the journal and the accounts are compared.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Postgres } from "@divisi/cluster"
import { Seed } from "@divisi/core"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Books from "./chaos/Books.ts"
import * as Clients from "./chaos/Clients.ts"
import { command, Server } from "./chaos/Server.ts"
import * as Vendor from "./chaos/Vendor.ts"

/** The size of a test. */
export interface Options {
  readonly seed: number
  readonly questions: number
  readonly faults: number
  /** The kinds of faults; all by default. */
  readonly only?: ReadonlyArray<string> | undefined
  /** The number of questions in flight at the same time. Default: 16. */
  readonly atOnce?: number | undefined
}

/** The result of one run of chaos. */
export interface Found {
  readonly seed: number
  readonly questions: number
  readonly answered: number
  /** The number of faults of each kind. */
  readonly faults: Readonly<Record<string, number>>
  readonly seconds: number
  readonly sums: Books.Sums
  readonly problems: ReadonlyArray<string>
  /** The logs of the servers. They are kept if there are problems. */
  readonly logs: string
}

export const isPossible = (): boolean => PostgresServer.find() !== undefined

// -------------------------------------------------------------------------------------------------------------------
// Faults
// -------------------------------------------------------------------------------------------------------------------

interface World {
  readonly servers: ReadonlyArray<Server>
  readonly vendor: Vendor.Vendor
  readonly database: PostgresServer.PostgresServer
  /** Cuts connections of the database, of all of them one in so many. */
  readonly cut: (share: number) => Promise<void>
}

/** A fault: begins, and is over by itself. */
type Fault = (world: World, draw: Seed.Draw) => Promise<void>

const up = ({ servers }: World) => servers.filter(({ isFrozen, isUp }) => isUp && !isFrozen)

const kinds: Readonly<Record<string, { readonly weight: number; readonly run: Fault }>> = {
  kill: {
    weight: 30,
    run: async (world, draw) => {
      const server = Seed.pick(draw, world.servers)
      if (!server.isUp) return
      await server.kill()
      await sleep(Seed.below(draw, 1_000))
      await server.start()
    }
  },
  freeze: {
    weight: 30,
    run: async (world, draw) => {
      const some = up(world)
      if (some.length === 0) return
      const server = Seed.pick(draw, some)
      server.freeze()
      await sleep(Seed.chance(draw, 0.1) ? 10_000 : Seed.below(draw, 4_000))
      if (server.isFrozen) server.thaw()
    }
  },
  cut: {
    weight: 20,
    run: async (world, draw) => {
      for (const server of world.servers) server.depose()
      await world.cut(Seed.pick(draw, [1, 0.5, 0.2]))
    }
  },
  outage: {
    weight: 10,
    run: async ({ vendor: { mood } }, draw) => {
      mood.isDown = true
      await sleep(Seed.below(draw, 2_000))
      mood.isDown = false
    }
  },
  slow: {
    weight: 8,
    run: async ({ vendor: { mood } }, draw) => {
      mood.extraMillis = 500 + Seed.below(draw, 2_000)
      await sleep(Seed.below(draw, 3_000))
      mood.extraMillis = 0
    }
  },
  restart: {
    weight: 2,
    run: async (world, draw) => {
      for (const server of world.servers) server.depose()
      await world.database.restarted(Seed.pick(draw, ["fast", "immediate"] as const))
    }
  }
}

/** The faults by the number of answers after which each begins. */
const planned = ({ faults, only, questions, seed }: Options) => {
  const draw = Seed.draw(Seed.derive(seed, "faults"))
  const chosen = Object.entries(kinds).filter(([name]) => only === undefined || only.includes(name))
  const names = chosen.flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name))
  return Array.from({ length: faults }, (_, index) => ({
    name: Seed.pick(draw, names),
    after: Seed.below(draw, Math.floor(questions * 0.95)),
    index
  })).sort((left, right) => left.after - right.after)
}

// -------------------------------------------------------------------------------------------------------------------
// Chaos
// -------------------------------------------------------------------------------------------------------------------

/** The clocks of the servers, in minutes relative to the clock of the database. */
const clockMinutes = [0, -47, 95, 26 * 60]

/** Cuts connections to the database. */
const cutting =
  (url: string) =>
  (share: number): Promise<void> =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.open({ url: Redacted.make(url) })
      yield* postgres.run((session) =>
        session.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name LIKE 'divisi%' AND pid <> pg_backend_pid() AND random() < $1::double precision`,
          [`${share}`]
        )
      )
    }).pipe(Effect.scoped, Effect.ignore, Effect.runPromise)

/** The result as readable text. */
export const format = ({ answered, faults, logs, problems, questions, seconds, seed, sums }: Found): string => {
  const count = Object.values(faults).reduce((sum, some) => sum + some, 0)
  const kinds = Object.entries(faults).map(([name, some]) => `${some} ${name}`)
  return [
    ...problems,
    `seed ${seed}: ${answered} of ${questions} questions answered in ${seconds} s, ${count} faults (${kinds.join(", ")})`,
    `vendor: ${sums.vendorCalls} calls, ${sums.vendorAnswers} answered`,
    `journal: ${sums.runs} runs, ${sums.journalAnswers} answered calls, ${sums.journalFailed} failed, ${sums.journalInterrupted} interrupted, ${sums.journalLost} unconfirmed`,
    `accounts: ${sums.accountCalls} calls, ${sums.accountUsd.toFixed(2)} USD`,
    `paid again: ${sums.paidAgain}, beyond those in flight at a kill: ${sums.beyondInFlight}`,
    problems.length === 0 ? "0 problems" : `${problems.length} problems; logs of the servers: ${logs}`
  ].join("\n")
}

/** Runs the chaos, and compares the books. */
export const run = async (options: Options, show: (text: string) => void): Promise<Found> => {
  const { atOnce = 16, faults, questions, seed } = options
  const begun = performance.now()
  const logs = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-chaos-"))
  const database = await PostgresServer.start()
  const vendor = await Vendor.start(seed)
  const servers: Array<Server> = []
  const problems: Array<string> = []
  const done: Record<string, number> = {}
  try {
    const secrets = await Promise.all(
      ["alice", "bob"].map(async (name) => {
        const made = await command(database.url, ["key", "make", name, "--json", "--max-cost", "100000"])
        return (JSON.parse(made) as { readonly secret: string }).secret
      })
    )
    for (const [index, minutes] of clockMinutes.entries()) {
      servers.push(
        new Server({
          index,
          port: await PostgresServer.freePort(),
          database: database.url,
          vendor: vendor.url,
          clockMillis: minutes * 60_000,
          log: path.join(logs, `server-${index}.log`)
        })
      )
    }
    await Promise.all(servers.map((server) => server.start()))
    const world: World = { servers, vendor, database, cut: cutting(database.url) }

    const answers: Array<Clients.Answered> = []
    let answered = 0
    const losses = () => servers.reduce((sum, server) => sum + server.losses, 0)
    const client = new Clients.Client({ urls: servers.map(({ url }) => url), secrets, seed, losses })
    const plan = planned(options)
    const under: Array<Promise<void>> = []
    const strike = () => {
      while (plan.length > 0 && plan[0]!.after <= answered) {
        const { index, name } = plan.shift()!
        done[name] = (done[name] ?? 0) + 1
        const draw = Seed.draw(Seed.derive(seed, "fault", index))
        const fault = async () => {
          await sleep(Seed.below(draw, 200))
          await kinds[name]!.run(world, draw)
        }
        under.push(fault().catch((error) => void problems.push(`fault ${index}, ${name}: ${(error as Error).message}`)))
      }
    }
    let next = 0
    const lane = async () => {
      while (next < questions) {
        const question = Clients.make(next++, seed)
        try {
          answers.push(await client.ask(question))
        } catch (error) {
          problems.push(`question ${question.number} (${question.wire}, ${question.mode}): ${(error as Error).message}`)
          problems.push(...(await Books.describe(database.url, question.number)))
        }
        answered += 1
        strike()
        const seconds = Math.round((performance.now() - begun) / 1_000)
        show(
          `${answered} of ${questions} questions, ${faults - plan.length} of ${faults} faults, ${problems.length} problems, ${seconds} s`
        )
      }
    }
    strike()
    await Promise.all(Array.from({ length: atOnce }, lane))
    await Promise.all(under)
    await Promise.all(servers.map((server) => server.stop()))
    const instances = new Set(servers.flatMap(({ killed }) => [...killed]))
    const compared = await Books.compare(database.url, vendor.book, answers, instances)
    problems.push(...compared.problems)
    if (problems.length === 0) fs.rmSync(logs, { recursive: true })
    const seconds = Math.round((performance.now() - begun) / 1_000)
    return { seed, questions, answered: answers.length, faults: done, seconds, sums: compared.sums, problems, logs }
  } finally {
    await Promise.all(servers.map((server) => server.kill().catch(() => {})))
    vendor.close()
    database.stop()
  }
}
