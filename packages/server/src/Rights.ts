/** Rights of a caller, in addition to asking questions and reading its own runs. */
import { Nearest } from "@divisi/core"

/** All rights with their descriptions. */
export const descriptions = {
  rate: "rate runs as a grader or a check, with more weight than the ratings of users",
  admin: "see, follow and rate the runs of all keys, and see the state of the server"
} as const

/** A right of a caller. */
export type Right = keyof typeof descriptions

/** The names of all rights. */
export const all = Object.keys(descriptions) as ReadonlyArray<Right>

/** Whether a list of rights contains a right. Unknown rights have no effect. */
export const has = (rights: ReadonlyArray<string> | undefined, right: Right): boolean =>
  rights?.includes(right) === true

/** Returns the problem with a list of rights as a sentence; `undefined` if all of them exist. */
export const problemOf = (rights: ReadonlyArray<string>): string | undefined => {
  const unknown = rights.find((right) => !all.some((one) => one === right))
  if (unknown === undefined) return undefined
  const meant = Nearest.nearest(unknown, all)
  const hint = meant === undefined ? `Rights are ${all.join(" and ")}.` : `Did you mean ${meant}?`
  return `Right "${unknown.slice(0, 64)}" does not exist. ${hint}`
}
