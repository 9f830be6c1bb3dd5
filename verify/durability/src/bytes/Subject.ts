/** The damaged data, and the conditions that must hold afterwards. */

import { isDeepStrictEqual } from "node:util"

/**
 * How a damaged thing was taken: as what it was (what carries no checksum, as a whole thing of its kind), or with an
 * error that says what is wrong.
 */
export type Outcome = "right" | "refused"

/** Something durable, or read of others. */
export interface Subject {
  readonly name: string
  /** Makes it whole in an empty folder. */
  readonly make: (folder: string) => Promise<void>
  /** The files to damage, within the folder. */
  readonly files: ReadonlyArray<string>
  /** Uses a copy of it that was damaged. Throws where it is neither right nor refused, or something else was lost. */
  readonly use: (folder: string) => Promise<Outcome>
}

/** What must not happen. */
export class Broken extends Error {}

/** Checks that two values are the same as JSON, whatever the order of their keys. */
export const same = (what: string, found: unknown, expected: unknown): void => {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)]
  if (!isDeepStrictEqual(JSON.parse(one), JSON.parse(other)))
    throw new Broken(`${what}: ${one?.slice(0, 300)} instead of ${other?.slice(0, 300)}`)
}
