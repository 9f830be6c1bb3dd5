/**
 * Checks that up to three seeds derived from today's date do not all contradict the published figures of the tiny
 * Conductor. Only two rows are sampled.
 */
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"

const program = path.join(root, "lab/tiny-conductor/src/claims/main.ts")

/** Runs the check in the lab. */
export const check = async (): Promise<Report> => {
  const { code, output } = await run([process.execPath, "--conditions=@divisi/source", program, "--check"], {
    cwd: root
  })
  return { passed: code === 0 ? 1 : 0, problems: code === 0 ? [] : [output] }
}
