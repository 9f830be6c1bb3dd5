/** Short digests of text. */
import * as Hash from "effect/Hash"

/** Returns a digest for detecting changes. Not collision-resistant. */
export const fingerprint = (text: string): string =>
  `${text.length.toString(36)}-${(Hash.string(text) >>> 0).toString(36)}`
