/** Determines the part of a verdict that does not depend on a program's output. */
import { Options as Tables } from "@divisi/core"
import * as Sandbox from "../sandbox/Sandbox.ts"

/** Options for running programs. */
export interface Options {
  /**
   * Time limit in milliseconds: per test for LiveCodeBench (default: 6,000), per task for BigCodeBench (default:
   * 240,000).
   */
  readonly timeoutMillis?: number | undefined
  readonly memoryMegabytes?: number | undefined
}

/** Validation table for {@link Options}, for use with `Options.check`. */
export const optionsTable = {
  timeoutMillis: Tables.whole(1),
  memoryMegabytes: Tables.whole(1)
} satisfies Tables.ShapeOf<Options>

/** The result of a single test. */
export interface Finding {
  readonly passed: boolean
  readonly rung: string
  readonly explanation: string
}

const rungs = {
  "timed-out": "time-limit",
  "out-of-memory": "memory-limit",
  "output-too-large": "output-limit",
  crashed: "runtime-error"
} as const

/**
 * Whether the program ended with an error, as opposed to an explicit exit. After `sys.exit("Error: none")`, its output
 * still counts.
 */
const isError = (execution: Sandbox.Execution): boolean =>
  execution.type === "finished" &&
  execution.exitCode !== 0 &&
  /^Traceback \(most recent call last\):$/m.test(execution.stderr)

/** Returns the failure if an execution was aborted, or `undefined` if its output decides the verdict. */
export const brokenOff = (execution: Sandbox.Execution): Finding | undefined => {
  if (execution.type === "finished" && !isError(execution)) return undefined
  const rung = execution.type === "finished" ? "runtime-error" : rungs[execution.type]
  return { passed: false, rung, explanation: Sandbox.describe(execution) }
}
