/** Derives the part of a verdict that does not depend on a program's output. */
import { Options as Tables } from "@divisi/core"
import * as Sandbox from "../sandbox/Sandbox.ts"

/** The options of an execution. */
export interface Options {
  /**
   * The time limit in milliseconds: for each test of LiveCodeBench (default: 6,000), or for a whole task of
   * BigCodeBench (default: 240,000).
   */
  readonly timeoutMillis?: number | undefined
  readonly memoryMegabytes?: number | undefined
}

/** The table of {@link Options}, for `Options.check`. */
export const optionsTable = {
  timeoutMillis: Tables.whole(1),
  memoryMegabytes: Tables.whole(1)
} satisfies Tables.ShapeOf<Options>

/** The result of one test. */
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

/** Whether an error ended it, and no exit that it chose: with `sys.exit("Error: none")`, what it printed counts. */
const isError = (execution: Sandbox.Execution): boolean =>
  execution.type === "finished" &&
  execution.exitCode !== 0 &&
  /^Traceback \(most recent call last\):$/m.test(execution.stderr)

/** Returns how an execution was aborted; `undefined` if its output decides. */
export const brokenOff = (execution: Sandbox.Execution): Finding | undefined => {
  if (execution.type === "finished" && !isError(execution)) return undefined
  const rung = execution.type === "finished" ? "runtime-error" : rungs[execution.type]
  return { passed: false, rung, explanation: Sandbox.describe(execution) }
}
