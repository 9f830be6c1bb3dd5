/** Additional rights for a caller, beyond asking questions and reading its own runs. */
import { Nearest } from "@divisi/core"

/**
 * All rights, with their descriptions.
 *
 * @internal
 */
export const descriptions = {
  rate: "submit ratings as a grader or a check, with more weight than those of users",
  admin: "see, follow and rate the runs of all keys, and see the state of the server"
} as const

/** The name of a right. */
type Right = keyof typeof descriptions

/**
 * The names of all rights.
 *
 * @internal
 */
export const all = Object.keys(descriptions) as ReadonlyArray<Right>

/**
 * Whether a list of rights includes a right. Unknown entries are ignored.
 *
 * @internal
 */
export const has = (rights: ReadonlyArray<string> | undefined, right: Right): boolean =>
  rights?.includes(right) === true

/** Validates a list of rights. Returns the first problem as a sentence, or `undefined` if all rights exist. */
export const problemOf = (rights: ReadonlyArray<string>): string | undefined => {
  const unknown = rights.find((right) => !all.some((one) => one === right))
  if (unknown === undefined) return undefined
  const hint = Nearest.didYouMean(Nearest.nearest(unknown, all), `Available: ${all.join(", ")}.`)
  return `Unknown right "${unknown.slice(0, 64)}".${hint}`
}
