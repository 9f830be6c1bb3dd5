/**
 * A run that pauses for tools, fails, is stopped and is resumed, charged to an account that outlives each part. However
 * and however often the run is resumed, the account must match the vendor's records.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Postgres, PostgresAccounts, PostgresJournal } from "@divisi/cluster"
import { type Account, Budget, Journal, Seed, Tool, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import { worker } from "@divisi/core/promise"
import * as Usage from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { DiskAccounts, DiskJournal } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Where the account of a run is stored. */
export type Place = "memory" | "memory under memory" | "disk" | "memory under disk" | "postgres"

/** Where the run is stored. */
export type Kept = "transcript" | "memory" | "disk" | "postgres"

/** All places; those in Postgres need a URL. */
export const places: ReadonlyArray<Place> = ["memory", "memory under memory", "disk", "memory under disk", "postgres"]
export const keeps: ReadonlyArray<Kept> = ["transcript", "memory", "disk", "postgres"]

/** The options of a simulation. */
export interface Options {
  readonly seed: number
  readonly place: Place
  readonly kept: Kept
  readonly url?: string | undefined
}

/** The result of a simulation, and its counts. */
export interface Found {
  readonly problems: ReadonlyArray<string>
  readonly calls: number
  readonly pauses: number
  readonly failures: number
  readonly stops: number
  readonly forks: number
  /** How often a run was resumed after an outage or a limit had ended it. */
  readonly reopened: number
}

const pricing: Usage.Pricing = { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000, perCall: 1 }

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

/** Something that is closed and opened again between the parts of a run, as by another process. */
interface Opened<A> {
  readonly value: A
  readonly close: () => Promise<void>
}

