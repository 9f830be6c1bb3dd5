/** The damaged data, and the conditions that must hold afterwards. */

import { isDeepStrictEqual } from "node:util"

/**
 * How damaged data was handled: it was read as the original (or, if the format has no checksum, as other valid data of
 * its kind), or refused with an error that describes the damage.
 */
export type Outcome = "right" | "refused"

/** Data that is stored durably, or read from other programs. */
export interface Subject {
  readonly name: string
  /** Writes the data into an empty folder. */
  readonly make: (folder: string) => Promise<void>
  /** The files to damage, within the folder. */
  readonly files: ReadonlyArray<string>
  /** Uses a damaged copy of the data. Throws if it is neither read correctly nor refused, or if other data is lost. */
  readonly use: (folder: string) => Promise<Outcome>
}

/** A violated condition. */
export class Broken extends Error {}

/** Checks that two values are the same as JSON, regardless of the order of keys. */
export const same = (what: string, found: unknown, expected: unknown): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)]
  if (!isDeepStrictEqual(JSON.parse(one), JSON.parse(other)))
    throw new Broken(`${what}: ${one?.slice(0, 300)} instead of ${other?.slice(0, 300)}`)
}
