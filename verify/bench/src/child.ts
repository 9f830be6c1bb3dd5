/**
 * The process for one contender. It prepares one row and then takes a sample on each request. It is idle while the
 * other contenders take their samples.
 */
import { type ContenderId, load } from "./Contender.ts"
import { prepare } from "./Measure.ts"
import type { RowId, Settings } from "./Row.ts"
import { Unavailable } from "./Unavailable.ts"
import { expected, fiveSteps, immediate } from "./Workload.ts"

export interface Start {
  readonly contender: ContenderId
  readonly row: RowId
  readonly settings: Settings
}

/** A message from the child: a sample, readiness, or that the contender does not support the row. */
export type Report =
  | { readonly type: "ready" }
  /** The contender does not support the row or, if `why` is set, something required is missing on this machine. */
  | { readonly type: "absent"; readonly why?: string | undefined }
  | { readonly type: "sample"; readonly value: number }

const report = (message: Report) => process.send!(message)

/**
 * Returns the milliseconds from the first import to the first answer. Nothing of the contender may have been imported
 * in this process before.
 */
const firstRun = async (id: ContenderId): Promise<number> => {
  const start = performance.now()
  const contender = await load(id)
  const { run } = await contender.prepare(immediate(fiveSteps))
  const answer = await run()
  const millis = performance.now() - start
  if (answer !== expected(fiveSteps)) throw new Error(`The first run answered "${answer}".`)
  return millis
}

// Temporary files and servers are removed when the process exits.
process.once("SIGTERM", () => process.exit())

process.once("message", async ({ contender, row, settings }: Start) => {
  try {
    const measurement =
      row === "firstRun" ? () => firstRun(contender) : await prepare(row, await load(contender), settings)
    if (measurement === undefined) return report({ type: "absent" })
    process.on("message", async () => report({ type: "sample", value: await measurement() }))
  } catch (error) {
    if (error instanceof Unavailable) return report({ type: "absent", why: error.message })
    throw error
  }
  return report({ type: "ready" })
})
