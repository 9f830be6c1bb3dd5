/**
 * Kills runs that have a journal and an account with `kill -9`: at random moments, or at each write to the journal in
 * turn. Finally, the records of the vendor, the journal and the account are compared.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Journal } from "@divisi/core"
import type { RunResult } from "@divisi/core/Conductor"
import { DiskAccounts, DiskJournal } from "@divisi/files"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as World from "./kills/World.ts"

/** The result of a test. */
export interface Found {
  readonly kills: number
  readonly runs: number
  /**
   * The requests that the vendor received, the calls with an answer in the journal, and the calls that were unconfirmed
   * at a kill.
   */
  readonly asked: number
  readonly answered: number
  readonly inDoubt: number
  readonly problems: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Processes
// -------------------------------------------------------------------------------------------------------------------

const begin = (file: string, ...args: ReadonlyArray<string>): ChildProcess => {
  const script = fileURLToPath(new URL(`kills/${file}`, import.meta.url))
  return spawn(process.execPath, ["--conditions=@divisi/source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"]
  })
}

/** A vendor, and a folder for the journal and the accounts. */
interface Place {
  readonly folder: string
  readonly port: string
  readonly book: () => Promise<Readonly<Record<string, number>>>
  /** Asks the vendor, as the killed process does. */
  readonly ask: (asked: World.Asked) => Promise<ReturnType<typeof World.answer>>
}

const place: Effect.Effect<Place, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-kills-"))
      const vendor = begin("vendor.ts")
      const [said] = await once(vendor.stdout!, "data")
      return { folder, vendor, port: String(said).trim() }
    }),
    ({ folder, vendor }) =>
      Effect.sync(() => {
        vendor.kill("SIGKILL")
        fs.rmSync(folder, { recursive: true })
      })
  ),
  ({ folder, port }) => {
    const url = `http://127.0.0.1:${port}`
    return {
      folder,
      port,
      book: async () => (await (await fetch(`${url}/book`)).json()) as Readonly<Record<string, number>>,
      ask: async (asked) =>
        (await (await fetch(url, { method: "POST", body: JSON.stringify(asked) })).json()) as ReturnType<
          typeof World.answer
        >
    }
  }
)

// -------------------------------------------------------------------------------------------------------------------
// Books
// -------------------------------------------------------------------------------------------------------------------

/** The attempts of a run that have started and whose outcome is unknown. */
const doubtsIn = (entries: ReadonlyArray<Journal.Entry>): ReadonlySet<string> => {
  const open = new Set<string>()
  for (const entry of entries) {
    if (!("call" in entry)) continue
    const name = `${entry.call}/${entry.attempt}`
    if (entry.type === "intent") open.add(name)
    else open.delete(name)
  }
  return open
}

const unfinished = (journal: Journal.Journal) =>
  Effect.map(journal.list(), (runs) => runs.filter(({ ending }) => ending === undefined).map(({ run }) => run))

/** Adds the calls that are unconfirmed now. A call stays unconfirmed until the resumed run has reported it. */
const addDoubts = (journal: Journal.Journal, known: Set<string>) =>
  Effect.gen(function* () {
    for (const run of yield* unfinished(journal)) for (const call of doubtsIn(yield* journal.read(run))) known.add(call)
  })

const count = (entries: ReadonlyArray<Journal.Entry>, type: string): number =>
  entries.filter((entry) => entry.type === type).length

/** The violated conditions of a run that has ended. */
const problemsOf = (run: string, entries: ReadonlyArray<Journal.Entry>, asked: number, whole: string) => {
  const problems: Array<string> = []
  const events = Journal.eventsOf(entries)
  const [answered, lost] = [count(entries, "answered"), count(entries, "lost")]
  const told = events.filter(({ type }) => type === "call-lost").length
  if (events.filter(({ type }) => type === "run-finished").length !== 1) problems.push("has not one end")
  if (World.timeless(events) !== whole) problems.push("is not the run that it would have been")
  if (answered !== World.callsOfRun) problems.push(`has ${answered} answers`)
  if (asked > answered + lost) problems.push(`asked ${asked} times, and knows of ${answered + lost}: paid again`)
  if (told !== lost) problems.push(`has ${lost} lost calls, and tells ${told}`)
  return problems.map((problem) => `run ${run} ${problem}`)
}

/** Calls with a reservation whose process was killed before it wrote their intent. */
const unsentIn = (file: string) =>
  Effect.sync((): ReadonlyArray<string> => {
    const database = new DatabaseSync(file)
    const rows = database.prepare("SELECT call FROM holds WHERE state = 'doubtful'").all()
    database.close()
    return rows.map(({ call }) => String(call))
  })

