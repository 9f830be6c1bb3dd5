/** A quarter of costly tests, another one for each commit, for the parts of CI that do not run all of them each time. */
import { spawnSync } from "node:child_process"
import { root } from "./setup/workspace.mjs"

/** Returns the quarter that belongs to the checked-out commit, from 0 to 3, or 0 outside of a clone. */
export const quarter = (): number => {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" })
  return (Number.parseInt(stdout.slice(0, 6), 16) || 0) % 4
}
