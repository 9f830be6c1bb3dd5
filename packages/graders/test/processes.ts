/** The processes that a sandbox has started. */
import fs from "node:fs"
import { setTimeout } from "node:timers/promises"
import { assert } from "vitest"

/** Processes that name a folder on their command line; none where the system does not tell. */
export const processesOf = (place: string): ReadonlyArray<string> => {
  const lineOf = (id: string) => {
    try {
      return fs.readFileSync(`/proc/${id}/cmdline`, "utf8")
    } catch {
      return ""
    }
  }
  const ids = fs.existsSync("/proc") ? fs.readdirSync("/proc").filter((entry) => /^\d+$/.test(entry)) : []
  return ids.filter((id) => lineOf(id).includes(place))
}

/** A killed process takes a moment to be gone. */
export const gone = async (place: string) => {
  for (let left = 200; left > 0 && processesOf(place).length > 0; left--) await setTimeout(50)
  assert.isEmpty(processesOf(place))
}
