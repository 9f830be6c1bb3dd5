/**
 * The answers in a SQLite file: its schema, and the statements that read and write it. Each statement is atomic, so a
 * killed process leaves either a complete answer or no answer.
 */
import { createHash } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import type { ResponseCache } from "@divisi/core"
import { type Kind, pragma, transact } from "./database.ts"

/** Marks a SQLite file as a cache of this package: "Divi". */
const applicationId = 0x44697669

/** The version of the schema below. A file of another one is not read. */
const schemaVersion = 1

const schema = `
  CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    sum BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    answer TEXT NOT NULL
  ) STRICT;
  CREATE INDEX answers_made_at ON answers (made_at);
  CREATE INDEX answers_used_at ON answers (used_at, id);
  CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO totals VALUES (0, 0);
  CREATE TRIGGER answer_added AFTER INSERT ON answers BEGIN
    UPDATE totals SET entries = entries + 1, bytes = bytes + new.bytes;
  END;
  CREATE TRIGGER answer_removed AFTER DELETE ON answers BEGIN
    UPDATE totals SET entries = entries - 1, bytes = bytes - old.bytes;
  END;
  CREATE TRIGGER answer_replaced AFTER UPDATE OF bytes ON answers BEGIN
    UPDATE totals SET bytes = bytes + new.bytes - old.bytes;
  END;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`

/** The bounds of the table. */
export interface Bounds {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly lifeMillis: number
}

/** The answers of one open file. Its functions throw SQLite's errors. */
export interface AnswerTable {
  /** `"damaged"` if a row does not match its checksum. */
  readonly get: (key: Uint8Array, now: number) => ResponseCache.Entry | "damaged" | undefined
  readonly set: (key: Uint8Array, answer: ResponseCache.Entry, now: number) => void
}

/** Prepares a file for several processes, and writes the schema if it is missing. */
const prepare = (database: DatabaseSync): void => {
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216")
  // Another process may have written it meanwhile; and a file that cannot be written shows it here.
  transact(database, () => {
    if (pragma(database, "user_version") === 0) database.exec(schema)
    else database.exec("UPDATE totals SET entries = entries")
  })
}

/** The mark of such a file, and its preparation. */
export const kind: Kind = { applicationId, schemaVersion, prepare }

const isEntry = (value: unknown): value is ResponseCache.Entry => {
  if (typeof value !== "object" || value === null) return false
  const { failures = [], finishReason, text, usage } = value as Partial<Record<keyof ResponseCache.Entry, unknown>>
  const isAnswer =
    typeof text === "string" && typeof finishReason === "string" && typeof usage === "object" && usage !== null
  return isAnswer && Array.isArray(failures)
}

const read = (text: string): ResponseCache.Entry | "damaged" => {
  try {
    const value: unknown = JSON.parse(text)
    return isEntry(value) ? value : "damaged"
  } catch {
    return "damaged"
  }
}

/** SQLite has no checksums of its own: a flipped bit in a text would be another answer. */
const sumOf = (key: Uint8Array, answer: string): Buffer => createHash("sha256").update(key).update(answer).digest()

/** How long a use of an answer is not noted again, so that reading does not write each time. */
const noteMillis = 60_000

/** The size of a row without its answer: its key, numbers and share of the indices. */
const rowBytes = 160

const encoder = new TextEncoder()

/** The table of a file that has been prepared. */
export const make = (database: DatabaseSync, { lifeMillis, maxBytes, maxEntries }: Bounds): AnswerTable => {
  const find = database.prepare("SELECT id, sum, answer, made_at, used_at FROM answers WHERE key = ?")
  const use = database.prepare("UPDATE answers SET used_at = ? WHERE id = ?")
  const put = database.prepare(`
    INSERT INTO answers (key, sum, answer, bytes, made_at, used_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET
      sum = excluded.sum, answer = excluded.answer, bytes = excluded.bytes, made_at = excluded.made_at, used_at = excluded.used_at
  `)
  const expire = database.prepare("DELETE FROM answers WHERE made_at <= ?")
  const totals = database.prepare("SELECT entries, bytes FROM totals")
  const count = database.prepare(
    "UPDATE totals SET (entries, bytes) = (SELECT count(*), coalesce(sum(bytes), 0) FROM answers)"
  )
  const removeOldest = database.prepare(
    "DELETE FROM answers WHERE id = (SELECT id FROM answers ORDER BY used_at, id LIMIT 1)"
  )
  let isCounted = false

  const isOver = () => {
    const { bytes, entries } = totals.get() as { readonly bytes: number; readonly entries: number }
    return entries > maxEntries || bytes > maxBytes
  }

  const makeRoom = () => {
    if (!isOver()) return
    // Before answers are removed to make room, the totals are counted once more: a damaged total would have all of them
    // removed.
    if (!isCounted) count.run()
    isCounted = true
    while (isOver() && removeOldest.run().changes > 0) {}
  }

  return {
    get: (key, now) => {
      const row = find.get(key)
      if (row === undefined || Number(row.made_at) + lifeMillis <= now) return undefined
      if (Number(row.used_at) + noteMillis <= now) use.run(now, row.id ?? null)
      const answer = String(row.answer)
      return sumOf(key, answer).equals(row.sum as Uint8Array) ? read(answer) : "damaged"
    },
    set: (key, answer, now) => {
      const text = JSON.stringify(answer)
      const bytes = encoder.encode(text).length + rowBytes
      if (bytes > maxBytes || maxEntries < 1) return
      transact(database, () => {
        put.run(key, sumOf(key, text), text, bytes, now, now)
        if (lifeMillis !== Number.POSITIVE_INFINITY) expire.run(now - lifeMillis)
        makeRoom()
      })
    }
  }
}
