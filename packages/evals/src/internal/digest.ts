/** Content hashes that are the same on every machine. */
import { createHash } from "node:crypto"

/** Returns the SHA-256 hash of strings in hexadecimal. The boundaries between the strings affect the hash. */
export const sha256 = (...texts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("hex")

/** Returns the first sixteen hexadecimal digits of the hash, which suffice to identify the questions of a benchmark. */
export const short = (...texts: ReadonlyArray<string>): string => sha256(...texts).slice(0, 16)

/** Maps strings to a number from 0 (inclusive) to 1 (exclusive). */
export const fraction = (...texts: ReadonlyArray<string>): number =>
  Number.parseInt(sha256(...texts).slice(0, 12), 16) / 16 ** 12
