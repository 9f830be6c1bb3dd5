/** A short digest of a text. */
import * as Hash from "effect/Hash"

/** Returns a digest that detects changed texts. It does not resist deliberate collisions. */
export const fingerprint = (text: string): string =>
  `${text.length.toString(36)}-${(Hash.string(text) >>> 0).toString(36)}`