const opened = async <A, E>(make: Effect.Effect<A, E, Scope.Scope>): Promise<Opened<A>> => {
  const scope = Scope.makeUnsafe()
  const value = await Effect.runPromise(Scope.provide(make, scope))
  return { value, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

const postgresOf = ({ seed, url = "" }: Options, schema: string) =>
  Postgres.open({ url: Redacted.make(url), schema: `${schema}_${seed}`, graceMillis: 0, maxConnections: 2 })

const accountIn = (accounts: Account.Accounts<Account.AccountsError>) =>
  Effect.gen(function* () {
    const all = yield* accounts.open({ name: "all" })
    return yield* accounts.open({ name: "team", parent: all })
  })

/** Returns a function that opens the ledger of a run and all accounts that it is charged to. */
const ledgers = (options: Options, folder: string, schema: string) => {
  const file = path.join(folder, "accounts.sqlite")
  const [above, own] = [Budget.make(), Budget.make()]
  const under = Budget.make({}, above)
  const ofMemory = (ledger: Budget.Ledger, all: ReadonlyArray<Budget.Ledger>) =>
    Effect.succeed({ ledger, spent: Effect.sync(() => all.map((one) => one.spent())) })
  const onPlace = (accounts: Account.Accounts<Account.AccountsError>, below?: Budget.Limits) =>
    Effect.map(accountIn(accounts), (account) => ({
      ledger: below === undefined ? account : Budget.make(below, account),
      spent: Effect.map(accounts.list, (all) => all.map(({ total }) => total))
    }))
  switch (options.place) {
    case "memory":
      return ofMemory(own, [own])
    case "memory under memory":
      return ofMemory(under, [under, above])
    case "disk":
      return Effect.flatMap(DiskAccounts.make({ file }), (accounts) => onPlace(accounts))
    case "memory under disk":
      return Effect.flatMap(DiskAccounts.make({ file }), (accounts) => onPlace(accounts, { calls: 1e6 }))
    case "postgres":
      return Effect.flatMap(Effect.flatMap(postgresOf(options, schema), PostgresAccounts.make), (accounts) =>
        onPlace(accounts)
      )
  }
}

const journals = (options: Options, folder: string, schema: string) => {
  const memory = Journal.memory()
  switch (options.kept) {
    case "transcript":
      return Effect.undefined
    case "memory":
      return Effect.sync(() => Journal.makeMemory(memory))
    case "disk":
      return DiskJournal.make({ file: path.join(folder, "runs.sqlite") })
    case "postgres":
      return Effect.flatMap(postgresOf(options, schema), PostgresJournal.make)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The vendor
// -------------------------------------------------------------------------------------------------------------------

/** Counts its requests. Each call uses a different number of tokens, so that charging the wrong call is detected. */
class Vendor {
  readonly book = { calls: 0, tokens: 0, costUsd: 0 }
  failures = 0
  /** The number of calls that are still answered before all calls fail. */
  answersLeft = Number.POSITIVE_INFINITY
  private readonly draw: Seed.Draw

  constructor(draw: Seed.Draw) {
    this.draw = draw
  }

  worker(id: string, pauses: number): Worker {
    const answer = async (request: WorkerRequest) => {
      const usage = this.charge()
      await new Promise((resolve) => setImmediate(resolve))
      if (this.answersLeft-- <= 0 || Seed.chance(this.draw, 0.15)) {
        this.failures += 1
        throw new WorkerError({ worker: id, reason: { _tag: "Overloaded" }, usage })
      }
      const used = request.messages.filter(({ role }) => role === "tool").length
      return used < pauses
        ? { toolCalls: [{ name: "look", arguments: { used } }], usage }
        : { text: `${id} has answered.`, usage }
    }
    return worker({ id, pricing, capabilities: { tools: true }, answer })
  }

  private charge(): Usage.Usage {
    const usage = { inputTokens: 1 + (this.book.calls % 7), outputTokens: 1 + (this.book.calls % 5) }
    this.book.calls += 1
    this.book.tokens += usage.inputTokens + usage.outputTokens
    this.book.costUsd += Usage.cost(pricing, usage)!
    return usage
  }
}

const policyOf = (workers: number): Policy.Policy =>
  Policy.fixed("each", () => ({
    steps: Array.from({ length: workers }, (_, worker) => ({ worker, subtask: "Look.", access: [] }))
  }))

// -------------------------------------------------------------------------------------------------------------------
// A run
// -------------------------------------------------------------------------------------------------------------------

/** More parts than any run needs. */
const mostParts = 200

let schemas = 0

/** Runs one seed to its end, in as many parts as necessary. */
export const simulate = async (options: Options): Promise<Found> => {
  const { kept, place, seed } = options
  const draw = Seed.draw(Seed.spread(seed, "accounts", place, kept))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-accounts-"))
  const schema = `accounts_${process.pid}_${schemas++}`
  const [openLedger, openJournal] = [ledgers(options, folder, schema), journals(options, folder, schema)]
  const vendor = new Vendor(draw)
  const count = 1 + Seed.below(draw, 3)
  const workers = Array.from({ length: count }, (_, index) => vendor.worker(`w${index}`, Seed.below(draw, 5)))
  const settings: Conductor.Options = {
    pool: WorkerPool.makeUnsafe(workers),
    policy: policyOf(count),
    tools: [Tool.make({ name: "look", input: { type: "object" } })],
    toolAccess: "every-step",
    skipUnseen: false,
    retry: { baseDelayMillis: 0, maxAttempts: 4 },
    seed: 1
  }
  const found = { pauses: 0, stops: 0, forks: 0, reopened: 0, problems: [] as Array<string> }
  let [ledger, journal] = [await opened(openLedger), await opened<Journal.Journal | undefined, unknown>(openJournal)]

  const part = async (before: Transcript.Transcript | undefined, results: Record<string, string>) => {
    const recorder = Transcript.recorder()
    const trouble = Seed.pick(draw, ["outage", "limit", "none", "none"])
    vendor.answersLeft = trouble === "outage" ? Seed.below(draw, 6) : Number.POSITIVE_INFINITY
    const budget = trouble === "limit" ? { calls: Seed.below(draw, 10) } : undefined
    const conductor = Conductor.make({ ...settings, budget })
    const runOptions: Conductor.RunOptions = {
      runId: "r",
      ledger: ledger.value.ledger,
      journal: journal.value,
      listener: recorder.listener
    }
    const running =
      before === undefined
        ? conductor.run("Why?", runOptions)
        : conductor.resume(
            kept === "transcript" ? { transcript: before, results } : { runId: "r", results },
            runOptions
          )
    const fiber = Effect.runFork(running)
    if (Seed.chance(draw, 0.15)) {
      for (let turn = Seed.below(draw, 12); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
      if (fiber.pollUnsafe() === undefined) found.stops += 1
      fiber.interruptUnsafe()
    }
    const exit = await Effect.runPromise(Fiber.await(fiber))
    if (Exit.isFailure(exit)) return undefined
    return { result: exit.value, transcript: recorder.transcript() }
  }

  const check = async (when: string) => {
    const { book } = vendor
    for (const spend of await Effect.runPromise(ledger.value.spent)) {
      const { inputTokens, outputTokens } = spend.usage
      const [was, is] = [book, { calls: spend.calls, tokens: inputTokens + outputTokens, costUsd: spend.costUsd }]
      // The usage of a stopped call is unknown: it is charged at its worst case.
      const isSame = found.stops > 0 ? was.calls === is.calls : JSON.stringify(was) === JSON.stringify(is)
      if (!isSame)
        found.problems.push(`${when}: the vendor has ${JSON.stringify(was)}, an account ${JSON.stringify(is)}`)
    }
  }

  let before: Transcript.Transcript | undefined
  let waiting: ReadonlyArray<{ readonly id: string }> = []
  let ending: string | undefined
  for (let count = 0; count < mostParts && ending !== "answered"; count++) {
    const some = waiting.filter(() => Seed.chance(draw, 0.7))
    const results = Object.fromEntries(some.map(({ id }) => [id, `result of ${id}`]))
    // The same results are given twice. Without a journal, the calls that follow are requested and paid twice.
    if (before !== undefined && Seed.chance(draw, 0.2)) {
      found.forks += 1
      await part(before, results)
    }
    const done = await part(before, results)
    ending = done?.result.ending
    before = done?.transcript ?? before
    if (done !== undefined) waiting = done.result.waitingFor
    if (ending === "suspended") found.pauses += 1
    if (ending === "failed" || ending === "budget") found.reopened += 1
    await check(`part ${count}, ${ending}`)
    if (found.problems.length > 0) break
    if (Seed.chance(draw, 0.3)) {
      await ledger.close()
      await journal.close()
      ledger = await opened(openLedger)
      journal = await opened<Journal.Journal | undefined, unknown>(openJournal)
    }
  }
  if (found.problems.length === 0 && ending !== "answered") found.problems.push(`it never ends: ${ending}`)
  await ledger.close()
  await journal.close()
  fs.rmSync(folder, { recursive: true, force: true })
  return { ...found, calls: vendor.book.calls, failures: vendor.failures }
}
