/** Compares the records of the vendor, the journal and the accounts. */
import { Postgres, PostgresAccounts, PostgresJournal } from "@divisi/cluster"
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Answered } from "./Clients.ts"
import type { Call } from "./Vendor.ts"

/** Sums of the books. */
export interface Sums {
  /** Calls that the vendor received, and those that it answered to their end. */
  readonly vendorCalls: number
  readonly vendorAnswers: number
  /** Answers, failed, interrupted and lost calls of the journal. */
  readonly journalAnswers: number
  readonly journalFailed: number
  readonly journalInterrupted: number
  readonly journalLost: number
  readonly accountCalls: number
  readonly accountUsd: number
  readonly runs: number
  /** Answers of the vendor for a step that already had an answer, and the number of them that no kill explains. */
  readonly paidAgain: number
  readonly beyondInFlight: number
}

interface Run {
  readonly run: string
  readonly question: number
  readonly entries: ReadonlyArray<Journal.Entry>
  readonly ending: string | undefined
}

const count = (entries: ReadonlyArray<Journal.Entry>, type: string): number =>
  entries.filter((entry) => entry.type === type).length

/** Calls that were sent; one that was never sent is charged to no account. */
const chargedIn = (entries: ReadonlyArray<Journal.Entry>): ReadonlyArray<Journal.Entry> =>
  entries.filter(
    (entry) =>
      entry.type === "answered" ||
      entry.type === "lost" ||
      entry.type === "interrupted" ||
      (entry.type === "failed" && entry.unasked !== true)
  )

const costIn = (entries: ReadonlyArray<Journal.Entry>): number =>
  entries.reduce((sum, entry) => sum + ("costUsd" in entry ? (entry.costUsd ?? 0) : 0), 0)

const sum = <A>(items: Iterable<A>, of: (item: A) => number): number => {
  let total = 0
  for (const item of items) total += of(item)
  return total
}

/** A call as accounts have it, by its name in the journal. */
interface Hold {
  readonly call: string
  readonly run: string
  readonly accounts: ReadonlyArray<string>
  readonly costUsd: number
  readonly state: string
  readonly owner: string
}

/** The name of a charged call on accounts. */
const nameOf = (entry: Journal.Entry): string => ("call" in entry ? `${entry.call}/${entry.attempt}` : "")

/** Reads the contents of the database after all servers have ended. */
const read = (database: string) =>
  Effect.gen(function* () {
    const postgres = yield* Postgres.open({ url: Redacted.make(database), graceMillis: 0 })
    const journal = yield* PostgresJournal.make(postgres)
    const accounts = yield* PostgresAccounts.make(postgres)
    const runs: Array<Run> = []
    for (const { ending, run } of yield* journal.list()) {
      const entries = yield* journal.read(run)
      const text = JSON.stringify(Journal.eventsOf(entries)[0])
      runs.push({ run, entries, ending, question: Number(/Question (\d+)\./.exec(text)?.[1] ?? -1) })
    }
    const rows = yield* postgres.run((session) =>
      session.query(`SELECT call, chain, cost_usd, state, owner FROM ${postgres.schema}.holds`, [])
    )
    const holds = rows.map(
      ([call, chain, costUsd, state, owner]): Hold => ({
        call: String(call),
        run: String(call).split("/", 1)[0]!,
        accounts: JSON.parse(String(chain)),
        costUsd: Number(costUsd),
        state: String(state),
        owner: String(owner)
      })
    )
    const known = new Set(runs.map(({ run }) => run))
    const unsent = holds.filter(({ run, state }) => state === "doubtful" && !known.has(run))
    return { runs, accounts: yield* accounts.list, holds, unsent }
  }).pipe(Effect.scoped, Effect.runPromise)

const groupBy = <A>(items: Iterable<A>, keyOf: (item: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

/** The calls of the journal that accounts lack, and those that only accounts have. */
const differing = (
  name: string,
  runs: ReadonlyArray<Run>,
  holds: ReadonlyArray<Hold>,
  isOf: (account: string) => boolean
): ReadonlyArray<string> => {
  const charged = new Map(
    runs.flatMap(({ entries }) => chargedIn(entries).map((entry) => [nameOf(entry), entry.type] as const))
  )
  const held = new Map(holds.filter(({ accounts }) => accounts.some(isOf)).map((hold) => [hold.call, hold]))
  const missing = [...charged].filter(([call]) => !held.has(call))
  const extra = [...held].filter(([call]) => !charged.has(call))
  return [
    ...missing.map(([call, type]) => `${name} lacks ${call}, which the journal has as ${type}`),
    ...extra.map(
      ([call, { owner, state }]) => `${name} has ${call} (${state}, ${owner}), which the journal has not charged`
    )
  ]
}

/** Describes a run that did not end: its owner, and its entries. */
export const describe = (database: string, question: number): Promise<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const postgres = yield* Postgres.open({ url: Redacted.make(database) })
    const rows = yield* postgres.run((session) =>
      session.query(
        `SELECT run, owner, epoch, takeovers, ${postgres.hasLock("owner")},
          (extract(epoch FROM clock_timestamp()) * 1000 - changed_at)::text,
          (SELECT string_agg(entries, ',' ORDER BY seq) FROM ${postgres.schema}.batches WHERE batches.run = runs.id)
          FROM ${postgres.schema}.runs WHERE head LIKE $1`,
        [`%Question ${question}.%`]
      )
    )
    return rows.map((row) => JSON.stringify(row))
  }).pipe(Effect.scoped, Effect.runPromise)

