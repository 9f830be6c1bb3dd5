/**
 * Named text values in a SQLite file: its schema, and the statements that read and write it. Each is one transaction,
 * so a killed process leaves either a complete text or no text.
 */
import { createHash } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import { type Kind, pragma, transact } from "./database.ts"

/** Marks a SQLite file as a record file of this package: "DivR". */
const applicationId = 0x44697652

/** The version of the schema below. A file of another one is not read. */
const schemaVersion = 1

const schema = `
  CREATE TABLE records (
    name TEXT PRIMARY KEY,
    sum BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    kept_at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX records_kept_at ON records (kept_at, bytes);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`

/** Prepares a file for several processes, and writes the schema if it is missing. */
const prepare = (database: DatabaseSync): void => {
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216")
  transact(database, () => {
    if (pragma(database, "user_version") === 0) database.exec(schema)
  })
}

/** The mark of such a file, and its preparation. */
export const kind: Kind = { applicationId, schemaVersion, prepare }

/** The values in one open file. Its functions throw SQLite's errors. */
export interface RecordTable {
  /** `"damaged"` if a text does not match its checksum. */
  readonly get: (name: string, now: number) => { readonly text: string } | "damaged" | undefined
  readonly set: (name: string, text: string, now: number) => void
  readonly remove: (name: string) => void
}

/** The size of a row without its text. */
const rowBytes = 200

/** The number of written values between two checks of the limit. */
const countedEvery = 64

const sumOf = (name: string, text: string): Buffer =>
  createHash("sha256").update(name).update("\0").update(text).digest()

/** The table of a file that has been prepared. */
export const make = (
  database: DatabaseSync,
  { lifeMillis, maxBytes }: { readonly lifeMillis: number; readonly maxBytes: number }
): RecordTable => {
  const find = database.prepare("SELECT sum, text FROM records WHERE name = ? AND kept_at > ?")
  const put = database.prepare(`
    INSERT INTO records (name, sum, bytes, kept_at, text) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET
      sum = excluded.sum, bytes = excluded.bytes, kept_at = excluded.kept_at, text = excluded.text
  `)
  const removeOne = database.prepare("DELETE FROM records WHERE name = ?")
  const expire = database.prepare("DELETE FROM records WHERE kept_at <= ?")
  const total = database.prepare("SELECT coalesce(sum(bytes), 0) AS bytes FROM records")
  const removeOldest = database.prepare(
    "DELETE FROM records WHERE name IN (SELECT name FROM records ORDER BY kept_at, name LIMIT 64)"
  )
  let written = 0

  const makeRoom = (now: number) => {
    expire.run(now - lifeMillis)
    while (Number(total.get()?.bytes) > maxBytes && removeOldest.run().changes > 0) {}
  }

  return {
    get: (name, now) => {
      const row = find.get(name, now - lifeMillis)
      if (row === undefined) return undefined
      const text = String(row.text)
      return sumOf(name, text).equals(row.sum as Uint8Array) ? { text } : "damaged"
    },
    set: (name, text, now) =>
      transact(database, () => {
        put.run(name, sumOf(name, text), Buffer.byteLength(text) + rowBytes, now, text)
        if (written % countedEvery === 0) makeRoom(now)
        written += 1
      }),
    remove: (name) => void removeOne.run(name)
  }
}