/** Compares the records of the vendor, the journal and the account after all runs have ended. */
const compare = (place: Place, journal: Journal.Journal, kills: number, inDoubt: number) =>
  Effect.gen(function* () {
    const book = yield* Effect.promise(place.book)
    const problems: Array<string> = []
    const sum = { asked: 0, answered: 0, lost: 0 }
    const runs = yield* journal.list()
    for (const { run } of runs) {
      const entries = yield* journal.read(run)
      const asked = book[run] ?? 0
      sum.asked += asked
      sum.answered += count(entries, "answered")
      sum.lost += count(entries, "lost")
      problems.push(...problemsOf(run, entries, asked, yield* World.uninterrupted(run)))
    }
    const file = `${place.folder}/accounts.sqlite`
    const accounts = yield* DiskAccounts.make({ file })
    const { open, total } = yield* (yield* accounts.open({ name: "all" })).standing
    const unsent = yield* unsentIn(file)
    if (open !== 0) problems.push(`the account has ${open} calls under way`)
    const told = sum.answered + sum.lost
    if (total.calls !== told + unsent.length)
      problems.push(`the account has ${total.calls} calls, the journal ${told}, and ${unsent.length} were not begun`)
    for (const call of unsent)
      if (runs.some(({ run }) => call.startsWith(`${run}/`))) problems.push(`call ${call} was never put right`)
    if (total.costUsd < sum.asked) problems.push(`the account has ${total.costUsd} USD, the vendor ${sum.asked}`)
    if (sum.lost !== inDoubt) problems.push(`${inDoubt} calls were in doubt, and ${sum.lost} are told`)
    const found: Found = { kills, runs: runs.length, asked: sum.asked, answered: sum.answered, inDoubt, problems }
    return found
  })

/** Resumes all unfinished runs until they end. */
const finish = ({ ask, folder }: Place, journal: Journal.Journal) =>
  Effect.gen(function* () {
    const accounts = yield* DiskAccounts.make({ file: `${folder}/accounts.sqlite` })
    const ledger = yield* accounts.open({ name: "all" })
    const conductor = World.conductor(ask)
    return yield* Effect.forEach(
      yield* unfinished(journal),
      (runId): Effect.Effect<RunResult> => conductor.resume({ runId }, { journal, ledger }),
      { concurrency: 8 }
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Kills
// -------------------------------------------------------------------------------------------------------------------

/** The maximum lifetime of a process after its runs resume, in milliseconds. */
const mostMillis = 500

/** Kills so often at random moments, or until the time is over; then lets all runs end and compares the books. */
export const random = (
  bounds: { readonly kills: number; readonly until: number },
  show: (text: string) => void
): Promise<Found> =>
  Effect.gen(function* () {
    const here = yield* place
    const journal = yield* DiskJournal.make({ file: `${here.folder}/runs.sqlite` })
    let kills = 0
    const inDoubt = new Set<string>()
    while (kills < bounds.kills && performance.now() < bounds.until) {
      const child = begin("process.ts", here.folder, here.port)
      const closed = once(child, "close")
      yield* Effect.promise(async () => {
        await once(child.stdout!, "data")
        await sleep(Math.random() * mostMillis)
        child.kill("SIGKILL")
        await closed
      })
      kills += 1
      yield* addDoubts(journal, inDoubt)
      show(`${kills} kills, ${inDoubt.size} calls in doubt`)
    }
    yield* finish(here, journal)
    return yield* compare(here, journal, kills, inDoubt.size)
  }).pipe(Effect.scoped, Effect.runPromise)

/** The maximum number of journal writes of one run. */
const mostWrites = 40

/** Kills before and after each write of a run's journal in turn; the run has to be the one that it would have been. */
export const points = (show: (text: string) => void): Promise<Found> =>
  Effect.gen(function* () {
    const sum = { kills: 0, runs: 0, asked: 0, answered: 0, inDoubt: 0 }
    const problems: Array<string> = []
    for (const moment of ["before", "after"]) {
      for (let write = 1; write < mostWrites; write++) {
        const found = yield* Effect.scoped(
          Effect.gen(function* () {
            const here = yield* place
            const child = begin("process.ts", here.folder, here.port, `${moment}-${write}`)
            const [, signal] = yield* Effect.promise(() => once(child, "close"))
            if (signal !== "SIGKILL") return undefined
            const journal = yield* DiskJournal.make({ file: `${here.folder}/runs.sqlite` })
            const inDoubt = new Set<string>()
            yield* addDoubts(journal, inDoubt)
            const accounts = yield* DiskAccounts.make({ file: `${here.folder}/accounts.sqlite` })
            const ledger = yield* accounts.open({ name: "all" })
            yield* World.conductor(here.ask).run(World.questionOf("r"), { runId: "r", journal, ledger })
            return yield* compare(here, journal, 1, inDoubt.size)
          })
        )
        if (found === undefined) break
        show(`${moment} write ${write}`)
        sum.kills += found.kills
        sum.runs += found.runs
        sum.asked += found.asked
        sum.answered += found.answered
        sum.inDoubt += found.inDoubt
        problems.push(...found.problems.map((problem) => `${moment} write ${write}: ${problem}`))
      }
    }
    return { ...sum, problems }
  }).pipe(Effect.runPromise)