/** Compares the books. `killed` are the processes that were killed, or lost their runs while they were frozen. */
export const compare = async (
  database: string,
  book: ReadonlyArray<Call>,
  answers: ReadonlyArray<Answered>,
  killed: ReadonlySet<string>
): Promise<{ readonly sums: Sums; readonly problems: ReadonlyArray<string> }> => {
  const problems: Array<string> = []
  const { accounts, holds, runs, unsent } = await read(database)
  const runsOf = groupBy(runs, ({ question }) => `${question}`)
  const callsOf = groupBy(book, ({ question, step }) => `${question} ${step}`)
  let [paidAgain, beyondInFlight] = [0, 0]

  for (const { question, texts } of answers) {
    const last = callsOf.get(`${question.number} answer`) ?? []
    const [text = ""] = texts
    if (!last.some((call) => text.includes(call.text)))
      problems.push(`question ${question.number} got "${text}", which the vendor did not write`)
    for (const other of texts.slice(1)) {
      if (other !== text)
        problems.push(`question ${question.number} got "${text}", and "${other}" when it was repeated`)
    }
    const known = runsOf.get(`${question.number}`) ?? []
    if (known.length !== 1)
      problems.push(`question ${question.number} has ${known.length} runs: ${known.map(({ run }) => run).join(", ")}`)
  }

  for (const [name, calls] of callsOf) {
    const again = calls.filter(({ state }) => state === "answered").length - 1
    if (again <= 0) continue
    paidAgain += again
    const question = name.split(" ", 1)[0]!
    const unknown = sum(
      runsOf.get(question) ?? [],
      ({ entries }) => count(entries, "lost") + count(entries, "interrupted") + count(entries, "failed")
    )
    const inFlight = Math.min(unknown, calls.filter(({ instance }) => killed.has(instance)).length)
    if (again <= inFlight) continue
    beyondInFlight += again - inFlight
    problems.push(
      `question ${name} was answered ${again + 1} times by the vendor, with ${unknown} unconfirmed calls: ${calls.map(({ instance, state }) => `${instance} ${state}`).join(", ")}`
    )
  }

  for (const { ending, entries, question, run } of runs) {
    if (ending !== "answered") problems.push(`run ${run} of question ${question} ended as ${ending}`)
    const lost = Journal.eventsOf(entries).filter(({ type }) => type === "call-lost").length
    if (lost !== count(entries, "lost"))
      problems.push(`run ${run} has ${count(entries, "lost")} lost calls and reports ${lost}`)
  }

  // A call is reserved before it is written to the journal, and sent after that. If its process is killed in between, and
  // the client repeats its request as a new run, the reservation of the call that was never sent remains spent.
  const unsentOf = (name: string) => unsent.filter(({ accounts }) => accounts.includes(name))
  const charged = sum(runs, ({ entries }) => chargedIn(entries).length)
  const costUsd = sum(runs, ({ entries }) => costIn(entries))
  for (const { name, open, reservedCostUsd, total } of accounts) {
    if (open !== 0 || Math.abs(reservedCostUsd) > 1e-6)
      problems.push(`account ${name} has ${open} open calls and ${reservedCostUsd} USD reserved`)
    if (name !== "servers") continue
    const calls = total.calls - unsentOf(name).length
    const usd = total.costUsd - sum(unsentOf(name), ({ costUsd }) => costUsd)
    if (calls !== charged) problems.push(`account ${name} has ${calls} calls, the journal ${charged}`)
    if (Math.abs(usd - costUsd) > 1e-6) problems.push(`account ${name} has ${usd} USD, the journal ${costUsd}`)
  }
  const keys = accounts.filter(({ name }) => /^key\/[^/]+$/.test(name))
  const ofKeys = sum(keys, ({ name, total }) => total.calls - unsentOf(name).length)
  if (unsent.length > 0 && killed.size === 0)
    problems.push(`${unsent.length} calls were reserved, and no process was killed`)
  if (ofKeys !== charged) problems.push(`the accounts of the keys have ${ofKeys} calls, the journal ${charged}`)
  if (problems.length > 0) {
    const sent = holds.filter((hold) => !unsent.includes(hold))
    problems.push(
      ...differing("account servers", runs, sent, (name) => name === "servers"),
      ...differing("the accounts of the keys", runs, sent, (name) => /^key\/[^/]+$/.test(name))
    )
  }
  const vendorAnswers = book.filter(({ state }) => state === "answered").length
  const vendorUsd = vendorAnswers * 0.01
  if (costUsd < vendorUsd - 1e-6) problems.push(`the journal has ${costUsd} USD, the vendor ${vendorUsd}`)

  const all = (type: string) => sum(runs, ({ entries }) => count(entries, type))
  const servers = accounts.find(({ name }) => name === "servers")
  return {
    problems,
    sums: {
      vendorCalls: book.length,
      vendorAnswers,
      journalAnswers: all("answered"),
      journalFailed: all("failed"),
      journalInterrupted: all("interrupted"),
      journalLost: all("lost"),
      accountCalls: servers?.total.calls ?? 0,
      accountUsd: servers?.total.costUsd ?? 0,
      runs: runs.length,
      paidAgain,
      beyondInFlight
    }
  }
}
