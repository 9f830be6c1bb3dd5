/**
 * Node's own SQLite and what else of Node a file of answers needs, loaded when they are used: importing this module asks
 * nothing of the runtime.
 */
import type { createHash } from "node:crypto"
import type { mkdirSync } from "node:fs"
import type { dirname } from "node:path"
import type { DatabaseSync } from "node:sqlite"

/** The modules of Node that are used. */
export interface Node {
  readonly DatabaseSync: typeof DatabaseSync
  readonly createHash: typeof createHash
  readonly dirname: typeof dirname
  readonly mkdirSync: typeof mkdirSync
}

/** SQLite's result codes, without the bits that refine them. */
export const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26
} as const

/** The code of an error that SQLite threw; `undefined` of any other. */
export const codeOf = (error: unknown): number | undefined => {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode
  return typeof code === "number" ? code & 0xff : undefined
}

/** That SQLite is marked as experimental in some versions of Node is our matter, not the user's. */
const quietly = <A>(load: () => A): A => {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: Array<never>) => {
    const text = typeof warning === "string" ? warning : warning.message
    if (!/sqlite/i.test(text)) emitWarning.call(process, warning, ...rest)
  }) as typeof emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** What is needed of Node, or `undefined` where this runtime does not have it. */
export const load = (): Node | undefined => {
  const runtime = (globalThis as { readonly process?: NodeJS.Process }).process
  if (typeof runtime?.getBuiltinModule !== "function") return undefined
  const sqlite = quietly(() => runtime.getBuiltinModule("node:sqlite"))
  const crypto = runtime.getBuiltinModule("node:crypto")
  const fs = runtime.getBuiltinModule("node:fs")
  const path = runtime.getBuiltinModule("node:path")
  if (sqlite === undefined) return undefined
  return {
    DatabaseSync: sqlite.DatabaseSync,
    createHash: crypto.createHash,
    dirname: path.dirname,
    mkdirSync: fs.mkdirSync
  }
}
