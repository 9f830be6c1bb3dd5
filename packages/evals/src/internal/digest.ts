/** Short names for contents, the same everywhere. */
import { createHash } from "node:crypto"

/** Returns the SHA-256 of texts, in hexadecimal; the boundaries between texts matter. */
export const sha256 = (...texts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("hex")

/** Sixteen hexadecimal digits of it: enough to name the questions of a benchmark. */
export const short = (...texts: ReadonlyArray<string>): string => sha256(...texts).slice(0, 16)

/** A number from 0 to below 1 that follows from texts. */
export const fraction = (...texts: ReadonlyArray<string>): number =>
  Number.parseInt(sha256(...texts).slice(0, 12), 16) / 16 ** 12
