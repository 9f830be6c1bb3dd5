/** What the execution of a program shows without a look at its output, in the words of a verdict. */
import { Options as Tables } from "@divisi/core"
import * as Sandbox from "../sandbox/Sandbox.ts"

/** The options of an execution. */
export interface Options {
  /** Time for each test of LiveCodeBench (6,000 ms by default), or for all of a task of BigCodeBench (240,000). */
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

/** How an execution was broken off; `undefined` when the output decides. */
export const brokenOff = (execution: Sandbox.Execution): Finding | undefined => {
  if (execution.type === "finished" && !isError(execution)) return undefined
  const rung = execution.type === "finished" ? "runtime-error" : rungs[execution.type]
  return { passed: false, rung, explanation: Sandbox.describe(execution) }
}
