/**
 * A lock on a folder that the system gives back when its process dies, however it does: an exclusive transaction on an
 * empty database, for which SQLite uses the system's locks on files. A file with a process id in it would have to be
 * judged by others after a crash.
 */
import type { DatabaseSync } from "node:sqlite"

/** That SQLite is marked as experimental in some versions of Node is our matter, not the user's. */
const load = (): typeof DatabaseSync => {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: Array<never>) => {
    const text = typeof warning === "string" ? warning : warning.message
    if (!/sqlite/i.test(text)) emitWarning.call(process, warning, ...rest)
  }) as typeof emitWarning
  try {
    return process.getBuiltinModule("node:sqlite").DatabaseSync
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Takes the lock; `undefined` when another process, or another part of this one, has it. */
export const take = (file: string): { readonly release: () => void } | undefined => {
  const Database = load()
  const database = new Database(file)
  try {
    database.exec("BEGIN EXCLUSIVE")
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    // SQLITE_BUSY.
    if (((error as { readonly errcode?: number }).errcode ?? 0) % 256 === 5) return undefined
    throw error
  }
}
