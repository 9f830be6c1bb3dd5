/** The three books: of the vendor, of the journal, and of the accounts. */
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
  /** Answers that the vendor gave for a step that it had answered before, and those of them that no kill explains. */
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
const chargedIn = (entries: ReadonlyArray<Journal.Entry>): number =>
  entries.filter(
    (entry) =>
      entry.type === "answered" ||
      entry.type === "lost" ||
      entry.type === "interrupted" ||
      (entry.type === "failed" && entry.unasked !== true)
  ).length

const costIn = (entries: ReadonlyArray<Journal.Entry>): number =>
  entries.reduce((sum, entry) => sum + ("costUsd" in entry ? (entry.costUsd ?? 0) : 0), 0)

const sum = <A>(items: Iterable<A>, of: (item: A) => number): number => {
  let total = 0
  for (const item of items) total += of(item)
  return total
}

/** What a killed process had reserved on accounts for a call, which counts as spent. */
interface Reserved {
  readonly run: string
  readonly accounts: ReadonlyArray<string>
  readonly costUsd: number
}

/** Reads what the database has, once all servers have ended. */
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
    const holds = yield* postgres.run((session) =>
      session.query(`SELECT call, chain, cost_usd FROM ${postgres.schema}.holds WHERE state = 'doubtful'`, [])
    )
    const reserved = holds.map(
      ([call, chain, costUsd]): Reserved => ({
        run: String(call).split("/", 1)[0]!,
        accounts: JSON.parse(String(chain)),
        costUsd: Number(costUsd)
      })
    )
    const known = new Set(runs.map(({ run }) => run))
    return { runs, accounts: yield* accounts.list, unsent: reserved.filter(({ run }) => !known.has(run)) }
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

/** Compares the books. `killed` are the processes that were killed, or lost their runs while they were frozen. */
export const compare = async (
  database: string,
  book: ReadonlyArray<Call>,
  answers: ReadonlyArray<Answered>,
  killed: ReadonlySet<string>
): Promise<{ readonly sums: Sums; readonly problems: ReadonlyArray<string> }> => {
  const problems: Array<string> = []
  const { accounts, runs, unsent } = await read(database)
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
  const charged = sum(runs, ({ entries }) => chargedIn(entries))
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
