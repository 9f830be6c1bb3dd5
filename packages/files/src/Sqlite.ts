/** Node's built-in SQLite, loaded on first use without a warning. */
import type * as sqlite from "node:sqlite"

/** SQLite's primary result codes. */
export const codes = {
  permission: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  inputOutput: 10,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26
} as const

/** Returns the result code of a SQLite error, or `undefined` for any other error. */
export const codeOf = (error: unknown): number | undefined => {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode
  return typeof code === "number" ? code & 0xff : undefined
}

/**
 * Returns the module, or `undefined` if this runtime does not provide it.
 *
 * **Details**
 *
 * Node 22 warns that SQLite is experimental. This warning is suppressed; other warnings are not.
 */
export const load = (): typeof sqlite | undefined => {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: Array<never>) => {
    const text = typeof warning === "string" ? warning : warning.message
    if (!/sqlite/i.test(text)) emitWarning.call(process, warning, ...rest)
  }) as typeof emitWarning
  try {
    // Runtimes other than Node, and older ones, do not have it.
    return process.getBuiltinModule?.("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}
