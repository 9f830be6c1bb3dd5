/** Runs and their entries in a SQLite file: its schema, and the statements that read and write it. */
import type { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import { Journal } from "@divisi/core"
import { type Kind, pragma, transact } from "./database.ts"

/** Marks a SQLite file as a journal of this package: "DivJ". */
const applicationId = 0x4469764a

/** The version of the schema below. A file of another one is not read. */
const schemaVersion = 1

// Tables of the runs of a caller and of those that answer a request: rows that are written once for each run, however
// often its head is.
const lookups = `
  CREATE TABLE IF NOT EXISTS callers (
    caller TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (caller, run)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS requests (
    request TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (request, run)
  ) STRICT, WITHOUT ROWID;
`

// A row for each batch: its entries are read together, and one row is cheaper than many.
const schema = `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    owner TEXT,
    length INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    head TEXT
  ) STRICT;
  CREATE TABLE batches (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`

/** Prepares a file for several processes, and writes the schema if it is missing. */
const prepare = (database: DatabaseSync): void => {
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216")
  // Another process may have written it meanwhile; and a file that cannot be written shows it here.
  transact(database, () => {
    if (pragma(database, "user_version") === 0) database.exec(schema)
    else database.exec(`PRAGMA user_version = ${schemaVersion}`)
    // Files of before it have the same version: who does not know of it can leave it be.
    database.exec(lookups)
  })
}

/** The mark of such a file, and its preparation. */
export const kind: Kind = { applicationId, schemaVersion, prepare }

/** A run as a row of the table. */
export interface Row {
  readonly id: number
  readonly run: string
  readonly epoch: number
  readonly owner: string | null
  readonly length: number
  readonly bytes: number
  readonly changed_at: number
  readonly head: string | null
}

/** A run that has entries. */
export type Listed = Row & { readonly head: string }

/** Entries that do not match their checksum, or are not there. */
export class Torn extends Error {}

/** SQLite has no checksums of its own: a flipped bit in a text would be another answer. */
const sumOf = (run: string, seq: number, text: string): number => crc32(text, crc32(`${run} ${seq}`))

const entriesIn = (text: string): ReadonlyArray<Journal.Entry> | undefined => {
  try {
    const entries: unknown = JSON.parse(text)
    return Array.isArray(entries) ? entries : undefined
  } catch {
    return undefined
  }
}

/** The statements of one open file. They throw SQLite's errors, and {@link Torn}. */
export interface JournalTable {
  /** Claims a run for an owner. Returns the current owner instead, unless that one is dead or loses the run. */
  readonly claim: (
    run: string,
    owner: string,
    isDead: (owner: string) => boolean,
    now: number
  ) => Journal.Claim | string
  readonly release: (run: string, epoch: number, owner: string) => void
  /** Returns whether it was written: false if the epoch or the sequence number differs. */
  readonly append: (batch: Journal.Batch, now: number) => boolean
  readonly read: (run: string, from: number) => ReadonlyArray<Journal.Entry>
  readonly length: (run: string) => number
  readonly find: (run: string) => Listed | undefined
  readonly list: (query: Journal.Query) => ReadonlyArray<Listed>
  /** The owners of claimed runs. */
  readonly owners: () => ReadonlyArray<string>
  readonly remove: (run: string, isDead: (owner: string) => boolean) => boolean
}

/** The table of a file that has been prepared. */
export const make = (database: DatabaseSync): JournalTable => {
  const find = database.prepare("SELECT * FROM runs WHERE run = ?")
  const length = database.prepare("SELECT length FROM runs WHERE run = ?")
  const begin = database.prepare(
    "INSERT INTO runs (run, epoch, owner, length, bytes, changed_at) VALUES (?, 1, ?, 0, 0, ?)"
  )
  const take = database.prepare("UPDATE runs SET epoch = epoch + 1, owner = ? WHERE id = ?")
  const free = database.prepare(
    "UPDATE runs SET owner = NULL WHERE id = ? AND run = ? AND epoch = ? AND owner = ? RETURNING length"
  )
  const grow = database.prepare(`
    UPDATE runs SET length = length + ?, bytes = bytes + ?, changed_at = ?, head = coalesce(?, head)
    WHERE id = ? AND run = ? AND epoch = ? AND length = ?
  `)
  const add = database.prepare("INSERT INTO batches (run, seq, sum, entries) VALUES (?, ?, ?, ?)")
  const from = database.prepare(`
    SELECT seq, sum, entries FROM batches
    WHERE run = ? AND seq >= coalesce((SELECT max(seq) FROM batches WHERE run = ? AND seq <= ?), 0) ORDER BY seq
  `)
  const all = database.prepare(
    "SELECT * FROM runs WHERE id < coalesce(?, 9e18) AND head IS NOT NULL ORDER BY id DESC LIMIT ?"
  )
  const theirs = database.prepare(
    `SELECT runs.* FROM callers CROSS JOIN runs ON runs.id = callers.run
     WHERE callers.caller = ? AND callers.run < coalesce(?, 9e18) AND head IS NOT NULL
     ORDER BY callers.run DESC LIMIT ?`
  )
  const answering = database.prepare(
    `SELECT runs.* FROM requests CROSS JOIN runs ON runs.id = requests.run
     WHERE requests.request = ? AND requests.run < coalesce(?, 9e18) AND head IS NOT NULL
     ORDER BY requests.run DESC LIMIT ?`
  )
  const claimed = database.prepare("SELECT DISTINCT owner FROM runs WHERE owner IS NOT NULL")
  const note = database.prepare("INSERT OR IGNORE INTO callers (caller, run) VALUES (?, ?)")
  const forget = database.prepare("DELETE FROM callers WHERE caller = ? AND run = ?")
  const noteRequest = database.prepare("INSERT OR IGNORE INTO requests (request, run) VALUES (?, ?)")
  const forgetRequest = database.prepare("DELETE FROM requests WHERE request = ? AND run = ?")
  const empty = database.prepare("DELETE FROM batches WHERE run = ?")
  const drop = database.prepare("DELETE FROM runs WHERE id = ?")

  /** The row ids of runs that were claimed here: a look-up by row id costs half. */
  const ids = new Map<string, number>()
  /** The runs whose caller and request are stored. */
  const noted = new Set<number>()

  const rowOf = (run: string) => find.get(run) as Row | undefined
  const idOf = (run: string) => ids.get(run) ?? rowOf(run)?.id

  return {
    claim: (run, owner, isDead, now) => {
      const row = rowOf(run)
      if (row === undefined) {
        ids.set(run, Number(begin.run(run, owner, now).lastInsertRowid))
        return { epoch: 1, length: 0 }
      }
      if (row.owner !== null && !isDead(row.owner)) return row.owner
      ids.set(run, row.id)
      take.run(owner, row.id)
      return { epoch: row.epoch + 1, length: row.length }
    },
    release: (run, epoch, owner) => {
      const id = idOf(run)
      ids.delete(run)
      if (id !== undefined) noted.delete(id)
      if (id !== undefined && free.get(id, run, epoch, owner)?.length === 0) drop.run(id)
    },
    append: ({ entries, epoch, head, run, seq }, now) => {
      const text = JSON.stringify(entries)
      const kept = head === undefined ? null : JSON.stringify(head satisfies Journal.Head)
      const id = idOf(run)
      if (id === undefined) return false
      const { changes } = grow.run(entries.length, Buffer.byteLength(text), now, kept, id, run, epoch, seq)
      if (changes === 0) return false
      add.run(id, seq, sumOf(run, seq, text), text)
      if (head !== undefined && !noted.has(id)) {
        if (head.caller !== undefined) note.run(head.caller, id)
        if (head.request !== undefined) noteRequest.run(head.request, id)
        noted.add(id)
      }
      return true
    },
    read: (run, first) => {
      const row = rowOf(run)
      if (row === undefined) return []
      if (row.head != null && !(row.length > 0)) throw new Torn(`the length of run ${run}, ${row.length}`)
      if (first >= row.length) return []
      const batches = from.all(row.id, row.id, first)
      let next = Number(batches[0]?.seq ?? 0)
      const start = next
      const entries = batches.flatMap(({ entries, seq, sum }) => {
        const text = String(entries)
        const read = seq === next && sumOf(run, next, text) === sum ? entriesIn(text) : undefined
        if (read === undefined) throw new Torn(`entries of run ${run} from ${next} on`)
        next += read.length
        return read
      })
      if (start > first || next < row.length) throw new Torn(`entries of run ${run} from ${Math.min(next, first)} on`)
      return entries.slice(first - start)
    },
    length: (run) => Number(length.get(run)?.length ?? 0),
    find: (run) => {
      const row = rowOf(run)
      return row?.head == null ? undefined : (row as Listed)
    },
    list: ({ after, caller, limit = -1, request }) => {
      const last = after === undefined ? null : (rowOf(after)?.id ?? 0)
      if (request !== undefined) {
        const rows = answering.all(request, last, -1) as unknown as ReadonlyArray<Listed>
        const theirs = rows.filter(({ head }) => caller === undefined || Journal.readHead(head).caller === caller)
        return limit < 0 ? theirs : theirs.slice(0, limit)
      }
      const rows = caller === undefined ? all.all(last, limit) : theirs.all(caller, last, limit)
      return rows as unknown as ReadonlyArray<Listed>
    },
    owners: () => claimed.all().map(({ owner }) => String(owner)),
    remove: (run, isDead) => {
      const row = rowOf(run)
      if (row === undefined || (row.owner !== null && !isDead(row.owner))) return false
      empty.run(row.id)
      drop.run(row.id)
      const { caller, request } = Journal.readHead(row.head)
      if (caller !== undefined) forget.run(caller, row.id)
      if (request !== undefined) forgetRequest.run(request, row.id)
      return true
    }
  }
}
